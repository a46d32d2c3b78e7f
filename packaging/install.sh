#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the package that lies beside this script. The .run file calls it; its --help lists the
# options. The new version is put together in a hidden directory beside the target and takes its
# place in one step; whatever fails before that leaves the target as it was.
set -u
umask 022
unset CDPATH
LC_ALL=C
export LC_ALL
payload=$(cd -P "$(dirname "$0")" && pwd -P) || exit 3
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$payload/common.sh"
# shellcheck source-path=SCRIPTDIR source=stage.sh
. "$payload/stage.sh"
files=$payload/packages/vendors/$vendor

install_path=
dry_run=
no_override=
uninstall=
for option; do
    case $option in
    --install-path=?*) install_path=${option#*=} ;;
    --install-for-all) for_all=yes ;;
    --no-override) no_override=yes ;;
    --force) force=yes ;;
    --dry-run) dry_run=yes ;;
    --uninstall) uninstall=yes ;;
    --quiet | -q) quiet=yes ;;
    *) die 1 "unknown option: $option" ;;
    esac
done

# The machine must be one that the package was built for.
check_machine() {
    arch=$(uname -m)
    [ "$arch" != arm64 ] || arch=aarch64
    case " $(field "$files/package.info" arch) " in
    *" $arch "*) ;;
    *) refuse "this package has no libraries for $arch" ;;
    esac
    need=$(field "$files/package.info" glibc)
    have=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc //p')
    if [ -n "$need" ] && [ -n "$have" ]; then
        printf '%s %s\n' "$need" "$have" |
            awk -F'[. ]' '{ exit $1 * 1000 + $2 > $3 * 1000 + $4 }' ||
            refuse "the libraries need glibc $need, this machine has $have"
    fi
}

# Sets left_out: the operator types that CANN's own ops-info already has for one of our chips.
find_overridden() {
    left_out=
    [ -n "$no_override" ] || return 0
    cann=${ASCEND_OPP_PATH:-${ASCEND_HOME_PATH:+$ASCEND_HOME_PATH/opp}}
    builtin=$cann/built-in/$tbe/config
    if [ -z "$cann" ] || [ ! -d "$builtin" ]; then
        die 2 "--no-override: no operators of CANN found in '$builtin'; set ASCEND_OPP_PATH"
    fi
    for type in $(field "$files/package.info" ops); do
        for soc in $(field "$files/package.info" soc); do
            [ -d "$builtin/$soc" ] || continue
            if cat "$builtin/$soc"/*.json 2>/dev/null | grep -q "\"$type\"[[:space:]]*:"; then
                left_out="$left_out $type"
                break
            fi
        done
    done
    left_out=${left_out# }
}

# exchange A B: swaps two directories in one step, with the helper that lies in A.
exchange() { "$1/scripts/$arch/exchange" "$1" "$2" 2>/dev/null; }

# Puts the stage in the target's place.
put_in_place() {
    if [ ! -d "$target" ] || rmdir "$target" 2>/dev/null; then
        mv "$stage" "$target" || die 3 "cannot create $target"
        phase=placed
    elif exchange "$stage" "$target"; then
        phase=swapped
    else
        # This file system cannot exchange: two steps, and clean_leftovers() knows about the gap.
        mv "$target" "$vendors/.$vendor.old" || die 3 "cannot replace $target"
        phase=moved
        mv "$stage" "$target" || die 3 "cannot create $target"
    fi
}

# Back to where we were. Runs at every exit; phase says how far we came.
undo() {
    trap '' HUP INT TERM
    case $phase in
    placed) mv "$target" "$stage" ;;
    swapped) exchange "$target" "$stage" ;;
    moved)
        [ ! -e "$target" ] || mv "$target" "$stage"
        mv "$vendors/.$vendor.old" "$target"
        ;;
    finished) return 0 ;;
    esac
    [ -z "$stage" ] || rm -rf "$stage"
    rm -f "$vendors/.$vendor.config.$$"
    unmake
    [ "$phase" = start ] || printf 'ascgrad: nothing was changed\n' >&2
}

preview() {
    say "would install $version in $target${old_version:+ in place of $old_version}"
    [ -z "$left_out" ] || say "would leave out, because CANN has them: $left_out"
    manifest "$files" | while IFS= read -r file; do say "  $target/$file"; done
    [ "$own" = yes ] || say "would put $vendor first in load_priority of $config"
    say "dry run: nothing was changed"
}

report() {
    say "installed $version in $target${old_version:+ in place of $old_version}"
    say "operators:$(for type in $(field "$files/package.info" ops); do
        case " $left_out " in *" $type "*) ;; *) printf ' %s' "$type" ;; esac
    done)"
    [ -z "$left_out" ] || say "left to CANN's own implementation: $left_out"
    say "chips: $(field "$files/package.info" soc); machine: $arch"
    if [ -n "$old_ir" ] && [ "$old_ir" != "$(field "$files/package.info" ir_sha256)" ]; then
        warn "the operators' IR differs from that of $old_version: rebuild saved models (.om)"
    fi
    case $target in
    *[!0-9A-Za-z_/.-]*)
        warn "GE compiles kernels only from paths of letters, digits and _-./ ; $target has others"
        ;;
    esac
    if [ "$own" = no ] && [ ! -d "$root/built-in" ]; then
        warn "$root has no built-in/: GE then ignores custom packages. Is it CANN's opp directory?"
    fi
    if [ "$own" = yes ]; then
        say "next, before any program that uses CANN: . $(quote "$target/bin/set_env.bash")"
    else
        say "TensorFlow 2 also needs: . $(quote "$target/bin/set_env.bash")"
    fi
    if "$target/bin/ascgrad" version >/dev/null 2>&1; then
        say "to check the installation: $(quote "$target/bin/ascgrad") doctor"
    else # the libraries ask for less than a program does
        warn "$target/bin/ascgrad does not run here: there is no doctor." \
            "The operators do not need it. A package built on this system would have it."
    fi
    [ -n "$quiet" ] || echo SUCCESS
}

choose_root "$install_path"
if [ -n "$uninstall" ]; then
    check_target
    if [ -n "$dry_run" ]; then
        say "would remove $target; dry run: nothing was changed"
        exit 0
    fi
    if [ -d "$root" ]; then
        lock
        clean_leftovers
    fi
    remove_package
    exit 0
fi

phase=start
stage=
old_version=
old_ir=
check_machine
check_target
find_overridden
version=$(field "$files/package.info" version)
if is_ours "$target"; then
    old_version=$(field "$target/package.info" version)
    old_ir=$(field "$target/package.info" ir_sha256)
fi
if [ -n "$dry_run" ]; then
    preview
    exit 0
fi

trap undo EXIT
trap 'exit 3' HUP INT TERM
lock
check_target
if is_ours "$target"; then
    made=$made$(field "$target/package.info" made)$newline
fi
if [ ! -d "$vendors" ]; then
    mkdir -m "$dir_mode" "$vendors" || die 3 "cannot create $vendors"
    made=$vendors$newline$made
fi
clean_leftovers
if [ "$own" = no ] && [ ! -e "$config" ]; then
    made=$config$newline$made
fi
stage=$(mktemp -d "$vendors/.$vendor.new.XXXXXX") || die 3 "cannot write in $vendors"
phase=staging
build_stage
put_in_place
if [ "$own" = no ] && ! config_add; then
    die 3 "cannot put $vendor first in $config"
fi
last_phase=$phase
phase=finished
case $last_phase in
swapped) rm -rf "$stage" ;;
moved) rm -rf "$vendors/.$vendor.old" ;;
esac
is_ours "$target" || die 3 "$target is not there after all"
report

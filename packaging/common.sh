# SPDX-License-Identifier: Apache-2.0
# What install.sh and uninstall.sh share: messages, choosing and checking the target, the lock,
# config.ini, removal.
# shellcheck shell=sh disable=SC2034
vendor=ascgrad
tbe=op_impl/ai_core/tbe
quiet=
force=
for_all=
made=
newline='
'

say() { [ -n "$quiet" ] || printf 'ascgrad: %s\n' "$*"; }
warn() { printf 'ascgrad: warning: %s\n' "$*" >&2; }

# die STATUS SENTENCE. Statuses: 1 wrong usage, 2 refused, 3 failed.
die() {
    die_status=$1
    shift
    printf 'ascgrad: %s\n' "$*" >&2
    exit "$die_status"
}

# A refusal that the user may override.
refuse() {
    [ -n "$force" ] || die 2 "$* (--force installs all the same)"
    warn "$*"
}

# A word that the shell reads back as the same text.
quote() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

# field FILE NAME: the value of a NAME=value line.
field() { sed -n "s/^$2=//p" "$1"; }

is_ours() { [ -f "$1/package.info" ] && grep -qx 'package=ascgrad-opp' "$1/package.info"; }

# choose_root INSTALL_PATH: sets root, the directory that holds vendors/, and own: yes if it is a
# directory of the user's, no if it is the opp directory of CANN, whose config.ini we then edit.
choose_root() {
    if [ -n "$1" ]; then
        own=yes
        root=$1
        root_from=--install-path
    elif [ -n "${ASCEND_OPP_PATH:-}" ]; then
        own=no
        root=$ASCEND_OPP_PATH
        root_from=ASCEND_OPP_PATH
    elif [ -n "${ASCEND_HOME_PATH:-}" ]; then
        own=no
        root=$ASCEND_HOME_PATH/opp
        root_from=ASCEND_HOME_PATH
    else
        ascend=/usr/local/Ascend
        for guess in "$ascend/cann" "$ascend/ascend-toolkit/latest" "${HOME:-}/Ascend/cann"; do
            [ ! -d "$guess/opp" ] || die 2 "ASCEND_OPP_PATH is not set. Run: . $guess/set_env.sh"
        done
        die 2 "neither ASCEND_OPP_PATH nor ASCEND_HOME_PATH is set." \
            "Source CANN's set_env.sh, or use --install-path=DIR"
    fi
    case $root/ in
    *"$newline"*) die 2 "$root_from contains a line break" ;;
    *:*) die 2 "$root_from contains a colon, which ASCEND_CUSTOM_OPP_PATH cannot carry: '$root'" ;;
    */../*) die 2 "$root_from contains '..': '$root'" ;;
    /*) ;;
    *) die 2 "$root_from must be an absolute path, not '$root'" ;;
    esac
    while [ "$root" != "${root%/}" ]; do root=${root%/}; done
    [ -n "$root" ] || die 2 "$root_from is the root directory"
    vendors=$root/vendors
    target=$vendors/$vendor
    config=$vendors/config.ini
}

# Refuses what can be refused without writing. Sets above, the deepest existing directory, and the
# modes of what we shall write: as readable as the directory above, or for all.
check_target() {
    [ "$own" = yes ] || [ -d "$root" ] || die 2 "$root_from: $root is not a directory"
    [ ! -L "$vendors" ] || die 2 "$vendors is a symbolic link; use --install-path= with its parent"
    [ ! -L "$target" ] || die 2 "$target is a symbolic link; remove it first"
    above=$vendors
    until [ -d "$above" ]; do
        [ ! -e "$above" ] || die 2 "$above is not a directory"
        above=$(dirname "$above")
    done
    [ ! -e "$target" ] || [ -d "$target" ] || die 2 "$target is not a directory"
    if [ ! -w "$above" ] || [ ! -x "$above" ]; then
        die 2 "user $(id -un) may not write in $above; install as its owner," \
            "or elsewhere with --install-path=DIR"
    fi
    check_ancestors
    if [ -d "$target" ] && [ -n "$(ls -A "$target")" ] && ! is_ours "$target"; then
        die 2 "$target was not made by this installer (no package.info of ours); move it away first"
    fi
    dir_mode=755
    file_mode=644
    if [ -z "$(find "$above" -prune -perm -0005)" ]; then
        if [ -z "$for_all" ]; then
            dir_mode=750
            file_mode=640
        else
            warn "other users cannot enter $above; to let them: chmod o+rx $(quote "$above")"
        fi
    fi
}

# No directory on the way may let another user swap directories under us.
check_ancestors() {
    real=$(cd -P "$above" && pwd -P) || die 2 "cannot enter $above"
    set -- /
    walk=${real#/}/
    step=
    while [ -n "${walk%/}" ]; do
        step=$step/${walk%%/*}
        walk=${walk#*/}
        set -- "$@" "$step"
    done
    open=$(find "$@" -prune -type d -perm -0002 ! -perm -1000 2>/dev/null | head -n 1)
    [ -z "$open" ] || refuse "every user may write in $open; repair it with chmod o-w"
}

# The lock is the root directory itself: no lock file stays behind, and the kernel releases it
# whatever happens.
lock() {
    command -v flock >/dev/null || die 2 "flock (package util-linux) is needed"
    while :; do
        [ -d "$root" ] || make_root
        exec 9<"$root" || die 3 "cannot open $root"
        flock -w 300 9 || die 3 "another installation has held $root for five minutes"
        # The directory may have been removed, and made again, while we waited.
        here=$(ls -Ldi "$root" 2>/dev/null) && there=$(ls -Ldi /proc/self/fd/9) &&
            [ "${here%%/*}" = "${there%%/*}" ] && break
        exec 9<&-
    done
}

# mkdir -p that remembers what it made, so that uninstalling can take it away again.
make_root() {
    parent=$root
    until [ -d "$parent" ]; do
        made=$made$parent$newline
        parent=$(dirname "$parent")
    done
    (umask 022 && mkdir -p "$root") || die 3 "cannot create $root"
    printf '%s' "$made" | while IFS= read -r parent; do chmod "$dir_mode" "$parent"; done
}

# What an interrupted run left behind. Called under the lock, so nobody is using it.
clean_leftovers() {
    if [ -d "$vendors/.$vendor.old" ] && [ ! -e "$target" ]; then
        mv "$vendors/.$vendor.old" "$target"
    fi
    for left in "$vendors/.$vendor.new."* "$vendors/.$vendor.old" \
        "$vendors/.$vendor.gone" "$vendors/.$vendor.config."*; do
        [ ! -e "$left" ] || rm -rf "$left"
    done
}

# priorities: the names in load_priority, one per line, whatever line it is on.
priorities() {
    [ -f "$config" ] || return 0
    tr -d '\r' <"$config" | sed -n 's/^[[:space:]]*load_priority[[:space:]]*=//p' | tr ',' '\n' |
        sed 's/^[[:space:]]*//; s/[[:space:]]*$//; /^$/d'
}

other_lines() { tr -d '\r' <"$config" | sed '/^[[:space:]]*load_priority[[:space:]]*=/d'; }

# write_config LINE: replaces config.ini in one step; LINE comes first because GE reads no other.
# An existing file keeps its owner and mode.
write_config() {
    fresh=$vendors/.$vendor.config.$$
    if [ -e "$config" ]; then
        rest=$(other_lines)
        cp -p "$config" "$fresh" || return 1
    else
        rest=
        : >"$fresh" || return 1
        chmod "$file_mode" "$fresh" || return 1
    fi
    printf '%s\n' "$1" ${rest:+"$rest"} >"$fresh" || return 1
    mv -f "$fresh" "$config"
}

# Puts us first; the others keep their order.
config_add() {
    others=$(priorities | grep -vxF "$vendor" | awk '!seen[$0]++')
    line=load_priority=$(printf '%s\n' "$vendor" ${others:+"$others"} | paste -sd, -)
    case $others in
    *=*)
        warn "$config: load_priority has a second '='; GE rejects such a line. Repair it first"
        return 1
        ;;
    esac
    if [ ! -f "$config" ] || [ "$(head -n 1 "$config")" != "$line" ]; then
        write_config "$line" || return 1
    fi
    [ -z "$for_all" ] || chmod a+r "$config" || return 1
    [ "$(head -n 1 "$config")" = "$line" ]
}

# config_remove MADE_BY_US: takes us out; removes the file if we made it and nothing else is in it.
config_remove() {
    priorities | grep -qxF "$vendor" || return 0
    others=$(priorities | grep -vxF "$vendor" | paste -sd, -)
    if [ -n "$1" ] && [ -z "$others$(other_lines)" ]; then
        rm -f "$config"
    else
        write_config "load_priority=$others"
    fi
}

# manifest DIR: the files and links that the package put into DIR, sorted.
manifest() {
    {
        sed -n 's/^[0-9a-f]\{64\}  //p; s/^link \([^ ]*\) .*/\1/p' "$1/package.info"
        echo package.info
    } | LC_ALL=C sort
}

# strangers DIR: what is in DIR but not in its manifest. Bytecode of our own launchers is ours.
strangers() {
    {
        manifest "$1" | sed 's/^/m/'
        (cd "$1" && find . ! -type d) | sed 's,^\./,f,' |
            grep -v "^f$tbe/${vendor}_impl/.*__pycache__/[^/]*\.pyc\$"
    } | awk '{ name = substr($0, 2) } /^m/ { ours[name] = 1; next } !(name in ours) { print name }'
}

# remove_package: takes the package out of $target. Files that are not ours stay where they are.
remove_package() {
    if [ ! -e "$target" ]; then
        say "not installed in $vendors: nothing to remove"
        return 0
    fi
    made=$(field "$target/package.info" made)
    version=$(field "$target/package.info" version)
    config_remove "$(printf '%s\n' "$made" | grep -xF "$config")" ||
        die 3 "cannot edit $config; nothing was removed"
    foreign=$(strangers "$target")
    if [ -z "$foreign" ]; then
        # From one moment to the next it is no longer there; clearing it away may take its time.
        mv "$target" "$vendors/.$vendor.gone" || die 3 "cannot remove $target"
        rm -rf "$vendors/.$vendor.gone" || warn "could not delete all of $vendors/.$vendor.gone"
    else
        remove_files
        warn "left in $target, because ascgrad did not put it there:$newline$foreign"
    fi
    unmake
    say "removed $version from $target"
}

# Deletes what the manifest names, package.info last so that a second try can go on.
remove_files() {
    (
        cd "$target" || exit 3
        find "$tbe/${vendor}_impl" -name '*.pyc' -path '*/__pycache__/*' -exec rm -f {} +
        manifest . | grep -vx package.info | xargs rm -f
        find . -depth -type d -exec rmdir {} + 2>/dev/null
        rm -f package.info
    )
}

# Removes the directories that we made, deepest first, if they are empty.
unmake() {
    printf '%s\n' "$made" | while IFS= read -r parent; do
        [ ! -d "$parent" ] || rmdir "$parent" 2>/dev/null
    done
}

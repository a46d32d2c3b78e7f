#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install, upgrade, uninstall: what is written, with which modes, and that nothing else is touched.
# Under four umasks, as root and as an ordinary user.
. "$(dirname "$0")/lib.sh"
base=$fix/install
mkdir -p "$base"

# neighbours OPP: everything below OPP except ours and config.ini.
neighbours() {
    snapshot "$1" | grep -v -e '^\./vendors/ascgrad[ /]' -e '  \./vendors/ascgrad/' -e config.ini
}

# round RUNNER UMASK
round() {
    runner=$1 mask=$2
    where="$runner, umask $mask"
    cann=$base/$runner$mask
    make_cann "$cann"
    opp=$cann/opp
    # An ordinary user owns this CANN, but its config.ini may stay as closed as it was.
    [ "$runner" = plain ] || [ "$(id -u)" != 0 ] || chown -R 65534:65534 "$cann"
    before=$(neighbours "$opp")
    run() (
        umask "$mask"
        unset ASCEND_HOME_PATH
        ASCEND_OPP_PATH=$opp
        export ASCEND_OPP_PATH
        if [ "$runner" = plain ]; then sh "$@"; else as_user sh "$@"; fi
    )
    expect "install ($where)" run "$fix/one.run"
    said SUCCESS
    said doctor
    expect "is whole ($where)" usable "$opp"
    same "config.ini ($where)" "$(cat "$opp/vendors/config.ini")" \
        "load_priority=ascgrad,ascgrad2,ascgrad-x,ascgrad.x,xascgrad"
    same "mode of config.ini ($where)" "$(stat -c %a "$opp/vendors/config.ini")" 640
    same "neighbours ($where)" "$(neighbours "$opp")" "$before"
    same "modes of directories ($where)" \
        "$(find "$opp/vendors/ascgrad" -type d ! -perm 755 | wc -l)" 0
    same "modes of files ($where)" "$(find "$opp/vendors/ascgrad" -type f ! -perm 644 \
        ! -path '*/bin/*' ! -path '*/scripts/*' | wc -l)" 0
    same "no hidden rest ($where)" "$(find "$opp/vendors" -name '.?*' | wc -l)" 0
    ours=$opp/vendors/ascgrad
    same "link ($where)" "$(readlink "$ours/op_impl/ai_core/tbe/op_tiling/liboptiling.so")" \
        "lib/linux/$(uname -m)/libcust_opmaster_rt2.0.so"
    same "command ($where)" "$(sh "$ours/bin/ascgrad")" "$(uname -m)"
    same "parsers ($where)" "$(cat "$ours/framework/tensorflow/libcust_tf_parsers.so")" \
        "parsers for $(uname -m)"
    first=$(snapshot "$opp")
    expect "the same again ($where)" run "$fix/one.run" --quiet --no-compile
    same "silent when quiet ($where)" "$(cat "$fix/out.$$")" ""
    same "idempotent ($where)" "$(snapshot "$opp")" "$first"

    echo mine >"$opp/vendors/ascgrad/op_proto/mine.txt"
    expect "upgrade ($where)" run "$fix/two.run"
    said "in place of 1.0.0"
    said "keeping op_proto/mine.txt"
    same "version ($where)" "$(version_in "$opp")" 2.0.0
    expect "is whole after the upgrade ($where)" usable "$opp"
    same "nothing stale ($where)" "$(find "$opp" -name 'gone_in_2*' | wc -l)" 0
    same "a stranger's file survives ($where)" "$(cat "$ours/op_proto/mine.txt")" mine
    same "neighbours after the upgrade ($where)" "$(neighbours "$opp")" "$before"

    rm "$opp/vendors/ascgrad/op_proto/mine.txt"
    cache=$opp/vendors/ascgrad/op_impl/ai_core/tbe/ascgrad_impl/dynamic/__pycache__
    run -c 'mkdir "$0"; echo x >"$0/old.cpython-39.pyc"' "$cache"
    expect "uninstall ($where)" run "$opp/vendors/ascgrad/scripts/uninstall.sh"
    same "config.ini at the end ($where)" "$(cat "$opp/vendors/config.ini")" \
        "load_priority=ascgrad2,ascgrad-x,ascgrad.x,xascgrad"
    expect "something is left ($where)" [ ! -e "$opp/vendors/ascgrad" ]
    same "neighbours at the end ($where)" "$(neighbours "$opp")" "$before"
    expect "uninstall twice ($where)" run "$fix/one.run" --uninstall
    said "nothing to remove"
}

for mask in 000 022 027 077; do
    round plain "$mask"
    [ "$(id -u)" != 0 ] || round user "$mask"
done

# A fresh CANN has no vendors/ at all: afterwards it is as before.
mkdir -p "$base/fresh/opp/built-in"
chmod 755 "$base/fresh" "$base/fresh/opp"
before=$(snapshot "$base/fresh")
ASCEND_HOME_PATH=$base/fresh
export ASCEND_HOME_PATH
expect "install by ASCEND_HOME_PATH" sh "$fix/one.run"
same "config.ini is made" "$(cat "$base/fresh/opp/vendors/config.ini")" "load_priority=ascgrad"
same "readable like CANN" "$(stat -c %a "$base/fresh/opp/vendors/config.ini")" 644
expect "upgrade there" sh "$fix/two.run"
expect "uninstall by the .run" sh "$fix/two.run" --uninstall
same "nothing is left" "$(snapshot "$base/fresh")" "$before"
chmod 750 "$base/fresh/opp"
expect "install into a closed CANN" sh "$fix/one.run"
same "as closed as the directory above" "$(stat -c %a "$base/fresh/opp/vendors/ascgrad")" 750
same "files too" "$(stat -c %a "$base/fresh/opp/vendors/ascgrad/package.info")" 640
expect "install for all" sh "$fix/one.run" --install-for-all
said "other users cannot enter"
same "open for all" "$(find "$base/fresh/opp/vendors/ascgrad" -type d ! -perm 755 | wc -l)" 0
unset ASCEND_HOME_PATH

# A file of somebody else stays when we go.
make_cann "$base/cann"
ASCEND_OPP_PATH=$base/cann/opp
export ASCEND_OPP_PATH
expect "install for all" sh "$fix/one.run" --install-for-all
same "config.ini for all" "$(stat -c %a "$base/cann/opp/vendors/config.ini")" 644
echo mine >"$base/cann/opp/vendors/ascgrad/op_proto/mine.txt"
expect "uninstall around a stranger" sh "$fix/one.run" --uninstall
said "op_proto/mine.txt"
same "only the stranger is left" "$(cd "$base/cann/opp/vendors/ascgrad" && find . ! -type d)" \
    ./op_proto/mine.txt
expect "install beside the stranger" sh "$fix/one.run"
said "keeping op_proto/mine.txt"
same "the stranger is still there" "$(cat "$base/cann/opp/vendors/ascgrad/op_proto/mine.txt")" mine
expect "is whole beside the stranger" usable "$base/cann/opp"
make_cann "$base/cann"
mkdir -p "$base/cann/opp/vendors/ascgrad/op_proto/inc"
echo theirs >"$base/cann/opp/vendors/ascgrad/op_proto/inc/op_proto.h"
status 2 "a directory that is not ours, with a file named like one of ours" sh "$fix/one.run"
said "not made by this installer"
same "it stays" "$(cat "$base/cann/opp/vendors/ascgrad/op_proto/inc/op_proto.h")" theirs

# --dry-run, --extract, --noexec, --list, --info, --check, --version, --help write nothing but DIR.
make_cann "$base/cann"
before=$(snapshot "$base/cann")
for option in --dry-run --list --info --check --version --help --noexec; do
    expect "$option" sh "$fix/one.run" $option
    same "$option changes nothing" "$(snapshot "$base/cann")" "$before"
done
expect "--dry-run" sh "$fix/one.run" --dry-run
said "vendors/ascgrad/op_proto/inc/ascgrad_ops.h"
expect "--info" sh "$fix/one.run" --info
said "ascend910_93"
expect "--extract --noexec" sh "$fix/one.run" --extract="$base/x y" --noexec
same "--extract --noexec installs nothing" "$(snapshot "$base/cann")" "$before"
expect "--extract" [ -f "$base/x y/packages/vendors/ascgrad/package.info" ]
status 2 "--extract into a full directory" sh "$fix/one.run" --extract="$base/x y" --noexec
expect "--extract alone installs" sh "$fix/one.run" --extract="$base/z"
expect "is whole" usable "$base/cann/opp"

# set_env.bash: in front, once, no empty element, in every shell, under set -eu.
ours=$base/cann/opp/vendors/ascgrad
script=$ours/bin/set_env.bash
show='. "$0"; . "$0"; echo "$ASCEND_CUSTOM_OPP_PATH"'
for shell in dash bash zsh "busybox sh"; do
    command -v "${shell%% *}" >/dev/null || continue
    for value in "" ":" "/a:" ":/a::/b:" "/a:$ours" "$ours:/a"; do
        # shellcheck disable=SC2086
        result=$(ASCEND_CUSTOM_OPP_PATH=$value $shell -euc "$show" "$script")
        want=$ours
        case $value in */a*) want=$want:/a ;; esac
        case $value in */b*) want=$want:/b ;; esac
        same "set_env.bash in $shell with '$value'" "$result" "$want"
    done
    # shellcheck disable=SC2086
    result=$(unset ASCEND_CUSTOM_OPP_PATH && $shell -euc "$show" "$script")
    same "set_env.bash in $shell with nothing" "$result" "$ours"
done
finish

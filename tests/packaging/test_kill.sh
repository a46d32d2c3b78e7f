#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 before the commands of a first installation, an upgrade and an uninstallation, one by one:
# what is there afterwards is the old or the new version, whole, and the next run finishes the job.
. "$(dirname "$0")/lib.sh"
base=$fix/kill
mkdir -p "$base/shim"
gcc -O1 "$tests/shim.c" -o "$base/shim/shim"
for name in awk cat chmod cp dd dirname find flock getconf grep head id ln ls mkdir mktemp mv \
    paste readlink rm rmdir sed sha256sum sort tail tr uname xargs; do
    ln "$base/shim/shim" "$base/shim/$name"
done

# killed STOP COMMAND...: runs it with the shims in front, and no farther than call number STOP.
killed() {
    stop=$1
    shift
    rm -f "$base/count"
    env "PATH=$base/shim:$PATH" "SHIM_COUNT=$base/count" "SHIM_STOP=$stop" "ASCEND_OPP_PATH=$opp" \
        "TMPDIR=$base/tmp" setsid -w "$@" >/dev/null 2>&1
}

# look WHAT VERSIONS: the state after a kill. VERSIONS are the acceptable ones; - is none.
look() {
    have=-
    if [ -e "$opp/vendors/ascgrad" ]; then
        have=$(version_in "$opp")
        usable "$opp" >/dev/null 2>&1 || fail "$1: $have is not whole"
    fi
    case " $2 " in
    *" $have "*) pass ;;
    *) fail "$1: found version $have" ;;
    esac
    case $(head -n 1 "$opp/vendors/config.ini") in
    load_priority=ascgrad2,ascgrad-x,ascgrad.x,xascgrad)
        [ -n "$fresh" ] || fail "$1: not listed"
        ;;
    load_priority=ascgrad,ascgrad2,ascgrad-x,ascgrad.x,xascgrad) ;;
    *) fail "$1: config.ini is $(cat "$opp/vendors/config.ini")" ;;
    esac
}

# sweep WHAT START VERSIONS AFTER STEP COMMAND...: kills at every STEPth call until the last.
sweep() {
    what=$1 start=$2 versions=$3 after=$4 step=$5
    shift 5
    opp=$base/try/opp
    stop=1
    while :; do
        rm -rf "$base/try"
        mkdir -p "$base/tmp"
        cp -a "$start" "$base/try"
        killed $stop "$@"
        ended=$?
        look "$what, killed at call $stop" "$versions"
        if [ $ended = 0 ] || [ $((stop % 7)) = 0 ]; then
            expect "$what again after $stop" env "ASCEND_OPP_PATH=$opp" sh "$@"
            same "$what in the end after $stop" \
                "$([ ! -e "$opp/vendors/ascgrad" ] || version_in "$opp")" "$after"
            same "$what leaves nothing after $stop" \
                "$(find "$opp/vendors" -name '.ascgrad*' | wc -l)" 0
        fi
        rm -rf "$base/tmp"
        [ $ended != 0 ] || break
        stop=$((stop + step))
    done
    expect "$what: only $stop calls, the shims do not work" [ "$stop" -gt 20 ]
}

make_cann "$base/bare"
make_cann "$base/one"
ASCEND_OPP_PATH=$base/one/opp sh "$fix/one.run" --quiet
fresh=yes
sweep "first installation" "$base/bare" "- 1.0.0" 1.0.0 2 "$fix/one/install.sh"
fresh=
sweep "upgrade" "$base/one" "1.0.0 2.0.0" 2.0.0 1 "$fix/two/install.sh"
fresh=yes
sweep "uninstallation" "$base/one" "1.0.0 -" "" 1 "$fix/two/install.sh" --uninstall

# A polite signal backs out at once.
rm -rf "$base/try"
cp -a "$base/one" "$base/try"
opp=$base/try/opp
before=$(snapshot "$opp")
printf '#!/bin/sh\nkill -TERM $PPID\nsleep 1\n' >"$base/sha256sum"
chmod 755 "$base/sha256sum"
status 3 "SIGTERM in the middle" env "PATH=$base:$PATH" "ASCEND_OPP_PATH=$opp" \
    sh "$fix/two/install.sh"
same "as before" "$(snapshot "$opp")" "$before"
# So does a full disk.
printf '#!/bin/sh\n/usr/bin/cp "$@"\necho "cp: no space left" >&2\nexit 1\n' >"$base/cp"
chmod 755 "$base/cp"
rm "$base/sha256sum"
status 3 "a full disk" env "PATH=$base:$PATH" "ASCEND_OPP_PATH=$opp" \
    sh "$fix/two/install.sh"
same "as before the full disk" "$(snapshot "$opp")" "$before"
# Without the exchange helper an upgrade takes two renames, and still backs out.
rm "$base/cp"
cp -r "$fix/two" "$base/two"
rm -r "$base/two/packages/vendors/ascgrad/scripts/$(uname -m)"
grep -v "scripts/$(uname -m)/exchange" "$fix/two/packages/vendors/ascgrad/package.info" \
    >"$base/two/packages/vendors/ascgrad/package.info"
expect "upgrade without the helper" env "ASCEND_OPP_PATH=$opp" sh "$base/two/install.sh"
same "done in two steps" "$(version_in "$opp")" 2.0.0
same "nothing hidden is left" "$(find "$opp/vendors" -name '.ascgrad*' | wc -l)" 0
echo "load_priority=ascgrad,a=b" >"$opp/vendors/config.ini"
before=$(snapshot "$opp")
status 3 "failing without the helper" env "ASCEND_OPP_PATH=$opp" sh "$base/two/install.sh"
same "as before, without the helper" "$(snapshot "$opp")" "$before"
finish

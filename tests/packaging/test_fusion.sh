#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The graph pass lies where GE looks only if it is wanted, and then only this machine's: at installation, by
# `ascgrad fusion`, through upgrades, and gone after uninstalling. doctor shows it and opens it as GE does.
. "$(dirname "$0")/lib.sh"
base=$fix/fusion
mkdir -p "$base"
native=$(uname -m)

begin() {
    rm -rf "$base/cann"
    make_cann "$base/cann"
    opp=$base/cann/opp
    ours=$opp/vendors/ascgrad
    passes=$ours/custom_fusion_passes
    export ASCEND_OPP_PATH="$opp"
}

# is on|off WHEN
is() {
    if [ "$1" = on ]; then
        same "$2: what GE opens" "$(ls "$passes" 2>/dev/null)" libascgrad_fusion.so
        cmp -s "$passes/libascgrad_fusion.so" "$fix/lib/$native/libascgrad_fusion.so" && pass ||
            fail "$2: not the pass of this machine"
        grep -q '  custom_fusion_passes/libascgrad_fusion.so$' "$ours/package.info" && pass ||
            fail "$2: package.info does not know of it"
    else
        [ ! -e "$passes" ] && pass || fail "$2: there is something in $passes"
    fi
    same "$2: status" "$("$ASCGRAD_BIN" fusion status --opp "$opp")" "graph pass: $1 ($ours)"
}

begin
status 0 "one.run" sh "$fix/one.run" --quiet
is off "installed"
status 0 "fusion on" "$ASCGRAD_BIN" fusion on --opp "$opp"
is on "switched on"
status 0 "fusion on" "$ASCGRAD_BIN" fusion on --opp "$opp"
is on "switched on twice"
status 0 "two.run" sh "$fix/two.run" --quiet
same "upgraded" "$(version_in "$opp")" 2.0.0
is on "upgraded"
status 0 "compile.sh" sh "$ours/scripts/compile.sh" --quiet
is on "compiled"
status 0 "fusion off" "$ASCGRAD_BIN" fusion off --opp "$opp"
is off "switched off"
same "switched off" "$(version_in "$opp")" 2.0.0
status 0 "two.run --fusion" sh "$fix/two.run" --quiet --fusion
is on "installed with --fusion"
LD_LIBRARY_PATH=$fix/lib/cann "$ASCGRAD_BIN" doctor --opp "$opp" >"$base/doctor" || :
grep -q 'graph pass: on, and opens as GE opens it' "$base/doctor" && pass || fail "doctor: $(cat "$base/doctor")"
status 0 "two.run --no-fusion" sh "$fix/two.run" --quiet --no-fusion
is off "installed with --no-fusion"
"$ASCGRAD_BIN" doctor --opp "$opp" >"$base/doctor" || :
grep -q 'graph pass: off' "$base/doctor" && pass || fail "doctor: $(cat "$base/doctor")"

# A pass that GE could not open: doctor says what that means, and the fix works.
status 0 "fusion on" "$ASCGRAD_BIN" fusion on --opp "$opp"
echo junk >"$passes/libascgrad_fusion.so"
"$ASCGRAD_BIN" doctor --opp "$opp" >"$base/doctor" && fail "doctor is content with junk" || pass
grep -q 'GE will not start, because it cannot open' "$base/doctor" && pass || fail "doctor: $(cat "$base/doctor")"
status 0 "fusion off" "$ASCGRAD_BIN" fusion off --opp "$opp"
is off "repaired"

status 0 "fusion on" "$ASCGRAD_BIN" fusion on --opp "$opp"
# The command of the package knows whose it is.
cp "$ASCGRAD_BIN" "$base/ascgrad"
mv "$base/ascgrad" "$ours/bin/$native/ascgrad"
same "its own package" "$(env -u ASCEND_OPP_PATH "$ours/bin/ascgrad" fusion status)" "graph pass: on ($ours)"
status 0 "uninstall.sh" sh "$ours/scripts/uninstall.sh" --quiet
[ ! -e "$ours" ] && pass || fail "uninstalling leaves $(find "$ours")"

status 2 "fusion status --opp base/nowhere" "$ASCGRAD_BIN" fusion status --opp "$base/nowhere"
status 1 "fusion perhaps" "$ASCGRAD_BIN" fusion perhaps
status 1 "one.run --fusion --no-fusion" sh "$fix/one.run" --quiet --fusion --no-fusion
status 2 "one.run --fusion --install-path=base/own" sh "$fix/one.run" --quiet --fusion --install-path="$base/own"
finish

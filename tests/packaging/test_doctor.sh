#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# doctor is content with a good installation, and finds each planted fault, says what it is and how
# to repair it. Where the repair is a command of ours, it is run, and doctor is content again.
# shellcheck disable=SC2046 # words of types
. "$(dirname "$0")/lib.sh"
base=$fix/doctor
mkdir -p "$base/good" "$base/bin"
make_cann "$base/good/cann"
ASCEND_OPP_PATH=$base/good/cann/opp sh "$fix/one.run" --quiet
rm -r "$base/good/cann/opp/vendors"/ascgrad[2.-]* "$base/good/cann/opp/vendors/xascgrad"
echo "load_priority=ascgrad" >"$base/good/cann/opp/vendors/config.ini"
chmod 644 "$base/good/cann/opp/vendors/config.ini"
printf '#!/bin/sh\necho "| 0     910B3               | OK |"\n' >"$base/bin/npu-smi"
printf '#!/bin/sh\n' >"$base/bin/bisheng"
chmod 755 "$base/bin"/*
chmod 755 "$base" "$base/good" "$base/good/cann"
native=$(uname -m)

doctor() {
    env "PATH=$base/bin:$PATH" "LD_LIBRARY_PATH=$libs" "ASCEND_OPP_PATH=$opp" \
        "ASCEND_CUSTOM_OPP_PATH=$custom" ASAN_OPTIONS=handle_segv=0 \
        "$ASCGRAD_BIN" doctor "$@"
}

# begin: a fresh copy of the good installation.
begin() {
    rm -rf "$base/now"
    cp -a "$base/good" "$base/now"
    opp=$base/now/cann/opp
    ours=$opp/vendors/ascgrad
    tbe=$ours/op_impl/ai_core/tbe
    custom=$ours
    libs=$fix/lib/cann
}

# fault NUMBER LEVEL WHAT SAYS FIX: doctor reports it on that level with that text and that repair.
fault() {
    want=2
    [ "$2" = FAIL ] || want=0
    status $want "fault $1, $3" doctor
    grep -F "[$2]" "$fix/out.$$" | grep -qF -- "$4" && pass ||
        fail "fault $1, $3: no [$2] with '$4': $(cat "$fix/out.$$")"
    grep -A1 -F "[$2]" "$fix/out.$$" | grep 'fix: ' | grep -qF -- "$5" && pass ||
        fail "fault $1, $3: no repair '$5': $(cat "$fix/out.$$")"
}

# repaired: what the installer says is the repair, is.
repaired() {
    expect "reinstall" env "ASCEND_OPP_PATH=$opp" sh "$fix/one.run" --quiet
    expect "well again" doctor
    grep -qF '[FAIL]' "$fix/out.$$" && fail "not repaired" || pass
}

begin
expect "a good installation" doctor
said "all well"
grep -qE '^\[(WARN|FAIL)\]' "$fix/out.$$" && fail "complains: $(cat "$fix/out.$$")" || pass
expect "--json" doctor --json
"${PYTHON:-/usr/bin/python3}" -c 'import json,sys
report = json.load(open(sys.argv[1]))
assert report["worst"] == "ok", report
assert all(c["level"] == "ok" and c["check"] and c["text"] for c in report["checks"])' \
    "$fix/out.$$" && pass || fail "--json"
status 1 "an unknown option" doctor --nonsense
expect "--opp" env "PATH=$base/bin:$PATH" "LD_LIBRARY_PATH=$libs" \
    "$ASCGRAD_BIN" doctor --opp "$opp/"
said "from --opp"

begin && mv "$opp" "$opp.away"
fault 1 FAIL "no opp directory" "is not there" "set_env.sh"
begin && rm -r "$opp/built-in"
fault 2 FAIL "not a CANN" "GE ignores every custom package" "set_env.sh"
begin && custom='' && rm "$opp/vendors/config.ini"
fault 3 FAIL "no config.ini" "GE does not see it" ".run"
repaired
begin && custom='' && printf '# mine\nload_priority=ascgrad\n' >"$opp/vendors/config.ini"
fault 4 FAIL "a comment in line 1" "reads only the first line" ".run"
repaired
begin && echo 'load_priority=ascgrad=x' >"$opp/vendors/config.ini"
fault 5 FAIL "two equal signs" "second '='" ".run"
begin && custom='' && mkdir "$opp/vendors/other" &&
    echo 'load_priority=other' >"$opp/vendors/config.ini"
fault 6 FAIL "not listed" "GE does not see it" ".run"
repaired
begin && custom='' && rm -r "$ours"
fault 7 FAIL "listed but gone" "is not there" ".run"
repaired
begin && custom='' && cp -r "$ours" "$opp/vendors/other" && rm "$opp/vendors/other/package.info" &&
    echo 'load_priority=other,ascgrad' >"$opp/vendors/config.ini"
fault 8 FAIL "another vendor with our operators first" "comes before ascgrad" "puts ascgrad before"
repaired
begin && rm "$ours/op_proto/lib/linux/$native/libcust_opsproto_rt2.0.so"
fault 9 FAIL "library missing" "is missing" ".run"
repaired
begin && libs=/nonexistent
fault 10 FAIL "CANN's libraries not found" "cannot open shared object" "set_env.sh"

# library FLAG TYPE...: replaces the tiling library by one with a fault; the manifest is made to agree.
library() {
    name=$tbe/op_tiling/lib/linux/$native/libcust_opmaster_rt2.0.so
    flag=$1
    shift
    gcc -shared -fPIC -O1 -D"$flag" -DTYPES="$(printf '"%s",' "$@")" "$tests/cann_lib.c" -o "$name"
    sum=$(sha256sum <"$name" | cut -d' ' -f1)
    sed -i "s,^[0-9a-f]*  \(.*op_tiling/lib/linux/$native/.*\),$sum  \1," "$ours/package.info"
}
# CANN has the first type, so it was left to it
offered() { types | sed 1d; }
begin && library FAULT_UNRESOLVED $(offered)
fault 11 FAIL "unresolved symbol" "undefined symbol" "--cann="
begin && library FAULT_NO_CT $(offered)
fault 12 FAIL "entry point missing" "GetRegisteredOpCtNum" ".run"
begin && library FAULT_NONE $(offered | sed '$d')
fault 13 FAIL "an operator missing in a library" "does not offer $(last_type)" ".run"
repaired
begin && library FAULT_CRASH $(offered)
fault 14 FAIL "a library that crashes" "signal" ".run"
begin && ln -sf lib/linux/other/x.so "$tbe/op_tiling/liboptiling.so"
fault 15 FAIL "liboptiling.so dangles" "leads nowhere" ".run"
repaired

# ops_info SED: edits the ops-info of 910b.
ops_info() { sed -i "$1" "$tbe/config/ascend910b/aic-ascend910b-ops-info.json"; }
begin && ops_info '3s/:/;/'
fault 16 FAIL "ops-info is not JSON" "is not JSON: line 3" ".run"
begin && ops_info '0,/"ND,ND,ND"/s//"ND,ND"/'
fault 17 FAIL "unequal lists" "entries where others have 3" ".run"
begin && ops_info '0,/"flag": "true"/s//"flag": "yes"/'
fault 18 FAIL "an unknown flag value" "is 'yes'" ".run"
begin && ops_info '0,/"shape": "all"/s//"shape": 3/'
fault 19 FAIL "a number where a string belongs" "is not a string" ".run"
begin && ops_info "s/\"$(last_type)\"/\"Other\"/"
fault 20 FAIL "an operator missing in ops-info" "has no $(last_type)" ".run"
repaired
begin && printf '#!/bin/sh\necho "| 0  310P3 |"\n' >"$base/bin/npu-smi"
fault 21 FAIL "a chip we do not serve" "ascend310p" "no ascgrad for this chip"
printf '#!/bin/sh\necho "| 0     910B3               | OK |"\n' >"$base/bin/npu-smi"
begin && echo 'custom_opp_compiler_version=8.1' >"$ours/version.info"
fault 22 FAIL "a version.info" "silently drops" "rm "
begin && chmod 640 "$tbe/config/ascend910b/aic-ascend910b-ops-info.json"
fault 23 WARN "closed to other users" "other users cannot use" "--install-for-all"
begin && chmod 666 "$ours/op_proto/inc/op_proto.h"
fault 24 WARN "open to everybody" "every user of this machine may change" "chmod o-w"
begin && kernel=$(kernel_of "$(last_type)") &&
    echo >>"$tbe/ascgrad_impl/ascendc/$kernel/$kernel.cpp"
fault 25 FAIL "a changed file" "was changed" ".run"
repaired
begin && mv "$ours" "$opp/vendors/renamed" && custom='' &&
    echo 'load_priority=renamed' >"$opp/vendors/config.ini"
fault 26 FAIL "renamed vendor directory" "must not be renamed" "call the directory ascgrad again"
begin && custom=''
fault 27 WARN "TensorFlow 2 would not find it" "TensorFlow 2" "set_env.bash"
begin && custom="$ours:"
fault 28 WARN "empty element" "empty element" "':'"
begin && custom="$opp:$ours"
fault 29 WARN "an opp directory in the list" "vendor's own directory" "vendors/<vendor>"
begin && mkdir "$opp/vendors/with space" && cp -r "$ours" "$opp/vendors/with space/ascgrad" &&
    custom="$opp/vendors/with space/ascgrad"
fault 30 FAIL "a path GE cannot use" "GE compiles kernels only from paths" "--install-path="
begin && mkdir "$opp/second" && cp -r "$ours" "$opp/second/ascgrad" &&
    custom="$ours:$opp/second/ascgrad"
fault 31 WARN "two of ours" "second ascgrad" "uninstall.sh"
begin && mv "$base/bin/bisheng" "$base/bin/away"
fault 32 WARN "no compiler" "bisheng" "set_env.sh"
mv "$base/bin/away" "$base/bin/bisheng"
begin && printf 'load_priority=ascgrad\r\n' >"$opp/vendors/config.ini"
fault 33 FAIL "a carriage return" "carriage return" ".run"
repaired
begin && printf '#!/bin/sh\n' >"$base/bin/npu-smi"
fault 34 WARN "no chip here" "names no chip" "where the NPU is"
unset opp custom
status 2 "nothing set at all" env -u ASCEND_OPP_PATH "$ASCGRAD_BIN" doctor
said "set_env.sh"
finish

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
# machine CHIP: npu-smi names this one.
machine() {
    printf '#!/bin/sh\necho "| 0     %s               | OK |"\n' "$1" >"$base/bin/npu-smi"
}
machine 910B3
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

# repaired [STATUS]: what the installer says is the repair, is; and it ends with that status.
repaired() {
    status "${1:-0}" "reinstall" env "ASCEND_OPP_PATH=$opp" sh "$fix/one.run" --quiet
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
begin && custom='' && mkdir -p "$opp/vendors/other/op_proto/lib/linux/$native" &&
    echo 'load_priority=other,ascgrad' >"$opp/vendors/config.ini" &&
    g++ -shared -fPIC -O1 -D_GLIBCXX_USE_CXX11_ABI=0 "-DPROTOS=PROTO($(last_type))" "-I$top/ge/include" \
        "$tests/cann_proto.cpp" -o "$opp/vendors/other/op_proto/lib/linux/$native/libother.so" \
        "-L$ASCGRAD_BUILD/stubs" -lregister
fault 8b FAIL "another vendor's IR first" "would read $(last_type) by the IR of other and run the kernel of ascgrad" \
    "puts ascgrad before"
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
    gcc -shared -fPIC -O1 -D"$flag" -DTYPES="$(printf '"%s",' "$@")" "$top/tests/cann/registry/tiling_library.c" -o "$name"
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
begin && machine 310P3
fault 21 FAIL "a chip we do not serve" "ascend310p" "no ascgrad for this chip"
machine 910B3
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
# The first generation of the 910 has kernels of few operators, and nobody may think it has more.
begin && machine 910A
expect "installing there" env "ASCEND_OPP_PATH=$opp" "PATH=$base/bin:$PATH" sh "$fix/one.run" --quiet
expect "the first generation of the 910" doctor
few=$(PYTHONPATH=$top/packaging python3 -B -c 'import socs, sys
print(*socs.read(sys.argv[1])["ascend910"].has)' "$top/packaging/socs.txt")
for type in $(types); do
    case " $few " in
    *" $type "*) want='ascgrad +nobody +no kernel binaries' ;;
    *) want='nobody +nobody +ascgrad has no kernel for ascend910' ;;
    esac
    grep -qE "^ascend910 +$type +$want" "$fix/out.$$" && pass ||
        fail "ascend910, $type: not '$want': $(cat "$fix/out.$$")"
done
machine 910B3

# well WHAT: doctor has nothing to complain of.
well() {
    expect "$1" doctor
    grep -qE '^\[(WARN|FAIL)\]' "$fix/out.$$" && fail "$1: complains: $(cat "$fix/out.$$")" || pass
}

# One directory, however it is spelt, is one package.
begin && ln -s cann "$base/now/latest" && custom="$base/now/latest/opp/vendors/ascgrad"
well "by a link"
begin && custom="$opp/vendors/./ascgrad:$ours"
well "by a dot"

# A package.info that is not whole vouches for nothing.
info=$base/good/cann/opp/vendors/ascgrad/package.info
lines=$(wc -l <"$info")
for cut in "$(sed -n '/^$/=' "$info" | head -n 1)" $((lines / 2)) $((lines - 1)); do
    begin && head -n "$cut" "$info" >"$ours/package.info"
    fault 35 FAIL "package.info cut behind line $cut" "is damaged" "mv $ours"
    mv "$ours" "$base/now" && repaired
done
begin && head -c 5000 "$info" >"$ours/package.info"
fault 36 FAIL "package.info cut in a line" "is cut short" "mv $ours"

begin && sed -i 's/^ops=.*/ops=/' "$ours/package.info"
fault 36 FAIL "package.info without operators" "names no operator types" "mv $ours"

# A colleague, and a closed directory on the way.
cp "$ASCGRAD_BIN" "$(dirname "$ASCGRAD_BIN")/probe" "$base/bin"
colleague() {
    as_user env "PATH=$base/bin:$PATH" "LD_LIBRARY_PATH=$libs" "ASCEND_OPP_PATH=$opp" \
        "ASCEND_CUSTOM_OPP_PATH=$custom" "$base/bin/ascgrad" doctor
}
if [ "$(id -u)" = 0 ]; then
    chmod -R a+rX "$base/bin" "$base/good"
    for closed in now/cann now/cann/opp now/cann/opp/vendors now/cann/opp/vendors/ascgrad; do
        begin && chmod 700 "$base/$closed"
        for custom in "$ours" ''; do
            status 2 "closed: $closed" colleague
            said "this user may not enter $base/$closed"
            said "chmod o+x $base/$closed"
            grep -qE 'is not there|set_env.sh|chmod a.r|not a directory' "$fix/out.$$" &&
                fail "closed: $closed: $(cat "$fix/out.$$")" || pass
        done
        chmod 755 "$base/$closed"
    done
    begin && chmod 600 "$opp/vendors/config.ini" && custom=''
    status 2 "a closed config.ini" colleague
    said "chmod a+r $opp/vendors/config.ini"
    begin && chmod 600 "$ours/package.info"
    status 2 "a closed package.info" colleague
    said "package.info: this user may not read it"
    begin && chmod 711 "$ours"
    expect "passable, but not to be listed" colleague
fi

# Nothing waits for a pipe.
begin && rm "$opp/vendors/config.ini" && mkfifo "$opp/vendors/config.ini"
status 2 "a pipe as config.ini" timeout 20 env "PATH=$base/bin:$PATH" "LD_LIBRARY_PATH=$libs" \
    "ASCEND_OPP_PATH=$opp" "$ASCGRAD_BIN" doctor
said "config.ini is not a file"
begin && rm "$ours/LICENSE" "$ours/op_proto/inc/op_proto.h" && mkfifo "$ours/LICENSE" \
    "$opp/scene.info" && ln -s LICENSE "$ours/op_proto/inc/op_proto.h"
status 2 "pipes in the package" timeout 20 env "PATH=$base/bin:$PATH" "LD_LIBRARY_PATH=$libs" \
    "ASCEND_OPP_PATH=$opp" "$ASCGRAD_BIN" doctor
said "LICENSE is not a file any more (2 of the files"

# config.ini: another name, a long line
begin && custom='' && echo 'load_priorityx=ascgrad' >"$opp/vendors/config.ini"
fault 37 FAIL "another key" "does not begin with load_priority=" ".run"
begin
names=
for letter in a b c d e f; do
    name=$(printf '%0240d' 0 | tr 0 $letter)
    mkdir "$opp/vendors/$name"
    names=$names$name,
done
echo "load_priority=${names}ascgrad" >"$opp/vendors/config.ini"
well "a line of more than 1023 bytes"

# paths: long, and not UTF-8
begin
deep=$base/now/$(printf '%0200d/' 1 2 3 4 5 6 7 8 9 10 11)
mkdir -p "$deep" && mv "$ours" "$deep/ascgrad" && rm "$opp/vendors/config.ini"
custom=${deep}ascgrad
well "a path of more than 2000 bytes"
begin
bad=$base/now/caf$(printf '\351\355\240\200')
mkdir "$bad" && cp -r "$ours" "$bad/ascgrad" && custom=$bad/ascgrad
status 2 "a path that is not UTF-8" doctor --json
cp "$fix/out.$$" "$base/report.json"
expect "and valid JSON" "${PYTHON:-/usr/bin/python3}" -c 'import json, sys
assert any("caf\ufffd" in c["text"] for c in json.load(open(sys.argv[1], encoding="utf-8"))["checks"])' \
    "$base/report.json"

# libraries: of another machine
begin
other_machine=$(case $native in x86_64) echo aarch64 ;; *) echo x86_64 ;; esac)
case $native in x86_64) code='\0267' ;; *) code='\0076' ;; esac
printf %b "$code" | dd bs=1 seek=18 conv=notrunc status=none \
    of="$ours/op_proto/lib/linux/$native/libcust_opsproto_rt2.0.so"
fault 38 FAIL "a library of another machine" "is for $other_machine, not for $native" ".run"
grep -F 'set_env.sh' "$fix/out.$$" && fail "advises to source set_env.sh" || pass

# Other vendors. vendor NAME TYPE...: one whose tiling library has these types, and no ops-info.
vendor() {
    dir=$opp/vendors/$1/op_impl/ai_core/tbe/op_tiling/lib/linux/$native
    shift
    mkdir -p "$dir"
    gcc -shared -fPIC -O1 -DTYPES="$(printf '"%s",' "$@")" "$top/tests/cann/registry/tiling_library.c" \
        -o "$dir/libcust_opmaster.so"
}
begin && custom='' && vendor other "$(last_type)" &&
    echo 'load_priority=other,ascgrad' >"$opp/vendors/config.ini"
fault 39 FAIL "another vendor's tiling before ours" \
    "GE graphs on ascend910b would run the kernel of ascgrad with the tiling of other: $(last_type)" \
    "puts ascgrad before other"
repaired
begin && vendor other "$(last_type)" && echo 'load_priority=ascgrad,other' >"$opp/vendors/config.ini"
well "another vendor's tiling behind ours"
begin && vendor other "$(first_type)" && echo 'load_priority=ascgrad,other' >"$opp/vendors/config.ini"
fault 40 FAIL "another vendor's tiling for CANN's kernel" \
    "GE graphs on ascend910b would run the kernel of CANN with the tiling of other: $(first_type)" \
    "take other out of"
begin && mkdir -p "$opp/vendors/other/framework/tensorflow" &&
    echo '{' >"$opp/vendors/other/framework/tensorflow/npu_supported_ops.json" &&
    echo 'load_priority=ascgrad,other' >"$opp/vendors/config.ini"
fault 41 WARN "another vendor's broken list" "npu_supported_ops.json is not JSON" "ask its maker"
begin && vendor other X && echo broken >"$dir/libcust_opmaster.so" &&
    echo 'load_priority=ascgrad,other' >"$opp/vendors/config.ini"
fault 42 WARN "another vendor's broken library" "nobody knows which operators" "ask its maker"

# cann_gets TYPE: a CANN that has them all, and a kernel of this one, as after an upgrade of CANN.
cann_gets() {
    at=$opp/built-in/op_impl/ai_core/tbe
    mkdir -p "$at/kernel/config/ascend910b"
    cp "$whole" "$at/config/ascend910b/aic-ascend910b-ops-info-more.json"
    printf '{"%s": {"simplifiedKeyMode": 0, "binaryList": [{"simplifiedKey": ["%s/d=0,p=1/1,2"], ' \
        "$1" "$1" >"$at/kernel/config/ascend910b/binary_info_config.json"
    echo '"binPath": "x.o", "jsonPath": "x.json"}]}}' \
        >>"$at/kernel/config/ascend910b/binary_info_config.json"
}
begin && cann_gets "$(last_type)"
fault 43 FAIL "half an override of ours" \
    "aclnn calls on ascend910b would run the kernel of CANN with the tiling of ascgrad: $(last_type)" \
    "scripts/compile.sh"
begin && cann_gets "$(last_type)" &&
    expect "--graph-only" env "ASCEND_OPP_PATH=$opp" "PATH=$base/bin:$PATH" sh "$fix/one.run" \
        --quiet --graph-only
fault 44 WARN "--graph-only" "ascgrad refuses them (--graph-only)" "scripts/compile.sh"
begin && cann_gets "$(last_type)"
repaired 4
grep -Eq "^ascend910b +$(last_type) +CANN +CANN +CANN has it on" "$fix/out.$$" && pass ||
    fail "does not say whose $(last_type) is: $(cat "$fix/out.$$")"

unset opp custom
status 2 "nothing set at all" env -u ASCEND_OPP_PATH "$ASCGRAD_BIN" doctor
said "set_env.sh"
finish

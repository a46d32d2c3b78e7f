#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The operators out of the wheel: python -m ascgrad opp install, compile, remove, status, path, and ASCGRAD_OPP. The package
# is used as pip lays it down, from a directory of its own.
. "$(dirname "$0")/lib.sh"
base=$fix/opp
mkdir -p "$base"
cp -r "$ASCGRAD_BUILD/python" "$base/site"
make_cann "$base/cann"
make_toolkit "$base/toolkit"
opp=$base/cann/opp
data=$base/data
first=$(first_type)
last=$(last_type)
XDG_DATA_HOME=$data PYTHONPATH=$base/site PYTHONDONTWRITEBYTECODE=1
export XDG_DATA_HOME PYTHONPATH PYTHONDONTWRITEBYTECODE

python() { "${PYTHON:-/usr/bin/python3}" "$@"; }
run() { python -m ascgrad opp "$@"; }
# kit COMMAND...: with CANN's toolkit in the environment.
# shellcheck disable=SC2030,SC2031 # for that command only
kit() (
    export "PATH=$base/toolkit/bin:$PATH" "ASCEND_HOME_PATH=$base/toolkit"
    "$@"
)
# one_sentence: the last command said one line.
one_sentence() { same "one sentence" "$(wc -l <"$fix/out.$$")" 1; }
# owner ROOT TYPE: who has the type in graphs and in aclnn calls.
owner() { sed -n "s/^owner $2 ge=\([^ ]*\) aclnn=\([^ ]*\) .*/\1 \2/p" "$1/vendors/ascgrad/package.info"; }
# in_ops_info ROOT TYPE: GE would find the type there.
in_ops_info() {
    python -c 'import json, sys
sys.exit(sys.argv[2] not in json.load(open(sys.argv[1])))' \
        "$1/vendors/ascgrad/op_impl/ai_core/tbe/config/ascend910b/aic-ascend910b-ops-info.json" "$2"
}

# Nothing is found: one sentence each, and nothing happens.
for verb in install "install --private" remove "remove --private" compile status path; do
    # shellcheck disable=SC2086 # words
    status 2 "no CANN: $verb" run $verb
    said "ASCEND_HOME_PATH"
    one_sentence
done
ASCEND_OPP_PATH=$base/nowhere
export ASCEND_OPP_PATH
status 2 "no directory" run status
said "$base/nowhere"
one_sentence
ASCEND_OPP_PATH=$opp
status 1 "nothing installed: path" run path
said "opp install"
one_sentence
status 1 "nothing installed: compile" run compile
one_sentence
status 1 "nothing installed: status" run status
said "in CANN: nothing in $opp/vendors/ascgrad"
expect "nothing installed: remove" run remove
said "nothing to remove"
status 1 "no verb" run
status 1 "an unknown verb" run upgrade
expect "help" run --help
said "--private"
status 1 "an option of nobody: install" run install --nonsense
said "unknown option: --nonsense"
status 1 "an option of nobody: path" run path --nonsense
same "nothing was made" "$(find "$data" 2>/dev/null | wc -l)" 0

# Into CANN, as the .run does it, and out again.
before=$(snapshot "$base/cann")
expect "dry run" run install --dry-run
same "a dry run changes nothing" "$(snapshot "$base/cann")" "$before"
expect "install" run install
said "left to CANN: $first"
said SUCCESS
expect "is whole" usable "$opp"
same "listed first" "$(sed 's/,.*//' "$opp/vendors/config.ini")" load_priority=ascgrad
same "a type that CANN has" "$(owner "$opp" "$first")" "CANN CANN"
same "a type that it has not" "$(owner "$opp" "$last")" "ascgrad nobody"
expect "the command is the wheel's" cmp "$opp/vendors/ascgrad/bin/ascgrad" \
    "$base/site/ascgrad/opp/packages/vendors/ascgrad/bin/$(uname -m)/ascgrad"
expect "status" run status
said "in CANN: $(version_in "$opp") in $opp/vendors/ascgrad"
said "  $first: GE graphs CANN, aclnn calls CANN: CANN has it on ascend910b"
said "private: nothing"
expect "path" run path
said "$opp/vendors/ascgrad"
one_sentence
expect "compile" kit run compile --chip=ascend910b
said "kernel 1 of "
said "$first belonged to CANN and now belongs to ascgrad"
same "with every kernel it is ours" "$(owner "$opp" "$first")" "ascgrad ascgrad"
expect "is whole with kernels" usable "$opp"
expect "remove" run remove
same "as before" "$(snapshot "$base/cann")" "$before"

# A CANN that belongs to somebody else, and to somebody else only.
chmod 755 "$base" "$base/cann"
mkdir -p "$data"
[ "$(id -u)" != 0 ] || chown 65534:65534 "$data"
[ "$(id -u)" = 0 ] || chmod -R a-w "$opp"
before=$(snapshot "$base/cann")
user() { as_user "${PYTHON:-/usr/bin/python3}" -m ascgrad opp "$@"; }
status 2 "CANN is read-only" user install
said "you may not write in $opp/vendors"
said "--private"
one_sentence
expect "private" user install --private --no-compile
said "for you alone"
said "left to CANN: $first"
own=$(dirname "$(dirname "$(user path)")")
same "in the user's own directory" "${own%/opp-*}" "$data/ascgrad"
expect "is whole there" usable "$own"
same "CANN's is CANN's" "$(owner "$own" "$first")" "CANN CANN"
status 1 "no graph finds it" in_ops_info "$own" "$first"
expect "a graph finds what CANN lacks" in_ops_info "$own" "$last"
expect "status there" user status
said "private: $(version_in "$own") in $own/vendors/ascgrad; ASCEND_CUSTOM_OPP_PATH does not name it"
expect "kernels there" kit user compile --private --chip=ascend910b
same "with every kernel it is ours there" "$(owner "$own" "$first")" "ascgrad ascgrad"
expect "now a graph finds it" in_ops_info "$own" "$first"
same "CANN is as before" "$(snapshot "$base/cann")" "$before"

# import ascgrad with ASCGRAD_OPP: in front, once, without an empty element.
# imported VALUE PATH [PROGRAM]: ASCEND_CUSTOM_OPP_PATH afterwards, and what was said.
imported() {
    ASCGRAD_OPP=$1 ASCEND_CUSTOM_OPP_PATH=$2 python -c "${3:-}
import ascgrad, os, subprocess
print(subprocess.check_output(['sh', '-c', 'echo \$ASCEND_CUSTOM_OPP_PATH'], text=True).strip())" 2>&1
}
ours=$own/vendors/ascgrad
for value in "" ":" "/a:" ":/a::/b:" "/a:$ours" "$ours:/a"; do
    want=$ours
    case $value in */a*) want=$want:/a ;; esac
    case $value in */b*) want=$want:/b ;; esac
    same "ASCGRAD_OPP=1 with '$value'" "$(imported 1 "$value")" "$want"
    same "ASCGRAD_OPP=0 with '$value'" "$(imported 0 "$value")" "$value"
    same "ASCGRAD_OPP= with '$value'" "$(imported '' "$value")" "$value"
done
same "ASCGRAD_OPP=DIR" "$(imported "$own" /a)" "$ours:/a"
imported /nowhere /a >"$fix/out.$$"
said "ASCGRAD_OPP=/nowhere: nothing is installed in /nowhere"
same "and nothing changes" "$(tail -n 1 "$fix/out.$$")" /a
imported 1 "" 'import sys; sys.modules["torch_npu"] = sys' >"$fix/out.$$"
said "torch_npu was imported before ascgrad"
same "it is named all the same" "$(tail -n 1 "$fix/out.$$")" "$ours"
same "once is enough" "$(imported 1 "$ours" 'import sys; sys.modules["torch_npu"] = sys')" "$ours"
status 0 "status with it" env ASCGRAD_OPP=1 "${PYTHON:-/usr/bin/python3}" -m ascgrad opp status
said "ASCEND_CUSTOM_OPP_PATH names it"

# Another CANN has other types: what was decided for the first is not offered to it.
make_cann "$base/other"
status 1 "another CANN" env ASCEND_OPP_PATH="$base/other/opp" "${PYTHON:-/usr/bin/python3}" -m ascgrad opp path
one_sentence
expect "remove the private one" user remove --private
same "nothing is left of it" "$(find "$data" | wc -l)" 1
same "without it, a warning" "$(imported 1 /a 2>&1 | grep -c 'ASCGRAD_OPP=1: nothing is installed')" 1

# Interrupted while kernels are compiled, and before: whole or not there.
[ "$(id -u)" = 0 ] || chmod -R u+w "$opp"
# shellcheck disable=SC2031 # as above
OPC_SLEEP=30 PATH=$base/toolkit/bin:$PATH ASCEND_HOME_PATH=$base/toolkit "${PYTHON:-/usr/bin/python3}" -m ascgrad opp \
    install --private --chip=ascend910b >"$base/log" 2>&1 &
installer=$!
for _ in $(seq 200); do
    ! pgrep -P "$installer" >/dev/null || break
    sleep 0.1
done
sleep 1
kill -TERM "$installer"
got=0
wait "$installer" || got=$?
same "interrupted once: installed without kernels" "$got" 0
expect "says so" grep -q "scripts/compile.sh" "$base/log"
own=$(dirname "$(dirname "$(run path)")")
expect "is whole after that" usable "$own"
same "CANN's is CANN's after that" "$(owner "$own" "$first")" "CANN CANN"
expect "remove it" run remove --private --quiet

# Another machine's wheel, a damaged one, one that may not be run, none at all.
before=$(snapshot "$base/cann")
scripts=$base/site/ascgrad/opp/packages/vendors/ascgrad/scripts
mv "$scripts/$(uname -m)" "$scripts/riscv64"
for verb in install "install --private" remove status; do
    # shellcheck disable=SC2086 # words
    status 2 "another machine's wheel: $verb" run $verb
    said "this wheel is for riscv64, not for $(uname -m)"
    one_sentence
done
mv "$scripts/riscv64" "$scripts/$(uname -m)"
chmod a-x "$scripts/$(uname -m)/setup"
status 3 "may not be run" run install
said noexec
one_sentence
chmod a+x "$scripts/$(uname -m)/setup"
echo '/* */' >>"$base/site/ascgrad/opp/packages/vendors/ascgrad/op_proto/inc/ascgrad_ops.h"
status 3 "a damaged wheel" run install
said "ascgrad_ops.h is not what package.info says"
rm -r "$base/site/ascgrad/opp"
status 2 "no wheel" run install
said "not installed from a wheel"
one_sentence
status 1 "no wheel: the command" python -m ascgrad ops
said "not installed from a wheel"
same "none of these changes anything" "$(snapshot "$base/cann")" "$before"
finish

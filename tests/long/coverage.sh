#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lines and branches of the host C code (core, ge, op_proto, op_tiling) that its tests reach, by gcovr.
#     coverage.sh BUILD [WORK]     BUILD: a build tree, for the generated files
# Fails below 98 % of branches, or if a line is missed that docs/coverage.md does not explain.
set -eu
build=$(cd "$1" && pwd)
work=${2:-$build/coverage}
cd "$(dirname "$0")/../.."
root=$PWD
gen=$build/generated
rm -rf "$work"
mkdir -p "$work"

cflags="-std=gnu11 -O0 -g --coverage -fprofile-abs-path -fPIC -fvisibility=hidden -D_GNU_SOURCE -ffp-contract=off -I$gen -Icore -Itwin"

# objects DIR FILES...: compiles each file into DIR (its own counters).
objects() {
  dir=$work/$1
  shift
  mkdir -p "$dir"
  for file in "$@"; do
    # shellcheck disable=SC2086
    gcc $cflags ${extra:-} -c "$root/$file" -o "$dir/$(basename "$file" .c).o"
  done
}

sources() { (cd "$root" && ls "$@"); }

# shellcheck disable=SC2046
objects host core/node.c $(sources op_proto/*_infer.c op_tiling/*.c)
gcc -std=gnu11 -c -Icore "$gen/ir_table.c" -o "$work/ir_table.o"
pure="$work/host/*.o $work/ir_table.o"
# shellcheck disable=SC2086
gcc -std=gnu11 -O1 -D_GNU_SOURCE -I"$gen" -o "$work/test_rows" tests/op_tiling/test_rows.c tests/op_tiling/rows.c $pure --coverage
# shellcheck disable=SC2086
gcc -std=gnu11 -O1 -D_GNU_SOURCE -I"$gen" -o "$work/tiling_property" tests/op_tiling/tiling_property.c tests/op_tiling/property_*.c $pure --coverage
"$work/test_rows" >"$work/rows.log" || { cat "$work/rows.log"; exit 1; }
tail -n 1 "$work/rows.log"
"$work/tiling_property" --count "${COVERAGE_CALLS:-100000}" --seed 1 | tail -n 5

# The bridge, with fake GE.
objects bridge core/node.c ge/context.c ge/infer.c ge/tiling.c ge/guard.c ge/chip.c ge/log.c
bridge="$work/bridge/*.o $work/ir_table.o"
# shellcheck disable=SC2086
gcc -std=gnu11 -O1 -D_GNU_SOURCE -Icore -I"$gen" -o "$work/test_node" tests/core/test_node.c "$work/bridge/node.o" -lcmocka --coverage
"$work/test_node" 2>&1 | tail -n 1
for test in context spoilt chip corners; do
  # shellcheck disable=SC2086
  gcc -std=gnu11 -O1 -D_GNU_SOURCE -Icore -I"$gen" -o "$work/test_$test" "tests/ge/test_$test.c" tests/ge/probes.c tests/ge/fake_ge.c \
    $bridge -lcmocka --coverage
  "$work/test_$test" 2>&1 | tail -n 1
done

# shellcheck disable=SC2086
for report in _ZN2ge23ReportUserDefinedErrMsgEPKcS1_z _ZN13error_message23ReportUserDefinedErrMsgEPKcS1_z; do
  gcc -std=gnu11 -O1 -D_GNU_SOURCE -DREPORT="\"$report\"" -Icore -I"$gen" -o "$work/test_log" tests/ge/test_log.c "$work/bridge/log.o" --coverage
  "$work/test_log" 2>/dev/null
done

# The libraries as GE loads them.
mkdir -p "$work/stubs"
for stub in register platform; do
  g++ -std=c++17 -O1 -fPIC -shared -fvisibility=hidden -D_GLIBCXX_USE_CXX11_ABI=0 -Ige/include -o "$work/stubs/lib$stub.so" "ge/stubs/$stub.cpp"
done
cxx="-std=c++17 -O0 -g --coverage -fprofile-abs-path -fPIC -fvisibility=hidden -D_GLIBCXX_USE_CXX11_ABI=0 -Icore -Ige/include"
link="-shared --coverage -Wl,--version-script=ge/exports.map -L$work/stubs -Wl,--no-as-needed -lregister -lplatform -Wl,--as-needed"
extra=-DASCGRAD_LIB_PROTO
# shellcheck disable=SC2046
objects proto ge/registry.c core/node.c ge/context.c ge/infer.c ge/log.c ge/oldlibc.c $(sources op_proto/*_infer.c)
# shellcheck disable=SC2086
g++ -std=c++17 -O1 -fPIC -fvisibility=hidden -D_GLIBCXX_USE_CXX11_ABI=0 -Ige/include -c op_proto/register_ir.cpp -o "$work/proto/register_ir.o"
gcc -std=gnu11 -fPIC -c -Icore "$gen/ir_table.c" -o "$work/proto/ir_table.o"
# shellcheck disable=SC2086
g++ "$work"/proto/*.o $link -Wl,-z,nodelete -o "$work/libcust_opsproto_rt2.0.so"
extra=-DASCGRAD_LIB_TILING
# shellcheck disable=SC2046
objects master ge/registry.c core/node.c ge/context.c ge/tiling.c ge/guard.c ge/chip.c ge/log.c ge/oldlibc.c $(sources op_tiling/*.c)
# shellcheck disable=SC2086
g++ $cxx -c ge/platform.cpp -o "$work/master/platform.o"
gcc -std=gnu11 -fPIC -c -Icore "$gen/ir_table.c" -o "$work/master/ir_table.o"
# shellcheck disable=SC2086
g++ "$work"/master/*.o $link -o "$work/libcust_opmaster_rt2.0.so"
gcc -std=gnu11 -O1 -Icore -I"$gen" -o "$work/test_load" tests/ge/test_load.c tests/ge/fake_ge.c -ldl -lcmocka
LD_LIBRARY_PATH=$work/stubs "$work/test_load" "$work/libcust_opsproto_rt2.0.so" "$work/libcust_opmaster_rt2.0.so" 2>&1 | tail -n 1
gcc -std=gnu11 -O1 -rdynamic -Icore -o "$work/test_guard" tests/ge/test_guard.c tests/ge/patched.c tests/ge/fake_ge.c "$work/ir_table.o" -ldl
LD_LIBRARY_PATH=$work/stubs "$work/test_guard" "$work/libcust_opmaster_rt2.0.so"
gcc -std=gnu11 -O1 -D_GNU_SOURCE -I"$gen" -o "$work/test_offers" tests/ge/test_offers.c -ldl
for name in opsproto opmaster; do
  LD_LIBRARY_PATH=$work/stubs "$work/test_offers" "$work/libcust_${name}_rt2.0.so"
done

gcovr -r "$root" "$work" --filter 'core/' --filter 'ge/[^/]*\.c$' --filter op_proto/ --filter op_tiling/ --exclude 'ge/oldlibc.c' \
  --exclude-throw-branches --txt "$work/lines.txt" --json-summary "$work/summary.json" >/dev/null
gcovr -r "$root" "$work" --filter 'core/' --filter 'ge/[^/]*\.c$' --filter op_proto/ --filter op_tiling/ --exclude 'ge/oldlibc.c' \
  --exclude-throw-branches --branches --txt "$work/branches.txt" --json "$work/full.json" >/dev/null
cat "$work/lines.txt" "$work/branches.txt"
"${PYTHON:-/usr/bin/python3}" - "$work" "$root" <<'PY'
import json, re, sys
work, root = sys.argv[1:]
summary = json.load(open(work + "/summary.json"))
reasons = re.findall(r"^\| (\S+) \| `(.*?)` \|", open(root + "/docs/coverage.md").read(), re.M)
bad = 0
for file in json.load(open(work + "/full.json"))["files"]:
    source = open(root + "/" + file["file"]).read().splitlines()
    for line in file["lines"]:
        n = line["line_number"]
        near = "\n".join(source[max(0, n - 5):n])
        explained = any(name == file["file"] and code in near for name, code in reasons)
        if line["count"] == 0 and not line.get("gcovr/noncode") and not explained:
            print(f"not reached and not explained in docs/coverage.md: {file['file']}:{n}: {source[n - 1].strip()}")
            bad += 1
print(f"lines {summary['line_percent']} %, branches {summary['branch_percent']} %, {bad} lines missed without a reason")
sys.exit(1 if bad or summary["branch_percent"] < 98 else 0)
PY

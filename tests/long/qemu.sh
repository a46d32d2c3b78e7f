#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The aarch64 build under qemu-user: the libraries as GE loads them, rows of every operator, and the bits of runs
# compared with this machine's.
#     qemu.sh BUILD
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
if [ "$(uname -m)" != x86_64 ]; then
  echo "this machine is not x86_64: nothing to emulate"
  exit 77
fi
for tool in qemu-aarch64 aarch64-linux-gnu-gcc; do
  command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }
done
cross=$build/aarch64
sys=/usr/aarch64-linux-gnu
arm() { qemu-aarch64 -L $sys "$@"; }
python=${PYTHON:-/usr/bin/python3}

# The tree that `./build.sh` cross-compiles the package in; brought up to date.
cmake -S . -B "$cross" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" \
  -DASCGRAD_IRDUMP="$build/bin/irdump" >"$build/qemu.log" 2>&1 || { cat "$build/qemu.log"; exit 1; }
cmake --build "$cross" -j "$(nproc)" --target ascgrad_command probe opsproto opmaster >"$build/qemu.log" 2>&1 ||
  { tail -n 30 "$build/qemu.log"; exit 1; }

work=$build/qemu
mkdir -p "$work"
gen=$build/generated
cc="aarch64-linux-gnu-gcc -std=gnu11 -O1 -D_GNU_SOURCE -I$gen -Icore"
$cc -U_GNU_SOURCE -o "$work/test_load" tests/ge/test_load.c tests/ge/fake_ge.c -ldl
arm -E LD_LIBRARY_PATH="$cross/stubs" "$work/test_load" "$cross/package/libcust_opsproto_rt2.0.so" \
  "$cross/package/libcust_opmaster_rt2.0.so" 2>"$work/said" || { cat "$work/said"; exit 1; }
tail -n 1 "$work/said"
$cc -U_GNU_SOURCE -rdynamic -o "$work/test_guard" tests/ge/test_guard.c tests/ge/patched.c tests/ge/fake_ge.c "$gen/ir_table.c" -ldl
arm -E LD_LIBRARY_PATH="$cross/stubs" "$work/test_guard" "$cross/package/libcust_opmaster_rt2.0.so"
for library in opsproto opmaster; do
  arm -E LD_LIBRARY_PATH="$cross/stubs" "$cross/bin/probe" "$cross/package/libcust_${library}_rt2.0.so" >"$work/said"
  [ "$(wc -l <"$work/said")" = 5 ] || { cat "$work/said"; exit 1; }
done
# shellcheck disable=SC2046
$cc -o "$work/test_rows" tests/op_tiling/test_rows.c tests/op_tiling/rows.c core/node.c "$gen/ir_table.c" $(ls op_proto/*_infer.c op_tiling/*.c)
arm "$work/test_rows"
# shellcheck disable=SC2046
$cc -o "$work/tiling_property" tests/op_tiling/tiling_property.c tests/op_tiling/property_*.c core/node.c "$gen/ir_table.c" \
  $(ls op_proto/*_infer.c op_tiling/*.c)
arm "$work/tiling_property" --count 20000 --seed 1

# Rows on the twin: against the reference, and the same bits as here.
seed=${SEED:-$(date +%s)}
echo "seed $seed"
for op in $("$build/bin/ascgrad" ops | grep -v "^ \|^$"); do
  "$python" tests/long/random_rows.py "$build/bin/ascgrad" "$op" 8 "$seed" >"$work/rows"
  arm "$cross/bin/ascgrad" check --rows "$work/rows" >"$work/said" || { cat "$work/said"; exit 1; }
  echo "$op: $(tail -n 1 "$work/said")"
done
"$python" tests/long/same_bits.py "$build/bin/ascgrad" "qemu-aarch64 -L $sys $cross/bin/ascgrad" "$work"

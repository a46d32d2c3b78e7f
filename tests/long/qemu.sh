#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The aarch64 build under qemu-user: the tests of the host code, the libraries as GE loads them, rows of every operator,
# and the bits of runs compared with this machine's.
#     qemu.sh BUILD
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "this machine is not x86_64: nothing to emulate"
need qemu-aarch64
need aarch64-linux-gnu-gcc
cross=$build/aarch64
sys=/usr/aarch64-linux-gnu
arm() { qemu-aarch64 -L $sys "$@"; }

# The tree that `./build.sh` cross-compiles the package in; brought up to date.
tree "$cross" -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake"
targets "$cross" ascgrad_command probe opsproto opmaster host_tests
tests "$cross" host
work=$build/qemu
mkdir -p "$work"
operators=$("$build/bin/ascgrad" ops | grep -v "^ \|^$")
for library in opsproto opmaster; do
  arm -E LD_LIBRARY_PATH="$cross/stubs" "$cross/bin/probe" "$cross/package/libcust_${library}_rt2.0.so" >"$work/said"
  [ "$(wc -l <"$work/said")" = "$(echo "$operators" | wc -l)" ] || { cat "$work/said"; exit 1; }
done

# Rows on the twin: against the reference, and the same bits as here.
seed=${SEED:-$(date +%s)}
echo "seed $seed"
for op in $operators; do
  "$python" tests/long/random_rows.py "$build/bin/ascgrad" "$op" 8 "$seed" >"$work/rows"
  arm "$cross/bin/ascgrad" check --rows "$work/rows" >"$work/said" || { cat "$work/said"; exit 1; }
  echo "$op: $(tail -n 1 "$work/said")"
done
"$python" tests/long/same_bits.py "$work" "$build/bin/ascgrad" qemu-aarch64 -L $sys "$cross/bin/ascgrad" >"$work/said" ||
  { cat "$work/said"; exit 1; }
echo "$(grep -c 'same bits' "$work/said") runs give the same bits"

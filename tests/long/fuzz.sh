#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libFuzzer with ASan and UBSan on everything that reads what others wrote: the programs of tests/long/fuzz.
#     fuzz.sh BUILD [SECONDS [TARGET...]]     SECONDS per target
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need clang
seconds=${2:-30}
shift
[ $# -eq 0 ] || shift
work=$build/fuzz
tree "$work" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_C_FLAGS="-O1 -fno-sanitize-recover=undefined" -DASCGRAD_SANITIZE=address,undefined -DASCGRAD_FUZZ=ON
targets "$work" fuzz_targets
"$python" tests/long/fuzz/seeds.py "$work/seeds"
if [ $# -eq 0 ]; then
  for file in tests/long/fuzz/fuzz_*.c; do
    file=${file##*fuzz_}
    set -- "$@" "${file%.c}"
  done
fi
failed=0
for target in "$@"; do
  mkdir -p "$work/corpus/$target" "$work/seeds/$target"
  if "$work/bin/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$work/crash-$target-" "$work/corpus/$target" "$work/seeds/$target" >"$work/$target.log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
    seed=$(sed -n 's/^INFO: Seed: *//p' "$work/$target.log" | head -n 1)
    echo "fuzz_$target: $runs inputs in $seconds s, seed $seed: nothing found"
    [ "${runs:-0}" -gt 100 ] || { echo "fuzz_$target: FAILED, it hardly ran"; failed=1; }
  else
    tail -n 40 "$work/$target.log"
    echo "fuzz_$target: FAILED, input in $work"
    failed=1
  fi
done
exit $failed

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libFuzzer with ASan and UBSan on everything that reads what others wrote.
#     fuzz.sh BUILD [SECONDS [TARGET...]]     BUILD: a build tree, for the generated files; SECONDS per target
set -eu
command -v clang >/dev/null || { echo "clang is missing"; exit 77; }
build=$(cd "$1" && pwd)
seconds=${2:-30}
shift
[ $# -eq 0 ] || shift
targets=${*:-npy words json doctor context}
cd "$(dirname "$0")/../.."
work=$build/fuzz
gen=$build/generated
mkdir -p "$work"
"${PYTHON:-/usr/bin/python3}" tests/long/fuzz/seeds.py "$work/seeds"

doctor=$(ls tools/doctor*.c)
# shellcheck disable=SC2013 # words, not lines
for name in $(sed -n 's/^set(shared \(.*\))/\1/p' packaging/CMakeLists.txt); do
  doctor="$doctor packaging/setup/$name.c"
done
operators=$(ls op_proto/*_infer.c op_tiling/*.c)
bridge="core/node.c ge/context.c ge/infer.c ge/tiling.c ge/guard.c ge/chip.c ge/log.c"
failed=0
for target in $targets; do
  case $target in
    npy) files="tools/npy.c tools/request.c" ;;
    words) files="tools/request.c twin/describe.c $gen/ir_table.c" ;;
    json) files="packaging/setup/json.c packaging/setup/text.c" ;;
    doctor) files=$doctor ;;
    context) files="$bridge $operators tests/ge/probes.c tests/ge/fake_ge.c $gen/ir_table.c" ;;
  esac
  # shellcheck disable=SC2086
  clang -std=gnu11 -g -O1 -D_GNU_SOURCE -DASCGRAD_VERSION='"fuzz"' -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    -Wno-unused-command-line-argument -I"$gen" -Icore -Itwin -o "$work/fuzz_$target" "tests/long/fuzz/fuzz_$target.c" $files -lm
  mkdir -p "$work/corpus/$target"
  if "$work/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$work/crash-$target-" "$work/corpus/$target" "$work/seeds/$target" >"$work/$target.log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
    seed=$(sed -n 's/^INFO: Seed: *//p' "$work/$target.log" | head -n 1)
    echo "fuzz_$target: $runs inputs in $seconds s, seed $seed: nothing found"
  else
    tail -n 40 "$work/$target.log"
    echo "fuzz_$target: FAILED, input in $work"
    failed=1
  fi
done
exit $failed

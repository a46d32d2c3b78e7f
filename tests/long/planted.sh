#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Can the tiers fail? In a copy of the tree one line at a time is broken, and the test that is there for such a fault is
# run: it must fail.
#     planted.sh BUILD [NAME...]
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
shift
wanted=" $* "
copy=$build/planted
mkdir -p "$copy"
for name in * .[a-z]*; do
  case $name in
    .git | build | build[-.]*) ;;
    *) rm -rf "${copy:?}/$name" && cp -rp "$name" "$copy/" ;;
  esac
done
first=$build
cd "$copy"
own=$copy/build
cmake -S . -B "$own" -G Ninja -DCMAKE_BUILD_TYPE=Release -DASCGRAD_PYTHON="$python" >plant.log 2>&1 || { cat plant.log; exit 1; }
noticed=0 failed=0

# plant NAME FILE SED WORDS COMMAND...: FILE changed by SED; the command fails and says WORDS. First it passes without.
plant() {
  name=$1 file=$2 change=$3 words=$4
  shift 4
  case $wanted in "  " | *" $name "*) ;; *) return 0 ;; esac
  if ! "$@" >plant.log 2>&1; then
    tail -n 20 plant.log
    echo "FAILED: $name fails without a fault"
    failed=$((failed + 1))
    return 0
  fi
  cp -p "$file" plant.kept
  sed -i "$change" "$file"
  if cmp -s "$file" plant.kept; then
    echo "FAILED: $name: $file has no line for the fault"
    failed=$((failed + 1))
  elif "$@" >plant.log 2>&1; then
    echo "FAILED: $name does not notice its fault in $file"
    failed=$((failed + 1))
  elif ! grep -qE "$words" plant.log; then
    tail -n 20 plant.log
    echo "FAILED: $name fails, but says nothing of '$words'"
    failed=$((failed + 1))
  else
    echo "$name: $(grep -m 1 -oE "$words" plant.log)"
    noticed=$((noticed + 1))
  fi
  cp plant.kept "$file" # with a new time, so that it is built again
}

host() { ninja -C "$own" host_tests >ninja.log 2>&1 && ctest --test-dir "$own" -L host --output-on-failure; }
rows() {
  ninja -C "$own" ascgrad_command >ninja.log 2>&1 &&
    "$python" tests/long/random_rows.py --run "$own/bin/ascgrad" --count 20 ExpSegsumGrad
}
long() { ninja -C "$own" irdump ascgrad_command host_tests >ninja.log 2>&1 && sh "$@"; }
mutate() {
  ninja -C "$own" host_tests plan_times >ninja.log 2>&1 &&
    "$python" tests/long/mutate.py --build "$own" --count 30 --seed 1 --least 65
}
torch() {
  PYTHONPATH=framework/python:tests/python ASCGRAD_LIB=$first/lib/libascgrad.so \
    sh tests/framework/with_wheel.sh "$first/frameworks/torch" tests/framework/test_torch.py
}
tally() { "$python" tests/test_tally.py; }

plant short core/node.c 's/"another dtype"/"some dtype"/' 'core_node.*Failed' host
plant rows op_reference/exp_segsum_grad.c 's/sum += product;/sum += product + 1;/' 'FAIL ExpSegsumGrad' rows
# shellcheck disable=SC2016 # $a is sed's
plant coverage core/node.c '$a int ascgrad_idle(int a);\nint ascgrad_idle(int a) {\n    return a;\n}' \
  'not reached and not explained' long tests/long/coverage.sh "$own"
plant mutate tests/op_tiling/property.h 's/if (!(condition)) return #condition;/if (0) return #condition;/' 'mutation score [0-9]* %' mutate
plant fuzz tools/call/request.c '/^bool text_parse_spec(/a if (strlen(text) == 7) __builtin_trap();' 'fuzz_words: FAILED' \
  long tests/long/fuzz.sh "$own" 20 words
plant address core/node.c '/^size_t ascgrad_dtype_size(/a static char few[4]; volatile int32_t n = dtype; few[n] = 1;' \
  'out of bounds|buffer-overflow' long tests/long/sanitize.sh "$own" address
plant thread twin/ascgrad.c '/^int ascgrad_run(/,/{$/s/{$/{ static int runs; runs++;/' 'data race' \
  long tests/long/sanitize.sh "$own" thread
plant qemu core/node.c 's/^        return 2;/\n#ifdef __aarch64__\n        return 4;\n#endif\n        return 2;/' 'Failed|FAIL' \
  long tests/long/qemu.sh "$own"
plant sixth examples/operator/op_kernel/swish_glu_grad.cpp '1s/^/#error planted\n/' 'planted' \
  long tests/long/sixth.sh "$own" quick
plant frameworks framework/python/ascgrad/_names.py 's/"half": 0, "interleave": 1/"half": 1, "interleave": 0/' 'FAIL test_' torch
plant tally tests/tally.py 's/("failed", "skipped without a reason")/("skipped", "none")/' 'FAIL test_' tally
echo "planted faults: $noticed noticed, $failed failed"
[ "$failed" = 0 ]

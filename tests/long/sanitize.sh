#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The suite under sanitizers, each in a build tree of its own: ASan with UBSan, then TSan.
#     sanitize.sh BUILD [address|thread]
# ASan + UBSan: the bridge, the command, the C API from eight threads and a forked child, random calls of tiling, the rows
# of every operator on the checked twin. TSan: the C API, the fast twin with its threads.
set -eu
build=$(cd "$1" && pwd)
which=${2:-address thread}
cd "$(dirname "$0")/../.."
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export ASAN_OPTIONS=detect_leaks=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
jobs=$(nproc)

tree() { # NAME FLAGS: configures build/sanitize-NAME with -O1
  cmake -S . -B "$build/sanitize-$1" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 -DCMAKE_CXX_FLAGS=-O1 \
    -DASCGRAD_SANITIZE="$2" -DASCGRAD_PYTHON="${PYTHON:-/usr/bin/python3}" >"$build/sanitize-$1.log" 2>&1 ||
    { cat "$build/sanitize-$1.log"; exit 1; }
}

# A few random rows per operator, beside its own.
rows() { # TREE COUNT
  "${PYTHON:-/usr/bin/python3}" tests/long/random_rows.py --run "$build/sanitize-$1/bin/ascgrad" "$2" "${SEED:-random}"
}

for name in $which; do
  case $name in
    address)
      tree address address,undefined
      cmake --build "$build/sanitize-address" -j "$jobs" --target ascgrad_command test_node test_context test_spoilt test_chip \
        test_corners test_open test_rows test_api test_threads test_pool ascgrad tiling_property >"$build/sanitize-address.log" 2>&1 || { tail -n 30 "$build/sanitize-address.log"; exit 1; }
      for test in test_node test_context test_spoilt test_chip test_corners test_open test_rows test_api test_threads; do
        "$build/sanitize-address/bin/$test" >"$build/sanitize-address.log" 2>&1 || { tail -n 40 "$build/sanitize-address.log"; exit 1; }
        echo "$test: clean"
      done
      "$build/sanitize-address/bin/test_pool" "$build/sanitize-address/lib/libascgrad.so"
      "$build/sanitize-address/bin/tiling_property" --count 500000
      rows address 40
      ;;
    thread)
      tree thread thread
      cmake --build "$build/sanitize-thread" -j "$jobs" --target ascgrad_command test_api test_threads test_pool ascgrad >"$build/sanitize-thread.log" 2>&1 ||
        { tail -n 30 "$build/sanitize-thread.log"; exit 1; }
      "$build/sanitize-thread/bin/test_api"
      "$build/sanitize-thread/bin/test_threads"
      "$build/sanitize-thread/bin/test_pool" "$build/sanitize-thread/lib/libascgrad.so"
      rows thread 12
      ;;
  esac
done

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests under sanitizers, each in a build tree of its own: ASan with UBSan, then TSan.
#     sanitize.sh BUILD [address|thread]
# ASan + UBSan: the tests of the host code, the C API from eight threads, random calls of tiling, random
# rows of every operator on the checked twin. TSan: the C API, the fast twin with its threads, random rows.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
which=${2:-address thread}
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export ASAN_OPTIONS=detect_leaks=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

for name in $which; do
  work=$build/sanitize-$name
  case $name in
    address) flags=address,undefined labels='host|api' rows=40 ;;
    thread) flags=thread labels=api rows=12 ;;
    *) echo "there is no $name" >&2; exit 1 ;;
  esac
  tree "$work" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 -DCMAKE_CXX_FLAGS=-O1 -DASCGRAD_SANITIZE="$flags"
  targets "$work" host_tests api_tests ascgrad_command
  echo "$name:"
  tests "$work" "$labels"
  [ "$name" = thread ] || "$work/bin/tiling_property" --count 300000
  "$python" tests/long/random_rows.py --run "$work/bin/ascgrad" --count "$rows" --seed "${SEED:-random}"
done

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lines and branches of the host C code (core, ge, op_proto, op_tiling) that the tests of the label host reach, by gcovr.
#     coverage.sh BUILD
# Fails below 98 % of branches, or if a line is missed that docs/coverage.md does not explain.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need gcovr
work=$build/coverage
tree "$work" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O0 -g" -DCMAKE_CXX_FLAGS="-O0 -g" -DASCGRAD_COVERAGE=ON
targets "$work" host_tests
find "$work" -name '*.gcda' -delete
tests "$work" host
"$work/bin/tiling_property" --count "${COVERAGE_CALLS:-1000000}" --seed 1
gcovr -r . "$work" --filter 'core/' --filter 'ge/[^/]*\.c$' --filter op_proto/ --filter op_tiling/ \
  --exclude 'ge/old.*' --exclude-throw-branches --json-summary "$work/summary.json" --json "$work/full.json" --txt "$work/lines.txt" >/dev/null
cat "$work/lines.txt"
"$python" tests/long/coverage.py "$work"

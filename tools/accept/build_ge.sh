#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the runner of GE graphs against the toolkit of this machine: build_ge.sh FILE
# `ascgrad accept` does so by itself. What goes wrong is said on standard output.
set -eu
exec 2>&1
here=$(cd -P "$(dirname "$0")" && pwd -P)
toolkit=
for place in "${ASCEND_HOME_PATH:-}" "${ASCEND_TOOLKIT_HOME:-}" /usr/local/Ascend/ascend-toolkit/latest /usr/local/Ascend/cann; do
    if [ -z "$toolkit" ] && [ -n "$place" ] && [ -f "$place/include/graph/operator_reg.h" ]; then
        toolkit=$place
    fi
done
if [ -z "$toolkit" ]; then
    echo "no CANN toolkit with include/graph/operator_reg.h: source its set_env.sh"
    exit 1
fi
if ! command -v "${CXX:-c++}" >/dev/null; then
    echo "no C++ compiler: build on another machine and use --ge-runner FILE"
    exit 1
fi
# CANN 9 has a second session API; it is used where it is there.
runner=ge_runner api=1
if [ -f "$toolkit/include/ge/ge_api_v2.h" ]; then runner=ge_runner_v2 api=2; fi
exec "${CXX:-c++}" -std=c++17 -O1 -D_GLIBCXX_USE_CXX11_ABI=0 "-DASCGRAD_GE_V$api" \
    -isystem "$toolkit/include" -isystem "$here/../../op_proto/inc" "$here/run_ge.cpp" -o "$1" \
    -L"$toolkit/lib64" -Wl,--allow-shlib-undefined "-l$runner" -lgraph -lgraph_base -ldl

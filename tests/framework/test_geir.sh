#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs the example graphs in the three dtypes on the stand-in of GE, and looks at how they fail.
#
# usage: test_geir.sh PROGRAM...
set -eu
failed=0
passed=0
expect() { # STATUS TEXT PROGRAM [ARGUMENT]: exit status and a part of what is printed
    status=0
    text=$("$3" ${4:+"$4"} 2>&1) || status=$?
    case $text in
    *"$2"*) [ "$status" = "$1" ] && passed=$((passed + 1)) && return ;;
    esac
    echo "FAIL: $3 ${4:-}: status $status: $text" >&2
    failed=$((failed + 1))
}

for program in "$@"; do
    for dtype in fp32 fp16 bf16; do
        expect 0 'numbers as expected' "$program" $dtype
    done
    expect 1 "'int8' is none of fp32, fp16, bf16" "$program" int8
    STANDIN_NO_DEVICE=1
    export STANDIN_NO_DEVICE
    expect 1 'GE does not start: there is no device' "$program"
    unset STANDIN_NO_DEVICE
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

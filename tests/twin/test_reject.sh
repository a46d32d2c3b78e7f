#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every line of reject.cpp must be refused by the compiler; without any it must compile.
# test_reject.sh CXX TWIN_DIR
set -eu
cxx=$1
twin=$2
here=$(cd "$(dirname "$0")" && pwd)
last=$(sed -n 's/.*REJECT == \([0-9]*\).*/\1/p' "$here/reject.cpp" | tail -n 1)
passed=0
failed=0
line=0
while [ "$line" -le "$last" ]; do
    if "$cxx" -std=c++17 -fsyntax-only -w -I"$twin" -DREJECT="$line" "$here/reject.cpp" \
        2>/dev/null; then
        compiles=yes
    else
        compiles=no
    fi
    expected=no
    [ "$line" -eq 0 ] && expected=yes
    if [ "$compiles" = "$expected" ]; then
        passed=$((passed + 1))
    else
        echo "FAIL line $line: compiles: $compiles"
        failed=$((failed + 1))
    fi
    line=$((line + 1))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

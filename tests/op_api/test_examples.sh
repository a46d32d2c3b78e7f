#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The example programs against the stand-in and an installed package, built as a user builds them;
# each checks its own results. Then the same without the package: they fail and say why. And the
# headers in C++, as the documents' programs include them.
#
#   test_examples.sh BUILD INSTALLED
set -eu
top=$(cd -P "$(dirname "$0")/../.." && pwd -P)
build=$(cd -P "$1" && pwd -P)
installed=$(cd -P "$2" && pwd -P)
dir=$(mktemp -d "${TMPDIR:-/tmp}/ascgrad-examples.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# shellcheck source=/dev/null
. "$installed/set_env.sh"
unset ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME
cmake -S "$top/examples/aclnn" -B "$dir/build" "-DASCEND_CANN=$build/standin" >"$dir/log" 2>&1 ||
    fail "$(cat "$dir/log")"
cmake --build "$dir/build" >>"$dir/log" 2>&1 || fail "$(cat "$dir/log")"
! grep -q warning: "$dir/log" || fail "$(grep warning: "$dir/log")"
programs=$(cd "$top/examples/aclnn" && ls ./*_grad.c)
[ "$(echo "$programs" | wc -l)" -eq 5 ] || fail "not five programs: $programs"
for program in $programs; do
    "$dir/build/${program%.c}" >"$dir/log" 2>&1 || fail "$program: $(cat "$dir/log")"
    grep -q 'as expected' "$dir/log" || fail "$program has checked nothing"
    ! grep -q '^\[ascgrad\]' "$dir/log" || fail "$program: the libraries talk: $(cat "$dir/log")"
    ASCGRAD_VERBOSE=1 "$dir/build/${program%.c}" >"$dir/log" 2>&1 || fail "$program, verbose: $(cat "$dir/log")"
    grep -Eq '^\[ascgrad\] aclnn[A-Za-z]* .*=[a-z0-9]*\[.* -> .*, workspace [0-9]+, [0-9.]+ us$' "$dir/log" ||
        fail "$program: no line of the aclnn call: $(cat "$dir/log")"
    grep -Eq '^\[ascgrad\] tiling [A-Za-z]* .* -> key [0-9]+, .*, for aclnn, [0-9.]+ us$' "$dir/log" ||
        fail "$program: no line of tiling: $(cat "$dir/log")"
    if ASCEND_OPP_PATH=$dir "$dir/build/${program%.c}" >"$dir/log" 2>&1; then
        fail "$program works without a package"
    fi
    grep -q 'scripts/compile.sh' "$dir/log" || fail "$program does not say why: $(cat "$dir/log")"
done

{
    echo '#include "acl/acl.h"'
    (cd "$installed/opp/vendors/ascgrad/op_api/include" && ls aclnnop/*.h) | sed 's/.*/#include "&"/'
    echo 'int main() { return aclnnRopeGrad(nullptr, 0, nullptr, nullptr) == OK; }'
} >"$dir/all.cpp"
for include in "$build/standin/include" "$installed/opp/vendors/ascgrad/op_api/include"; do
    "${CXX:-c++}" -std=c++11 -Wall -Wextra -Werror -I"$include" -I"$build/standin/include" "$dir/all.cpp" \
        -L"$build/standin/lib" -lcust_opapi -lnnopbase -lascendcl -o "$dir/all" || fail "C++"
    "$dir/all" 2>/dev/null || fail "the program in C++"
done
echo "the examples are right"

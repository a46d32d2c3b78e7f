#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The IR is a promise: names, order, kinds, types and defaults do not change once released. Compares
# what the build registers with the recorded copy. A new operator is added to the copy on purpose,
# by hand:
#     build/bin/irdump --json > tests/op_proto/ir.recorded.json
#
# usage: test_ir.sh IRDUMP IRDUMP_OF_KINDS_CPP
set -eu

irdump=$1
kinds=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAIL: $1" >&2
    failed=1
}

"$irdump" --json > "$work/ir.json"
diff -u "$here/ir.recorded.json" "$work/ir.json" >&2 || fail "the IR differs from the recorded copy"

# All forms of the dump speak of the same operators, in the same order.
sed -n 's/^    "type": "\(.*\)",$/\1/p' "$work/ir.json" > "$work/types"
"$irdump" --op-list | sed 's/^ASCGRAD_OP(\([A-Za-z]*\), [a-z_]*)$/\1/' | cmp -s - "$work/types" ||
    fail "--op-list and --json disagree"
"$irdump" --c-table | sed -n 's/^        \.type = "\(.*\)",$/\1/p' | cmp -s - "$work/types" ||
    fail "--c-table and --json disagree"
"$irdump" --columns | sed 's/^ASCGRAD_COLUMN(\([A-Za-z]*\), .*/\1/' | uniq | cmp -s - "$work/types" ||
    fail "--columns and --json disagree"
header=$here/../../op_proto/inc/ascgrad_ops.h
sed -n 's/^REG_OP(\(.*\))$/\1/p' "$header" | cmp -s - "$work/types" ||
    fail "ascgrad_ops.h and --json disagree"

# An absent optional input has no dtype macro on the device, so kernels must not get one here.
"$irdump" --dtypes rotary_position_embedding_grad > "$work/dtypes"
for dtype in half float bfloat16_t; do
    grep -q "^#define DTYPE_DY $dtype\$" "$work/dtypes" || fail "no macro for a required input"
    grep -q "^#define DTYPE_DSIN $dtype\$" "$work/dtypes" || fail "no macro for an output"
done
if grep -q 'DTYPE_X ' "$work/dtypes"; then fail "a macro for an optional input"; fi

# Floats are printed with the fewest digits that give them back, and read as floats.
"$kinds" --json > "$work/kinds"
grep -qF '{"name": "epsilon", "type": "float", "required": false, "default": 1e-05}' "$work/kinds" ||
    fail "a float attribute is not dumped"
grep -qF '{"name": "weights", "type": "listFloat", "required": true}' "$work/kinds" ||
    fail "a list of floats is not dumped"

if "$irdump" --dtypes nothing_grad > /dev/null 2>&1; then fail "unknown operator accepted"; fi
if "$irdump" --nonsense > /dev/null 2>&1; then fail "unknown mode accepted"; fi

[ "$failed" = 0 ] && echo "the IR is as recorded"
exit "$failed"

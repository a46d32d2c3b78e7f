#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes SwishGluGrad the sixth operator of a tree: its nine files, and its REG_OP block. docs/first_operator.md
#     add.sh [TREE]        TREE: the one this file is in, unless another is named
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"
[ -f op_proto/inc/ascgrad_ops.h ] || { echo "add.sh: $PWD is no tree of ascgrad" >&2; exit 1; }
if grep -q 'REG_OP(SwishGluGrad)' op_proto/inc/ascgrad_ops.h; then
  echo "add.sh: SwishGluGrad is there already" >&2
  exit 1
fi
for folder in op_proto op_tiling op_kernel op_reference tests docs; do
  cp -R "$here/$folder" .
done
awk -v block="$here/reg_op.h" '/^\/\* clang-format on/ { while ((getline line < block) > 0) print line } { print }' \
  op_proto/inc/ascgrad_ops.h >op_proto/inc/ascgrad_ops.h.new
mv op_proto/inc/ascgrad_ops.h.new op_proto/inc/ascgrad_ops.h

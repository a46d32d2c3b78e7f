#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Puts the library where GE would find it, in a package whose only chip is ascend910b, and runs a program on it.
#
# usage: test_pass.sh LIBRARY STANDIN_DIR PROGRAM GRAPH...
set -eu
library=$1 standin=$2 program=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
vendor=$work/vendors/ascgrad
config=$vendor/op_impl/ai_core/tbe/config
mkdir -p "$vendor/custom_fusion_passes" "$config/ascend910b" "$config/ascend910_93"
cp "$library" "$vendor/custom_fusion_passes"
echo '{"RotaryPositionEmbeddingGrad": {}}' >"$config/ascend910b/aic-ascend910b-ops-info.json"
# Left to CANN on this chip.
echo '{"RotaryMulGrad": {}}' >"$config/ascend910_93/aic-ascend910_93-ops-info.json"
LD_LIBRARY_PATH=$standin "$program" "$vendor/custom_fusion_passes/$(basename "$library")" "$@" 2>"$work/err" || {
    grep -v '^\[ascgrad\]' "$work/err" >&2
    exit 1
}
# One line per rewrite, without a log on stderr.
grep -q "^\[ascgrad\] fusion: 'add_1' is one RotaryPositionEmbeddingGrad now, mode 0, dy from 'dy'" "$work/err"

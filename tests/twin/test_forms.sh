#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every call of Ascend C that a kernel makes and that may touch UB, mask or memory has its form in form_rows.h, and with
# it its rows in effects/. Kernels and forms are compiled for the twin without optimisation, where each form of a call is
# a function with a name of its own; the names are compared.
# test_forms.sh CXX ROOT GENERATED KERNEL:COLUMNS...
set -eu
cxx=$1 root=$2 generated=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# calls WORDS...: the forms that a compilation calls. Other functions and types of Ascend C either issue nothing (block
# numbers, tensors), or order what is issued (flags, barriers, queues).
calls() {
    "$cxx" -std=gnu++17 -O0 -w -DTWIN_CHECKED=0 -D"AICORE_INLINE=__aicore__ inline" -I"$root/twin" "$@" -S -o "$work/s"
    sed -n 's/^[[:space:]]*\.weak[[:space:]]*//p' "$work/s" | c++filt | sed -n 's/^void twin_[a-z0-9_]*::AscendC:://p
        s/^twin_[a-z0-9_]*::AscendC::\(ResetMask\)/\1/p' | sed 's/twin_[a-z0-9_]*:://g; s/AscendC:://g' |
        grep -v -e '^Twin' -e '^[A-Za-z]*<.*>::' -e '^T[A-Z][a-z]*[A-Za-z]*::' -e '^PipeBarrier<' -e '^SetFlag<' \
            -e '^WaitFlag<' -e '^SyncAll<' -e '::' | LC_ALL=C sort -u
}

# compare ARCH: kernels of the list $work/kernels against the forms.
failed=0
compare() {
    printf '#include "standard.h"\nnamespace twin_forms {\n#include "kernel_operator.h"\n#include "issue.h"\nvoid all(%s) {\n%s}\n}\n' \
        'const forms::Place &p, const Step &s' 'forms::issue(p, s);' >"$work/forms.cpp"
    calls -D__NPU_ARCH__="$1" -I"$root/tests/twin" "$work/forms.cpp" >"$work/forms"
    LC_ALL=C sort -u "$work/used" >"$work/kernels"
    if [ "$1" = 1001 ]; then # it has no bfloat16, and no columns of it
        grep -v bfloat16_t "$work/kernels" >"$work/some"
        mv "$work/some" "$work/kernels"
    fi
    LC_ALL=C comm -23 "$work/kernels" "$work/forms" >"$work/missing"
    sed "s/^/FAIL: architecture $1: not in form_rows.h: /" "$work/missing"
    [ ! -s "$work/missing" ] || failed=1
    LC_ALL=C comm -13 "$work/kernels" "$work/forms" >"$work/idle"
    sed "s/^/FAIL: architecture $1: no kernel uses it: /" "$work/idle"
    [ ! -s "$work/idle" ] || failed=1
    echo "architecture $1: $(wc -l <"$work/kernels") forms of calls in the kernels, $(wc -l <"$work/forms") in form_rows.h"
    [ -s "$work/kernels" ] || failed=1
}

for arch in 2201 1001; do
    : >"$work/used"
    for word in "$@"; do
        kernel=${word%:*} column=0
        # the first 910 has one kernel
        [ "$arch" = 2201 ] || grep -q 'NPU_ARCH__ == 1001' "$root/op_kernel/$kernel.cpp" || continue
        while [ "$column" -lt "${word#*:}" ]; do
            calls -D__NPU_ARCH__="$arch" -DTWIN_OP="$kernel" -DTWIN_COLUMN="$column" -I"$root/op_kernel" -I"$generated" \
                "$root/twin/entry.cpp" >>"$work/used"
            column=$((column + 1))
        done
    done
    compare "$arch"
done
exit "$failed"

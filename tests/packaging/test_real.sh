#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The finished package, if ASCGRAD_RUN names one: installs, and doctor and the checks are content.
. "$(dirname "$0")/lib.sh"
if [ ! -f "${ASCGRAD_RUN:-}" ]; then
    echo "$(basename "$0"): skipped, there is no package ${ASCGRAD_RUN:-}"
    exit 0
fi
base=$fix/real
make_cann "$base"
opp=$base/opp
ours=$opp/vendors/ascgrad
libs=${ASCGRAD_STUBS:-$fix/lib/cann}
expect "--check" sh "$ASCGRAD_RUN" --check
expect "--extract" sh "$ASCGRAD_RUN" --extract="$base/x" --noexec
expect "contents" "${PYTHON:-/usr/bin/python3}" -B "$tests/test_contents.py" \
    "$base/x/packages/vendors/ascgrad"
expect "install" env "ASCEND_OPP_PATH=$opp" sh "$ASCGRAD_RUN"
expect "is whole" usable "$opp"
expect "its own command" "$ours/bin/ascgrad" ops
doctor() { env "ASCEND_OPP_PATH=$opp" "LD_LIBRARY_PATH=$libs" "$ours/bin/ascgrad" doctor; }
expect "its own doctor" doctor
expect "leaving out" env "ASCEND_OPP_PATH=$opp" sh "$ASCGRAD_RUN" --no-override
expect "doctor after leaving out" doctor
said "left to CANN's own implementation"
# Old systems must be able to load the libraries.
tiling=$ours/op_impl/ai_core/tbe/op_tiling
for library in "$ours"/op_proto/lib/linux/*/*.so "$tiling"/lib/linux/*/*.so; do
    newest=$(grep -aoE 'GLIBC_2\.[0-9]+' "$library" | sed 's/GLIBC_2\.//' | sort -n | tail -n 1)
    expect "$library needs glibc 2.$newest" [ "${newest:-0}" -le 28 ]
done
expect "uninstall" env "ASCEND_OPP_PATH=$opp" sh "$ASCGRAD_RUN" --uninstall
finish

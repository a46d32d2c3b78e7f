#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every script passes shellcheck, and every shell on this machine can read them.
. "$(dirname "$0")/lib.sh"
cd "$top/packaging" || exit 1
if command -v shellcheck >/dev/null; then
    expect "shellcheck of packaging/" shellcheck -x ./*.sh
    expect "shellcheck of the stub" shellcheck -s sh "$fix/work1/stub.sh"
    cd "$tests" || exit 1
    expect "shellcheck of the tests" shellcheck -x ./*.sh
fi
for shell in dash bash busybox; do
    command -v $shell >/dev/null || continue
    [ $shell != busybox ] || shell="busybox sh"
    for script in "$top"/packaging/*.sh "$fix/work1/stub.sh"; do
        # shellcheck disable=SC2086
        expect "$shell reads $(basename "$script")" $shell -n "$script"
    done
done
finish

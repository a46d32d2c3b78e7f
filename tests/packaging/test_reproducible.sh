#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same input in another folder, at another time, with another umask, locale and time zone gives
# the same file.
. "$(dirname "$0")/lib.sh"
base="$fix/re produce"
mkdir -p "$base"
cp -r "$fix/src1" "$base/other source"
cp -r "$fix/lib" "$base/lib"
find "$base" -exec touch -h -d '1999-12-31 23:59:59' {} +
export top ir base
expect "second build" sh -c 'umask 077; cd "$base" && LC_ALL=C.UTF-8 LANG=de_DE.UTF-8 \
    TZ=Asia/Tokyo GZIP=-1 TMPDIR=$base sh "$top/packaging/make_run.sh" --ir "$ir" --version 1.0.0 \
    --source "$base/other source" --out deep/er/one.run --lib-dir-x86_64 lib/x86_64 \
    --lib-dir-aarch64 "$base/lib/aarch64"'
expect "the same bits" cmp "$fix/one.run" "$base/deep/er/one.run"
same "mode" "$(stat -c %a "$base/deep/er/one.run")" 755
expect "checksum beside it" sh -c 'cd "$0" && sha256sum -c one.run.sha256' "$base/deep/er"
if cmp -s "$fix/one.run" "$fix/two.run"; then fail "versions do not differ"; else pass; fi
# A single-machine package for development.
expect "one machine only" sh "$top/packaging/make_run.sh" --ir "$ir" --version 1 \
    --source "$fix/src1" --lib-dir-aarch64 "$fix/lib/aarch64" --out "$base/single.run"
expect "says so" sh "$base/single.run" --info
said "machines: aarch64"
echo '#include "gone.h"' >>"$base/other source/op_kernel/$(kernel_of "$(last_type)").cpp"
status 1 "a kernel that includes what is not shipped" sh "$top/packaging/make_run.sh" --ir "$ir" \
    --version 1 --source "$base/other source" --lib-dir-x86_64 "$fix/lib/x86_64" --out "$base/x.run"
said gone.h
for version in "" "a b" "1/2" '$(id)'; do
    status 1 "version '$version'" sh "$top/packaging/make_run.sh" --ir "$ir" \
        --version "$version" --source "$fix/src1" --lib-dir-x86_64 "$fix/lib/x86_64" \
        --out "$base/v.run"
done
finish

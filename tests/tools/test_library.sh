#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libascgrad as a stranger meets it: installed, found by pkg-config, used by the example program, nothing but the C API
# exported. usage: test_library.sh SOURCE BUILD
set -eu
source=$1
build=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
good() { passed=$((passed + 1)); }
die() { printf 'FAIL: %s\n%s passed, 1 failed\n' "$*" "$passed"; exit 1; }

cmake --install "$build" --prefix "$dir/usr" >"$dir/log" 2>&1 || die "install: $(cat "$dir/log")"
export PKG_CONFIG_PATH="$dir/usr/lib/pkgconfig"
for standard in c11 c++17; do
  case $standard in c++*) compile='g++ -x c++' ;; *) compile=gcc ;; esac
  # shellcheck disable=SC2046,SC2086
  [ $standard = c++17 ] || $compile -std=$standard -Wall -Wextra -Werror "$source/examples/c/exp_segsum_grad.c" \
    $(pkg-config --cflags --libs ascgrad) -o "$dir/example" || die "the example does not compile"
  echo '#include <ascgrad.h>' | $compile -std=$standard -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
    -I"$dir/usr/include" -x "${standard%%[0-9]*}" - || die "ascgrad.h is not $standard"
  good
done
[ "$(LD_LIBRARY_PATH="$dir/usr/lib" "$dir/example" 2>/dev/null)" = '0 3 4 3' ] || die "the example's numbers"
good
extra=$(nm -D --defined-only "$dir/usr/lib/libascgrad.so" | awk '$3 !~ /^ascgrad_/ && $2 != "A" {print $3}')
[ -z "$extra" ] || die "exported: $extra"
good
# shellcheck disable=SC2013
for name in $(sed -n 's/^ASCGRAD_API .*[ *]\(ascgrad_[a-z_]*\)(.*/\1/p' "$source/twin/ascgrad.h"); do
  nm -D "$dir/usr/lib/libascgrad.so" | grep -q " T $name@" || die "$name is not exported"
  good
done
readelf -d "$dir/usr/lib/libascgrad.so" | grep -q 'SONAME.*libascgrad.so.2]' || die "the SONAME"
good
echo "$passed passed, 0 failed"

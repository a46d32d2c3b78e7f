#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the pass shows and what it asks for: it exports nothing; of GE it asks for what symbols.inc lists and the three ways
# to learn the chip, all of it weakly; everything else is in old systems, too; and it can be unloaded.
#
# usage: test_symbols.sh LIBRARY SYMBOLS_INC
set -eu
failed=0
fail() {
    echo "FAIL: $1" >&2
    failed=1
}

[ -z "$(nm -D --defined-only "$1")" ] || fail "exports: $(nm -D --defined-only "$1")"
asked=$(nm -D --undefined-only "$1" | sed 's/^ *//; s/@.*//')
strong=$(echo "$asked" | grep -E '^U (_ZNK?2ge|Dlog|acl)' || true)
[ -z "$strong" ] || fail "would not open without: $strong"
optional='_ZNK2ge17CustomPassContext14GetOptionValueERKNS_12AscendStringERS1_
_ZN2ge20GEThreadLocalContext9GetOptionERKSsRSs
_ZN2ge21GetThreadLocalContextEv'
listed=$(sed -n 's/^FUSION_GE(\(.*\))$/\1/p' "$2")
wanted=$(printf '%s\n%s\n' "$listed" "$optional" | LC_ALL=C sort)
found=$(echo "$asked" | sed -n 's/^w \(_ZNK\{0,1\}2ge.*\)/\1/p' | LC_ALL=C sort)
[ "$wanted" = "$found" ] || fail "symbols.inc and the library differ: $(printf '%s\n%s\n' "$wanted" "$found" | LC_ALL=C sort | uniq -u)"
if echo "$asked" | grep -q '__cxx11'; then fail "asks for a new-ABI std::string; CANN has the old one"; fi
newest() { LC_ALL=C readelf -V "$1" | grep -o "$2[0-9]*" | sed 's/.*\.//' | sort -n | tail -1; }
glibc=$(newest "$1" 'GLIBC_2\.')
[ "${glibc:-0}" -le 28 ] || fail "needs glibc 2.$glibc"
libstdcxx=$(newest "$1" 'GLIBCXX_3\.4\.')
[ "${libstdcxx:-0}" -le 24 ] || fail "needs GLIBCXX_3.4.$libstdcxx"
dynamic=$(LC_ALL=C readelf -d "$1")
echo "$dynamic" | grep -q 'NEEDED.*libregister.so' || fail "does not need libregister.so"
if echo "$dynamic" | grep -q NODELETE; then fail "cannot be unloaded"; fi
[ "$failed" = 0 ] && echo "symbols are as they should be"
exit "$failed"

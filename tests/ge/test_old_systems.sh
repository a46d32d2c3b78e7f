#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What is built here must run on the oldest systems that CANN runs on: no program or library in the
# directories, of whatever machine, needs anything newer than glibc 2.17 or the libstdc++ of GCC 5.
# The command and the installer need no library at all, the command's helpers only those that every
# glibc has.
#
# usage: test_old_systems.sh DIR...     each holds the whole package; a missing one is left out
set -eu

failed=0
fail() {
    echo "FAIL: $1" >&2
    failed=1
}

# newer A B: version A is newer than B.
newer() { [ "$1" != "$2" ] && [ "$(printf '%s\n' "$1" "$2" | sort -V | tail -n 1)" = "$1" ]; }

# too_new VERSION: a symbol version that the oldest system does not have, or that nobody knows.
too_new() {
    case $1 in
        GLIBC_[0-9]*) newer "${1#*_}" 2.17 ;;
        GLIBCXX_[0-9]*) newer "${1#*_}" 3.4.21 ;;
        CXXABI_[0-9]*) newer "${1#*_}" 1.3.9 ;;
        GCC_[0-9]*) newer "${1#*_}" 4.8.0 ;;
        *) return 0 ;;
    esac
}

for version in GLIBC_2.18 GLIBC_2.34 GLIBCXX_3.4.29 CXXABI_1.3.11 GCC_7.0.0 GLIBC_ABI_DT_RELR; do
    too_new $version || fail "this test takes $version for old"
done
for version in GLIBC_2.2.5 GLIBC_2.17 GLIBCXX_3.4 GLIBCXX_3.4.21 CXXABI_1.3 GCC_3.0; do
    if too_new $version; then fail "this test takes $version for new"; fi
done

needed() { LC_ALL=C readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | LC_ALL=C sort; }

# needs FILE: the versions it asks of other libraries.
needs() {
    LC_ALL=C readelf -V "$1" | sed -n '/^Version needs section/,$ s/.*Name: \([^ ]*\)  *Flags.*/\1/p' |
        sort -u
}

check_file() {
    case $1 in
        *.so) [ -n "$(needs "$1")" ] || fail "$1: no versions were found in it" ;;
        */probe)
            [ "$(needed "$1" | tr '\n' ' ')" = 'libc.so.6 libdl.so.2 ' ] ||
                fail "$1 needs: $(needed "$1")"
            [ -n "$(needs "$1")" ] || fail "$1: no versions were found in it"
            ;;
        */accept_aclnn)
            [ "$(needed "$1" | tr '\n' ' ')" = 'libc.so.6 libdl.so.2 libpthread.so.0 ' ] ||
                fail "$1 needs: $(needed "$1")"
            ;;
        *)
            [ -z "$(needed "$1")" ] || fail "$1 needs: $(needed "$1")"
            if LC_ALL=C readelf -l "$1" | grep -q INTERP; then fail "$1 is not static"; fi
            ;;
    esac
    for version in $(needs "$1"); do
        if too_new "$version"; then fail "$1 needs $version"; fi
    done
}

list=$(mktemp)
trap 'rm -f "$list"' EXIT
files=0
for dir; do
    [ -d "$dir" ] || continue
    find "$dir" -type f ! -path '*/tbe/kernel/*' >"$list"
    for name in ascgrad probe accept_aclnn setup libcust_opsproto_rt2.0.so libcust_opmaster_rt2.0.so \
        libcust_tf_parsers.so libcust_onnx_parsers.so libcust_opapi.so; do
        grep -q "/$name\$" "$list" || fail "$dir has no $name"
    done
    while read -r file; do
        LC_ALL=C readelf -h "$file" >/dev/null 2>&1 || continue
        files=$((files + 1))
        check_file "$file"
    done <"$list"
done
[ "$files" -gt 0 ] || fail "there is nothing in: $*"
[ "$failed" = 0 ] && echo "$files files run on glibc 2.17"
exit "$failed"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What is built here must run on the oldest systems that CANN runs on: no program or library of the
# package, of either machine if both were built, needs anything newer than glibc 2.17 or the
# libstdc++ of GCC 5. The command needs no library at all, and its probe only the two that every
# glibc has.
#
# usage: test_old_systems.sh BUILD
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

check_folder() { # DIR: the parts of one machine
    for name in ascgrad probe setup libcust_opsproto_rt2.0.so libcust_opmaster_rt2.0.so \
        libcust_tf_parsers.so libcust_onnx_parsers.so; do
        [ -e "$1/$name" ] || fail "$1/$name is missing"
    done
    for file in "$1"/*; do
        LC_ALL=C readelf -h "$file" >/dev/null 2>&1 || continue
        files=$((files + 1))
        case $file in
            *.so) [ -n "$(needs "$file")" ] || fail "$file: no versions were found in it" ;;
            */probe)
                [ "$(needed "$file" | tr '\n' ' ')" = 'libc.so.6 libdl.so.2 ' ] ||
                    fail "$file needs: $(needed "$file")"
                [ -n "$(needs "$file")" ] || fail "$file: no versions were found in it"
                ;;
            *)
                [ -z "$(needed "$file")" ] || fail "$file needs: $(needed "$file")"
                if LC_ALL=C readelf -l "$file" | grep -q INTERP; then
                    fail "$file is not static"
                fi
                ;;
        esac
        for version in $(needs "$file"); do
            if too_new "$version"; then fail "$file needs $version"; fi
        done
    done
}

files=0
check_folder "$1/package"
for other in "$1/x86_64/package" "$1/aarch64/package"; do
    if [ -d "$other" ]; then check_folder "$other"; fi
done
[ "$failed" = 0 ] && echo "$files files run on glibc 2.17"
exit "$failed"

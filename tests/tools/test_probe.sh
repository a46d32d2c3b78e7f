#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The program that opens libraries for doctor: what it says of a good library, and of bad ones.
#
# usage: test_probe.sh PROBE LIBRARY IRDUMP       (LIBRARY: one of ours; its dependencies are found)
set -eu
probe=$1 library=$2 irdump=$3
dir=$(mktemp -d "${TMPDIR:-/tmp}/ascgrad-probe.XXXXXX")
trap 'rm -rf "$dir"' EXIT

failed=0
same() { # WHAT WANT GOT
    [ "$2" = "$3" ] && return
    printf 'FAIL: %s: wanted "%s", got "%s"\n' "$1" "$2" "$3" >&2
    failed=1
}
make() { gcc -shared -fPIC -O1 -x c - -o "$dir/$1.so"; }
ask() { "$probe" "$dir/$1.so" 2>/dev/null; }

types=$("$irdump" --op-list | sed 's/.*(\(.*\),.*/\1/')
same "a good library" "$(echo "$types" | sed 's/$/ tiling/')" "$("$probe" "$library")"

table='#include <stdio.h>
#include <string.h>
size_t GetRegisteredOpNum(void) { return COUNT; }
size_t GetRegisteredOpCtNum(void) { return 0; }
int GetOpImplFunctions(void *table, size_t n) {
    static const char *type = "Chatty";
    memcpy(table, &type, sizeof type);
    puts("filled");
    fflush(stdout);
    return n != 1;
}'
# The constructor prints, and needs the stack as the ABI has it: aligned to 16 bytes.
{ echo "$table"; cat <<'C'; } | sed 's/COUNT/1/' | make chatty
__attribute__((constructor)) static void begin(void) {
    double on_stack[64] __attribute__((aligned(16)));
    memset(on_stack, 0, sizeof on_stack);
    printf("loading %p %.1f\n", (void *)on_stack, on_stack[5]);
    fflush(stdout);
    if ((unsigned long)__builtin_frame_address(0) % 16 != 0) __builtin_trap();
}
C
same "a library that prints" Chatty "$(ask chatty)"
echo "$table" | sed 's/COUNT/0/' | make none
same "no operators" "" "$(ask none)"
g++ -shared -fPIC -O1 -x c++ - -o "$dir/cpp.so" <<'C'
#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>
struct Row {
    const char *type;
    void *functions[7];
    size_t sizes[2];
    std::vector<std::string> attrs;
    std::unordered_set<std::string> unique;
    void *more[6];
};
static_assert(sizeof(Row) == 208, "");
extern "C" size_t GetRegisteredOpNum() { return 3; }
extern "C" size_t GetRegisteredOpCtNum() { return 0; }
extern "C" int GetOpImplFunctions(Row *table, size_t n) {
    static Row row{"InCpp", {}, {}, {"a", "b"}, {}, {}};
    for (size_t i = 0; i < n; i++) {
        table[i] = row;
        for (int k = 0; k < 100; k++) table[i].unique.insert(std::to_string(k));
        row = table[i];
        row.functions[3] = &row;
    }
    return 0;
}
C
same "a library in C++" "InCpp|InCpp tiling|InCpp tiling|" "$(ask cpp | tr '\n' '|')"
echo "$table" | sed 's/COUNT/2/' | make refuses
same "no table" "!it offers 2 operators and no table of them" "$(ask refuses)"
echo "$table" | sed 's/COUNT/1000000/' | make many
same "too many" "!it offers 1000000 operators and no table of them" "$(ask many)"
echo 'int nothing;' | make empty
same "no entry points" "!no GetRegisteredOpNum in it: GE closes such a library again" "$(ask empty)"
echo 'void gone(void); void f(void) { gone(); }' | make unresolved
same "undefined symbol" "!$dir/unresolved.so: undefined symbol: gone" "$(ask unresolved)"
# the IR: what GE's factory was told while the library was loaded, whatever else the library lacks
make factory <<'C'
#include <string.h>
_Bool known(const char *type) __asm__("_ZN2ge15OperatorFactory9IsExistOpEPKc");
__attribute__((visibility("default"))) _Bool known(const char *type) { return strchr(type, 'b') != 0; }
C
same "types that GE knows" "ab|b|" "$("$probe" "$dir/factory.so" a ab b c | tr '\n' '|')"
same "no factory" "" "$("$probe" "$dir/empty.so" a b)"
# shellcheck disable=SC2086 # words
same "a library without IR" "" "$("$probe" "$library" $types)"
case $("$probe" "$dir/missing.so") in
    '!'*'cannot open shared object file'*) ;;
    *) same "a missing library" "!... cannot open" "$("$probe" "$dir/missing.so")" ;;
esac
echo '__attribute__((constructor)) static void f(void) { __builtin_trap(); }' | make crash
status=0
"$probe" "$dir/crash.so" >/dev/null 2>&1 || status=$?
[ "$status" -gt 128 ] || same "a crash" "a signal" "status $status"
status=0
"$probe" >"$dir/out" 2>&1 || status=$?
same "no argument" "2 usage: probe LIBRARY [TYPE...]" "$status $(cat "$dir/out")"
[ "$failed" = 0 ] && echo "probe says what it should"
exit "$failed"

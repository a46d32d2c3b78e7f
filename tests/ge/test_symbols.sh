#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the host libraries show and what they ask for: GE's entry points and nothing else; no
# std::string in any symbol except the old-ABI ones of the platform shim; libregister.so and
# libplatform.so among the needed libraries, and none that only one generation of CANN has.
#
# usage: test_symbols.sh OPSPROTO OPMASTER
set -eu

failed=0
fail() {
    echo "FAIL: $1" >&2
    failed=1
}

entry_points='GetOpImplFunctions
GetRegisteredOpCtNum
GetRegisteredOpNum'

# Everything REG_OP may ask of GE (and what our own graph/operator.h may make the compiler emit).
ge_symbols='_ZN2ge12AscendStringC1EPKc
_ZN2ge23OperatorCreatorRegisterC1EPKcRKSt8functionIFNS_8OperatorERKNS_12AscendStringEEE
_ZN2ge8Operator12AttrRegisterEPKcRKSt6vectorIfSaIfEE
_ZN2ge8Operator12AttrRegisterEPKcRKSt6vectorIlSaIlEE
_ZN2ge8Operator12AttrRegisterEPKcb
_ZN2ge8Operator12AttrRegisterEPKcf
_ZN2ge8Operator12AttrRegisterEPKcl
_ZN2ge8Operator13InputRegisterEPKcS2_
_ZN2ge8Operator14OutputRegisterEPKcS2_
_ZN2ge8Operator21OptionalInputRegisterEPKcS2_
_ZN2ge8Operator28RequiredAttrWithTypeRegisterEPKcS2_
_ZN2ge8OperatorC2ERKNS_12AscendStringES3_'

check_both() { # LIBRARY
    name=$(basename "$1")
    exported=$(nm -D --defined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' | LC_ALL=C sort)
    [ "$exported" = "$entry_points" ] || fail "$name exports: $exported"

    needed=$(LC_ALL=C readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    for library in libregister.so libplatform.so; do
        echo "$needed" | grep -qx "$library" || fail "$name does not need $library"
    done
    if echo "$needed" | grep -Eq 'libmetadef|libopp_registry|libgraph|librt2_registry'; then
        fail "$name needs a library that not every CANN has: $needed"
    fi
    if nm -D --undefined-only "$1" | grep -q '__cxx11'; then
        fail "$name asks for a new-ABI std::string; CANN has the old one"
    fi
}

undefined() { # LIBRARY: strong undefined symbols without versions
    nm -D --undefined-only "$1" | awk '$1 == "U" { print $2 }' | sed 's/@.*//' | LC_ALL=C sort
}

proto=$1
master=$2
check_both "$proto"
check_both "$master"

asked=$(undefined "$proto" | grep '^_ZN*K*2ge')
others=$(echo "$asked" | grep -vxF "$ge_symbols" || :)
[ -z "$others" ] || fail "the IR library asks GE for: $others"
for register in Input Output OptionalInput; do
    echo "$asked" | grep -q "${register}Register" || fail "the IR library registers no $register"
done
if undefined "$proto" | grep -q 'Ss'; then
    fail "the IR library passes a std::string: $(undefined "$proto" | grep Ss)"
fi
fe_symbol=_ZN2fe13PlatFormInfos22GetPlatformResWithLockERKSsS2_RSs
[ "$(undefined "$master" | grep '^_ZN*K*2fe')" = "$fe_symbol" ] ||
    fail "the tiling library asks the platform for: $(undefined "$master" | grep '2fe')"
if undefined "$master" | grep -q '^_ZN*K*2ge'; then
    fail "the tiling library needs GE"
fi

[ "$failed" = 0 ] && echo "symbols are as they should be"
exit "$failed"

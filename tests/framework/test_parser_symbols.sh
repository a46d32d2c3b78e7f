#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the parser plugins show and what they ask for: they export nothing, import no protobuf and no std::string, and of
# GE only what is listed here (the same list comes out of a build against the headers of CANN 8.1 and of 2026).
#
# usage: test_parser_symbols.sh TF_PARSERS ONNX_PARSERS
set -eu
failed=0
fail() {
    echo "FAIL: $1" >&2
    failed=1
}

tensorflow='_ZN2ge12AscendStringC1EPKc
_ZN2ge15OperatorFactory14CreateOperatorEPKcS2_
_ZN2ge5Graph10SetOutputsERKSt6vectorISt4pairINS_8OperatorES1_ImSaImEEESaIS6_EE
_ZN2ge5Graph9SetInputsERKSt6vectorINS_8OperatorESaIS2_EE
_ZN2ge8Operator7SetAttrEPKcRKSt6vectorIfSaIfEE
_ZN2ge8Operator7SetAttrEPKcRKSt6vectorIlSaIlEE
_ZN2ge8Operator7SetAttrEPKcS2_
_ZN2ge8Operator7SetAttrEPKcb
_ZN2ge8Operator7SetAttrEPKcf
_ZN2ge8Operator7SetAttrEPKcl
_ZN2ge8Operator8SetInputEPKcRKS0_
_ZN4domi10OpReceiverC1ERNS_18OpRegistrationDataE
_ZN4domi17AutoMappingByOpFnERKN2ge8OperatorERS1_
_ZN4domi18OpRegistrationData12OriginOpTypeEPKc
_ZN4domi18OpRegistrationData13FrameworkTypeERKNS_13FrameworkTypeE
_ZN4domi18OpRegistrationData16ParseOpToGraphFnERKSt8functionIFjRKN2ge8OperatorERNS2_5GraphEEE
_ZN4domi18OpRegistrationData23ParseParamsByOperatorFnERKSt8functionIFjRKN2ge8OperatorERS3_EE
_ZN4domi18OpRegistrationDataC1EPKc
_ZN4domi18OpRegistrationDataD1Ev
_ZNK2ge12AscendString9GetStringEv
_ZNK2ge8Operator13GetInputsSizeEv
_ZNK2ge8Operator14GetOutputsSizeEv
_ZNK2ge8Operator7GetAttrEPKcRSt6vectorINS_8DataTypeESaIS4_EE
_ZNK2ge8Operator7GetAttrEPKcRSt6vectorIfSaIfEE
_ZNK2ge8Operator7GetAttrEPKcRSt6vectorIlSaIlEE
_ZNK2ge8Operator7GetAttrEPKcRb
_ZNK2ge8Operator7GetAttrEPKcRf
_ZNK2ge8Operator7GetAttrEPKcRl
_ZNK2ge8Operator7GetNameERNS_12AscendStringE'
onnx='_ZN2ge12AscendStringC1EPKc
_ZN2ge8Operator7SetAttrEPKcRKSt6vectorIfSaIfEE
_ZN2ge8Operator7SetAttrEPKcf
_ZN2ge8Operator7SetAttrEPKcRKSt6vectorIlSaIlEE
_ZN2ge8Operator7SetAttrEPKcb
_ZN2ge8Operator7SetAttrEPKcl
_ZN4domi10OpReceiverC1ERNS_18OpRegistrationDataE
_ZN4domi18OpRegistrationData12OriginOpTypeERKSt6vectorIN2ge12AscendStringESaIS3_EE
_ZN4domi18OpRegistrationData13FrameworkTypeERKNS_13FrameworkTypeE
_ZN4domi18OpRegistrationData23ParseParamsByOperatorFnERKSt8functionIFjRKN2ge8OperatorERS3_EE
_ZN4domi18OpRegistrationData9ImplyTypeERKNS_9ImplyTypeE
_ZN4domi18OpRegistrationDataC1EPKc
_ZN4domi18OpRegistrationDataD1Ev
_ZNK2ge12AscendString9GetStringEv
_ZNK2ge8Operator7GetAttrEPKcRNS_12AscendStringE'

check() { # LIBRARY WANTED
    name=$(basename "$1")
    exported=$(nm -D --defined-only "$1" | awk '{ print $NF }')
    [ -z "$exported" ] || fail "$name exports: $exported"
    asked=$(nm -D --undefined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' | LC_ALL=C sort)
    if echo "$asked" | grep -Eq 'protobuf|google'; then fail "$name asks for protobuf"; fi
    if echo "$asked" | grep -q '__cxx11'; then fail "$name asks for a new-ABI std::string; CANN has the old one"; fi
    ours=$(echo "$asked" | grep -E '^_ZN?K?(2ge|4domi)|^_ZNK?(2ge|4domi)')
    extra=$(printf '%s\n' "$ours" | grep -Fxv "$2" || true)
    [ -z "$extra" ] || fail "$name asks GE for more than it should: $extra"
    LC_ALL=C readelf -d "$1" | grep -q 'NEEDED.*libregister.so' || fail "$name does not need libregister.so"
    newest=$(LC_ALL=C readelf -V "$1" | grep -o 'GLIBC_2\.[0-9]*' | sed 's/.*\.//' | sort -n | tail -1)
    [ "${newest:-0}" -le 28 ] || fail "$name needs glibc 2.$newest"
}

check "$1" "$tensorflow"
check "$2" "$onnx"
[ "$failed" = 0 ] && echo "symbols are as they should be"
exit "$failed"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the kernels ahead of time, on a machine with the CANN toolkit, into a kernel/ tree that
# make_run.sh --kernel adds to the package.
#
#   binary.sh --vendor DIR --out DIR/kernel [--soc "ascend910b ascend910_93"]
#
# DIR is a vendor directory, installed or in make_run.sh's <work>/payload/packages/vendors:
# ops-info, launchers, kernel sources and liboptiling.so are taken from it. The toolkit's set_env.sh
# must have been sourced; OPC may name the compiler (else asc_opc or opc).
set -eu
unset CDPATH
export LC_ALL=C

die() {
    printf 'binary: %s\n' "$*" >&2
    exit 1
}

packaging=$(cd -P "$(dirname "$0")" && pwd -P)
vendor='' out='' socs=$(sed '/^#/d; s/ .*//' "$packaging/socs.txt")
while [ $# -gt 1 ]; do
    case $1 in
    --vendor) vendor=$2 ;;
    --out) out=$2 ;;
    --soc) socs=$2 ;;
    *) die "unknown option $1" ;;
    esac
    shift 2
done
[ $# -eq 0 ] || die "$1 has no value"
[ -d "$vendor" ] || die "--vendor: no directory '$vendor'"
[ -n "$out" ] || die "--out is missing"
vendor=$(cd -P "$vendor" && pwd -P)
tbe=$vendor/op_impl/ai_core/tbe
opc=${OPC:-$(command -v asc_opc || command -v opc || true)}
[ -n "$opc" ] || die "neither asc_opc nor opc found: source the toolkit's set_env.sh"

# opc runs our tiling, which it finds through this variable.
export ASCEND_CUSTOM_OPP_PATH="$vendor${ASCEND_CUSTOM_OPP_PATH:+:$ASCEND_CUSTOM_OPP_PATH}"
requests=$(mktemp -d)
trap 'rm -rf "$requests"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$out"
for soc in $socs; do
    full=$(sed -n "s/^$soc  *\([^ ]*\).*/\1/p" "$packaging/socs.txt")
    [ -n "$full" ] || die "unknown chip $soc"
    python3 "$packaging/binary.py" params --out "$requests/$soc" \
        --ops-info "$tbe/config/$soc/aic-$soc-ops-info.json" >"$requests/list"
    while read -r kernel request; do
        name=$(basename "$request" .json)
        echo "binary: $soc $name"
        mkdir -p "$out/$soc/$kernel"
        "$opc" "$tbe/ascgrad_impl/dynamic/$kernel.py" --main_func="$kernel" \
            --input_param="$request" --soc_version="$full" --output="$out/$soc/$kernel" \
            --op_mode=dynamic --impl_mode=high_performance,optional --simplified_key_mode=0 \
            </dev/null || die "opc failed for $name on $soc"
        for made in "$out/$soc/$kernel/$name.o" "$out/$soc/$kernel/$name.json"; do
            [ -s "$made" ] || die "opc did not write $made"
        done
    done <"$requests/list"
    python3 "$packaging/binary.py" index --soc "$soc" --kernel "$out"
done

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --no-override: what CANN already has is left to CANN, whole: no ops-info, no launcher, no kernel,
# no TensorFlow entry of ours, and our libraries do not offer it either.
. "$(dirname "$0")/lib.sh"
base=$fix/override
make_cann "$base/cann"
opp=$base/cann/opp
ours=$opp/vendors/ascgrad
tbe=$ours/op_impl/ai_core/tbe
export ASCEND_OPP_PATH="$opp"
tiling=$tbe/op_tiling/lib/linux/$(uname -m)/libcust_opmaster_rt2.0.so

types() {
    "${PYTHON:-/usr/bin/python3}" -c 'import json,sys; print(*json.load(open(sys.argv[1])))' "$1"
}

# offered LIBRARY: the switches that are on, in the bytes of the library.
offered() { grep -aoE 'ascgrad-offers:[A-Za-z]+=1' "$1" | sed 's/.*://; s/=1//' | paste -sd' ' -; }

all="RotaryMulGrad RotaryPositionEmbeddingGrad RopeGrad NormRopeConcatGrad ExpSegsumGrad"
rest="RotaryPositionEmbeddingGrad RopeGrad NormRopeConcatGrad ExpSegsumGrad"
expect "install with --no-override" sh "$fix/one.run" --no-override
said "left to CANN's own implementation: RotaryMulGrad"
for soc in ascend910b ascend910_93 ascend950; do
    same "ops-info of $soc" "$(types "$tbe/config/$soc/aic-$soc-ops-info.json")" "$rest"
done
same "TensorFlow" "$(types "$ours/framework/tensorflow/npu_supported_ops.json")" "$rest"
for library in "$ours/op_proto/lib/linux"/*/*.so "$tbe/op_tiling/lib/linux"/*/*.so; do
    same "$library" "$(offered "$library")" "$rest"
done
expect "launcher is left" [ ! -e "$tbe/ascgrad_impl/dynamic/rotary_mul_grad.py" ]
expect "kernel is left" [ ! -e "$tbe/ascgrad_impl/ascendc/rotary_mul_grad" ]
expect "is whole" usable "$opp"
expect "doctor agrees" env "LD_LIBRARY_PATH=$fix/lib/cann" "$ASCGRAD_BIN" doctor
said "RotaryMulGrad: left to CANN's own implementation"

expect "and back" sh "$fix/one.run"
same "all again" "$(types "$tbe/config/ascend910b/aic-ascend910b-ops-info.json")" "$all"
same "all switches on" "$(offered "$tiling")" "$all"

# A CANN that has the last one, the first one, or all of them, on any chip of ours.
for has in ExpSegsumGrad "RotaryMulGrad ExpSegsumGrad" "$all"; do
    make_cann "$base/cann"
    rm -r "$opp/built-in/op_impl/ai_core/tbe/config/ascend910b"
    mkdir "$opp/built-in/op_impl/ai_core/tbe/config/ascend910_93"
    for type in $has; do echo "{\"$type\":{}}"; done \
        >"$opp/built-in/op_impl/ai_core/tbe/config/ascend910_93/aic-ascend910_93-ops-info-math.json"
    expect "CANN has $has" sh "$fix/one.run" --no-override
    want=
    for type in $all; do
        case " $has " in *" $type "*) ;; *) want="$want $type" ;; esac
    done
    same "ops-info without $has" \
        "$(types "$tbe/config/ascend950/aic-ascend950-ops-info.json")" "${want# }"
    same "switches without $has" "$(offered "$tiling")" "${want# }"
done
unset ASCEND_OPP_PATH
status 2 "--no-override without a CANN to look at" \
    sh "$fix/one.run" --no-override --install-path="$base/p"
said "ASCEND_OPP_PATH"
finish

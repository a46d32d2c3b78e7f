#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# binary.sh with a stand-in for opc: what is asked for, the index of what comes back, the package
# with it, and --no-override there.
. "$(dirname "$0")/lib.sh"
base=$fix/binary
mkdir -p "$base/bin"
printf '#!/bin/sh\nexec %s -B %s "$@"\n' "${PYTHON:-/usr/bin/python3}" "$tests/opc_stand_in.py" \
    >"$base/bin/opc"
chmod 755 "$base/bin/opc"
vendor=$fix/work1/payload/packages/vendors/ascgrad
status 1 "no toolkit" env PATH=/usr/bin:/bin sh "$top/packaging/binary.sh" --vendor "$vendor" \
    --out "$base/kernel"
said "set_env.sh"
expect "binary.sh" env "PATH=$base/bin:$PATH" sh "$top/packaging/binary.sh" --vendor "$vendor" \
    --out "$base/kernel" --soc "ascend910b ascend910_93"
cat >"$base/check.py" <<'END'
import glob, json, os, sys
kernel = sys.argv[1]
want = {"RotaryMulGrad": 3, "RotaryPositionEmbeddingGrad": 3, "RopeGrad": 3,
        "NormRopeConcatGrad": 3, "ExpSegsumGrad": 3}
for soc in ("ascend910b", "ascend910_93"):
    summary = json.load(open("%s/config/%s/binary_info_config.json" % (kernel, soc)))
    assert {k: len(v["binaryList"]) for k, v in summary.items()} == want, summary.keys()
    keys = [k for v in summary.values() for b in v["binaryList"] for k in b["simplifiedKey"]]
    assert len(keys) == len(set(keys)) == 15 * 4
    for op_type, op in summary.items():
        assert op["dynamicRankSupport"] is True and op["simplifiedKeyMode"] == 0
        assert op["optionalInputMode"] == "gen_placeholder"
        for b in op["binaryList"]:
            assert b["coreType"] == 2 and isinstance(b["simplifiedKey"], list)
            assert os.path.isfile(os.path.join(kernel, b["binPath"]))
            assert json.load(open(os.path.join(kernel, b["jsonPath"])))["filePath"] == b["jsonPath"]
        inputs = op["params"]["inputs"]
        assert [i["index"] for i in inputs] == list(range(len(inputs)))
        assert {i["formatMode"] for i in inputs} == {"static_nd_agnostic"}
    # the key that CANN 8.1 itself has for this operator
    assert "RotaryPositionEmbeddingGrad/d=0,p=1/1,2/1,2/1,2/1,2/1,2/1,2" in keys
    singles = glob.glob("%s/config/%s/*_grad.json" % (kernel, soc))
    assert len(singles) == 5
    for name in singles:
        for b in json.load(open(name))["binList"]:
            assert os.path.isfile(os.path.join(kernel, b["binInfo"]["jsonFilePath"]))
            assert all(t["shape"] == [-2] for t in b["inputs"])
END
expect "the index" "${PYTHON:-/usr/bin/python3}" "$base/check.py" "$base/kernel"
status 1 "opc fails" env "PATH=$base/bin:$PATH" OPC_FAILS=rope_grad sh "$top/packaging/binary.sh" \
    --vendor "$vendor" --out "$base/kernel2" --soc ascend910b
said "opc failed for RopeGrad"
status 1 "an unknown chip" env "PATH=$base/bin:$PATH" sh "$top/packaging/binary.sh" \
    --vendor "$vendor" --out "$base/kernel2" --soc ascend1
expect "a package with it" make_run 1.0.0 "$fix/src1" "$base/bin.run" --kernel "$base/kernel"
make_cann "$base/cann"
expect "install" env "ASCEND_OPP_PATH=$base/cann/opp" sh "$base/bin.run" --no-override
expect "is whole" usable "$base/cann/opp"
tbe=$base/cann/opp/vendors/ascgrad/op_impl/ai_core/tbe
index=$tbe/kernel/config/ascend910b/binary_info_config.json
same "left out of the index" "$(sed -n 's/^    "\(.*\)": {/\1/p' "$index" | paste -sd' ' -)" \
    "ExpSegsumGrad NormRopeConcatGrad RopeGrad RotaryPositionEmbeddingGrad"
same "left out of the kernels" "$(find "$tbe/kernel" -name '*otary*ul*rad*' | wc -l)" 0
same "the others are there" "$(find "$tbe/kernel" -name '*.o' | wc -l)" 24
finish

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernels.py with a stand-in for opc: what is asked for, the index of what comes back, the chips that a
# toolkit does not know, a package with the kernels inside. And the key of GE's cache of compiled
# kernels: it changes with every byte of the operator's sources, and with nothing else.
. "$(dirname "$0")/lib.sh"
base=$fix/kernels
make_toolkit "$base/toolkit"
cp -r "$fix/work1/payload/packages/vendors/ascgrad" "$base/ascgrad"
status 3 "no toolkit" env PATH=/usr/bin:/bin python3 -B "$base/ascgrad/scripts/kernels.py" \
    --vendor "$base/ascgrad"
said "set_env.sh"

# kernels VENDOR [OPTION...]: with the toolkit.
kernels() {
    vendor=$1
    shift
    env "PATH=$base/toolkit/bin:$PATH" "ASCEND_HOME_PATH=$base/toolkit" \
        python3 -B "$vendor/scripts/kernels.py" --vendor "$vendor" "$@"
}

expect "kernels.py" kernels "$base/ascgrad"
said "left out: ascend950, because this toolkit does not know Ascend950PR_9599"
said "left out: ascend350, because this toolkit does not know Ascend350_355e"
said "left out: ascend960dt, because this toolkit does not know Ascend960DT_968B7"
said "kernel 1 of "
cat >"$base/check.py" <<'END'
import glob, json, os, re, sys
kernel, ops = sys.argv[1], json.load(open(sys.argv[2]))
code = {"fp32": 0, "fp16": 1, "bf16": 27}
assert sorted(os.listdir(kernel + "/config")) == ["ascend910_93", "ascend910b"]
for soc in ("ascend910b", "ascend910_93"):
    summary = json.load(open("%s/config/%s/binary_info_config.json" % (kernel, soc)))
    assert set(summary) == {op["type"] for op in ops}, summary.keys()
    for op in ops:
        mine, have = summary[op["type"]], set()
        assert mine["dynamicRankSupport"] is True and mine["simplifiedKeyMode"] == 0
        assert mine["optionalInputMode"] == "gen_placeholder"
        source = open("op_kernel/%s.cpp" % op["kernel"]).read()
        mix = "KERNEL_TYPE_MIX" in source
        for b in mine["binaryList"]:
            assert b["coreType"] == (0 if mix else 2), b
            assert b.get("multiKernelType") == (1 if mix else None), b
            assert isinstance(b["simplifiedKey"], list)
            assert not have & set(b["simplifiedKey"])
            have |= set(b["simplifiedKey"])
            assert os.path.basename(b["binPath"]).startswith("ascgrad_" + op["type"] + "_")
            assert os.path.isfile(os.path.join(kernel, b["binPath"]))
            made = json.load(open(os.path.join(kernel, b["jsonPath"])))
            assert made["filePath"] == b["jsonPath"] and made["opParaSize"] > 0
        # every dtype column, deterministic or not, both precisions: nothing less than CANN's own
        tensors = [t for t in op["inputs"] + op["outputs"] if t["kind"] == "required"]
        want = {"%s/d=%d,p=%d/%s" % (op["type"], d, p, "/".join("%d,2" % code[t["dtypes"][c]]
                                                                for t in tensors))
                for c in range(len(tensors[0]["dtypes"])) for d in (0, 1) for p in (0, 1)}
        assert have == want, (op["type"], have ^ want)
        inputs = mine["params"]["inputs"]
        assert [i["index"] for i in inputs] == list(range(len(op["inputs"])))
        assert {i["formatMode"] for i in inputs} == {"static_nd_agnostic"}
        for b in json.load(open("%s/config/%s/%s.json" % (kernel, soc, op["kernel"])))["binList"]:
            assert os.path.isfile(os.path.join(kernel, b["binInfo"]["jsonFilePath"]))
            assert all(t["shape"] == [-2] for t in b["inputs"])
    # the key that CANN 8.1 itself has for this operator
    keys = [k for b in summary["RotaryPositionEmbeddingGrad"]["binaryList"]
            for k in b["simplifiedKey"]]
    assert "RotaryPositionEmbeddingGrad/d=0,p=1/1,2/1,2/1,2/1,2/1,2/1,2" in keys
END
tbe=op_impl/ai_core/tbe
cd "$top" || exit 1
expect "the index" "${PYTHON:-/usr/bin/python3}" "$base/check.py" "$base/ascgrad/$tbe/kernel" "$ir"
cp -r "$fix/work1/payload/packages/vendors/ascgrad" "$base/second"
status 1 "opc fails" env OPC_FAILS="$(last_type):float16" "PATH=$base/toolkit/bin:$PATH" \
    python3 -B "$base/second/scripts/kernels.py" --vendor "$base/second" --chips ascend910b
said "$(last_type) float16 for ascend910b FAILED"
expect "the log has what opc said" grep -q 'no such luck' "$base/second/compile.log"
same "the others were compiled" \
    "$(find "$base/second/$tbe/kernel" -name '*.o' | wc -l)" \
    "$(($(find "$base/ascgrad/$tbe/kernel/ascend910b" -name '*.o' | wc -l) - 1))"
status 1 "an unknown chip" kernels "$base/second" --chips ascend1
status 1 "only chips the toolkit does not know" kernels "$base/second" --chips ascend950

# ./build.sh --binary
expect "a package with kernels" env "PATH=$base/toolkit/bin:$PATH" \
    "ASCEND_HOME_PATH=$base/toolkit" sh "$top/packaging/make_run.sh" --ir "$ir" --version 1.0.0 \
    --source "$fix/src1" --lib-dir-x86_64 "$fix/lib/x86_64" --lib-dir-aarch64 "$fix/lib/aarch64" \
    --out "$base/bin.run" --work "$base/bin" --compile all
said "left out: ascend950"
same "its kernels" "$(cd "$base/bin/payload/packages/vendors/ascgrad/$tbe/kernel" && find . | sort)" \
    "$(cd "$base/ascgrad/$tbe/kernel" && find . | sort)"
status 1 "a package, but a kernel fails" env OPC_FAILS="$(last_type):float16" \
    "PATH=$base/toolkit/bin:$PATH" sh "$top/packaging/make_run.sh" --ir "$ir" --version 1.0.0 \
    --source "$fix/src1" --lib-dir-x86_64 "$fix/lib/x86_64" --out "$base/no.run" --compile all
said "compile.log"
make_cann "$base/cann"
expect "install it, without a compiler" env "ASCEND_OPP_PATH=$base/cann/opp" PATH=/usr/bin:/bin \
    sh "$base/bin.run" --chip=ascend910b
for type in $(types); do
    expect "$type is ours on both roads" grep -q "^owner $type ge=ascgrad aclnn=ascgrad kernel bin" \
        "$base/cann/opp/vendors/ascgrad/package.info"
done
expect "is whole" usable "$base/cann/opp"
same "every kernel is there" "$(find "$base/cann/opp/vendors/ascgrad/$tbe/kernel" -name '*.o' | wc -l)" \
    "$(find "$base/ascgrad/$tbe/kernel" -name '*.o' | wc -l)"

# interfaces SOURCE: "type name" of what GE's cache is keyed by, for a package of that source.
interfaces() {
    python3 -B "$top/packaging/generate.py" --ir "$ir" --socs "$top/packaging/socs.txt" \
        --kernels "$1/op_kernel" --vendor "$base/x/ascgrad" --msopgen "$base/x/msopgen"
    "${PYTHON:-/usr/bin/python3}" -c 'import json, sys
for op, record in json.load(open(sys.argv[1])).items():
    print(op, record["opInterface"]["value"])' \
        "$base/x/ascgrad/$tbe/config/ascend910b/aic-ascend910b-ops-info.json"
}
# "file type" for every file of op_kernel that the type's kernel reaches, found by the compiler
for kernel in "$top"/op_kernel/*.cpp; do
    type=$(sed -n "s/^kernel \([^ ]*\) $(basename "$kernel" .cpp)\$/\1/p" \
        "$fix/one/packages/vendors/ascgrad/package.info")
    gcc -E -M -MG -DTWIN_EVERY_CHIP -x c++ "$kernel" 2>/dev/null | tr -s ' ' '\n' |
        sed -n "s|.*op_kernel/||p" | sort -u | sed "s/\$/ $type/"
done >"$base/reached"
cp -r "$fix/src1" "$base/elsewhere"
first=$(interfaces "$fix/src1")
same "the same sources, the same names" "$(interfaces "$base/elsewhere")" "$first"
for file in "$top"/op_kernel/*; do
    name=$(basename "$file")
    echo >>"$base/elsewhere/op_kernel/$name"
    changed=$(printf '%s\n' "$first" "$(interfaces "$base/elsewhere")" | sort | uniq -u | cut -d' ' -f1 |
        uniq | sort)
    same "a byte more in $name" "$changed" "$(sed -n "s/^$name //p" "$base/reached" | sort)"
    cp "$file" "$base/elsewhere/op_kernel/$name"
done
finish

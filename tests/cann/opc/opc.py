#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for opc: checks its arguments and writes a kernel and its description as opc would.

Keys and kernel types come from the kernel's source, as there: TILING_KEY_IS and KERNEL_TASK_TYPE
with literal numbers. A source with a MIX key gives a MIX binary with a list of kernels; one with
vector keys only, a VectorCore binary. OPC_FAILS names a type, or type:dtype, that fails to compile;
OPC_SLEEP is how many seconds each kernel takes.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import time

DTYPE = {"float32": 0, "float16": 1, "bfloat16": 27}
OPTIONS = {"main_func", "input_param", "soc_version", "output", "impl_mode", "simplified_key_mode",
           "op_mode"}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def kernel_source(launcher, kernel):
    return os.path.join(os.path.dirname(launcher), "..", "ascendc", kernel, kernel + ".cpp")


def measure(text, common):
    made = subprocess.run(["gcc", "-x", "c", "-S", "-o", "-", "-I", common, "-"], input=text,
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    return max(int(n) for n in re.findall(r"size_\d+:\s+\.(?:long|word)\s+(\d+)", made)) + 8


def tiling_room(path):
    """The largest tiling structure that the source registers, and eight bytes; the real one reads
    it off the object file. The packaging tests have a folder in which the answer is kept."""
    common = os.path.join(os.path.dirname(path), "..", "common")
    names = re.findall(r"REGISTER_TILING_(?:DEFAULT|FOR_TILINGKEY)\((?:\".*\", )?(\w+)\)",
                       read(path))
    headers = sorted(name for name in os.listdir(common) if name.endswith("_tiling_data.h"))
    text = "".join(read(os.path.join(common, h)) for h in headers) + "".join(
        "unsigned size_%d = sizeof(%s);\n" % item for item in enumerate(names))
    if "fix" not in os.environ:
        return measure(text, common)
    known = os.path.join(os.environ["fix"],
                         "room." + hashlib.sha256(text.encode("utf-8")).hexdigest())
    if not os.path.exists(known):
        with open("%s.%d" % (known, os.getpid()), "w", encoding="ascii") as f:
            f.write("%d" % measure(text, common))
        os.rename(f.name, known)
    return int(read(known))


def kernel_types(path):
    """{key: type} from the source, read as the vendor's compile code reads it."""
    source = read(path)
    default = re.search(r"KERNEL_TASK_TYPE_DEFAULT\((\w+)\)", source)
    keys = [int(k) for k in re.findall(r"TILING_KEY_IS\((\d+)\)", source)] or [0]
    own = {int(k): t for k, t in re.findall(r"KERNEL_TASK_TYPE\((\d+), (\w+)\)", source)}
    return {key: own.get(key, default.group(1) if default else "KERNEL_TYPE_AIV_ONLY")
            for key in keys}


def main():
    launcher = sys.argv[1]
    options = dict(a[2:].split("=", 1) for a in sys.argv[2:])
    assert os.path.isfile(launcher), launcher
    assert set(options) == OPTIONS, options
    assert options["impl_mode"] == "high_performance,optional" and options["op_mode"] == "dynamic"
    kernel = os.path.basename(launcher)[:-3]
    assert re.fullmatch(kernel + "_[0-9a-f]{8}", options["main_func"]), options["main_func"]
    assert "\ndef %s(\n" % options["main_func"] in read(launcher)
    vendor = os.environ["ASCEND_CUSTOM_OPP_PATH"].split(":")[0]
    assert os.path.exists(os.path.join(vendor, "op_impl/ai_core/tbe/op_tiling/liboptiling.so"))
    assert os.listdir(options["output"]) == [], "a folder of its own for every kernel"
    request = json.loads(read(options["input_param"]))
    node, op_type = request["op_list"][0], request["op_type"]
    assert node["bin_filename"].startswith("ascgrad_" + op_type + "_")
    time.sleep(float(os.environ.get("OPC_SLEEP", "0")))
    fails = os.environ.get("OPC_FAILS", "").split(":")
    if fails[0] in (op_type, "all") and fails[1:] in ([], [node["inputs"][0]["dtype"]]):
        print("error: no such luck")
        return 1
    pairs = ["%d,2" % DTYPE[t["dtype"]] for t in node["inputs"] + node["outputs"]
             if t["paramType"] != "optional"]
    keys = ["%s/d=%d,p=%d/%s" % (op_type, d, p, "/".join(pairs)) for d in (0, 1) for p in (1, 0)]
    source = kernel_source(launcher, kernel)
    types = kernel_types(source)
    mix = any("MIX" in t for t in types.values())
    base = os.path.join(options["output"], node["bin_filename"])
    code = ("kernel of %s for %s\n" % (op_type, options["soc_version"])).encode("ascii")
    with open(base + ".o", "wb") as f:
        f.write(code)
    info = {"implMode": "high_performance", "int64Mode": False, "simplifiedKeyMode": 0,
            "simplifiedKey": keys, "staticKey": "s", "inputs": node["inputs"],
            "outputs": node["outputs"], "opMode": "dynamic",
            "optionalInputMode": "gen_placeholder", "optionalOutputMode": "gen_placeholder",
            "deterministic": "ignore"}
    if "attrs" in node:
        info["attrs"] = node["attrs"]
    made = {"binFileName": node["bin_filename"], "binFileSuffix": ".o", "blockDim": -1,
            "coreType": "MIX" if mix else "VectorCore", "kernelName": node["bin_filename"],
            "magic": "RT_DEV_BINARY_MAGIC_ELF" + ("" if mix else "_AIVEC"), "opParaSize": tiling_room(source),
            "compileInfo": {}, "sha256": hashlib.sha256(code).hexdigest(), "workspace": {
                "num": 1, "size": [-1], "type": [0]},
            "kernelList": [{"tilingKey": key, "kernelName": "%s_%d" % (node["bin_filename"], key)}
                           for key in types],
            "supportInfo": info}
    if mix:
        made.update(intercoreSync=1, taskRation="tilingKey")
        for entry in made["kernelList"]:
            sync = "MIX" in types[entry["tilingKey"]]
            entry.update(kernelType="MIX_AIC", taskRation="0:1", crossCoreSync=int(sync))
    with open(base + ".json", "w", encoding="ascii") as f:
        json.dump(made, f)
    return 0


if __name__ == "__main__":
    sys.exit(main())

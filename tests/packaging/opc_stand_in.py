#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for opc: checks its arguments and writes a kernel and its description as opc would."""
import json
import os
import sys

DTYPE = {"float32": 0, "float16": 1, "bfloat16": 27}


def main():
    launcher = sys.argv[1]
    options = dict(a[2:].split("=", 1) for a in sys.argv[2:])
    assert os.path.isfile(launcher), launcher
    assert set(options) == {"main_func", "input_param", "soc_version", "output", "impl_mode",
                            "simplified_key_mode", "op_mode"}, options
    assert options["impl_mode"] == "high_performance,optional" and options["op_mode"] == "dynamic"
    assert options["main_func"] == os.path.basename(launcher)[:-3]
    vendor = os.environ["ASCEND_CUSTOM_OPP_PATH"].split(":")[0]
    assert os.path.exists(os.path.join(vendor, "op_impl/ai_core/tbe/op_tiling/liboptiling.so"))
    if os.environ.get("OPC_FAILS") == options["main_func"]:
        return 1
    with open(options["input_param"], encoding="ascii") as f:
        request = json.load(f)
    node = request["op_list"][0]
    pairs = ["%d,2" % DTYPE[t["dtype"]] for t in node["inputs"] + node["outputs"]
             if t["paramType"] != "optional"]
    keys = ["%s/d=%d,p=%d/%s" % (request["op_type"], d, p, "/".join(pairs))
            for d in (0, 1) for p in (0, 1)]
    base = os.path.join(options["output"], node["bin_filename"])
    with open(base + ".o", "w", encoding="ascii") as f:
        f.write("kernel of %s for %s\n" % (request["op_type"], options["soc_version"]))
    info = {"implMode": "high_performance", "int64Mode": False, "simplifiedKeyMode": 0,
            "simplifiedKey": keys, "staticKey": "s", "inputs": node["inputs"],
            "outputs": node["outputs"], "opMode": "dynamic",
            "optionalInputMode": "gen_placeholder", "deterministic": "ignore"}
    if "attrs" in node:
        info["attrs"] = node["attrs"]
    with open(base + ".json", "w", encoding="ascii") as f:
        json.dump({"binFileName": node["bin_filename"], "binFileSuffix": ".o",
                   "coreType": "VectorCore", "kernelName": options["main_func"],
                   "supportInfo": info}, f)
    return 0


if __name__ == "__main__":
    sys.exit(main())

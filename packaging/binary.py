#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The two ends of binary.sh: what opc is asked to compile, and the index of what it made.

    binary.py params --ops-info FILE --out DIR     one <OpType>_<md5>.json per kernel; prints
                                                   "kernel file" lines
    binary.py index  --soc SHORT --kernel DIR      writes DIR/config/SHORT/*.json from the
                                                   DIR/SHORT/<op>/*.json that opc wrote
"""
import argparse
import glob
import hashlib
import json
import os

EMPTY = {"int": 0, "float": 0.0, "bool": False, "str": "", "listInt": [], "listFloat": [],
         "listBool": []}
ATTR_TYPE = {"listInt": "list_int", "listFloat": "list_float", "listBool": "list_bool"}
CORE_TYPE = {"MIX": 0, "AiCore": 1, "VectorCore": 2, "MIX_AICORE": 3, "MIX_VECTOR_CORE": 4,
             "MIX_AIV": 4}
FORMAT_MODE = {"FormatDefault": "nd_agnostic", "FormatAgnostic": "static_nd_agnostic",
               "FormatFixed": "normal"}


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii", newline="\n") as f:
        f.write(json.dumps(value, indent=4) + "\n")


def tensors(record, side, column):
    found = []
    while "%s%d" % (side, len(found)) in record:
        t = record["%s%d" % (side, len(found))]
        found.append({"name": t["name"], "index": len(found),
                      "dtype": t["dtype"].split(",")[column],
                      "format": t["format"].split(",")[column], "paramType": t["paramType"],
                      "shape": [-2], "format_match_mode": "FormatAgnostic"})
    return found


def attributes(record):
    names = record.get("attr", {}).get("list", "")
    types = [(name, record["attr_" + name]["type"]) for name in names.split(",") if name]
    return [{"name": n, "dtype": ATTR_TYPE.get(t, t), "value": EMPTY[t]} for n, t in types]


def params(ops_info, out):
    with open(ops_info, encoding="ascii") as f:
        store = json.load(f)
    for op_type, record in store.items():
        seen = set()  # columns that differ in optional inputs only share one kernel
        for column in range(len(record["input0"]["dtype"].split(","))):
            node = {"bin_filename": "", "inputs": tensors(record, "input", column),
                    "outputs": tensors(record, "output", column)}
            key = tuple((t["dtype"], t["format"]) for t in node["inputs"] + node["outputs"]
                        if t["paramType"] == "required")
            if key in seen:
                continue
            seen.add(key)
            if attributes(record):
                node["attrs"] = attributes(record)
            request = {"op_type": op_type, "op_list": [node]}
            text = json.dumps(request, indent="  ")
            node["bin_filename"] = op_type + "_" + hashlib.md5(text.encode("ascii")).hexdigest()
            path = os.path.join(out, node["bin_filename"] + ".json")
            write_json(path, request)
            print(record["opFile"]["value"], path)


def some(source, *names):
    return {name: source[name] for name in names if source.get(name) is not None}


def parameters(info):
    def tensor(t):
        if isinstance(t, list):
            return [tensor(t[0])]
        entry = some(t, "name", "index", "paramType")
        dtype, layout = t.get("dtype_match_mode"), t.get("format_match_mode")
        if dtype:
            entry["dtypeMode"] = "bit" if dtype == "DtypeByte" else dtype
        if layout:
            entry["formatMode"] = FORMAT_MODE.get(layout, layout)
        return entry

    found = {side: [tensor(t) for t in info.get(side) or []] for side in ("inputs", "outputs")}
    if info.get("attrs") is not None:
        found["attrs"] = [some(a, "name", "mode") for a in info["attrs"]]
    return found


def index(soc, kernel):
    per_op, summary = {}, {}
    for path in sorted(glob.glob(os.path.join(kernel, soc, "*", "*.json"))):
        with open(path, encoding="utf-8") as f:
            made = json.load(f)
        info = made["supportInfo"]
        op = os.path.basename(os.path.dirname(path))
        op_type = made["binFileName"].split("_")[0]
        where = "/".join((soc, op, os.path.basename(path)))
        made["filePath"] = where
        write_json(path, made)
        entry = some(info, "implMode", "int64Mode", "simplifiedKeyMode", "simplifiedKey",
                     "dynamicParamMode")
        entry.update(staticKey=info.get("staticKey"), inputs=info.get("inputs"),
                     outputs=info.get("outputs"))
        entry.update(some(info, "attrs", "opMode", "optionalInputMode", "deterministic",
                          "optionalOutputMode"))
        entry["binInfo"] = {"jsonFilePath": where}
        per_op.setdefault(op, {"binList": []})["binList"].append(entry)
        if info.get("simplifiedKey") is None:
            continue
        if op_type not in summary:
            head = {"dynamicRankSupport": True}
            head.update(some(info, "simplifiedKeyMode", "optionalInputMode", "optionalOutputMode"))
            head.update(params=parameters(info), binaryList=[])
            summary[op_type] = head
        binary = {"coreType": CORE_TYPE[made["coreType"]], "simplifiedKey": info["simplifiedKey"]}
        if binary["coreType"] == 0 and made.get("taskRation") == "tilingKey":
            binary["multiKernelType"] = 1
        binary["binPath"] = "/".join((soc, op, made["binFileName"] + made["binFileSuffix"]))
        binary["jsonPath"] = where
        summary[op_type]["binaryList"].append(binary)
    for op, content in per_op.items():
        write_json(os.path.join(kernel, "config", soc, op + ".json"), content)
    write_json(os.path.join(kernel, "config", soc, "binary_info_config.json"), summary)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sub = parser.add_subparsers(dest="what", required=True)
    first = sub.add_parser("params")
    first.add_argument("--ops-info", required=True)
    first.add_argument("--out", required=True)
    second = sub.add_parser("index")
    second.add_argument("--soc", required=True)
    second.add_argument("--kernel", required=True)
    args = parser.parse_args()
    if args.what == "params":
        params(args.ops_info, args.out)
    else:
        index(args.soc, args.kernel)


if __name__ == "__main__":
    main()

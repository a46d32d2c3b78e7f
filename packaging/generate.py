#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes from the IR dump everything in the package that repeats the IR.

    generate.py --ir ir.json --socs socs.txt --kernels op_kernel --vendor DIR --msopgen DIR

Into the vendor directory: ops-info for every chip, one launcher per operator,
npu_supported_ops.json and scripts/chips.json; those that list operators by type also below scripts/whole, from where the
installer takes them when it leaves types out. Into the msopgen directory: one prototype file per operator, for users who
start a variant of their own with msopgen.
"""
import argparse
import hashlib
import json
import keyword
import os
import re
import textwrap

import socs

GE_TYPE = {"fp16": "float16", "fp32": "float32", "bf16": "bfloat16"}
# attribute type in the IR dump -> in ops-info, in a launcher, in msopgen
ATTR_TYPE = {"int": ("int", "int", "int"), "bool": ("bool", "bool", "bool"),
             "float": ("float", "float", "float"), "listInt": ("listInt", "list_int", "list_int"),
             "listFloat": ("listFloat", "list_float", "list_float")}
# As CANN's own generator writes them. Never aclnnSupport or fallback: GE would then leave our kernel
# for CANN's aclnn function.
VALUES = {"prebuildPattern": "Opaque", "coreType": "AiCore"}
# No precision_reduce either: "true" lets GE's mixed precision round every fp32 tensor to 16 bits
# first, tables, weights and sums included; without it GE follows the dtype that each input has.
FLAGS = {"dynamicCompileStatic": "true", "dynamicFormat": "false", "dynamicRankSupport": "true",
         "dynamicShapeSupport": "true", "needCheckSupport": "false"}
# Names that CANN's own tools refuse for an attribute, plus the launcher's locals.
RESERVED = {"src", "options", "attr", "op_type", "result", "impl_mode", "kernel_name", "inputs",
            "outputs", "settings", "attrs", "source", "channel", "info"}


def check_ir(ops):
    """Refuses an IR that the formats below cannot carry, rather than write a file that GE drops."""
    def refuse(what):
        raise SystemExit("generate: %s: %s" % (op["type"], what))

    for op in ops:
        tensors = op["inputs"] + op["outputs"]
        names = [t["name"] for t in tensors]
        if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", op["type"]):
            refuse("not an operator type")
        if not re.fullmatch(r"[a-z0-9_]+", op["kernel"]):
            refuse("not a kernel name: " + op["kernel"])
        if not op["inputs"] or not op["outputs"]:
            refuse("no inputs or no outputs")
        if len(set(names)) != len(names):
            refuse("a tensor name is used twice")
        if len({len(t["dtypes"]) for t in tensors}) != 1:
            refuse("the dtype lists differ in length")
        for t in tensors:
            if t["kind"] not in ("required", "optional"):
                refuse("%s is %s, which launchers do not handle" % (t["name"], t["kind"]))
            if not set(t["dtypes"]) <= set(GE_TYPE):
                refuse("unknown dtype of " + t["name"])
        for a in op["attrs"]:
            if a["type"] not in ATTR_TYPE or a["name"] in RESERVED or keyword.iskeyword(a["name"]):
                refuse("attribute %s cannot be packaged" % a["name"])


def text(value):
    """A default as ops-info spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, separators=(",", ":"))


def sources(folder, name):
    """The kernel file and every header of ours that it includes, directly or not."""
    found, todo = {}, [name]
    while todo:
        file = todo.pop()
        path = os.path.join(folder, file)
        if file in found or not os.path.isfile(path):
            continue
        with open(path, "rb") as f:
            found[file] = f.read()
        includes = re.findall(rb'^[ \t]*#[ \t]*include[ \t]*"([^"]*)"', found[file], re.M)
        todo += [include.decode("ascii") for include in includes]
    return found


def interface(op, folder, launcher_text):
    """The name of the launcher's function. GE keeps compiled kernels in a cache of its own and looks
    them up by shapes, dtypes and this name, not by source or version: so it changes with them."""
    digest = hashlib.sha256(launcher_text.encode("ascii"))
    for name, content in sorted(sources(folder, op["kernel"] + ".cpp").items()):
        digest.update(b"%s %d\n" % (name.encode("ascii"), len(content)))
        digest.update(content)
    return "%s_%s" % (op["kernel"], digest.hexdigest()[:8])


def on_chip(ops, has):
    """The IR as far as a chip has it: fewer operators, fewer columns of dtypes."""
    if has is None:
        return ops
    unknown = set(has) - {op["type"] for op in ops}
    if unknown:
        raise SystemExit("generate: the IR has no " + ", ".join(sorted(unknown)))
    found = []
    for op in ops:
        columns = zip(*(t["dtypes"] for t in op["inputs"] + op["outputs"]))
        keep = [i for i, c in enumerate(columns) if set(c) == {c[0]} and c[0] in has.get(op["type"], [])]
        if keep:
            found.append(dict(op, **{side: [dict(t, dtypes=[t["dtypes"][i] for i in keep])
                                            for t in op[side]] for side in ("inputs", "outputs")}))
    return found


def ops_info_record(op):
    record = {}
    for side in ("input", "output"):
        for i, t in enumerate(op[side + "s"]):
            formats = ",".join(["ND"] * len(t["dtypes"]))
            record["%s%d" % (side, i)] = {
                "name": t["name"], "paramType": t["kind"],
                "dtype": ",".join(GE_TYPE[d] for d in t["dtypes"]),
                "format": formats, "unknownshape_format": formats, "shape": "all"}
    if op["attrs"]:
        record["attr"] = {"list": ",".join(a["name"] for a in op["attrs"])}
    for a in op["attrs"]:
        entry = {"type": ATTR_TYPE[a["type"]][0], "value": "all",
                 "paramType": "required" if a["required"] else "optional"}
        if not a["required"]:
            entry["defaultValue"] = text(a["default"])
        record["attr_" + a["name"]] = entry
    record["opFile"] = {"value": op["kernel"]}
    record["opInterface"] = {"value": op["interface"]}
    for name, value in VALUES.items():
        record[name] = {"value": value}
    for flag, value in FLAGS.items():
        record[flag] = {"flag": value}
    return record


def launcher(op, template):
    ins = ["%s_in__" % t["name"] for t in op["inputs"]]
    outs = ["%s_out_" % t["name"] for t in op["outputs"]]
    tensors = op["inputs"] + op["outputs"]
    parameters, checks, settings, optional = [], [], [], False
    for i, t in enumerate(tensors):
        optional = optional or t["kind"] == "optional"  # from here on Python wants defaults
        parameters.append((ins + outs)[i] + ("=None" if optional else ""))
        side = "INPUT" if i < len(ins) else "OUTPUT"
        need = "OPTION" if t["kind"] == "optional" else "REQUIRED"
        checks.append("para_check.%s_%s" % (need, side))
    for a in op["attrs"]:
        kind = ATTR_TYPE[a["type"]][1]
        default = None if a["required"] else a["default"]
        optional = optional or not a["required"]
        parameters.append(a["name"] + ("=%r" % (default,) if optional else ""))
        checks.append("para_check.OPTION_ATTR_" + kind.upper())
        settings.append('("%s", "%s", %s)' % (a["name"], kind, a["name"]))
    parameters += ['kernel_name="%s"' % op["kernel"], 'impl_mode=""']
    checks.append("para_check.KERNEL_NAME")

    def lines(items):
        return "\n".join("        %s," % item for item in items).rstrip(",")

    def wrapped(items, indent):
        return "[%s]" % textwrap.fill(", ".join(items), 96 - indent, break_long_words=False,
                                      subsequent_indent=" " * indent).lstrip()

    def names(items):
        return wrapped(['"%s"' % item for item in items], 4)

    values = {"TYPE": op["type"], "KERNEL": op["kernel"], "INTERFACE": op.get("interface", ""),
              "CHECKS": lines(checks), "PARAMETERS": lines(parameters),
              "INPUTS": names(t["name"] for t in op["inputs"]),
              "OUTPUTS": names(t["name"] for t in op["outputs"]),
              "PARAM_TYPES": names(t["kind"] for t in tensors), "INPUT_ARGS": wrapped(ins, 8),
              "OUTPUT_ARGS": wrapped(outs, 8), "SETTINGS": wrapped(settings, 8)}
    return re.sub(r"@([A-Z_]+)@", lambda m: values[m.group(1)], template)


def msopgen_record(op):
    def tensor(t):
        return {"name": t["name"], "param_type": t["kind"], "format": ["ND"] * len(t["dtypes"]),
                "type": [GE_TYPE[d] for d in t["dtypes"]]}

    def attr(a):
        entry = {"name": a["name"], "param_type": "required" if a["required"] else "optional",
                 "type": ATTR_TYPE[a["type"]][2]}
        if not a["required"]:
            entry["default_value"] = text(a["default"])
        return entry

    return [{"op": op["type"], "input_desc": [tensor(t) for t in op["inputs"]],
             "output_desc": [tensor(t) for t in op["outputs"]],
             "attr": [attr(a) for a in op["attrs"]]}]


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii", newline="\n") as f:
        f.write(content)


def write_json(path, value):
    write(path, json.dumps(value, indent=4) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("ir", "socs", "kernels", "vendor", "msopgen"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    with open(args.ir, encoding="ascii") as f:
        ops = json.load(f)
    check_ir(ops)
    chips = socs.read(args.socs)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "launcher.py.in"), encoding="ascii") as f:
        template = f.read()

    tbe = os.path.join("op_impl", "ai_core", "tbe")
    for op in ops:
        op["interface"] = interface(op, args.kernels, launcher(op, template))
    by_type = {os.path.join(tbe, "config", soc, "aic-%s-ops-info.json" % soc):
               {op["type"]: ops_info_record(op) for op in on_chip(ops, chip.has)}
               for soc, chip in chips.items()}
    by_type[os.path.join("framework", "tensorflow", "npu_supported_ops.json")] = {
        op["type"]: {"isGray": False, "isHeavy": False} for op in ops}
    for path, content in by_type.items():
        write_json(os.path.join(args.vendor, path), content)
        write_json(os.path.join(args.vendor, "scripts", "whole", path), content)
    # What kernels.py tells the compiler.
    write_json(os.path.join(args.vendor, "scripts", "chips.json"), {soc: chip.full for soc, chip in chips.items()})
    vendor = os.path.basename(os.path.normpath(args.vendor))
    for op in ops:
        write(os.path.join(args.vendor, tbe, vendor + "_impl", "dynamic", op["kernel"] + ".py"),
              launcher(op, template))
        write_json(os.path.join(args.msopgen, op["kernel"] + ".json"), msopgen_record(op))


if __name__ == "__main__":
    main()

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The package tree: layout, ops-info against every rule of its reader, JSON for TensorFlow and
msopgen, package.info. Runs on the test package; test_real.sh runs it on the finished one."""
import hashlib
import json
import os
import re
import sys

ATTR_TYPES = {"int", "float", "bool", "str", "listInt", "listFloat", "listBool", "listStr",
              "listListInt"}
FLAGS = {"dynamicShapeSupport": {"true", "false"}, "dynamicRankSupport": {"true", "false"},
         "dynamicCompileStatic": {"true", "false", "tune"}, "dynamicFormat": {"true", "false"},
         "needCheckSupport": {"true", "false"}}
VALUES = {"prebuildPattern": "Opaque", "coreType": "AiCore"}
GE_TYPE = {"fp16": "float16", "fp32": "float32", "bf16": "bfloat16"}
COUNT = [0, 0]
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(TOP, "packaging"))
import socs as table  # noqa: E402


def check(condition, what):
    COUNT[0 if condition else 1] += 1
    if not condition:
        print("FAILED: test_contents.py: " + what, file=sys.stderr)


def load(path):
    def no_duplicates(pairs):
        check(len({k for k, _ in pairs}) == len(pairs), "%s: a key occurs twice" % path)
        return dict(pairs)

    with open(path, encoding="ascii") as f:
        return json.load(f, object_pairs_hook=no_duplicates)


def check_record(op, record, where):
    for part, leaves in record.items():
        check(isinstance(leaves, dict), "%s.%s is an object" % (where, part))
        for leaf, value in leaves.items():
            check(isinstance(value, str), "%s.%s.%s is a string" % (where, part, leaf))
    for side in ("input", "output"):
        numbers = sorted(int(p[len(side):]) for p in record if re.fullmatch(side + r"\d+", p))
        check(numbers == list(range(len(op[side + "s"]))), "%s: %ss are contiguous" % (where, side))
        for i, tensor in enumerate(op[side + "s"]):
            have = record["%s%d" % (side, i)]
            check(have["name"] == tensor["name"], "%s: %s%d has the IR's name" % (where, side, i))
            check(have["paramType"] == tensor["kind"], "%s.%s paramType" % (where, tensor["name"]))
            check(have["dtype"].split(",") == [GE_TYPE[t] for t in tensor["dtypes"]],
                  "%s.%s dtypes" % (where, tensor["name"]))
            columns = len(op["inputs"][0]["dtypes"])
            for field in ("dtype", "format", "unknownshape_format"):
                check(len(have[field].split(",")) == columns, "%s.%s.%s has %d columns" %
                      (where, tensor["name"], field, columns))
            check(set(have["format"].split(",")) == {"ND"}, "%s.%s is ND" % (where, tensor["name"]))
    # A call that our record refuses is offered to CANN's kernel, with our tiling: whatever dtype CANN
    # has for a type (these three, in 8.1 and in 2026; only float on the first 910) must be in ours.
    first = set(record["input0"]["dtype"].split(","))
    check({"float", "float32"} & first and
          (where.startswith("ascend910.") or {"float16", "bfloat16"} <= first),
          "%s: no fewer dtypes than CANN" % where)
    names = [a["name"] for a in op["attrs"]]
    check(record.get("attr", {}).get("list", "") == ",".join(names), "%s: attr.list" % where)
    attrs = {p[5:] for p in record if p.startswith("attr_")}
    check(attrs == set(names), "%s: one attr_ each" % where)
    for a in op["attrs"]:
        have, what = record["attr_" + a["name"]], "%s.%s" % (where, a["name"])
        check(have["type"] in ATTR_TYPES and have["type"] == a["type"], what + " type")
        check(have["value"] == "all", what + " value")
        check(have["paramType"] == ("required" if a["required"] else "optional"), what + " kind")
        if a["required"]:
            check("defaultValue" not in have, what + " has no default")
        else:
            check(have["defaultValue"] == str(a["default"]).lower(), what + " default")
    check(record["opFile"]["value"] == op["kernel"], "%s: opFile" % where)
    check(re.fullmatch(op["kernel"] + "_[0-9a-f]{8}", record["opInterface"]["value"]),
          "%s: opInterface has a digest" % where)
    for key, value in VALUES.items():
        check(record[key]["value"] == value, "%s: %s" % (where, key))
    for key in ("aclnnSupport", "fallback"):
        check(key not in record, "%s: no %s, which would lead GE away from our kernel" % (where, key))
    check("precision_reduce" not in record,
          "%s: with precision_reduce GE's mixed precision rounds fp32 tables and weights" % where)
    for flag, allowed in FLAGS.items():
        check(record[flag]["flag"] in allowed, "%s.%s" % (where, flag))
    for flag in ("dynamicShapeSupport", "dynamicRankSupport", "dynamicCompileStatic"):
        check(record[flag]["flag"] == "true", "%s.%s is true" % (where, flag))


def socs():
    """Chip -> None (all operators) or {type: dtypes}, as packaging/socs.txt says."""
    return {name: chip.has for name, chip in table.read(os.path.join(TOP, "packaging/socs.txt")).items()}


def only(op, dtypes):
    """The operator with one of these dtypes for all tensors, in the IR's order."""
    every = [t["dtypes"] for t in op["inputs"] + op["outputs"]]
    keep = [c for c in range(len(every[0])) if {d[c] for d in every} in [{t} for t in dtypes]]

    def cut(tensors):
        return [dict(t, dtypes=[t["dtypes"][c] for c in keep]) for t in tensors]
    return dict(op, inputs=cut(op["inputs"]), outputs=cut(op["outputs"]))


def check_tree(root, ops, arches):
    tbe = os.path.join(root, "op_impl/ai_core/tbe")
    for soc, has in socs().items():
        folder = os.path.join(tbe, "config", soc)
        check(os.listdir(folder) == ["aic-%s-ops-info.json" % soc], "%s holds one file" % folder)
        store = load(os.path.join(folder, "aic-%s-ops-info.json" % soc))
        check(list(store) == [op["type"] for op in ops if not has or op["type"] in has],
              "%s has its operators of the IR" % soc)
        for op in ops:
            if op["type"] in store:
                check_record(op if not has else only(op, has[op["type"]]), store[op["type"]],
                             soc + "." + op["type"])
    impl = os.path.join(tbe, "ascgrad_impl")
    check(set(os.listdir(os.path.join(impl, "dynamic"))) == {op["kernel"] + ".py" for op in ops},
          "launchers")
    for op in ops:
        source = os.path.join(impl, "ascendc", op["kernel"], op["kernel"] + ".cpp")
        check(os.path.isfile(source), source)
    check(bool(os.listdir(os.path.join(impl, "ascendc/common"))), "shared headers")
    for folder, _, names in os.walk(os.path.join(root, "scripts/whole")):
        for name in names:
            whole = os.path.join(folder, name)
            path = os.path.join(root, os.path.relpath(whole, os.path.join(root, "scripts/whole")))
            check(load(whole) == load(path), "%s is kept whole" % path)
    check(load(os.path.join(root, "framework/tensorflow/npu_supported_ops.json")) ==
          {op["type"]: {"isGray": False, "isHeavy": False} for op in ops}, "npu_supported_ops.json")
    for arch in arches:
        for path in ("op_proto/lib/linux/%s/libcust_opsproto_rt2.0.so", "bin/%s/ascgrad",
                     "scripts/%s/setup",
                     "op_impl/ai_core/tbe/op_tiling/lib/linux/%s/libcust_opmaster_rt2.0.so"):
            check(os.path.isfile(os.path.join(root, path % arch)), path % arch)
    link = os.readlink(os.path.join(tbe, "op_tiling/liboptiling.so"))
    check(re.fullmatch(r"lib/linux/(x86_64|aarch64)/libcust_opmaster_rt2\.0\.so", link),
          "liboptiling.so is relative")
    text = open(os.path.join(root, "op_proto/inc/op_proto.h"), encoding="utf-8").read()
    for op in ops:  # as the vendor's test kit reads it
        check(re.search(r"REG_OP\(%s\).*?\.OP_END_FACTORY_REG\(%s\)" % (op["type"], op["type"]), text, re.S),
              "op_proto.h has the text of " + op["type"])
    for name in ("ascgrad_ops.h", "op_proto.h"):
        check(os.path.isfile(os.path.join(root, "op_proto/inc", name)), name)
    check(not os.path.exists(os.path.join(root, "version.info")), "no version.info")
    # GE opens every library below framework/, so none may be there before the machine is known.
    for _, _, names in os.walk(os.path.join(root, "framework")):
        check(not [n for n in names if n.endswith(".so")], "no libraries in framework/")


def check_info(root, ops, version):
    with open(os.path.join(root, "package.info"), encoding="ascii") as f:
        lines = f.read().splitlines()
    fields = dict(line.split("=", 1) for line in lines[:lines.index("")] if "=" in line)
    check(lines[0] == "package=ascgrad-opp", "package.info begins with the package")
    check(version is None or fields["version"] == version, "version")
    check(fields["ops"].split() == [op["type"] for op in ops], "ops")
    check(fields["soc"].split() == list(socs()), "soc")
    check(re.fullmatch(r"[0-9a-f]{64}", fields["ir_sha256"]), "ir_sha256")
    sums = {line[66:]: line[:64] for line in lines if re.match(r"[0-9a-f]{64}  ", line)}
    files = set()
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                files.add(os.path.relpath(path, root))
    check(set(sums) == files - {"package.info"}, "package.info names every file")
    links = [line for line in lines if line.startswith("link ")]
    check(lines[-1] == "end %d" % (len(sums) + len(links)), "package.info has an end")
    for name, want in sums.items():
        with open(os.path.join(root, name), "rb") as f:
            check(hashlib.sha256(f.read()).hexdigest() == want, "sha256 of " + name)
    return fields


def check_msopgen(folder, ops):
    check(set(os.listdir(folder)) == {op["kernel"] + ".json" for op in ops}, "msopgen files")
    for op in ops:
        records = load(os.path.join(folder, op["kernel"] + ".json"))
        check(isinstance(records, list) and len(records) == 1, "msopgen: a list of one")
        record = records[0]
        check(set(record) == {"op", "input_desc", "output_desc", "attr"}, "msopgen keys")
        check(record["op"] == op["type"], "msopgen op")
        descs = record["input_desc"] + record["output_desc"]
        lengths = {len(d[k]) for d in descs for k in ("type", "format")}
        check(len(lengths) == 1, "msopgen: equal lists in " + op["type"])
        for d, t in zip(descs, op["inputs"] + op["outputs"]):
            check(set(d) == {"name", "param_type", "format", "type"}, "msopgen desc keys")
            check(d["name"] == t["name"] and d["param_type"] == t["kind"], "msopgen " + t["name"])
            check(set(d["type"]) <= {"float16", "float32", "bfloat16"}, "msopgen type")
        check(len(descs) == len(op["inputs"]) + len(op["outputs"]), "msopgen counts")
        for d, a in zip(record["attr"], op["attrs"]):
            check(d["name"] == a["name"], "msopgen attr")
            check(d["type"] in ("int", "bool", "float", "list_int"), "msopgen attr type")
            kind = "required" if a["required"] else "optional"
            check(d["param_type"] == kind, "msopgen attr kind")
            check(("default_value" in d) == (not a["required"]), "msopgen default")


def main():
    with open(os.environ["ir"], encoding="ascii") as f:
        ops = json.load(f)
    fix = os.environ["fix"]
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(fix, "one/packages/vendors/ascgrad")
    fields = check_info(root, ops, None if len(sys.argv) > 1 else "1.0.0")
    check_tree(root, ops, fields["arch"].split())
    if len(sys.argv) == 1:
        check_msopgen(os.path.join(fix, "work1/msopgen"), ops)
        for arch in ("x86_64", "aarch64"):
            path = "one/packages/arch/%s/framework/tensorflow/libcust_tf_parsers.so" % arch
            check(os.path.isfile(os.path.join(fix, path)), path)
    print("test_contents.py: %d passed, %d failed" % tuple(COUNT))
    return COUNT[1] != 0


if __name__ == "__main__":
    sys.exit(main())

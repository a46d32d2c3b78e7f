#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the aclnn functions from the IR: a header and a C file per operator.

    generate.py --ir ir.json --socs packaging/socs.txt --out DIR

DIR gets functions.json, for each type the names of its functions and how many attributes each has,
the fewest first; include/aclnn_<kernel>.h, include/aclnnop/aclnn_<kernel>.h, which only includes the former
because CANN's own headers lie in such a folder, and aclnn_<kernel>.c.

Names, order and types of the parameters are those that CANN's op_build gives a function: inputs,
attributes, outputs; lowerCamel; Optional behind an optional input, Out behind an output, and a
single output is called out. Where CANN has the function written by hand, its name and those of its
parameters differ: HAND_WRITTEN says how.
"""
import argparse
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../packaging"))
import socs  # pylint: disable=wrong-import-position

# Type: name of the function, and how many outputs must be given; the others may be NULL. Their
# parameters are called as in the IR, in lowerCamel, and nothing else.
HAND_WRITTEN = {
    "NormRopeConcatGrad": ("aclnnNormRopeConcatBackward", 3),
    "ExpSegsumGrad": ("aclnnExpSegsumBackward", 1),
}
# Attributes that the function of a type had when its signature was promised. It keeps them, and the
# attributes that the IR has got since have their defaults; a second function, with Extended behind
# the name, takes all of them.
FIRST_ATTRS = {"RotaryPositionEmbeddingGrad": 1, "RopeGrad": 3, "NormRopeConcatGrad": 4}
# Lists of lengths: zeros behind them change nothing. aclnn.c says why that matters. And lists that
# have an entry for each of the lengths, or none.
LENGTHS = {"RopeGrad": "qSeqLen"}
STARTS = {"RopeGrad": "start_positions"}
# Where nnopbase has no names; 99 is no chip's number.
CHIP_NUMBER = {"ascend910": 1, "ascend910b": 2, "ascend910_93": 3, "ascend950": 4, "ascend350": 16,
               "ascend960dt": 99}
DTYPE = {"fp32": 0, "fp16": 1, "bf16": 27}
ND = 2
PROFILER_ID = "0x60000"  # of aclnn functions

ATTR_TYPE = {"int": "int64_t %s", "bool": "bool %s", "float": "double %s",
             "listInt": "const aclIntArray *%s", "listFloat": "const aclFloatArray *%s"}
ATTR_KIND = {"int": "ACLNN_INT", "bool": "ACLNN_BOOL", "float": "ACLNN_FLOAT", "listInt": "ACLNN_LIST",
             "listFloat": "ACLNN_FLOATS"}
ATTR_VALUE = {"int": "{.i = %s}", "bool": "{.b = %s}", "float": "{.f = (float)%s}",
              "listInt": "{.list = %s}", "listFloat": "{.floats = %s}"}
NOTE = "/* SPDX-License-Identifier: Apache-2.0\n *\n * %s Generated from op_proto/inc/ascgrad_ops.h.\n */\n"


def camel(name):
    return re.sub("_(.)", lambda m: m.group(1).upper(), name)


class Function:
    """One operator's function that has all attributes: names in C for what its IR has. fewer: the
    one with fewer attributes, if there is."""

    def __init__(self, op, attrs=None):
        self.op = op
        self.type = op["type"]
        by_hand = self.type in HAND_WRITTEN
        name, wanted = HAND_WRITTEN.get(self.type, ("aclnn" + self.type, len(op["outputs"])))
        extended = attrs is None and self.type in FIRST_ATTRS
        self.fewer = Function(op, FIRST_ATTRS[self.type]) if extended else None
        self.name = name + "Extended" if self.fewer else name
        self.inputs = [camel(i["name"]) + ("" if by_hand or i["kind"] == "required" else "Optional")
                       for i in op["inputs"]]
        self.outputs = [camel(o["name"]) + ("" if by_hand else "Out") for o in op["outputs"]]
        if len(self.outputs) == 1 and not by_hand:
            self.outputs = ["out"]
        self.attrs = [camel(a["name"]) for a in op["attrs"]][:attrs]
        names = [None] + [i["name"] for i in op["inputs"]]
        self.in_place = [names.index(o.get("in_place")) for o in op["outputs"]]
        self.optional_outputs = [i >= wanted for i in range(len(self.outputs))]

    def kind(self, attr):
        for table, kind in ((LENGTHS, "ACLNN_LENGTHS"), (STARTS, "ACLNN_STARTS")):
            if table.get(self.type) == attr["name"]:
                return kind
        return ATTR_KIND[attr["type"]]

    def parameters(self):
        tensors = "const aclTensor *%s"
        return ([tensors % i for i in self.inputs] +
                [ATTR_TYPE[a["type"]] % n for a, n in zip(self.op["attrs"], self.attrs)] +
                [tensors % o for o in self.outputs] +
                ["uint64_t *workspaceSize", "aclOpExecutor **executor"])

    def values(self):
        """The attributes as given, behind them their defaults."""
        rest = self.op["attrs"][len(self.attrs):]
        return ", ".join(ATTR_VALUE[a["type"]] % n for a, n in zip(
            self.op["attrs"], self.attrs + [json.dumps(a["default"] or 0) for a in rest]))

    def prepare(self):
        start = "aclnnStatus %sGetWorkspaceSize(" % self.name
        return start + ",\n    ".join(["\n    " + self.parameters()[0]] + self.parameters()[1:]) + ")"

    def run(self):
        return ("aclnnStatus %s(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,\n"
                "    aclrtStream stream)" % self.name)


def header(function):
    guard = "ACLNN_%s_H" % function.op["kernel"].upper()
    optional = ([n for n, i in zip(function.inputs, function.op["inputs"])
                 if i["kind"] == "optional"] +
                [n for n, o in zip(function.outputs, function.optional_outputs) if o])
    shared = ["%s may have the memory of %s." % (o, function.inputs[p - 1])
              for o, p in zip(function.outputs, function.in_place) if p]
    return NOTE % ("The aclnn function of %s." % function.type) + """\
#ifndef %s
#define %s

#ifdef __cplusplus
#include "aclnn/acl_meta.h"
extern "C" {
#else
#include "ascgrad_acl.h" /* CANN's header is for C++ only */
#endif

/* Checks the call and says how much workspace on the device it needs.
 * May be NULL: %s.%s */
__attribute__((visibility("default")))
%s;

/* Launches what the function above has prepared. */
__attribute__((visibility("default")))
%s;
%s
#ifdef __cplusplus
}
#endif
#endif
""" % (guard, guard, wrapped(optional) if optional else "nothing",
       "".join("\n * " + line for line in shared), function.prepare(), function.run(),
       fewer_header(function))


def fewer_header(function):
    if not function.fewer:
        return ""
    return """
/* The same with %s. */
__attribute__((visibility("default")))
%s;

__attribute__((visibility("default")))
%s;
""" % (", ".join("%s = %s" % (camel(a["name"]), json.dumps(a["default"]))
                 for a in function.op["attrs"][len(function.fewer.attrs):]),
       function.fewer.prepare(), function.fewer.run())


def wrapped(names):
    """Names with commas, in lines that continue a comment."""
    lines, line = [], ""
    for name in names:
        if line and len(line) + len(name) > 78:
            lines.append(line.rstrip())
            line = ""
        line += name + ", "
    lines.append(line.rstrip(", "))
    return "\n * ".join(lines)


def kinds(required):
    """nnopbase's description of arguments: 1 required, 0 optional."""
    return "{%s}" % ", ".join("1" if r else "0" for r in required) if required else "{0}"


def columns(tensors, name):
    """A table of nnopbase_tensor per column of dtypes."""
    rows = []
    for column in range(len(tensors[0]["dtypes"])):
        cells = ["{%d, %d}" % (DTYPE[t["dtypes"][column]], ND) for t in tensors]
        rows.append("    {%s}," % ", ".join(cells))
    return "static struct nnopbase_tensor %s[%d][%d] = {\n%s\n};\n" % (
        name, len(rows), len(tensors), "\n".join(rows))


def args(name, names, optional, in_place):
    rows = ["    {\"%s\", %s, %d}," % (n, "true" if o else "false", p)
            for n, o, p in zip(names, optional, in_place)]
    return ("static const struct aclnn_arg %s[] = {\n%s\n};\n"
            "_Static_assert(sizeof %s / sizeof %s[0] <= ACLNN_MAX_TENSORS, \"check.c has room\");\n"
            % (name, "\n".join(rows), name, name))


def on_chips(op, chips):
    """Chip -> the numbers of the columns that it has; chips without the operator left out."""
    columns = list(zip(*(t["dtypes"] for t in op["inputs"] + op["outputs"])))
    found = {}
    for soc, has in chips.items():
        some = [i for i, c in enumerate(columns)
                if has is None or (set(c) == {c[0]} and c[0] in has.get(op["type"], []))]
        if some:
            found[soc] = some
    return found


def source(function, chips):
    op = function.op
    count = len(op["inputs"][0]["dtypes"])
    chips = on_chips(op, chips)
    attrs = op["attrs"]
    attr_rows = "".join("    {\"%s\", %s},\n" % (n, function.kind(a))
                        for a, n in zip(attrs, function.attrs))
    parts = [NOTE % ("%s: what aclnn.c needs to know." % function.name),
             '#include "include/aclnn_%s.h"\n\n#include "aclnn.h"\n' % op["kernel"],
             args("in", function.inputs, [i["kind"] == "optional" for i in op["inputs"]],
                  [0] * len(op["inputs"])),
             args("out", function.outputs, function.optional_outputs, function.in_place)]
    if attrs:
        parts.append("static const struct aclnn_attr attr[] = {\n%s};\n" % attr_rows)
    parts += [
        "static char in_kinds[] = %s;\n" % kinds([i["kind"] == "required" for i in op["inputs"]]) +
        "static char out_kinds[] = %s;\n" % kinds([True] * len(op["outputs"])) +
        "static char attr_kinds[] = %s;\n" % kinds([a["required"] for a in attrs]),
        columns(op["inputs"], "in_types"), columns(op["outputs"], "out_types"),
        "static struct nnopbase_column column[][%d] = {\n%s\n};\n" % (count, "\n".join(
            "    {%s}," % ", ".join("{in_types[%d], %d, out_types[%d], %d}" % (
                c, len(op["inputs"]), c, len(op["outputs"])) for c in some) for some in chips.values())),
        "static struct nnopbase_chip chip[] = {\n%s\n};\n" % "\n".join(
            "    {column[%d], %d}," % (i, len(some)) for i, some in enumerate(chips.values())) +
        "static const char *const chip_names[] = {%s};\n" % ", ".join('"%s"' % s for s in chips) +
        "static uint32_t chip_numbers[] = {%s};\n" % ", ".join(str(CHIP_NUMBER[s]) for s in chips) +
        "static struct nnopbase_support support = {chip, %d};\n" % len(chips)]
    parts += entries(function, "")
    if function.fewer:
        parts += entries(function.fewer, "fewer_")
    return "\n".join(parts)


def entries(function, prefix):
    """The two functions in C, and what is theirs alone."""
    op, attrs = function.op, function.op["attrs"]
    return ["""static struct aclnn_state %sstate = {
    .prepare_id = {%s, "%sGetWorkspaceSize", false},
    .tiling_id = {%s, "%sTiling", false},
    .run_id = {%s, "%s", false},
};
""" % (prefix, PROFILER_ID, function.name, PROFILER_ID, function.name, PROFILER_ID, function.name),
        """static const struct aclnn_op %sop = {
    .type = "%s", .function = "%s",
    .inputs = %d, .outputs = %d, .attrs = %d,
    .in = in, .out = out, .attr = %s,
    .in_kinds = in_kinds, .out_kinds = out_kinds, .attr_kinds = attr_kinds,
    .support = &support, .chip_names = chip_names, .chip_numbers = chip_numbers,
    .state = &%sstate,
};
""" % (prefix, function.type, function.name, len(op["inputs"]), len(op["outputs"]), len(attrs),
       "attr" if attrs else "NULL", prefix),
        """%s {
    const aclTensor *const inputs[] = {%s};
    const aclTensor *const outputs[] = {%s};
%s    return aclnn_prepare(&%sop, inputs, %s, outputs, workspaceSize, executor);
}
""" % (function.prepare(), ", ".join(function.inputs), ", ".join(function.outputs),
       "    union aclnn_value values[] = {%s};\n" % function.values() if attrs else "", prefix,
       "values" if attrs else "NULL"),
        """%s {
    return aclnn_run(&%sop, workspace, workspaceSize, executor, stream);
}
""" % (function.run(), prefix)]


def check(ops, chips):
    """What the C code and the tables above rely on."""
    have = {op["type"] for op in ops} | {(op["type"], a["name"], a["type"])
                                         for op in ops for a in op["attrs"]}
    unknown = set(HAND_WRITTEN) | set(FIRST_ATTRS) | {
        (t, n, "listInt") for table in (LENGTHS, STARTS) for t, n in table.items()}
    if unknown - have:
        sys.exit("generate.py: the IR has no %s" % sorted(unknown - have, key=str))
    if set(chips) - set(CHIP_NUMBER):
        sys.exit("generate.py: which number has %s?" % ", ".join(set(chips) - set(CHIP_NUMBER)))


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for option in ("--ir", "--socs", "--out"):
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    with open(options.ir, encoding="ascii") as f:
        ops = json.load(f)
    # None: all operators; else {type: dtypes}, of one dtype for all tensors.
    chips = {name: chip.has for name, chip in socs.read(options.socs).items()}
    check(ops, chips)
    functions = [Function(op) for op in ops]
    write("%s/functions.json" % options.out, json.dumps(
        {f.type: [[g.name, len(g.attrs)] for g in (f.fewer, f) if g] for f in functions}, indent=1) + "\n")
    for op, function in zip(ops, functions):
        name = "aclnn_%s.h" % op["kernel"]
        write("%s/include/%s" % (options.out, name), header(function))
        write("%s/include/aclnnop/%s" % (options.out, name),
              "/* SPDX-License-Identifier: Apache-2.0 */\n#include \"../%s\"\n" % name)
        write("%s/%s" % (options.out, name[:-1] + "c"), source(function, chips))


if __name__ == "__main__":
    main()

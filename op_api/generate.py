#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the aclnn functions from the IR: a header and a C file per operator.

    generate.py --ir ir.json --socs packaging/socs.txt --out DIR

DIR gets include/aclnn_<kernel>.h, include/aclnnop/aclnn_<kernel>.h, which only includes the former
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
# Lists of lengths: zeros behind them change nothing. aclnn.c says why that matters.
LENGTHS = {"RopeGrad": "qSeqLen"}
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
    """One operator's function: names in C for what its IR has."""

    def __init__(self, op):
        self.op = op
        self.type = op["type"]
        by_hand = self.type in HAND_WRITTEN
        self.name = HAND_WRITTEN[self.type][0] if by_hand else "aclnn" + self.type
        wanted = HAND_WRITTEN[self.type][1] if by_hand else len(op["outputs"])
        self.inputs = [camel(i["name"]) + ("" if by_hand or i["kind"] == "required" else "Optional")
                       for i in op["inputs"]]
        self.outputs = [camel(o["name"]) + ("" if by_hand else "Out") for o in op["outputs"]]
        if len(self.outputs) == 1 and not by_hand:
            self.outputs = ["out"]
        self.attrs = [camel(a["name"]) for a in op["attrs"]]
        self.optional_outputs = [i >= wanted for i in range(len(self.outputs))]

    def kind(self, attr):
        lengths = LENGTHS.get(self.type) == attr["name"]
        return "ACLNN_LENGTHS" if lengths else ATTR_KIND[attr["type"]]

    def parameters(self):
        tensors = "const aclTensor *%s"
        return ([tensors % i for i in self.inputs] +
                [ATTR_TYPE[a["type"]] % n for a, n in zip(self.op["attrs"], self.attrs)] +
                [tensors % o for o in self.outputs] +
                ["uint64_t *workspaceSize", "aclOpExecutor **executor"])

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
 * May be NULL: %s. */
__attribute__((visibility("default")))
%s;

/* Launches what the function above has prepared. */
__attribute__((visibility("default")))
%s;

#ifdef __cplusplus
}
#endif
#endif
""" % (guard, guard, wrapped(optional) if optional else "nothing", function.prepare(),
       function.run())


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


def args(name, names, optional):
    rows = ["    {\"%s\", %s}," % (n, "true" if o else "false") for n, o in zip(names, optional)]
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
    values = ", ".join(ATTR_VALUE[a["type"]] % n for a, n in zip(attrs, function.attrs))
    parts = [NOTE % ("%s: what aclnn.c needs to know." % function.name),
             '#include "include/aclnn_%s.h"\n\n#include "aclnn.h"\n' % op["kernel"],
             args("in", function.inputs, [i["kind"] == "optional" for i in op["inputs"]]),
             args("out", function.outputs, function.optional_outputs)]
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
        "static struct nnopbase_support support = {chip, %d};\n" % len(chips),
        """static struct aclnn_state state = {
    .prepare_id = {%s, "%sGetWorkspaceSize", false},
    .tiling_id = {%s, "%sTiling", false},
    .run_id = {%s, "%s", false},
};
""" % (PROFILER_ID, function.name, PROFILER_ID, function.name, PROFILER_ID, function.name),
        """static const struct aclnn_op op = {
    .type = "%s", .function = "%s",
    .inputs = %d, .outputs = %d, .attrs = %d,
    .in = in, .out = out, .attr = %s,
    .in_kinds = in_kinds, .out_kinds = out_kinds, .attr_kinds = attr_kinds,
    .support = &support, .chip_names = chip_names, .chip_numbers = chip_numbers,
    .state = &state,
};
""" % (function.type, function.name, len(op["inputs"]), len(op["outputs"]), len(attrs),
       "attr" if attrs else "NULL"),
        """%s {
    const aclTensor *const inputs[] = {%s};
    const aclTensor *const outputs[] = {%s};
%s    return aclnn_prepare(&op, inputs, %s, outputs, workspaceSize, executor);
}
""" % (function.prepare(), ", ".join(function.inputs), ", ".join(function.outputs),
       "    union aclnn_value values[] = {%s};\n" % values if attrs else "",
       "values" if attrs else "NULL"),
        """%s {
    return aclnn_run(&op, workspace, workspaceSize, executor, stream);
}
""" % function.run()]
    return "\n".join(parts)


def check(ops, chips):
    """What the C code and the tables above rely on."""
    have = {op["type"] for op in ops} | {(op["type"], a["name"], a["type"])
                                         for op in ops for a in op["attrs"]}
    unknown = set(HAND_WRITTEN) | {(t, n, "listInt") for t, n in LENGTHS.items()}
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
    for op in ops:
        function = Function(op)
        name = "aclnn_%s.h" % op["kernel"]
        write("%s/include/%s" % (options.out, name), header(function))
        write("%s/include/aclnnop/%s" % (options.out, name),
              "/* SPDX-License-Identifier: Apache-2.0 */\n#include \"../%s\"\n" % name)
        write("%s/%s" % (options.out, name[:-1] + "c"), source(function, chips))


if __name__ == "__main__":
    main()

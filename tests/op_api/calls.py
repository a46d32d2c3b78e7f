#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes C that calls every aclnn function with arrays of arguments: calls.py IR OUT"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../op_api"))
import generate  # pylint: disable=wrong-import-position

FIELD = {"int": "attr[%d].i", "bool": "attr[%d].b", "float": "attr[%d].f", "listInt": "attr[%d].list",
         "listFloat": "attr[%d].reals"}


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        functions = [generate.Function(op) for op in json.load(f)]
    text = ["#include \"aclnn_%s.h\"\n" % f.op["kernel"] for f in functions]
    for f in functions:
        arguments = (["in[%d]" % i for i in range(len(f.inputs))] +
                     [FIELD[a["type"]] % i for i, a in enumerate(f.op["attrs"])] +
                     ["out[%d]" % i for i in range(len(f.outputs))] + ["size", "executor"])
        text.append("""
static aclnnStatus prepare_%s(const aclTensor *const in[], const union call_value attr[],
                              const aclTensor *const out[], uint64_t *size,
                              aclOpExecutor **executor) {
    (void)attr;
    return %sGetWorkspaceSize(%s);
}
""" % (f.op["kernel"], f.name, ", ".join(arguments)))
    text.append("\nconst struct call_functions call_functions[] = {\n")
    text += ["    {\"%s\", \"%s\", prepare_%s, %s},\n" % (f.type, f.name, f.op["kernel"], f.name)
             for f in functions]
    text.append("    {NULL, NULL, NULL, NULL},\n};\n")
    with open(sys.argv[2], "w", encoding="ascii") as f:
        f.write("".join(text))


if __name__ == "__main__":
    main()

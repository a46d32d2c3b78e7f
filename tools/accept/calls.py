#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes C that calls every aclnn function by its address: calls.py IR OUT"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../op_api"))
import generate  # pylint: disable=wrong-import-position

FIELD = {"int": "attr[%d].i", "bool": "attr[%d].b", "float": "attr[%d].f", "listInt": "attr[%d].list",
         "listFloat": "attr[%d].reals"}
PLAIN = {"int": "int64_t", "bool": "bool", "float": "double", "listInt": "const aclIntArray *",
         "listFloat": "const aclFloatArray *"}


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        functions = [generate.Function(op) for op in json.load(f)]
    functions = [g for f in functions for g in (f.fewer, f) if g]
    text = []
    for f in functions:
        attrs = [a["type"] for a in f.op["attrs"]][:len(f.attrs)]
        types = (["const aclTensor *"] * len(f.inputs) + [PLAIN[a] for a in attrs] +
                 ["const aclTensor *"] * len(f.outputs) + ["uint64_t *", "aclOpExecutor **"])
        values = (["in[%d]" % i for i in range(len(f.inputs))] +
                  [FIELD[a] % i for i, a in enumerate(attrs)] +
                  ["out[%d]" % i for i in range(len(f.outputs))] + ["size", "executor"])
        text.append("""
static aclnnStatus prepare_%s(void *function, const aclTensor *const in[], const union attr attr[],
                              const aclTensor *const out[], uint64_t *size,
                              aclOpExecutor **executor) {
    aclnnStatus (*prepare)(%s);
    (void)attr;
    memcpy(&prepare, &function, sizeof prepare);
    return prepare(%s);
}
""" % (f.name, ", ".join(types), ", ".join(values)))
    text.append("\nstatic const struct function functions[] = {\n")
    text += ["    {\"%s\", \"%s\", %d, prepare_%s},\n" % (f.type, f.name, len(f.attrs), f.name)
             for f in functions]
    text.append("};\n")
    with open(sys.argv[2], "w", encoding="ascii") as f:
        f.write("".join(text).lstrip("\n"))


if __name__ == "__main__":
    main()

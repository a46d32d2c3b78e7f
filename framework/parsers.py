#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes from the IR dump what the two parser plugins know of the operators: one SIGNATURE per operator.

    parsers.py ir.json > parsers.inc
"""
import json
import sys

KINDS = {"int": "INT", "bool": "BOOL", "float": "FLOAT", "listInt": "LIST_INT", "listFloat": "LIST_FLOAT"}


def signature(op):
    """SIGNATURE(type, kernel, PLAIN or WITH_OPTIONAL, LIST(required...), LIST(optional...), LIST(attributes...))"""
    def names(kind):
        return ", ".join('"%s"' % t["name"] for t in op["inputs"] if t["kind"] == kind)

    attrs = ", ".join("%s(%s, %s)" % (KINDS[a["type"]], a["name"], "true" if a["required"] else "false")
                      for a in op["attrs"])
    form = "WITH_OPTIONAL" if names("optional") else "PLAIN"
    return "SIGNATURE(%s, %s, %s,\n    LIST(%s),\n    LIST(%s),\n    LIST(%s))\n" % (
        op["type"], op["kernel"], form, names("required"), names("optional"), attrs)


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        for op in json.load(file):
            sys.stdout.write(signature(op))


if __name__ == "__main__":
    main()

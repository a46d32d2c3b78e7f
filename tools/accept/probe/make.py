#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Puts together what `ascgrad accept` compiles its probe from, as an operator's files lie: make.py DIR"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGING = os.path.join(HERE, "..", "..", "..", "packaging")
sys.path.insert(0, PACKAGING)
import generate  # pylint: disable=wrong-import-position


def tensor(name):
    return {"name": name, "kind": "required", "dtypes": ["fp32"]}


def main():
    to = sys.argv[1]
    op = {"type": "AscgradProbe", "kernel": "ascgrad_probe", "inputs": [tensor("x")],
          "outputs": [tensor("y")], "attrs": []}
    with open(os.path.join(PACKAGING, "launcher.py.in"), encoding="ascii") as f:
        template = f.read()
    op["interface"] = generate.interface(op, HERE, generate.launcher(op, template))
    impl = os.path.join(to, "ascgrad_impl")
    generate.write(os.path.join(impl, "dynamic", "ascgrad_probe.py"), generate.launcher(op, template))
    generate.write_json(os.path.join(to, "ops-info.json"), {op["type"]: generate.ops_info_record(op)})
    for name, folder in (("ascgrad_probe.cpp", os.path.join(impl, "ascendc", "ascgrad_probe")),
                         ("ascgrad_probe_tiling_data.h", os.path.join(impl, "ascendc", "common")),
                         ("compile.py", to)):
        os.makedirs(folder, exist_ok=True)
        shutil.copy(os.path.join(HERE, name), folder)


if __name__ == "__main__":
    main()

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Puts together what `ascgrad accept` compiles its two kernels from, as an operator's files lie: make.py DIR"""
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
    impl = os.path.join(to, "ascgrad_impl")
    with open(os.path.join(PACKAGING, "launcher.py.in"), encoding="ascii") as f:
        template = f.read()
    store = {}
    for op_type, kernel in (("AscgradProbe", "ascgrad_probe"), ("AscgradGauge", "ascgrad_gauge")):
        op = {"type": op_type, "kernel": kernel, "inputs": [tensor("x")], "outputs": [tensor("y")], "attrs": []}
        op["interface"] = generate.interface(op, HERE, generate.launcher(op, template))
        generate.write(os.path.join(impl, "dynamic", kernel + ".py"), generate.launcher(op, template))
        store[op_type] = generate.ops_info_record(op)
        copy(kernel + ".cpp", os.path.join(impl, "ascendc", kernel))
        copy(kernel + "_tiling_data.h", os.path.join(impl, "ascendc", "common"))
    generate.write_json(os.path.join(to, "ops-info.json"), store)
    copy("compile.py", to)


def copy(name, folder):
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.path.join(HERE, name), folder)


if __name__ == "__main__":
    main()

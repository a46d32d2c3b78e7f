#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a kernel of `ascgrad accept`, as the package's kernels are compiled: compile.py WORK SOC TYPE

SOC is the chip as the runtime calls it (Ascend910B1), TYPE is AscgradProbe or AscgradGauge. Says file=<the object>, name=<its kernel>; or, with
status 1, one sentence of why there is none.
"""
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
PACKAGE = os.path.join(HERE, "..", "..", "..")
sys.path.insert(0, os.path.join(PACKAGE, "scripts"))
import kernels  # pylint: disable=wrong-import-position


def reason_in(text):
    lines = [line for line in text.splitlines() if line.strip()]
    error = [line for line in lines if "error" in line.lower()]
    return (error or lines or ["no reason given"])[0].strip()


def main():
    work, soc, op_type = sys.argv[1:]
    opc = kernels.find_compiler()
    if not opc:
        print("there is no kernel compiler, asc_opc or opc: source the toolkit's set_env.sh")
        return 1
    if kernels.toolkit_knows(soc) is False:
        print("the toolkit's kernel compiler does not know %s" % soc)
        return 1
    tbe = os.path.join(work, "tbe")
    if not os.path.isdir(tbe):
        shutil.copytree(HERE, tbe)
    others = os.environ.get("ASCEND_CUSTOM_OPP_PATH")
    package = os.path.realpath(PACKAGE)
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = package + (":" + others if others else "")
    os.environ.setdefault("HI_PYTHON", "python3")
    record = kernels.read_json(os.path.join(HERE, "ops-info.json"))[op_type]
    request = next(kernels.requests(op_type, record))
    job = kernels.Job(soc, soc, record["opFile"]["value"], record["opInterface"]["value"], request)
    said, good = job.run(opc, tbe, os.path.join(work, "compile"), [])
    if not good:
        print("the toolkit's kernel compiler failed: " + reason_in(said))
        return 1
    made = os.path.join(tbe, "kernel", soc, job.kernel, job.name)
    with open(made + ".json", encoding="utf-8") as f:
        print("file=%s.o\nname=%s" % (made, json.load(f).get("kernelName", job.name)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

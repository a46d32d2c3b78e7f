# SPDX-License-Identifier: Apache-2.0
"""python -m ascgrad.doctor: does this Python have what ascgrad needs? One line each, with the way out of what is wrong.

Whether the operator package is installed for CANN is another question: `ascgrad doctor` answers that.
"""
import importlib
import importlib.util
import platform
import sys

from ascgrad import _library


def _library_line():
    try:
        import ascgrad
        return "OK", f"libascgrad {ascgrad.version()}, {len(_library.operators())} operators: {_library.path()}"
    except OSError as error:
        return "FAIL", str(error)


def _runs_line():
    """One operator on a few numbers, of which the result is known."""
    try:
        import numpy

        import ascgrad
        ones = numpy.ones((4, 4), numpy.float32)
        out, _ = ascgrad.run("ExpSegsumGrad", {"grad_output": ones, "grad_self": ones}, fast=True)
        good = out["grad_input"].tolist() == [0.0, 3.0, 4.0, 3.0]
        return ("OK", "operators run on the CPU") if good else ("FAIL", f"ExpSegsumGrad of ones is {out['grad_input']}")
    except Exception as error:
        return "FAIL", f"operators do not run: {error}"


def _framework_line(name):
    if importlib.util.find_spec(name) is None:
        return "--", f"{name}: not installed"
    try:
        module = importlib.import_module(name)
        importlib.import_module("ascgrad." + name)
        return "OK", f"{name} {module.__version__}: import ascgrad.{name}"
    except Exception as error:
        return "FAIL", f"{name}: {type(error).__name__}: {error}"


def main():
    print(f"[OK] Python {platform.python_version()} on {platform.machine()}: {_library.FOLDER}")
    failed = False
    for state, text in [_library_line(), _runs_line(),
                        *(_framework_line(name) for name in ("torch", "tensorflow", "mindspore"))]:
        print(f"[{state}] {text}")
        failed = failed or state == "FAIL"
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Golden values of the ascgrad operators for the vendor's test kit: python3 -m ttk geir -i NAME.csv --plugin golden.py

The values are ascgrad's double-precision reference, rounded once. The command is looked for in ASCGRAD, then in the
package that this file is part of, then in PATH."""
import os
import subprocess
import tempfile

import numpy


def command():
    here = os.path.dirname(os.path.abspath(__file__))
    inside = os.path.join(here, "..", "..", "bin", "ascgrad")
    return os.environ.get("ASCGRAD") or (inside if os.path.exists(inside) else "ascgrad")


def save(name, array):
    """The words after --in; bfloat16, which no .npy file knows, goes as its bits."""
    bits = array.dtype.name == "bfloat16"
    numpy.save(name, numpy.ascontiguousarray(array.view(numpy.uint16) if bits else array))
    return name + (":bf16" if bits else "")


def load(name, like):
    array = numpy.load(name)
    return array.view(like) if array.dtype == numpy.uint16 else array


def text(value):
    if isinstance(value, (list, tuple)):
        return ",".join(map(text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def reference(op, inputs, attributes, outputs):
    like = next((a.dtype for a in inputs.values() if a is not None and a.dtype.name == "bfloat16"), None)
    with tempfile.TemporaryDirectory() as folder:
        place = lambda name: os.path.join(folder, name + ".npy")
        words = [command(), "run", op, "--reference"]
        for name, array in inputs.items():
            if array is not None:
                words += ["--in", f"{name}={save(place(name), array)}"]
        for name, value in attributes.items():
            if value is not None:
                words += ["--attr", f"{name}={text(value)}"]
        for name in outputs:
            words += ["--out", f"{name}={place('out_' + name)}"]
        run = subprocess.run(words, capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(run.stderr.strip() or f"ascgrad run {op}: status {run.returncode}")
        return [load(place("out_" + name), like) for name in outputs]


TOLERANCE = {dtype: {"standard": "mix_tolerance"} for dtype in ("float32", "float16", "bfloat16")}

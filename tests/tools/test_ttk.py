# SPDX-License-Identifier: Apache-2.0
"""`ascgrad ttk`: the files are what the vendor's test kit takes. Its published rules are in this file, not its code: the
columns of `ttk geir`, how each field reads, and how a plug-in is found and called."""
import ast
import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import types

import numpy

ASCGRAD, IR = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))
COMMON = {"testcase_name", "network_name", "input_data_ranges", "precision_tolerances", "absolute_precision", "is_enabled",
          "remark", "soc_series", "priority"}
KERNEL = {"op_name", "input_shapes", "input_dtypes", "output_shapes", "output_dtypes", "input_formats", "input_ori_shapes",
          "input_ori_formats", "output_formats", "output_ori_shapes", "output_ori_formats", "attributes",
          "output_inplace_indexes", "output_shape_unknown_indexes", "dump_file_prefix", "manual_input_binaries",
          "manual_golden_binaries"}
GEIR = {"dyn_input_shapes"}
SHORT = {"float16": "fp16", "float32": "fp32", "bfloat16": "bf16"}
TOLERANCE = {"fp32": (2.0 ** -10, 2.0 ** -16), "fp16": (2.0 ** -9, 2.0 ** -9), "bf16": (2.0 ** -6, 2.0 ** -6)}


def pascal(name):
    """How the kit makes the name of a type from op_name."""
    return "".join(word.capitalize() for word in name.split("_"))


def tuples(text, entries):
    value = ast.literal_eval(text)
    assert isinstance(value, tuple) and len(value) == entries, text
    return value


def check_attributes(op, value):
    assert isinstance(value, dict)
    known = {a["name"]: a for a in op["attrs"]}
    assert set(value) <= set(known), value
    assert all(a["name"] in value for a in op["attrs"] if a["required"]), value
    for name, v in value.items():
        kind = known[name]["type"]
        want = {"int": int, "bool": bool, "float": float, "listInt": list, "listFloat": list}[kind]
        assert type(v) is want, (name, v, kind)


def infer(op, shapes, dtypes, attributes):
    words = [ASCGRAD, "infer", op["type"]]
    for tensor, shape, dtype in zip(op["inputs"], shapes, dtypes):
        if shape is not None:
            words += ["--in", f"{tensor['name']}={SHORT[dtype]}[{','.join(map(str, shape))}]"]
    for name, value in attributes.items():
        value = ",".join(map(str, value)) if isinstance(value, list) else str(value).lower()
        words += ["--attr", f"{name}={value}"]
    run = subprocess.run(words, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def check_case(op, row, ask):
    n, m = len(op["inputs"]), len(op["outputs"])
    shapes, dtypes = tuples(row["input_shapes"], n), tuples(row["input_dtypes"], n)
    assert row["op_name"] == op["kernel"] and pascal(row["op_name"]) == op["type"]
    for tensor, shape, dtype, form in zip(op["inputs"], shapes, dtypes, tuples(row["input_formats"], n)):
        assert (shape is None) == (dtype is None) == (form is None), row
        assert shape is not None or tensor["kind"] == "optional", row
        assert shape is None or (isinstance(shape, tuple) and dtype in SHORT and form == "ND"), row
    ranges = tuples(row["input_data_ranges"], n)
    assert all(len(r) == 2 and r[0] <= r[1] for r in ranges)
    attributes = ast.literal_eval(row["attributes"])
    check_attributes(op, attributes)
    out_shapes, out_dtypes = tuples(row["output_shapes"], m), tuples(row["output_dtypes"], m)
    if ask:
        want = [f"{t['name']}={SHORT[d]}[{','.join(map(str, s))}]" for t, s, d in zip(op["outputs"], out_shapes, out_dtypes)]
        assert infer(op, shapes, dtypes, attributes) == want, row
    assert row["is_enabled"] == "True" and row["priority"] == "0"
    return shapes, dtypes, ranges, attributes, out_dtypes


def load_plugin(path):
    """The kit reads __spec__ from the syntax tree and runs the file only when it needs a class."""
    source = open(path, encoding="utf-8").read()
    spec = next(ast.literal_eval(node.value) for node in ast.parse(source).body
                if isinstance(node, ast.Assign) and node.targets[0].id == "__spec__")
    module = types.ModuleType("golden")
    module.__file__ = path
    exec(compile(source, path, "exec"), module.__dict__)
    return spec, module


class BFloat16:
    """numpy has no bfloat16: the plug-in sees an array of 16-bit words whose dtype says it is one."""

    def __init__(self, bits):
        self.bits, self.dtype = bits, types.SimpleNamespace(name="bfloat16")

    def view(self, _):
        return self.bits


def draw(shape, dtype, low, high, rng):
    values = rng.uniform(low, high, shape).astype(numpy.float32)
    if dtype == "bfloat16":
        return BFloat16((values.view(numpy.uint32) >> 16).astype(numpy.uint16))
    return values.astype(dtype)


def run_twin(folder, op, inputs, attributes):
    words = [ASCGRAD, "run", op["type"], "--fast"]
    for name, array in inputs.items():
        if array is not None:
            bits = isinstance(array, BFloat16)
            numpy.save(f"{folder}/{name}.npy", array.bits if bits else array)
            words += ["--in", f"{name}={folder}/{name}.npy" + (":bf16" if bits else "")]
    for name, value in attributes.items():
        value = ",".join(map(str, value)) if isinstance(value, list) else str(value).lower()
        words += ["--attr", f"{name}={value}"]
    for tensor in op["outputs"]:
        words += ["--out", f"{tensor['name']}={folder}/out_{tensor['name']}.npy"]
    subprocess.run(words, check=True)
    return [numpy.load(f"{folder}/out_{t['name']}.npy") for t in op["outputs"]]


def wide(array):
    array = numpy.asarray(array)
    return (array.astype(numpy.uint32) << 16).view(numpy.float32) if array.dtype == numpy.uint16 else array.astype(numpy.float32)


def check_golden(op, case, golden, folder):
    shapes, dtypes, ranges, attributes, out_dtypes = case
    rng = numpy.random.default_rng(7)
    names = [t["name"] for t in op["inputs"]]
    inputs = {n: None if s is None else draw(s, d, *r, rng) for n, s, d, r in zip(names, shapes, dtypes, ranges)}
    wanted = golden(*inputs.values(), **attributes, testcase_name="x", input_dtypes=dtypes)
    got = run_twin(folder, op, inputs, attributes)
    assert len(wanted) == len(got)
    for a, b, dtype in zip(got, wanted, out_dtypes):
        rtol, atol = TOLERANCE[SHORT[dtype]]
        a, b = wide(a), wide(b)
        assert a.shape == b.shape and (abs(a - b) <= atol + rtol * abs(b)).all(), (op["type"], case)


def check_op(op, folder, spec, module):
    rows = list(csv.DictReader(open(f"{folder}/{op['kernel']}.csv", encoding="utf-8", newline="")))
    assert set(rows[0]) == COMMON | KERNEL | GEIR, set(rows[0]) ^ (COMMON | KERNEL | GEIR)
    assert len({r["testcase_name"] for r in rows}) == len(rows) > 20
    chosen = set(random.Random(3).sample(range(len(rows)), 6))
    golden = getattr(module, spec[op["kernel"]]).golden
    for i, row in enumerate(rows):
        case = check_case(op, row, i in chosen)
        if i in chosen and sum(int(numpy.prod(s)) for s in case[0] if s is not None) < 1 << 16:
            check_golden(op, case, golden, folder)
    seen = {d for row in rows for d in ast.literal_eval(row["input_dtypes"]) if d}
    assert seen == set(SHORT), (op["type"], seen)
    return len(rows)


def check_links():
    """In a folder that others may write to: nothing goes through a link, nothing half is left."""
    with tempfile.TemporaryDirectory() as folder:
        victim, shared = f"{folder}/victim", f"{folder}/shared"
        for name in ["golden.py"] + [op["kernel"] + ".csv" for op in IR]:
            os.mkdir(shared)
            open(victim, "w").write("precious")
            os.symlink(victim, f"{shared}/{name}")
            done = subprocess.run([ASCGRAD, "ttk", shared], capture_output=True, text=True)
            assert done.returncode == 4 and f"{name}: this is a link" in done.stderr, done
            assert open(victim).read() == "precious", name
            assert all(os.path.getsize(f"{shared}/{n}") and n[0] != "." for n in os.listdir(shared)), name
            for n in os.listdir(shared):
                os.remove(f"{shared}/{n}")
            os.rmdir(shared)
        os.mkdir(shared)  # no room: a limit of no bytes stands for a full disk
        done = subprocess.run(["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" ttk \"$1\"", ASCGRAD, shared],
                              capture_output=True, text=True)
        assert done.returncode == 4 and "golden.py cannot be written" in done.stderr and not os.listdir(shared), done


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ASCGRAD"] = ASCGRAD
        done = subprocess.run([ASCGRAD, "ttk", folder], capture_output=True, text=True, check=True)
        spec, module = load_plugin(f"{folder}/golden.py")
        module.load = lambda name, like: numpy.load(name)  # the real bfloat16 comes with another package
        assert set(spec) == {op["kernel"] for op in IR}
        counts = {op["kernel"]: check_op(op, folder, spec, module) for op in IR}
        assert dict(re.findall(r"(\w+)\.csv: (\d+) cases", done.stdout)) == {k: str(v) for k, v in counts.items()}
    check_links()
    for words in (["ttk"], ["ttk", "/dev/null/x"], ["ttk", "a", "b"]):
        assert subprocess.run([ASCGRAD, *words], capture_output=True).returncode in (1, 4), words
    print(f"{sum(counts.values())} passed, 0 failed")


main()

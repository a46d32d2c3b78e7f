# SPDX-License-Identifier: Apache-2.0
"""same_bits.py WORK COMMAND_A COMMAND_B [WORD...]: runs rows of every operator with both commands, checked and fast; the
files must be equal. The second command may have words, an emulator in front of it. The rows are those of
`COMMAND_A check --list`: the smallest, the largest and one between."""
import json
import math
import os
import re
import subprocess
import sys

import numpy as np

LARGEST = 400000  # elements of all inputs of a row that is worth its time under an emulator


def said(command, *words):
    return subprocess.run([*command, *words], check=True, capture_output=True, text=True).stdout


def inputs_of(op, words):
    """{name: (dtype or *, shape)} of the words of a row; the rest are attributes."""
    names = [a["name"] for a in op["inputs"]]
    specs = {}
    for word in words:
        name, _, value = word.partition("=")
        spec = re.fullmatch(r"(\*|fp16|fp32|bf16)\[([\d,]*)\]", value)
        if name in names and spec:
            specs[name] = spec[1], tuple(int(n) for n in spec[2].split(",") if n)
    return specs


def choose(command, op):
    """Three accepted rows, by size: (inputs, attributes)."""
    rows = []
    for line in said(command, "check", op["type"], "--list").splitlines():
        words = line.split()[1:]
        if "(refused)" in words or any(w.startswith("fill=") for w in words):
            continue
        specs = inputs_of(op, words)
        size = sum(math.prod(shape) for _, shape in specs.values())
        if 0 < size <= LARGEST and all(dtype in ("*", "fp32") for dtype, _ in specs.values()):
            rows.append((size, specs, [w for w in words if w.partition("=")[0] not in specs]))
    if not rows:
        sys.exit(f"same_bits.py: {op['type']} has no row that can be run here")
    rows.sort(key=lambda row: row[0])
    return [row[1:] for row in (rows[0], rows[len(rows) // 2], rows[-1])]


def run_row(commands, op, specs, attrs, dtype, rng, work):
    words = []
    for name, (fixed, shape) in specs.items():
        path = os.path.join(work, f"{name}.npy")
        np.save(path, rng.standard_normal(shape).astype(np.float32 if fixed == "fp32" else dtype))
        words += ["--in", f"{name}={path}"]
    for attr in attrs:
        words += ["--attr", attr]
    bad = 0
    for mode in ([], ["--fast"]):
        bits = []
        for i, command in enumerate(commands):
            files = [os.path.join(work, f"{out['name']}.{i}.npy") for out in op["outputs"]]
            outs = [w for out, f in zip(op["outputs"], files) for w in ("--out", f"{out['name']}={f}")]
            said(command, "run", op["type"], *words, *outs, *mode)
            bits.append([open(f, "rb").read() for f in files])
        same = bits[0] == bits[1]
        bad += not same
        sizes = " ".join(f"{name}={list(shape)}" for name, (_, shape) in specs.items())
        print(f"{op['type']} {np.dtype(dtype).name}{' fast' if mode else ''} {sizes[:90]}: "
              f"{'same bits' if same else 'THE BITS DIFFER'}")
    return bad


def main(argv):
    work, commands, bad = argv[1], [argv[2:3], argv[3:]], 0
    rng = np.random.default_rng(9)
    for op in json.loads(said(commands[0], "ops", "--json")):
        for specs, attrs in choose(commands[0], op):
            for dtype in (np.float32, np.float16):
                bad += run_row(commands, op, specs, attrs, dtype, rng, work)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

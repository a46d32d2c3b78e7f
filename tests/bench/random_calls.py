# SPDX-License-Identifier: Apache-2.0
"""The cycle model over random legal calls of every operator, the same at every run."""
import os
import random
import sys

import ascgrad

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "long"))
import random_rows

CALLS, SEED = 300, 1
LATENCY = 0.34  # us: one load, one store and ten dependent vector calls, below which nothing comes


def parse(row):
    """`OP x=*[2,4] mode=1 ...` of random_rows.py as (shapes, attributes)."""
    shapes, attrs = {}, {}
    kinds = dict(ascgrad.ops[row.split()[0]]["attr"])
    for word in row.split()[1:]:
        name, value = word.split("=")
        if "[" in value:
            shapes[name] = tuple(int(d) for d in value[value.index("[") + 1:-1].split(",") if d)
        elif name in kinds:
            numbers = [{"true": 1, "false": 0}.get(v) if v in ("true", "false") else int(v) for v in value.split(",") if v]
            attrs[name] = numbers if kinds[name].startswith("list") else numbers[0]
    return shapes, attrs


def calls(op):
    """(row, dtype, report) of every call that moves anything."""
    rng = random.Random(f"dtypes {op} {SEED}")
    random_rows.budget = lambda r: int(2 ** r.uniform(12, 20))  # larger than for checking: what a user would time
    for row in random_rows.maker(None, {"type": op}, SEED)(CALLS):
        dtype = rng.choice(("fp32", "fp16", "bf16"))
        shapes, attrs = parse(row)
        report = ascgrad.perf(op, shapes, attrs, dtype)
        if report["min_bytes"]:
            yield row, dtype, report


def over_floor(report, l2=""):
    return report[f"time_{l2}us"] / (report[f"copy_{l2}us"] + LATENCY)


def summary(op):
    """(cells of the table's row, the least time over the data sheet's with no scalar time, [(time over floor, dtype, row)] of the worst)."""
    found = sorted(calls(op), key=lambda c: over_floor(c[2]))
    values = [over_floor(r) for _, _, r in found]
    least = min(r["ratio"] for _, _, r in found)
    near = sorted(over_floor(r, "l2_") for _, _, r in found)
    at = lambda sorted_values, part: f"{sorted_values[int(part * (len(sorted_values) - 1))]:.2f}"
    cells = (op, str(len(found)), at(values, 0.5), at(values, 0.9), at(values, 1), at(near, 0.5), at(near, 0.9), f"{least:.3f}")
    return cells, min(r["time_free_us"] / r["roofline_us"] for _, _, r in found), [(over_floor(r), dtype, row) for row, dtype, r in found[:-11:-1]]

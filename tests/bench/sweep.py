# SPDX-License-Identifier: Apache-2.0
"""A sweep of calls in the cycle model: this tree beside 1.0.0 and 2.0.0, whose kernels and tilings were built into today's twin
(old_kernels.sh) and their times recorded in sweep.recorded.tsv, so that all three are priced by one model.

    sweep.py ASCGRAD                        prints the sweep: median, p90, share within 1.10, by operator, dtype, D and size
    sweep.py ASCGRAD --check                no call slower than before: exit status 1 if one is
    sweep.py ASCGRAD --excuse               records those that are as excused, with what they take now
    sweep.py ASCGRAD --record VERSION       ASCGRAD has the kernels of that version: records its times

"Slower" is by more than 5 % with the launch counted, data in memory or in the L2, for calls whose least bytes take 0.5 us or more at the data
sheet's rate. Calls that are, are in sweep.slower.tsv with the most that they may take; such a line must go when its call no longer is.
"""
import argparse
import concurrent.futures
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
RECORD, SLOWER = os.path.join(HERE, "sweep.recorded.tsv"), os.path.join(HERE, "sweep.slower.tsv")
VERSIONS = ("1.0.0", "2.0.0")
ALLOWED, COUNTS_FROM = 1.05, 0.5  # times before; us
DTYPES = ("fp32", "fp16", "bf16")
HEADS = (16, 20, 24, 32, 36, 40, 64, 72, 80, 88, 96, 100, 104, 128, 192, 256)


def text(dims):
    return "[" + ",".join(map(str, dims)) + "]"


def rotary(dtype, dy, cos, x=True, mode=0, table=None, op="RotaryPositionEmbeddingGrad"):
    names = ("dy", "cos", "sin", "x") if op.startswith("RotaryP") else ("dy", "r1", "r2", "x")
    words = [f"{names[0]}={dtype}{text(dy)}"] + [f"{name}={table or dtype}{text(cos)}" for name in names[1:3]]
    words += [f"x={dtype}{text(dy)}"] if x else []
    return " ".join([op] + words + ([f"mode={mode}"] if mode else []))


def rotary_calls():
    """All D, then layouts, fp32 tables and the partial rotary of models by their names."""
    for d, (b, s, n), dtype in itertools.product(HEADS, ((1, 64, 8), (1, 1024, 8), (2, 2048, 32)), DTYPES):
        for x, mode in ((True, 0), (True, 1), (False, 0), (False, 1)):
            yield rotary(dtype, (b, s, n, d), (1, s, 1, d), x, mode)
    for d, s, dtype in itertools.product((64, 72, 128), (128, 2048), DTYPES):
        yield rotary(dtype, (2, 16, s, d), (1, 1, s, d))
        yield rotary(dtype, (s, 2, 16, d), (s, 1, 1, d))
        yield rotary(dtype, (1, s, 16, d), (1, s, 1, d), True, 2)
        yield rotary(dtype, (1, s, 16, d), (1, s, 1, d), True, 3)
        yield rotary(dtype, (8, 1, 32, d), (1, 1, 1, d))
    for d, x in itertools.product(HEADS, (True, False)):
        yield rotary("bf16", (1, 2048, 16, d), (1, 2048, 1, d), x, 0, "fp32")
    for (n, d, r), dtype in itertools.product(((64, 96, 24), (32, 80, 20), (16, 64, 16), (32, 64, 32), (32, 80, 32), (32, 128, 32),
                                               (24, 128, 96), (32, 128, 64), (16, 256, 64)), ("fp32", "bf16")):
        yield rotary(dtype, (1, 1024, n, d), (1, 1024, 1, r))
    for d, s, dtype in itertools.product((64, 72, 80, 128), (128, 2048), DTYPES):
        yield rotary(dtype, (1, s, 16, d), (1, s, 1, d), op="RotaryMulGrad")


def rope_calls():
    for d, tokens, dtype, exact in itertools.product((24, 64, 72, 80, 100, 128), (128, 2048, 8192), DTYPES, ("false", "true")):
        yield (f"RopeGrad q={dtype}{text((tokens, 16 * d))} k={dtype}{text((tokens, 4 * d))} cos={dtype}{text((tokens, d))} "
               f"sin={dtype}{text((tokens, d))} qSeqLen={tokens // 4},{tokens - tokens // 4} exact_grad={exact}")


def norm_rope_concat_calls():
    for (n, d), (s, added), norm, rope, dtype in itertools.product(
            ((16, 64), (16, 72), (16, 80), (24, 128)), ((128, 0), (1024, 128), (2048, 0)), (0, 1, 2), (1, 2), DTYPES):
        out = {"grad_query_output": (1, n, s + added, d), "grad_key_output": (1, n, s + added, d),
               "grad_value_output": (1, n, s + added, d), "query": (1, s, n, d), "key": (1, s, n, d)}
        streams = [("query", s), ("key", s)] + ([("added_query", added), ("added_key", added)] if added else [])
        if added:
            out.update(encoder_query=(1, added, n, d), encoder_key=(1, added, n, d))
        words = [f"{name}={dtype}{text(dims)}" for name, dims in out.items()]
        for name, rows in streams if norm else []:
            words += [f"norm_{name}_weight={dtype}[{d}]"] if norm == 2 else []
            words += [f"norm_{name}_{what}=fp32{text((1, rows, n, 1))}" for what in ("mean", "rstd")]
        words += [f"{name}={dtype}{text((s + added, d))}" for name in ("rope_sin", "rope_cos")]
        yield " ".join(["NormRopeConcatGrad"] + words + [f"norm_type={norm}", f"norm_added_type={norm if added else 0}",
                                                        f"rope_type={rope}", "concat_order=0"])


def exp_segsum_calls():
    for length, most, dtype in itertools.product((16, 64, 71, 96, 128, 200, 256, 512, 1024), (1, 16, 256), DTYPES):
        if most * length * length <= 2**24:
            yield f"ExpSegsumGrad grad_output={dtype}{text((most, length, length))} grad_self={dtype}{text((most, length, length))}"


def calls():
    """(chip, row) of every call; other chips take a part of them."""
    rows = list(dict.fromkeys((*rotary_calls(), *rope_calls(), *norm_rope_concat_calls(), *exp_segsum_calls())))
    yield from (("ascend910b1", row) for row in rows)
    yield from ((chip, row) for i, row in enumerate(rows) for k, chip in enumerate(("ascend910b4", "ascend950")) if i % 16 == 5 + 4 * k)
    yield from (("ascend910a", row) for row in rows if row.startswith("RotaryMulGrad") and "bf16" not in row)


def perf(binary, chip, row, inputs, old=False):
    """The report, or None where the operator refuses, or has kernels that are too old for the chip."""
    op, *words = row.split()
    arguments = [word for w in words for word in ("--in" if w.partition("=")[0] in inputs[op] else "--attr", w)]
    done = subprocess.run([binary, "perf", op, "--soc", chip, *arguments, "--steps-only"], capture_output=True, text=True)
    if done.returncode not in ((0, 1, 2, 3) if old else (0, 2)):
        sys.exit(f"{chip} {row}: {done.stderr}")
    return json.loads(done.stdout) if done.returncode == 0 else None


def inputs_of(binary):
    ops = json.loads(subprocess.run([binary, "ops", "--json"], check=True, capture_output=True).stdout)
    return {op["type"]: [i["name"] for i in op["inputs"]] for op in ops}


def reports(binary, wanted, old=False):
    """(chip, row, report) of every call; JOBS at a time."""
    inputs = inputs_of(binary)
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        for (chip, row), report in zip(wanted, pool.map(lambda call: perf(binary, *call, inputs, old), wanted)):
            yield chip, row, report


def model():
    """What the times were priced by: the constants of the model, without their comments."""
    found = ""
    for name in ("cycle_constants.h", "prims.h"):
        with open(os.path.join(ROOT, "twin", name), encoding="utf-8") as file:
            found += "".join(re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S).split())
    return hashlib.sha256(found.encode()).hexdigest()[:16]


def read(path):
    """{(chip, row): the other cells}, and the first line."""
    if not os.path.exists(path):
        return {}, ""
    with open(path, encoding="ascii") as file:
        first, *lines = file.read().splitlines()
    return {tuple(line.split("\t")[:2]): line.split("\t")[2:] for line in lines}, first


def record(binary, version):
    """Adds or renews the cells of a version: time, time in the L2 and launch; "-": it refuses the call."""
    known, _ = read(RECORD)
    at, lines = VERSIONS.index(version), []
    for chip, row, report in reports(binary, list(calls()), old=True):
        cells = known.get((chip, row), ["-"] * len(VERSIONS))
        cells[at] = "-" if not report else f"{report['time_us']:.3f} {report['time_l2_us']:.3f} {report['launch_us']:.2f}"
        lines.append("\t".join((chip, row, *cells)))
    with open(RECORD, "w", encoding="ascii") as file:
        file.write("\n".join([f"# chip, call, then time us, in the L2, launch of {' and of '.join(VERSIONS)}; model {model()}"] + lines) + "\n")


def before(cells):
    """[(time, in the L2, launch) or None] of each version."""
    return [None if cell == "-" else tuple(map(float, cell.split())) for cell in cells]


def slower(report, cells):
    """(how much slower with the launch, where, than which version) of the worst, or None where all is as it should be."""
    if report["roofline_us"] < COUNTS_FROM:
        return None
    ours = report["time_us"], report["time_l2_us"]
    found = [((ours[i] + report["launch_us"]) / (was[i] + was[2]), ("memory", "L2")[i], version)
             for was, version in zip(before(cells), VERSIONS) if was for i in (0, 1)]
    worst = max(found, default=(0, "", ""))
    return worst if worst[0] > ALLOWED else None


def check(binary, write):
    known, first = read(RECORD)
    excused, _ = read(SLOWER)
    said, seen, lines = [], 0, []
    if model() not in first:
        said.append(f"the model's constants are not those that {os.path.basename(RECORD)} was priced by: record it anew (old_kernels.sh)")
    wanted = list(calls())
    if set(wanted) != set(known):
        said.append(f"{len(set(wanted) ^ set(known))} calls are in the sweep or in its record only: record it anew")
    for chip, row, report in reports(binary, wanted):
        if not report:
            if any(before(known.get((chip, row), []))):
                said.append(f"{chip} {row}: refused, and was not before")
            continue
        seen += 1
        found = slower(report, known.get((chip, row), []))
        total, near = report["time_us"] + report["launch_us"], report["time_l2_us"] + report["launch_us"]
        if found:
            lines.append("\t".join((chip, row, f"{total:.2f}", f"{near:.2f}", "%.2f in %s over %s" % found)))
        limits = excused.get((chip, row))
        if found and not limits:
            said.append(f"{chip} {row}: %.2f times as long in %s as in %s, launch counted" % found)
        elif found and (total > float(limits[0]) * 1.005 or near > float(limits[1]) * 1.005):
            said.append(f"{chip} {row}: {total:.2f} us, in the L2 {near:.2f}, above {limits[0]} and {limits[1]} that it is excused for")
        elif limits and not found:
            said.append(f"{chip} {row}: no longer slower than before; take it out of {os.path.basename(SLOWER)}")
    if write:
        with open(SLOWER, "w", encoding="ascii") as file:
            file.write("\n".join(["# chip, call, the most it may take with its launch, in memory and in the L2; how much slower it is"] + lines) + "\n")
        return 0
    print("\n".join(said))
    print(f"{seen} calls, {len(excused)} excused in all, {len(said)} wrong")
    return bool(said)


def quantile(values, part):
    values = sorted(values)
    return f"{values[int(part * (len(values) - 1))]:.2f}" if values else "-"


def classes(row, report):
    """The groups that a call belongs to."""
    op = row.split()[0]
    dtype, dims = re.search(r"=(\w+)\[([\d,]+)\]", row).groups()
    d = int(dims.split(",")[-1])
    if op == "RopeGrad":
        d = int(re.search(r" cos=\w+\[\d+,(\d+)\]", row)[1])
    size = next(name for most, name in ((0.5, "below 0.5 us"), (3, "0.5 to 3 us"), (10, "3 to 10 us"), (50, "10 to 50 us"), (1e9, "50 us and more"))
                if report["roofline_us"] < most)
    yield "all"
    yield size
    if report["roofline_us"] < 3:
        return
    yield "3 us and more"
    yield f"{op}, 3 us and more"
    yield f"{dtype}, 3 us and more"
    if op != "ExpSegsumGrad":
        width = next(name for step, name in ((32, "D % 32 = 0"), (16, "D % 32 = 16"), (8, "D % 16 = 8"), (4, "D % 8 = 4"), (1, "other D")) if d % step == 0)
        yield f"{width}, {'fp32' if dtype == 'fp32' else '16 bits'}, 3 us and more"


def table(binary):
    """The groups, and for each version, cold and resident, median, p90 and share within 1.10; 910b1."""
    known, _ = read(RECORD)
    groups = {}
    for chip, row, report in reports(binary, [call for call in calls() if call[0] == "ascend910b1"]):
        if not report or not report["copy_l2_us"]:  # nothing to do, or less than a nanosecond
            continue
        times = before(known.get((chip, row), ["-"] * len(VERSIONS))) + [(report["time_us"], report["time_l2_us"])]
        ratios = [None if t is None else (t[0] / report["copy_us"], t[1] / report["copy_l2_us"]) for t in times]
        for group in classes(row, report):
            groups.setdefault(group, []).append(ratios)
    head = ["ratio over a copy: median / p90 / share within 1.10", "calls"] + [
        f"{version}: {where}" for where in ("in memory", "in the L2") for version in (*VERSIONS, "now")]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for group in sorted(groups, key=order_of):
        cells = []
        for where in (0, 1):
            for version in range(len(VERSIONS) + 1):
                values = [r[version][where] for r in groups[group] if r[version]]
                share = sum(v <= 1.1 for v in values) / max(1, len(values))
                cells.append(f"{quantile(values, 0.5)} / {quantile(values, 0.9)} / {share:.0%}" if values else "-")
        lines.append("| " + " | ".join([group, str(len(groups[group]))] + cells) + " |")
    return "\n".join(lines)


def order_of(group):
    sizes = ("all", "below 0.5 us", "0.5 to 3 us", "3 to 10 us", "10 to 50 us", "50 us and more", "3 us and more")
    return (sizes.index(group) if group in sizes else len(sizes), group)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("binary")
    options.add_argument("--check", action="store_true")
    options.add_argument("--excuse", action="store_true", help="writes sweep.slower.tsv anew")
    options.add_argument("--record", choices=VERSIONS)
    options = options.parse_args()
    if options.record:
        record(options.binary, options.record)
    elif options.check or options.excuse:
        return check(options.binary, options.excuse)
    else:
        print(table(options.binary))
    return 0


if __name__ == "__main__":
    sys.exit(main())

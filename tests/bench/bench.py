# SPDX-License-Identifier: Apache-2.0
"""./build.sh bench: the cycle model against a measured copy and against the L2, the fast twin against PyTorch and plain copying on this CPU,
and the host functions. Prints the tables, writes them into docs/benchmarks.md, those of the operators' pages into these, and draws
docs/pictures."""
import argparse
import ctypes
import json
import math
import os
import platform
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "..", "..")
sys.path[:0] = [here, os.path.join(root, "framework", "python")]


def side_by_side(calls, seconds, clock=time.perf_counter):
    """The fastest run of each call. They take turns of 20 ms or 5 runs: whoever shares the machine slows all of them."""
    times = [[] for _ in calls]
    start = time.perf_counter()
    while not times[0] or time.perf_counter() - start < seconds:
        for call, mine in zip(calls, times):
            turn, runs = time.perf_counter(), 0
            while runs < 5 or time.perf_counter() - turn < 0.02:
                begin = clock()
                call()
                mine.append(clock() - begin)
                runs += 1
    return [min(t) for t in times]


def progress(text):
    print(text, file=sys.stderr, flush=True)


def model_rows():
    rows = []
    for title, dtype, (op, shapes, attrs), limit, limit_l2, before, public in cases.MODEL:
        progress(f"model: {op} {title} {dtype}")
        r = ascgrad.perf(op, shapes, attrs, dtype)
        moved = (r["gm_read"] + r["gm_write"]) / r["min_bytes"]
        rows.append((op, title, dtype, r, moved, limit, limit_l2, before, public))
    return rows


def random_inputs(op, shapes, dtype, seed=1):
    rng = np.random.default_rng(seed)
    arrays = {}
    for name, _, types in ascgrad.ops[op]["in"]:
        if name in shapes:
            kind = dtype if dtype in types.split(",") else "fp32"
            arrays[name] = ascgrad.cast(rng.standard_normal(shapes[name], np.float32), kind)
    return arrays


def direct(request):
    """The call of the C function alone: a small operator takes less time than what Python does around it."""
    library, why = _library.load(), ctypes.create_string_buffer(_library.WHY)
    arguments = ctypes.byref(request.call), None, why
    request.run()
    return lambda: library.ascgrad_run(*arguments)


def torch_call(op, arrays, attrs, dtype, compiled=False):
    """The backward alone, eager or of the compiled forward, or None where PyTorch has no CPU kernel for the dtype or cannot
    compile. The gradients are contiguous, as the operator's are."""
    kind = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[dtype]
    try:
        tensors = {n: torch.from_numpy(ascgrad.to_float(a)).to(kind).requires_grad_() for n, a in arrays.items()}
        ys, grads, wrt = cases.forward(op, tensors, attrs)
        if compiled:
            ys = torch.compile(lambda t: cases.forward(op, t, attrs)[0])(tensors)
        backward = lambda: [g.contiguous() for g in torch.autograd.grad(ys, wrt, grads, retain_graph=True)]
        backward()
        return backward
    except RuntimeError as error:
        if not compiled and "not implemented" not in str(error):
            raise
        progress(f"PyTorch {torch.__version__} cannot: {str(error).splitlines()[0]}")
        return None


def copy_call(size):
    """Moves as many bytes by a plain copy on as many threads: half read, half written."""
    a = torch.ones(max(1, size // 8), dtype=torch.float32)
    b = torch.zeros_like(a)
    return lambda: b.copy_(a)


def cpu_rows():
    """In a process that has one CPU, hence one thread for everybody, and in CPU time: others that share the machine take
    turns with this process and do not count."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    rows = []
    for title, (op, shapes, attrs) in cases.CPU:
        for dtype in ("fp32", "fp16", "bf16"):
            progress(f"cpu: {title} {dtype}")
            arrays = random_inputs(op, shapes, dtype)
            request = ascgrad.prepare(op, arrays, attrs, fast=True)
            bytes_moved = ascgrad.perf(op, shapes, attrs, dtype)["min_bytes"]  # a fast run does not count them
            calls = [request.run, copy_call(bytes_moved), torch_call(op, arrays, attrs, dtype)]
            if hasattr(torch, "compile") and title.startswith("rotary"):
                calls.append(torch_call(op, arrays, attrs, dtype, compiled=True))
            times = iter(side_by_side([call for call in calls if call], 4, time.process_time))
            rows.append((title, dtype, *[next(times) if call else None for call in calls + [None] * (4 - len(calls))]))
    return rows


def cpu_rows_apart(build):
    command = [sys.executable, os.path.abspath(__file__), "--build", build, "--cpu-rows"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


def growth_rows():
    """Nanoseconds per element of the fast twin from 256 KB to 256 MB of dy."""
    sizes, rows = (0.25, 1, 4, 16, 64, 256), []
    for dtype, bytes_each in (("fp32", 4), ("bf16", 2)):
        progress(f"growth: {dtype}")
        lengths = [int(mb * 2**20) // (32 * 128 * bytes_each) for mb in sizes]
        requests = [ascgrad.prepare(op, random_inputs(op, shapes, dtype), attrs, fast=True) for op, shapes, attrs in
                    (cases.rotary((1, s, 32, 128), (1, s, 1, 128)) for s in lengths)]
        for mb, s, seconds in zip(sizes, lengths, side_by_side([direct(r) for r in requests], 8)):
            rows.append((dtype, mb, seconds * 1e9 / (s * 32 * 128)))
    return rows


def host_rows(build):
    text = subprocess.run([os.path.join(build, "bin", "host_calls")], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in text.splitlines()]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def model_table(model):
    over = lambda value, limit: f"{value:.2f}" + ("" if value <= limit else " (over)")
    return table(
        ("operator", "case", "dtype", "time us", "ratio", "no scalar time", "limit", "L2: time us", "L2: ratio", "limit",
         "in the L2", "to the data sheet", "2.0.0", "public kernel", "bytes / minimum", "cores"),
        [(op, title, dtype, f"{r['time_us']:.1f}", f"{r['ratio']:.2f}", over(r["ratio_free"], limit), f"{limit:.2f}",
          f"{r['time_l2_us']:.1f}", over(r["ratio_l2"], limit_l2), f"{limit_l2:.2f}", f"{r['l2_share']:.0%}",
          f"{r['ratio_roofline']:.2f}", f"{before:.2f}", f"{public:.2f}" if public else "-", f"{moved:.3f}",
          str(r["cores_used"])) for op, title, dtype, r, moved, limit, limit_l2, before, public in model])


def scalar_rows():
    """The rows with scalar time: (cells of the table, are both limits met?)."""
    for title, dtype, (op, shapes, attrs), limit, worst in cases.SCALAR:
        progress(f"scalar: {op} {title} {dtype}")
        r = ascgrad.perf(op, shapes, attrs, dtype)
        over = r["copy_us"]
        free, low, ratio, high, full = (r[f"time_{name}us"] / over for name in ("free_", "low_", "", "high_", "worst_"))
        most = ratio * float(worst[2:]) if isinstance(worst, str) else worst
        met = ratio <= limit, full <= most
        yield (op, title, dtype, f"{free:.2f}", f"{low:.2f} to {high:.2f}", f"{ratio:.2f}", f"{limit:.2f}",
               "yes" if met[0] else "no", f"{full:.2f}",
               str(worst), "yes" if met[1] else "no", f"{r['scalar_instructions']}"), all(met)


def scalar_table(rows):
    return table(("operator", "case", "dtype", "no scalar time", "band", "ratio", "limit", "met", "1 cycle each", "limit",
                  "met", "scalar instructions"), [row for row, _ in rows])


def random_section():
    """The table of random calls and their worst; the least time over the data sheet's that there was, with no scalar time."""
    rows, worst, least = [], [], float("inf")
    for op in ascgrad.ops:
        progress(f"random calls: {op}")
        cells, lowest, slowest = random_calls.summary(op)
        rows.append(cells)
        worst += slowest
        least = min(least, lowest)
    worst = sorted(worst, reverse=True)[:10]
    head = ("operator", "calls", "time over floor: median", "p90", "worst", "L2: median", "p90", "least ratio")
    return table(head, rows) + "\n\nThe worst ten, time over floor:\n\n```\n" + "\n".join(
        f"{value:6.2f} {dtype} {row}" for value, dtype, row in worst) + "\n```", least


def cpu_table(cpu):
    can = any(compiled for *_, compiled in cpu)  # else there are no columns for it
    beside = lambda ours, theirs, none: (f"{theirs * 1e3:.1f}", f"{theirs / ours:.1f}") if theirs else (none, "-")
    return table(
        ("case", "dtype", "fast twin ms", "PyTorch eager ms", "times faster",
         *(("torch.compile ms", "times faster") if can else ()), "plain copy ms", "of copy bandwidth"),
        [(title, dtype, f"{ours * 1e3:.1f}", *beside(ours, theirs, "no kernel"), *(beside(ours, compiled, "-") if can else ()),
          f"{copy * 1e3:.1f}", f"{copy / ours:.0%}") for title, dtype, ours, copy, theirs, compiled in cpu]) + (
        f"\n\nCPU time of one thread, best run of many, the contestants in turn. PyTorch {torch.__version__}, {platform.machine()}.")


def model_goals(model, scalar, least):
    for name, ratio, column in (("memory", "ratio_free", 5), ("the L2", "ratio_l2", 6)):
        over = sum(row[3][ratio] > row[column] for row in model)
        yield f"every case of the cycle model within its limit, data in {name}", f"{len(model) - over} of {len(model)}", not over
    met = sum(good for _, good in scalar)
    yield "every case with scalar time within its limits", f"{met} of {len(scalar)}", met == len(scalar)
    yield "no random call faster than the data sheet's bandwidth, not even with no scalar time", f"{least:.3f}", least >= 1


def cpu_goals(cpu):
    mean = geometric_mean([theirs / ours for _, _, ours, _, theirs, _ in cpu if theirs])
    yield "4 times PyTorch eager, geometric mean", f"{mean:.1f}", mean >= 4
    least, title, dtype = min((theirs / ours, title, dtype) for title, dtype, ours, _, theirs, _ in cpu if theirs)
    yield "2 times PyTorch eager in every row", f"{least:.1f}, {dtype} {title}", least >= 2
    for title, dtype, ours, _, theirs, compiled in cpu:
        other, name, goal = (compiled, "torch.compile", 3) if compiled else (theirs, "PyTorch eager", 10)
        if other and title.startswith("rotary"):
            yield f"{goal} times {name}, {dtype} {title}", f"{other / ours:.1f}", other >= goal * ours
    for title, dtype, ours, copy, _, _ in cpu:
        if dtype == "fp32" and title.startswith(("rotary", "rope")):
            yield f"half of plain copy bandwidth, fp32 {title}", f"{copy / ours:.0%}", copy >= ours / 2


def machine_goals(growth, host):
    for dtype in ("fp32", "bf16"):
        times = [ns for kind, _, ns in growth if kind == dtype]
        spread = max(times) / min(times) - 1
        yield f"time per element within 20 % from 256 KB to 256 MB, {dtype}", f"{spread:.0%}", spread <= 0.2
    slowest = max(int(ns) for _, infer, tiling, _ in host for ns in (infer, tiling))
    quiet = all(allocations == "none" for *_, allocations in host)
    yield "infer and tiling at most 1000 ns, no allocation", f"{slowest} ns" + ("" if quiet else ", allocates"), \
        slowest <= 1000 and quiet


def goals_table(goals):
    return table(("goal", "reached", "met"), [(goal, reached, "yes" if met else "no") for goal, reached, met in goals])


def goals_of_page(text, *parts):
    """Rows of the goals table of these parts: model, cpu, machine."""
    for row in text.split("<!-- goals -->")[1].split("<!-- /goals -->")[0].strip().splitlines()[2:]:
        goal, reached, met = row.strip("| ").split(" | ")
        part = "cpu" if any(word in goal for word in ("PyTorch", "torch.compile", "copy bandwidth")) else \
            "machine" if goal.startswith(("time per element", "infer and tiling")) else "model"
        if part in parts:
            yield goal, reached, met == "yes"


def model_sections(build, goals):
    model = model_rows()
    yield "model", model_table(model)
    yield "glance", glance.table()  # of the page, which has the other table by now
    scalar = list(scalar_rows())
    yield "scalar", scalar_table(scalar)
    body, least = random_section()
    yield "random", body
    command = os.path.join(build, "bin", "ascgrad")
    progress("models and the sweep")
    yield "models", models.table(command)
    yield "sweep", sweep.table(command)
    goals["model"] = list(model_goals(model, scalar, least))


def cpu_sections(build, goals):
    cpu = cpu_rows_apart(build)
    yield "cpu", cpu_table(cpu)
    goals["cpu"] = list(cpu_goals(cpu))


def machine_sections(build, goals):
    growth = growth_rows()
    yield "growth", table(("dtype", "MB of dy", "ns per element"),
                          [(dtype, str(mb), f"{ns:.3f}") for dtype, mb, ns in growth])
    host = host_rows(build)
    yield "host", table(("operator", "infer ns", "tiling ns", "allocations"), host)
    goals["machine"] = list(machine_goals(growth, host))


PARTS = {"model": model_sections, "cpu": cpu_sections, "machine": machine_sections}


def sections(build, parts, text):
    goals = {part: list(goals_of_page(text, part)) for part in PARTS}
    for part in parts:
        yield from PARTS[part](build, goals)
    yield "goals", goals_table(sum(goals.values(), []))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--build", default="build")
    options.add_argument("--model", dest="parts", action="store_const", const=["model"], default=list(PARTS),
                         help="only what does not depend on this machine")
    options.add_argument("--cpu", dest="parts", action="store_const", const=["cpu"], help="only the fast twin against PyTorch")
    options.add_argument("--cpu-rows", action="store_true", help="measure these, print them as JSON and write nothing")
    options = options.parse_args()
    build = os.path.abspath(options.build)
    os.environ.setdefault("ASCGRAD_LIB", os.path.join(build, "lib", "libascgrad.so"))
    global _library, ascgrad, cases, glance, models, np, random_calls, sweep, torch
    import ascgrad
    from ascgrad import _library
    import cases
    import glance
    import models
    import random_calls
    import sweep
    import numpy as np
    import torch
    progress(f"comparing with PyTorch {torch.__version__} of {sys.executable}")
    if options.cpu_rows:
        print(json.dumps(cpu_rows()))
        return
    page = os.path.join(root, "docs", "benchmarks.md")
    text = open(page).read()
    for name, body in sections(build, options.parts, text):
        print(f"\n{name}\n{body}", flush=True)
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, rest = text.split(begin)
        text = before + begin + "\n" + body + "\n" + end + rest.split(end)[1]
        with open(page, "w") as f:
            f.write(text)
    if "model" not in options.parts:
        return
    subprocess.run([sys.executable, "-B", os.path.join(root, "docs", "pictures", "draw.py")], check=True)
    subprocess.run([sys.executable, "-B", os.path.join(here, "pages.py"), os.path.join(build, "bin", "ascgrad"), "--write"], check=True)


main()

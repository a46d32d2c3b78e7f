#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of the operators' pages that show the cycle model, English and Chinese: every row is read, its call is made
by `ascgrad perf`, and its figures are compared (within 3 %; another compiler counts other scalar instructions) or written.

    pages.py COMMAND [--write] [--only WORD]      WORD: only pages whose name has it
"""
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BOTH = "memory / L2"  # the heads of columns with two ratios have this
NEAR = 0.03


def spec(dtype, shape):
    return f"{dtype}[{','.join(map(str, shape))}]"


def shape(text):
    return [int(n) for n in text.split(",")]


def same(dtype, shapes):
    return {name: spec(dtype, s) for name, s in shapes.items()}


def rotary_mul_grad(cells, dtype, _):
    x, r = map(shape, re.findall(r"\[([\d,]+)\]", cells[0]))
    return "RotaryMulGrad", same(dtype, {"x": x, "r1": r, "r2": r, "dy": x}), {}


def rotary_position_embedding_grad(cells, dtype, kept):
    found = re.findall(r"\[([\d,]+)\]", cells[0])
    if found:
        kept["dy"], kept["cos"] = map(shape, found[:2])
    shapes = {"dy": kept["dy"], "cos": kept["cos"], "sin": kept["cos"]}
    if "without x" not in cells[0]:
        shapes["x"] = kept["dy"]
    return "RotaryPositionEmbeddingGrad", same(dtype, shapes), {"mode": cells[1]}


def rope_grad(cells, dtype, _):
    if dtype:  # models: 4 sequences of 512 tokens
        heads, size, rotated = int(cells[1]), int(cells[2]), int(cells[4])
        k_heads = int((re.findall(r"(\d+) for k", cells[0]) or [heads])[0])
        shapes = {"q": (2048, heads * size), "k": (2048, k_heads * size), "cos": (512, rotated), "sin": (512, rotated)}
        return "RopeGrad", same(dtype, shapes), {"qSeqLen": "512,512,512,512", "exact_grad": "true", "head_size": size}
    lengths = [1, 137, 274, 410, 547, 683, 820, 956, 1093, 1230, 1366, 1503, 1639, 1776, 1912, 2048]
    q, k = map(int, cells[0].split(" / "))
    kind = cells[1].split(",")[0]
    shapes = {"q": (sum(lengths), q), "k": (sum(lengths), k), "cos": (2048, 128), "sin": (2048, 128)}
    attrs = {"qSeqLen": ",".join(map(str, lengths)), **({"exact_grad": "true"} if "exact_grad" in cells[1] else {})}
    return "RopeGrad", same(kind, shapes), attrs


def norm_rope_concat_grad(cells, _, kept):
    for names, value in re.findall(r"((?:\b[A-Z][a-z]*=?)+|seqRope )(\d+)", cells[0]):
        for name in re.findall(r"seqRope|[A-Z][a-z]*", names):
            kept[name] = int(value)
            if name == "N":
                kept["Nk"] = int(value)  # unless the row says another number
    b, n, nk, d, sq, sk, seq, sek, rows = (kept[k] for k in ("B", "N", "Nk", "D", "Sq", "Sk", "Seq", "Sek", "seqRope"))
    norm, added = cells[1][0], cells[1][2]
    data = "fp32" if re.search(r"(half|interleave|none), fp32", cells[1]) else "bf16"
    tables = "fp32" if "weights fp32" in cells[1] else data
    rope = {"none": 0, "interleave": 1, "half": 2}[re.search("none|interleave|half", cells[1]).group()]
    out, parts = {}, (("query", norm, sq), ("key", norm, sk), ("added_query", added, seq), ("added_key", added, sek))
    layout = int("layout 1" in cells[1])
    for name, heads, rows_ in (("query", n, sq + seq), ("key", nk, sk + sek), ("value", nk, sk + sek)):
        out[f"grad_{name}_output"] = spec(data, (b, rows_, heads, d) if layout else (b, heads, rows_, d))
    if "no value" in cells[1]:
        out["grad_value_output"] = spec(data, (0,))
    for name, type_, rows_ in parts:
        heads = n if name.endswith("query") else nk
        out[name.replace("added", "encoder")] = spec(data, (b, rows_, heads, d))
        if type_ in "2468":
            out[f"norm_{name}_weight"] = spec(tables, (heads * d if type_ in "68" else d,))
        numbers = spec("fp32", (b, rows_, 1 if type_ in "5678" else heads, 1))
        if type_ in "1256":
            out[f"norm_{name}_mean"] = numbers
        if type_ != "0":
            out[f"norm_{name}_rstd"] = numbers
    if rope:
        out["rope_sin"] = out["rope_cos"] = spec(tables, (rows, d))
    return "NormRopeConcatGrad", out, {"norm_type": norm, "norm_added_type": added, "rope_type": rope, "concat_order": 0,
                                       "grad_layout": layout}


def exp_segsum_grad(cells, _, __):
    s = shape(cells[0].strip("[]"))
    return "ExpSegsumGrad", same(cells[1], {"grad_output": s, "grad_self": s}), {}


PAGES = [rotary_mul_grad, rotary_position_embedding_grad, rope_grad, norm_rope_concat_grad, exp_segsum_grad]


def tables(lines):
    """The numbers of the lines of each table that has the model's ratios, with its head: [first, ..., last]."""
    found, i = [], 0
    while i < len(lines):
        if lines[i].startswith("|") and re.search(r" / L2\b", lines[i]):
            end = i + 2
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            found.append((i, range(i + 2, end)))
            i = end
        i += 1
    return found


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def perf(command, call, soc):
    op, inputs, attrs = call
    words = [w for name, s in inputs.items() for w in ("--in", f"{name}={s}")]
    words += [w for name, value in attrs.items() for w in ("--attr", f"{name}={value}")]
    done = subprocess.run([command, "perf", op, *words, "--soc", soc], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{op} {words}: {done.stderr}")
    return json.loads(done.stdout)


def figures(head, cells, report):
    """What stands in a column, by its number, of a row's report."""
    two = lambda a, b: f"{a:.2f} / {b:.2f}"
    for i, (name, cell) in enumerate(zip(head, cells)):
        if BOTH in name:
            yield i, two(report["ratio"], report["ratio_l2"])
        elif name == "bytes":
            moved = (report["gm_read"] + report["gm_write"]) / report["min_bytes"]
            yield i, f"{moved:.{len(cell.split('.')[1])}f}"
        elif name == "1 cycle each":
            yield i, f"{report['ratio_worst']:.2f}"


def agree(old, new):
    a, b = ([float(n) for n in re.findall(r"[\d.]+", text)] for text in (old, new))
    return len(a) == len(b) and all(abs(x - y) <= NEAR * y + 0.011 for x, y in zip(a, b))


def page_cells(command, page):
    """(table, row, column, figure) of all of a page's tables."""
    with open(os.path.join(ROOT, "docs", page.__name__ + ".md"), encoding="utf-8") as f:
        lines = f.read().split("\n")
    jobs = []
    for t, (first, rows) in enumerate(tables(lines)):
        head, kept = cells_of(lines[first]), {}
        soc = "ascend910a" if "1024 bytes per cycle" in "\n".join(lines[first - 4:first]) else "ascend910b1"
        for r, line in enumerate(rows):
            cells = cells_of(lines[line])
            kinds = {i: m.group(1) for i, h in enumerate(head) for m in [re.match(r"(bf16|fp16|fp32),", h)] if m}
            for columns, dtype in [([i], k) for i, k in kinds.items()] or [(range(len(head)), None)]:
                jobs.append((t, r, head, cells, set(columns), page(cells, dtype, kept), soc))
    with ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        for (t, r, head, cells, columns, _, _), report in zip(jobs, pool.map(lambda j: perf(command, j[5], j[6]), jobs)):
            for column, text in figures(head, cells, report):
                if column in columns:
                    yield t, r, column, text


def main():
    command, write = sys.argv[1], "--write" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    count, wrong = 0, 0
    for page in [p for p in PAGES if only in p.__name__]:
        found = list(page_cells(command, page))
        for folder in ("", "zh"):
            path = os.path.join(ROOT, "docs", folder, page.__name__ + ".md")
            with open(path, encoding="utf-8") as f:
                lines = f.read().split("\n")
            for t, r, column, text in found:
                line = tables(lines)[t][1][r]
                cells, count = cells_of(lines[line]), count + 1
                if agree(cells[column], text):
                    continue
                print(f"{os.path.relpath(path, ROOT)}: {cells[column]}, now {text}: {lines[line]}")
                wrong += 1
                cells[column] = text
                lines[line] = "| " + " | ".join(cells).lstrip() + " |"
            if write:
                with open(path, "w", encoding="utf-8") as f:
                    f.write("\n".join(lines))
    print(f"{count} cells, {wrong} {'written anew' if write else 'are not what the model says'}")
    return bool(wrong and not write) or not count


sys.exit(main())

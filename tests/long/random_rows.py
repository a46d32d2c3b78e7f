# SPDX-License-Identifier: Apache-2.0
"""Random rows for `ascgrad check --rows`: small shapes, weighted to the odd corners, of every operator of the command.

    random_rows.py ASCGRAD OP COUNT [SEED]                  prints the rows
    random_rows.py --run ASCGRAD [--count N | --seconds S] [--seed SEED] [--kernels op_kernel] [OP]
                                                            runs them; exit status 1 if any fails

An operator has a maker here, or its own rows (`ascgrad check OP --list`) are varied. Every row is run in every dtype, on
the chips and with the numbers of cores of `ascgrad check`. Seconds are of processor time. With --kernels the rows must
bring up every tiling key that the text of the kernel has; how often each came up is printed. A row that fails becomes a
CASE of the operator's rows.
"""
import argparse
import collections
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time

# Sizes of a row around every limit: 32-byte blocks of each dtype, 64 lanes, 255 repeats, strips, the unified buffer.
ROWS = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 30, 32, 34, 36, 40, 44, 48, 56, 60, 62, 64, 66, 68, 72, 80, 90, 96, 100,
        112, 120, 126, 128, 130, 132, 144, 160, 192, 200, 240, 250, 256, 258, 260, 320, 384, 500, 510, 512, 514, 640,
        768, 1022, 1024, 1026, 1028, 1280, 1536, 1538, 1540, 1600, 2032, 2040, 2046, 2048, 2050, 2052, 2064, 3000, 4096,
        4100, 5000, 8192, 8200)
SMALL = (1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 31, 32, 33, 48, 63, 64, 65)
LONG = (100, 127, 128, 129, 200, 239, 240, 241, 255, 256, 257, 300, 500, 511, 513, 700, 1000, 1025, 2000, 4097)
FILLS = ("",) * 6 + (" fill=small", " fill=small", " fill=ones", " fill=zeros", " fill=inf", " fill=nan")


def text(dims, dtype="*"):
    return dtype + "[" + ",".join(str(d) for d in dims) + "]"


def pick_dims(rng, rank, budget):
    """`rank` sizes whose product stays within the budget; sometimes one long axis, rarely an empty one."""
    dims, left = [1] * rank, max(1, budget)
    for i in rng.sample(range(rank), rank):
        choice = rng.choice(LONG) if rng.random() < 0.15 else rng.choice(SMALL)
        if choice > left:
            choice = rng.randint(1, left) if rng.random() < 0.5 else 1
        dims[i] = choice
        left //= max(1, choice)
    if rank and rng.random() < 0.03:
        dims[rng.randrange(rank)] = 0
    return dims


def budget(rng):
    """Elements of the largest tensor."""
    return int(2 ** rng.uniform(8, 16.5))


def pick_row(rng):
    """Mostly short rows, so that many fit the budget."""
    if rng.random() < 0.2:
        return 2 * rng.randint(1, 700)
    return rng.choice(ROWS[:42] if rng.random() < 0.6 else ROWS)


def pick_start(rng, rest):
    """Of the rotated columns, with `rest` others: at a block or anywhere, often the last place."""
    return rng.choice((rest, rest // 16 * 16, rng.randint(0, rest), rng.randint(0, rest // 16) * 16))


def rotary(rng, op):
    mode = rng.randrange(4)
    d = pick_row(rng)
    if op != "RotaryMulGrad" and mode == 2:
        d = max(4, d // 4 * 4)
    if rng.random() < 0.02:
        d = 0
    rank = rng.choice((0, 1, 2, 2, 2, 3, 3, 3, 3, 3, 4, 5))
    lead = pick_dims(rng, rank, budget(rng) // max(1, d))
    cos = []
    for n in lead:
        kept = rng.random() < 0.5
        cos.append(n if kept else 1)
    # the axes may alternate K R K R at most; a fifth run is refused, and that is another test's business
    kind = [c != 1 for c, n in zip(cos, lead) if n != 1]
    runs = [k for i, k in enumerate(kind) if i == 0 or k != kind[i - 1]]
    if len(runs) + (bool(runs) and not runs[0]) > 4:
        cos = list(lead)
    rotated = d
    if d > 4 and rng.random() < 0.3:  # partial: often a part that rows of whole blocks have
        rotated = max(4, rng.choice((d // 4, d // 2, d // 4 // 16 * 16, d // 2 // 32 * 32, rng.randint(4, d))) // 4 * 4)
    x, c = text(lead + [d]), text(cos + [rotated], rng.choice(("*", "*", "fp32")))
    fill = rng.choice(FILLS)
    if op == "RotaryMulGrad":
        need = rng.choice(("", "", "", " need_backward=true", " need_backward=false"))
        return f"{op} x={x} r1={c} r2={c} dy={x}{need}{fill}"
    with_x = f" x={x}" if rng.random() < 0.75 else ""
    start = f" slice_start={pick_start(rng, d - rotated)}" if rotated < d and rng.random() < 0.6 else ""
    return f"{op} dy={x} cos={c} sin={c}{with_x} mode={mode}{start}{fill}"


def rope(rng, op):
    d = pick_row(rng)
    room = max(1, budget(rng) // d)
    q_heads, k_heads = (rng.choice((1, 1, 1, 2, 3, 4, 7, 8, 16, 33, 64, 130, 300)) for _ in range(2))
    if rng.random() < 0.05:
        q_heads = 0
    while q_heads + k_heads > max(2, room):
        q_heads, k_heads = (q_heads + 1) // 2, (k_heads + 1) // 2
    tokens = max(1, room // max(1, q_heads + k_heads))
    count = min(2 * tokens, rng.choice((0, 1, 1, 2, 3, 5, 8, 9, 16, 31, 33, 63, 64, 65, 70, 200)))
    lengths = []
    for _ in range(count):
        left = tokens - sum(lengths)
        fair = max(1, tokens // max(1, count))
        lengths.append(min(max(0, left), rng.choice((0, 1, 2, fair, fair, fair, fair + 1, 2 * fair, rng.randint(0, max(1, left))))))
    if rng.random() < 0.02:  # more than the smaller tiling struct holds
        d, q_heads, k_heads = 2 * rng.randint(1, 16), 1, rng.choice((1, 1, 2))
        lengths = [rng.randint(0, 15) for _ in range(rng.randint(600, 900))]
    apart = rng.choice((0, 0, 0, 1, 3, 40, 500))
    starts = [rng.randint(0, apart) for _ in lengths]
    if rng.random() < 0.2:  # pieces of context parallel: the same two starts for all
        starts = [(7, 7 + apart)[i % 2] for i in range(len(lengths))]
    total, last = sum(lengths), max([n + s for n, s in zip(lengths, starts)] + [0])
    positions = last + rng.choice((0, 0, 0, 1, 50))
    where = f" start_positions={','.join(map(str, starts))}" if any(starts) or rng.random() < 0.1 else ""
    exact = rng.choice(("", " exact_grad=true", " exact_grad=true", " exact_grad=false"))
    qseq = ",".join(map(str, lengths))
    rotated = d if rng.random() < 0.7 else 2 * rng.randint(1, d // 2)
    cos = text([positions, rotated], rng.choice(("*", "*", "fp32")))
    partial = f" head_size={d}" if rotated < d or rng.random() < 0.1 else ""
    if rotated < d and rng.random() < 0.6:
        partial += f" slice_start={pick_start(rng, d - rotated)}"
    return (f"{op} q={text([total, q_heads * d])} k={text([total, k_heads * d])} cos={cos} sin={cos} "
            f"qSeqLen={qseq}{exact}{partial}{where}{rng.choice(FILLS)}")


def norm_rope_concat(rng, op):
    norm, added = (rng.randrange(10) for _ in range(2))
    layout = rng.choice((0, 0, 1))
    rope_type, order = rng.randrange(3), rng.randrange(2)
    weights, tables = (rng.choice(("*", "*", "fp32")) for _ in range(2))
    d = pick_row(rng)
    if rope_type == 0 and rng.random() < 0.3:
        d -= 1
    batch, heads, seq = pick_dims(rng, 3, budget(rng) // d // 4)
    parts = {"q": seq, "k": seq if rng.random() < 0.5 else max(0, seq + rng.randint(-3, 5))}
    enc = {}
    for s in "qk":
        enc[s] = rng.choice((None, None, 0, 1, 2, 3, 5, 17, seq)) if rng.random() < 0.7 else None
    if rng.random() < 0.5:
        enc["k"] = enc["q"]
    total = {s: parts[s] + (enc[s] or 0) for s in "qk"}
    heads = {"q": heads, "k": heads if rng.random() < 0.5 else rng.choice((1, 2, max(1, heads // 4), heads + 1))}
    heads["v"] = heads["k"] if rng.random() < 0.7 else rng.choice((0, 1, heads["q"]))

    def grad(s):
        return text([batch, total[s], heads[s], d] if layout else [batch, heads[s], total[s], d])
    total["v"] = total["k"]
    words = [op, f"grad_query_output={grad('q')}", f"grad_key_output={grad('k')}",
             f"grad_value_output={grad('v') if rng.random() < 0.9 else text([0])}",
             f"query={text([batch, seq, heads['q'], d])}", f"key={text([batch, parts['k'], heads['k'], d])}"]
    del total["v"]
    for s, name in (("q", "query"), ("k", "key")):
        if enc[s] is not None:
            words.append(f"encoder_{name}={text([batch, enc[s], heads[s], d])}")
    for prefix, kind, lengths in (("norm", norm, parts), ("norm_added", added, enc)):
        for s, name in (("q", "query"), ("k", "key")):
            if kind == 0 or lengths[s] is None:
                continue
            rows = heads[s] if 4 < kind < 9 else 1
            if kind % 2 == 0:
                words.append(f"{prefix}_{name}_weight={text([rows * d], weights)}")
            column = text([batch, lengths[s], heads[s] // max(1, rows), 1], "fp32")
            if kind in (1, 2, 5, 6) or rng.random() < 0.5:  # RMSNorm does not look at it
                words.append(f"{prefix}_{name}_mean={column}")
            words.append(f"{prefix}_{name}_rstd={column}")
    if rope_type:
        least = min([t for t in total.values() if t] or [0])
        rows = rng.choice((least, least, least, 0, 1, least // 2, max(0, least - 1)))
        rows = min(rows, least)
        words += [f"rope_sin={text([rows, d], tables)}", f"rope_cos={text([rows, d], tables)}"]
    words += [f"norm_type={norm}", f"norm_added_type={added}", f"rope_type={rope_type}", f"concat_order={order}",
              f"grad_layout={layout}"]
    return " ".join(words) + rng.choice(FILLS)


def exp_segsum(rng, op):
    kind = rng.random()
    if kind < 0.55:
        t = rng.randint(0, 64)
    elif kind < 0.8:
        t = rng.randint(65, 128)
    else:
        t = rng.choice((129, 130, 136, 144, 160, 191, 192, 193, 200, 255, 256, 257, 264, 300, 320, 383, 385))
    lead = pick_dims(rng, rng.choice((0, 1, 1, 2, 3, 6)), max(1, budget(rng) // max(1, t * t)))
    if t <= 2 and rng.random() < 0.3:
        lead = [rng.choice((1023, 1024, 1025, 2049, 5000))]
    m = text(lead + [t, t])
    return f"{op} grad_output={m} grad_self={m}{rng.choice(FILLS)}"


MAKERS = {"RotaryMulGrad": rotary, "RotaryPositionEmbeddingGrad": rotary, "RopeGrad": rope,
          "NormRopeConcatGrad": norm_rope_concat, "ExpSegsumGrad": exp_segsum}


def said(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def operators(binary):
    return {op["type"]: op for op in json.loads(said(binary, "ops", "--json"))}


def shapes_of(row):
    return [[int(n) for n in m.split(",") if n] for m in re.findall(r"\[([\d,]*)\]", row)]


def axis_of(shape, i):
    """Which axis dimension i is: counted from the end, but dimensions of one size in a tensor are one axis."""
    return shape[i] if shape.count(shape[i]) > 1 else i - len(shape)


def scaled(rng, row):
    """The row with other sizes. An axis is scaled in all tensors alike: what was equal, twice or the sum of others
    stays so."""
    axes = {}
    for shape in shapes_of(row):
        for i, n in enumerate(shape):
            axes.setdefault(axis_of(shape, i), []).append(n)
    common = {axis: math.gcd(*[n for n in sizes if n > 1] or [1]) for axis, sizes in axes.items()}
    times = {axis: rng.choice(ROWS[:42] if axis == -1 else SMALL) for axis in axes}

    def other(match):
        shape = [int(n) for n in match[1].split(",") if n]
        sizes = [n if n <= 1 else n // common[axis_of(shape, i)] * times[axis_of(shape, i)] for i, n in enumerate(shape)]
        return "[" + ",".join(map(str, sizes)) + "]"

    return re.sub(r"\[([\d,]*)\]", other, row)


def words_of(op, row, dtype):
    """A row as the words of `ascgrad tile`."""
    names = [a["name"] for a in op["inputs"]]
    words = []
    for word in row.split()[1:]:
        words += ["--in" if word.partition("=")[0] in names else "--attr", word.replace("*", dtype)]
    return words


def accepts(binary, op, row):
    return said(binary, "tile", op["type"], *words_of(op, row, "fp32")) is not None


def vary(binary, rng, op, count):
    own = [line for line in said(binary, "check", op["type"], "--list").splitlines()
           if not line.endswith("(refused)") and "fill=" not in line]
    found = []
    for _ in range(20 * count):
        row = scaled(rng, rng.choice(own))
        if sum(map(math.prod, shapes_of(row))) < 400000 and accepts(binary, op, row):
            found.append(row + rng.choice(FILLS))
        if len(found) == count:
            return found
    sys.exit(f"random_rows.py: {op['type']} refuses nearly every variation of its rows; it needs a maker here")


def maker(binary, op, seed):
    """A function of a number: that many rows more of this seed."""
    rng = random.Random(f"{op['type']} {seed}")
    if op["type"] in MAKERS:
        return lambda count: [MAKERS[op["type"]](rng, op["type"]) for _ in range(count)]
    return lambda count: vary(binary, rng, op, count)


def keys_of(binary, op, row):
    """The tiling keys of a row, in both sizes of dtype, on a chip of today and on the first 910 if it takes the row."""
    found = []
    for dtype in ("fp32", "fp16"):
        for soc in ("ascend910b1", "ascend910a"):
            output = said(binary, "tile", op["type"], "--soc", soc, *words_of(op, row.partition(" fill=")[0], dtype))
            if output:
                found.append(json.loads(output)["key"])
    return found


def keys_of_kernel(folder, op):
    with open(f"{folder}/{op['kernel']}.cpp", encoding="utf-8") as file:
        return sorted(int(key) for key in re.findall(r"TILING_KEY_IS\((\d+)\)", file.read()))


def check(binary, lines, limit):
    """Exit status (None: it hangs) and output of `ascgrad check --rows`."""
    with tempfile.NamedTemporaryFile("w", suffix=".rows") as f:
        f.write("\n".join(lines) + "\n")
        f.flush()
        try:
            done = subprocess.run([binary, "check", "--rows", f.name], capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout + done.stderr


def check_one_by_one(binary, lines):
    """After a crash or a hang: which rows?"""
    for line in lines:
        status, output = check(binary, [line], 30)
        if status is None:
            print(f"HANG {line}")
        elif status < 0:
            print(f"CRASH (signal {-status}) {line}")
        elif status:
            print(output)


def run_batch(binary, lines):
    """Whether all is well, and how many runs passed; what is wrong is printed."""
    status, output = check(binary, lines, 60 + 2 * len(lines))
    if status is None or status < 0:
        check_one_by_one(binary, lines)
    elif status:
        print(output)
    passed = re.findall(r"^(\d+) passed", output, re.M)
    return status == 0, int(passed[-1]) if passed else 0


def processor_time():
    """Of the programs that were run: on a busy machine there are as many rows as on an idle one."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def run_operator(binary, op, seed, options):
    """Batches until there are enough; False after the first one that fails."""
    make, start, spent, batch = maker(binary, op, seed), time.time(), processor_time(), options.count or 25
    rows, runs, good, keys = 0, 0, True, collections.Counter()
    while good and (rows < options.count if options.count else processor_time() - spent < options.seconds):
        lines = make(batch)
        good, passed = run_batch(binary, lines)
        rows, runs = rows + len(lines), runs + passed
        if options.kernels:
            for line in lines:
                keys.update(keys_of(binary, op, line))
        each = (processor_time() - spent) / rows  # a batch is some ten seconds
        batch = options.count - rows if options.count else max(10, min(2000, int(10 / max(1e-4, each))))
    print(f"{op['type']}: {rows} rows, {runs} runs, seed {seed}: {'all well' if good else 'FAILED'}, "
          f"{processor_time() - spent:.0f} s of processor in {time.time() - start:.0f} s", flush=True)
    if options.kernels and good:
        wanted = keys_of_kernel(options.kernels, op)
        print("  keys: " + ", ".join(f"{key} x {keys[key]}" for key in sorted(set(wanted) | set(keys))))
        if set(wanted) != set(keys):
            print(f"FAIL {op['type']}: the kernel has the keys {wanted}, the rows brought up {sorted(keys)}")
            return False
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", metavar="ASCGRAD")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", default="random")
    parser.add_argument("--kernels")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    if not options.run:
        binary, name, count, *seed = options.words
        print("\n".join(maker(binary, operators(binary)[name], (seed or ["1"])[0])(int(count))))
        return 0
    seed = str(random.SystemRandom().randrange(10**9)) if options.seed == "random" else options.seed
    known = operators(options.run)
    for name in options.words:
        if name not in known:
            sys.exit(f"random_rows.py: there is no operator {name}")
    return 0 if all([run_operator(options.run, known[name], seed, options) for name in options.words or known]) else 1


if __name__ == "__main__":
    sys.exit(main())

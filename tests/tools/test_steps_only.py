# SPDX-License-Identifier: Apache-2.0
"""`ascgrad perf --steps-only` says what perf says, for random calls of every operator on every kind of chip; and a call too large
for the memory is timed so by itself.

    test_steps_only.py ASCGRAD
"""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "long"))
import random_rows

BINARY, CALLS, SEED = sys.argv[1], 10, 34
CHIPS = ("ascend910b1", "ascend950", "ascend910b4", "ascend910a")
HUGE = ("RotaryPositionEmbeddingGrad", *(word for name in ("dy", "x") for word in ("--in", name + "=bf16[32,8192,32,128]")),
        *(word for name in ("cos", "sin") for word in ("--in", name + "=bf16[1,8192,1,128]")))


def perf(*words):
    """(the report, what was said beside it), or None where the operator refuses."""
    done = subprocess.run([BINARY, "perf", *words], capture_output=True, text=True)
    assert done.returncode in (0, 2), (words, done.stderr)
    return (json.loads(done.stdout), done.stderr) if done.returncode == 0 else None


def compare(op, row, dtype, soc):
    """Whether the chip takes the call."""
    words = (op["type"], *random_rows.words_of(op, row.partition(" fill=")[0], dtype), "--soc", soc)
    whole, steps = perf(*words), perf(*words, "--steps-only")
    assert (whole is None) == (steps is None), words
    if whole is None:
        return False
    assert not whole[1] and not steps[1], words
    assert whole[0].pop("steps_only") is False and steps[0].pop("steps_only") is True
    whole[0].update(warnings=0, warning=[])  # who does not look has nothing to warn of
    assert whole[0] == steps[0], (words, {k: (v, steps[0][k]) for k, v in whole[0].items() if v != steps[0][k]})
    return True


def main():
    for op in json.loads(subprocess.run([BINARY, "ops", "--json"], check=True, capture_output=True).stdout):
        rng = random.Random(f"{op['type']} {SEED}")
        rows = random_rows.maker(BINARY, op, SEED)(CALLS)
        taken = sum(compare(op, row, rng.choice(("fp32", "fp16", "bf16")), CHIPS[i % len(CHIPS)]) for i, row in enumerate(rows))
        assert taken >= CALLS / 2, (op["type"], taken)
        print(f"{op['type']}: {taken} calls are the same")
    report, said = perf(*HUGE)
    assert report["steps_only"] is True and "6.5 GB" in said and "without data" in said, said
    assert report["gm_read"] + report["gm_write"] >= report["min_bytes"] > 6e9
    assert 0.95 < report["ratio"] < 1.1, report["ratio"]
    too_large = subprocess.run([BINARY, "perf", HUGE[0], "--in", "dy=bf16[4611686018427387904,2,2]"], capture_output=True, text=True)
    assert too_large.returncode == 1 and "fit 64 bits" in too_large.stderr, too_large
    terabyte = subprocess.run([BINARY, "perf", *(word.replace("[32,", "[16384,") for word in HUGE)], capture_output=True, text=True)
    assert terabyte.returncode == 1 and "less than 1 TiB" in terabyte.stderr, terabyte
    print("a call of 6.5 GB: ratio", report["ratio"])


main()

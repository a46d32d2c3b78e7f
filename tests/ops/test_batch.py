# SPDX-License-Identifier: Apache-2.0
"""Batch invariance: the gradient of an activation's row has the same bits whatever else is in the batch, wherever the row
stands, however sequences are packed, on any number of cores. Gradients of tables, weights and biases are sums over the
batch and not meant here."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
from ascgrad_ct import cast, run  # noqa: E402
from run_tests import run_tests  # noqa: E402

SEED = 20261117
DTYPES = ("fp32", "fp16", "bf16")
BATCH = 7
# of the whole batch, and of a part of it
CORES = ((48, False), (1, False), (5, True), (64, True))


def same(a, b, what):
    assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), f"{what}: the bits differ"


def orders(rng):
    """Ways to choose from the batch: every element alone, the other way round, a part of it, some of it twice."""
    yield from ([i] for i in (0, BATCH // 2, BATCH - 1))
    yield list(range(BATCH))[::-1]
    yield sorted(rng.permutation(BATCH)[:3])
    yield list(rng.integers(0, BATCH, 2 * BATCH))


def check_batches(op, inputs, attrs, axis, outputs, rng, what):
    """axis: of the batch in each input that has one; outputs: those with the batch as their first axis."""
    whole, _ = run(op, inputs, attrs, fast=True)
    for k, order in enumerate(orders(rng)):
        part = {name: np.take(a, order, axis[name]) if name in axis else a for name, a in inputs.items()}
        cores, fast = CORES[k % len(CORES)]
        out, _ = run(op, part, attrs, cores=cores, fast=fast)
        for name in outputs:
            same(out[name], whole[name][order], f"{what} {name} of {order} on {cores} cores")


def test_rotary():
    """Also with other neighbours: the batch's tokens as one packed sequence."""
    rng = np.random.default_rng(SEED)
    for seq, heads, d, rotated, table, mode in (
            (5, 3, 64, 64, None, 0), (3, 2, 40, 40, "fp32", 0), (4, 2, 34, 34, None, 1), (3, 5, 128, 32, "fp32", 1),
            (33, 1, 24, 24, None, 2), (2, 3, 50, 20, None, 3), (1, 2, 2000, 2000, None, 0)):
        attrs = {"mode": mode, "slice_start": (d - rotated) // 2}
        for dtype in DTYPES:
            def data(*shape, kind=dtype):
                return cast(rng.standard_normal(shape), kind)
            dy, x = data(BATCH, seq, heads, d), data(BATCH, seq, heads, d)
            for lead in ((1, seq, 1), (BATCH, seq, 1), (1, 1, 1)):
                cos, sin = (data(*lead, rotated, kind=table or dtype) for _ in range(2))
                inputs, batch = {"dy": dy, "cos": cos, "sin": sin, "x": x}, {"dy": 0, "x": 0}
                if lead[0] == BATCH:
                    batch.update(cos=0, sin=0)
                what = f"mode {mode} {dtype} {dy.shape} {cos.shape}"
                check_batches("RotaryPositionEmbeddingGrad", inputs, attrs, batch, ["dx"], rng, what)
                whole, _ = run("RotaryPositionEmbeddingGrad", inputs, attrs, fast=True)
                packed = {"dy": dy.reshape(-1, heads, d)}
                for name in ("cos", "sin"):
                    full = np.broadcast_to(inputs[name], (BATCH, seq, 1, rotated))
                    packed[name] = np.ascontiguousarray(full).reshape(-1, 1, rotated)
                out, _ = run("RotaryPositionEmbeddingGrad", packed, attrs, fast=True)
                same(out["dx"].reshape(dy.shape), whole["dx"], what + " packed")
                if mode == 0:
                    other = {"x": x, "r1": cos, "r2": sin, "dy": dy}
                    axis = {{"cos": "r1", "sin": "r2"}.get(name, name): 0 for name in batch}
                    check_batches("RotaryMulGrad", other, {}, axis, ["dx"], rng, what)


def test_rope():
    """A sequence alone, and among others in another order; with starts of their own, too, and a slice that is not the
    first."""
    rng = np.random.default_rng(SEED)
    lengths, starts = [5, 1, 8, 3, 16, 2, 7], [0, 19, 12, 3, 4, 12, 9]
    at = np.concatenate(([0], np.cumsum(lengths)))
    for d, q_heads, k_heads, rotated in ((64, 3, 1, 64), (40, 2, 2, 40), (128, 5, 1, 128), (192, 2, 1, 64), (30, 3, 1, 10)):
        for dtype in DTYPES:
            for exact in (False, True):
                q, k = (cast(rng.standard_normal((at[-1], h * d)), dtype) for h in (q_heads, k_heads))
                cos, sin = (cast(rng.standard_normal((20, rotated)), dtype) for _ in range(2))
                attrs = {"exact_grad": exact, "head_size": d, "slice_start": d - rotated}
                with_starts = rotated < d or exact
                whole, _ = run("RopeGrad", {"q": q, "k": k, "cos": cos, "sin": sin},
                               dict(attrs, qSeqLen=lengths, start_positions=starts if with_starts else []), fast=True)
                for n, order in enumerate(orders(rng)):
                    rows = np.concatenate([np.arange(at[i], at[i + 1]) for i in order])
                    cores, fast = CORES[n % len(CORES)]
                    out, _ = run("RopeGrad", {"q": q[rows], "k": k[rows], "cos": cos, "sin": sin},
                                 dict(attrs, qSeqLen=[lengths[i] for i in order],
                                      start_positions=[starts[i] for i in order] if with_starts else []),
                                 cores=cores, fast=fast)
                    for name in ("q_grad", "k_grad"):
                        same(out[name], whole[name][rows], f"RopeGrad {dtype} {exact} {name} of {order}")


def test_norm_rope_concat():
    rng = np.random.default_rng(SEED)
    for seq, extra, heads, d, rope in ((4, 3, 2, 64, 2), (3, 0, 3, 34, 1), (2, 2, 1, 1040, 2)):
        for norm in (0, 1, 2, 6, 8, 9):
            for dtype in DTYPES:
                across = norm in (6, 8)
                def data(*shape, kind=dtype):
                    return cast(rng.standard_normal(shape), kind)
                count = {"query": heads, "key": heads + 1, "value": heads} if norm > 2 else dict.fromkeys(("query", "key", "value"), heads)
                grad = (lambda n: (BATCH, seq + extra, n, d)) if norm > 2 else lambda n: (BATCH, n, seq + extra, d)
                inputs = {f"grad_{s}_output": data(*grad(n)) for s, n in count.items()}
                inputs.update({s: data(BATCH, seq, count[s], d) for s in ("query", "key")})
                if extra:
                    inputs.update({f"encoder_{s}": data(BATCH, extra, count[s], d) for s in ("query", "key")})
                batch = {name: 0 for name in inputs}
                for s, length in (("query", seq), ("key", seq), ("added_query", extra), ("added_key", extra)):
                    if norm and length:
                        for part in ("mean", "rstd"):
                            n = 1 if across else count[s.replace("added_", "")]
                            inputs[f"norm_{s}_{part}"] = data(BATCH, length, n, 1, kind="fp32")
                            batch[f"norm_{s}_{part}"] = 0
                    if norm in (2, 6, 8) and length:
                        inputs[f"norm_{s}_weight"] = data(d * count[s.replace("added_", "")] if across else d)
                inputs["rope_sin"], inputs["rope_cos"] = data(seq, d), data(seq, d)
                attrs = {"norm_type": norm, "norm_added_type": norm if extra else 0, "rope_type": rope, "grad_layout": int(norm > 2)}
                wanted = ["grad_query", "grad_key", "grad_value"]
                wanted += ["grad_encoder_query", "grad_encoder_key", "grad_encoder_value"] if extra else []
                check_batches("NormRopeConcatGrad", inputs, attrs, batch, wanted, rng, f"norm {norm} {dtype} D {d}")


def test_exp_segsum():
    rng = np.random.default_rng(SEED)
    for heads, t in ((3, 8), (2, 65), (1, 300)):
        for dtype in DTYPES:
            g, y = (cast(rng.standard_normal((BATCH, heads, t, t)), dtype) for _ in range(2))
            check_batches("ExpSegsumGrad", {"grad_output": g, "grad_self": y}, {}, {"grad_output": 0, "grad_self": 0},
                          ["grad_input"], rng, f"T {t} {dtype}")


if __name__ == "__main__":
    sys.exit(run_tests(dict(globals()), f"batch invariance, seed {SEED}"))

# SPDX-License-Identifier: Apache-2.0
"""ExpSegsumGrad on the twin against NumPy in double, torch autograd, the sample, and its limits of cost."""
import os
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
from ascgrad_ct import Refused, cast, infer, perf, run, tile, to_float  # noqa: E402
from run_tests import run_tests  # noqa: E402

SEED = 20251116
DTYPES = ("fp32", "fp16", "bf16")
OP = "ExpSegsumGrad"


def grad(g, y, dtype=None, **how):
    out, _ = run(OP, {"grad_output": g, "grad_self": y}, dtype=dtype, **how)
    return out["grad_input"]


def golden(g, y):
    """grad_input in double and the sum of its absolute terms, for inputs already rounded. Element i has the rows from i
    on, the columns before i; some rows at a time, which stay in the cache."""
    t = g.shape[-1]
    columns = np.zeros((2,) + g.shape[:-2] + (t,))
    with np.errstate(all="ignore"):
        for at in range(0, t, 128):
            some = (Ellipsis, slice(at, at + 128), slice(None))
            m = to_float(g[some]).astype(np.float64) * to_float(y[some]).astype(np.float64)
            own = np.arange(t) < np.arange(at, min(t, at + 128))[:, None]
            for total, a in zip(columns, (m, np.abs(m))):
                total += np.where(own, np.cumsum(a, -1), 0.0).sum(-2)
    return np.concatenate((np.zeros_like(columns[..., :1]), columns[..., :-1]), -1)


def half_ulp(x, dtype):
    bits, low = {"fp32": (24, -126), "fp16": (11, -14), "bf16": (8, -126)}[dtype]
    exponent = np.maximum(np.frexp(np.abs(x))[1] - 1, low)
    return np.ldexp(1.0, exponent - bits)


def judge(got, g, y, dtype, what, allow=2.0 ** -20):
    """|error| <= half an ulp + 2^-20 of the sum of absolute terms. Returns the worst error, in units of
    2^-20 of that sum."""
    want, size = golden(g, y)
    got = to_float(got).astype(np.float64)
    largest = {"fp32": 3.4028234e38, "fp16": 65504.0, "bf16": 3.3895e38}[dtype]
    finite = np.isfinite(want) & (np.abs(want) + allow * size < largest)
    error = np.abs(np.where(finite, got, 0.0) - np.where(finite, want, 0.0))
    limit = half_ulp(np.where(finite, want, 0.0), dtype) + allow * np.where(finite, size, 0.0)
    bad = error > limit * (1 + 1e-12)
    assert not bad.any(), f"{what}: {got[bad][0]} is not {want[bad][0]}"
    odd = ~np.isfinite(want)
    same = (got[odd] == want[odd]) | (np.isnan(got[odd]) & np.isnan(want[odd]))
    assert same.all(), f"{what}: Inf or NaN differ"
    return float(np.max(error / np.maximum(size, 1e-300), initial=0.0)) * 2.0 ** 20


def bits(a):
    a = np.asarray(a)
    return a.view(np.uint32) if a.dtype == np.float32 else a.view(np.uint16)


def pair(rng, shape, dtype):
    return [cast(rng.standard_normal(shape, dtype=np.float32), dtype) for _ in range(2)]


def test_sample():
    for dtype in DTYPES:
        for t in (1, 2, 4, 9, 64, 65, 128, 130, 300):
            one = np.ones((1, 1, 1, t, t), np.float32)
            want = np.arange(t) * (t - np.arange(t))
            got = to_float(grad(one, one, dtype))[0, 0, 0]
            assert np.array_equal(got, to_float(cast(want.astype(np.float32), dtype))), (dtype, t, got)
    one = np.ones((4, 4), np.float32)
    assert grad(one, one).tolist() == [0, 3, 4, 3]


def test_autograd():
    rng = np.random.default_rng(SEED)
    for t in (2, 5, 16, 33, 100, 150):
        x = torch.tensor(rng.standard_normal((2, 3, t)) * 0.1, dtype=torch.float64, requires_grad=True)
        own = torch.ones(t, t, dtype=torch.bool).tril()
        total = x.cumsum(-1)
        decay = torch.exp(total[..., :, None] - total[..., None, :])
        y = torch.where(own, decay, torch.zeros_like(decay))
        g = torch.tensor(rng.standard_normal((2, 3, t, t)))
        y.backward(g)
        got = grad(g.numpy().astype(np.float32), y.detach().numpy().astype(np.float32))
        want = x.grad.numpy()
        assert np.allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(want).max()), t


def test_sizes():
    rng = np.random.default_rng(SEED + 1)
    for t in (1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 40, 63, 64, 65, 80, 112, 128, 129, 191, 192, 193,
              256, 385, 1000):
        for dtype in DTYPES:
            g, y = pair(rng, (3 if t < 200 else 1, t, t), dtype)
            judge(grad(g, y), g, y, dtype, f"T={t} {dtype}")


def test_batches():
    rng = np.random.default_rng(SEED + 2)
    for dtype in DTYPES:
        for t, batches in ((2, (1, 47, 4096)), (3, (48, 49)), (8, (1, 47, 48, 49, 4096)),
                           (16, (49, 1000)), (24, (47, 100)), (64, (47, 49)), (100, (49,)),
                           (131, (49,))):
            for n in batches:
                g, y = pair(rng, (n, t, t), dtype)
                judge(grad(g, y), g, y, dtype, f"{n} x {t} {dtype}")


def test_large():
    """T = 4096 and more, where a running sum in fp32 would fail: constant data is its worst case."""
    rng = np.random.default_rng(SEED + 3)
    for t, dtype in ((2000, "bf16"), (4096, "fp32"), (4101, "fp16")):
        shape, worst = (t, t), 0.0
        for name in ("normal", "positive", "constant"):
            if name == "normal":
                g, y = pair(rng, shape, dtype)
            elif name == "positive":
                g, y = (cast(rng.random(shape, np.float32) / 8, dtype) for _ in range(2))
            else:
                g, y = cast(np.full(shape, 0.07), dtype), cast(np.full(shape, 0.03), dtype)
            worst = max(worst, judge(grad(g, y, fast=True), g, y, dtype, f"T={t} {name}"))
        if dtype == "fp32":
            print(f"  largest error at T={t}: {worst:.3f} of 2^-20 of the terms")
            assert worst < 0.5, worst


def test_swamped():
    """One huge product and many that a running sum would lose one by one, in every place of the summation."""
    for t in (8, 16, 24, 64, 100, 128, 200, 512):
        for k, j in ((t - 1, 0), (t // 2, t // 2 - 1), (t - 1, t - 2), (1, 0), (t // 2 + 1, 1)):
            g = np.full((t, t), 2.0 ** -25 * 0.9, np.float32)
            y = np.ones((t, t), np.float32)
            g[k, j] = 1.0
            judge(grad(g, y), g, y, "fp32", f"T={t}, big at {k},{j}")


def test_upper_triangle():
    """What lies on and above the diagonal changes no bit of the result."""
    rng = np.random.default_rng(SEED + 4)
    for dtype in DTYPES:
        for t in (1, 2, 8, 11, 16, 32, 50, 64, 90, 128, 140, 256, 290):
            g, y = (rng.standard_normal((2, t, t), dtype=np.float32) for _ in range(2))
            clean = grad(g, y, dtype)
            upper = np.triu(np.ones((t, t), bool))
            for poison in (np.nan, np.inf, -np.inf, 3e38):
                a, b = g.copy(), y.copy()
                a[:, upper] = poison
                b[:, upper] = 0.0 if poison == np.inf else poison
                with np.errstate(all="ignore"):
                    got = grad(a, b, dtype)
                assert np.array_equal(bits(got), bits(clean)), (dtype, t, poison)


def test_infinities():
    rng = np.random.default_rng(SEED + 5)
    for dtype in DTYPES:
        for t in (2, 8, 16, 20, 64, 77, 128, 200, 300):
            for name, fill in (("+", np.inf), ("-", -np.inf)):
                g = cast(np.full((2, t, t), fill), dtype)
                y = cast(np.full((2, t, t), np.inf), dtype)
                judge(grad(g, y), g, y, dtype, f"T={t} {dtype} all {name}Inf")
            g, y = (rng.standard_normal((3, t, t), dtype=np.float32) for _ in range(2))
            g[0, rng.integers(t), rng.integers(t)] = np.inf        # one +Inf or -Inf: a range of results
            g[1, rng.integers(t), rng.integers(t)] = np.nan
            g[2, rng.integers(t, size=3), rng.integers(t, size=3)] = [np.inf, -np.inf, np.inf]
            g, y = cast(g, dtype), cast(y, dtype)
            judge(grad(g, y), g, y, dtype, f"T={t} {dtype} a few")
    g = cast(np.full((1, 40, 40), 100.0), "fp16")
    assert np.isinf(to_float(grad(g, g))[0, 20])  # 4e6 > 65504: overflow on the store, as it should


def test_same_bits():
    """Any number of cores, any chip, checked or fast, alone or in a batch."""
    rng = np.random.default_rng(SEED + 6)
    for dtype in DTYPES:
        for shape in ((37, 9, 9), (70, 16, 16), (9, 64, 64), (5, 97, 97), (3, 128, 128), (3, 150, 150),
                      (2, 259, 259), (1, 520, 520)):
            g, y = pair(rng, shape, dtype)
            want = bits(grad(g, y))
            for how in ({"cores": 1}, {"cores": 2}, {"cores": 7}, {"fast": True},
                        {"cores": 64, "soc": "ascend950"}, {"soc": "ascend910b3"},
                        {"cores": 47, "soc": "ascend910_9391", "order": 5}):
                assert np.array_equal(bits(grad(g, y, **how)), want), (dtype, shape, how)
            assert np.array_equal(bits(grad(g[-1], y[-1])), want[-1]), (dtype, shape, "alone")
    g, y = pair(rng, (130, 130), "bf16")
    want = bits(grad(g, y, fast=True))
    for cores in range(1, 65):
        assert np.array_equal(bits(grad(g, y, fast=True, cores=cores)), want), cores


def test_cost():
    """Bytes and cycles, as the requirement limits them; no two cores write into the same 32 bytes."""
    def cost(shape, dtype, **how):
        return perf(OP, {"grad_output": shape, "grad_self": shape}, dtype=dtype, **how)
    for shape, dtype, limit, limit_l2 in (
            ((1, 16, 16, 256, 256), "bf16", 1.14, 4.15), ((16, 16, 512, 512), "bf16", 1.08, 3.0),
            ((64, 16, 128, 128), "bf16", 1.3, 5.0), ((64, 16, 64, 64), "bf16", 1.97, 6.5),
            ((1, 1, 1024, 1024), "fp32", 2.4, 5.7), ((4, 32, 16, 16, 16), "fp32", 2.4, 4.9)):
        report = cost(shape, dtype)
        moved = (report["gm_read"] + report["gm_write"]) / report["min_bytes"]
        print(f"  {dtype} {shape}: {report['ratio']:.2f} x a copy, {report['ratio_l2']:.2f} x the L2, {moved:.3f} x the bytes")
        assert report["time_free_us"] >= report["roofline_us"], report  # else the model itself would be wrong
        assert report["ratio"] <= limit and report["ratio_l2"] <= limit_l2, report
        assert report["ratio_worst"] <= 1.55 * report["ratio"], report  # few scalar instructions
        assert shape[-1] < 128 or moved <= 1.15, report
    for n, t in ((5, 128), (3, 129), (3, 143), (2, 160), (2, 200), (3, 257), (1, 1000)):
        for dtype in DTYPES:
            report = cost((n, t, t), dtype)
            least = n * t * t * (4 if dtype == "fp32" else 2)
            moved = (report["gm_read"] + report["gm_write"]) / least
            assert moved <= 1.15, (n, t, dtype, moved)
            assert report["warnings"] == 0, (n, t, dtype)
    for n, t in ((47, 3), (100, 7), (33, 15), (50, 63), (9, 99), (5, 131)):
        assert cost((n, t, t), "bf16")["warnings"] == 0, (n, t)
    assert cost((1, 1024, 1024), "fp32")["cores_used"] >= 24  # one large matrix uses many cores
    assert cost((9000, 1, 1), "fp16")["gm_read"] == 0         # T = 1 reads nothing


def test_shapes():
    for dtype in DTYPES:
        for shape in ((3, 3), (2, 3, 3), (1, 2, 1, 3, 3), (1, 1, 1, 1, 1, 2, 2), (0, 4, 4), (2, 0, 0),
                      (0, 0)):
            g = cast(np.ones(shape, np.float32), dtype)
            assert grad(g, g).shape == shape[:-1]
    for given, want in (((2, 3, 4, 4), (2, 3, 4)), ((-1, 4, 4), (-1, 4)), ((2, -1, 4), (2, 4)),
                        ((2, 4, -1), (2, 4)), ((-1, -1), (-1,)), ((-2,), (-2,)), ((0, 5, 5), (0, 5))):
        got = infer(OP, {"grad_output": given, "grad_self": given}, dtype="bf16")
        assert got["grad_input"] == ("bf16", want), given
    mixed = infer(OP, {"grad_output": (-2,), "grad_self": (7, 5, 5)})
    assert mixed["grad_input"] == ("fp32", (7, 5))


def test_refusals():
    def run_ones(op, shapes):
        run(op, {name: np.ones(shape, np.float32) for name, shape in shapes.items()})
    for a, b, text in (((4,), (4,), "rank of 2"), ((), (), "rank of 2"),
                       ((4, 5), (4, 5), "last two dimensions"), ((2, 4, 4), (3, 4, 4), "[3,4,4]"),
                       ((4, 4), (1, 4, 4), "[1,4,4]"), ((0, 4, 5), (0, 4, 5), "last two dimensions")):
        for action in (infer, tile, run_ones):
            try:
                action(OP, {"grad_output": a, "grad_self": b})
            except Refused as refusal:
                assert text in str(refusal) and OP in str(refusal), refusal
            else:
                raise AssertionError(f"{a} {b} was taken")
    for kinds in (("fp32", "fp16"), ("fp16", "bf16")):
        try:
            tile(OP, {"grad_output": (kinds[0], (2, 2)), "grad_self": (kinds[1], (2, 2))})
        except Refused as refusal:
            assert "fp16" in str(refusal), refusal
        else:
            raise AssertionError(f"{kinds} were taken")


def main():
    return run_tests(globals(), f"seed {SEED}")


if __name__ == "__main__":
    sys.exit(main())

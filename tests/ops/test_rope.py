# SPDX-License-Identifier: Apache-2.0
"""RopeGrad on the twin against NumPy, torch autograd and the numbers of the requirement's sample."""
import os
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
from ascgrad_ct import Refused, cast, infer, perf, run, tile, to_float  # noqa: E402
from run_tests import run_tests  # noqa: E402

SEED = 20251116
DTYPES = ("fp16", "bf16", "fp32")


def positions(lengths, starts=None):
    starts = starts or [0] * len(lengths)
    return np.concatenate([np.arange(s, s + n) for n, s in zip(lengths, starts)] + [np.zeros(0, int)]).astype(int)


def problem(rng, lengths, q_heads, k_heads, head, rows=None, low=-1.0, high=1.0, dtype="fp16"):
    """Inputs of the operator, rounded to dtype."""
    tokens, rows = sum(lengths), rows or max(lengths)
    shapes = {"q": (tokens, q_heads * head), "k": (tokens, k_heads * head),
              "cos": (rows, head), "sin": (rows, head)}
    return {n: cast(rng.uniform(low, high, s).astype(np.float32), dtype) for n, s in shapes.items()}


def weights(cos, sin):
    """w of the default formula, in the arithmetic of cos."""
    h = cos.shape[1] // 2
    return np.concatenate([cos[:, :h] + sin[:, h:], cos[:, h:] - sin[:, :h]], axis=1)


def golden(inputs, lengths):
    """The public golden in fp16: fp16(fp16(cos +- sin) * q)."""
    w = weights(inputs["cos"], inputs["sin"])[positions(lengths)]
    out = {}
    for name in ("q", "k"):
        x = inputs[name]
        heads = x.shape[1] // w.shape[1]
        out[name + "_grad"] = (x.reshape(len(x), heads, -1) * w[:, None, :]).reshape(x.shape)
    return out


def same_bits(got, want, what):
    for name in want:
        a, b = got[name], want[name]
        nan = np.isnan(to_float(a)) & np.isnan(to_float(b))
        equal = (a.view(np.uint32 if a.dtype == np.float32 else np.uint16) ==
                 b.view(np.uint32 if b.dtype == np.float32 else np.uint16)) | nan
        assert equal.all(), f"{what}: {name} differs at {np.argwhere(~equal)[0]}"


# The 18 positions of the sample whose token, cos and results are all printed: rows 0..2, columns 0..2 and 125..127.
COLUMNS = [0, 1, 2, 125, 126, 127]
SAMPLE = {
    "q": [[0.6558, 0.6777, 0.9937, 0.8496, 0.4985, 0.7173],
          [0.7134, 0.6807, 0.7075, 0.9648, 0.2778, 0.9033],
          [0.6846, 0.6699, 0.7266, 0.7295, 0.0891, 0.2803]],
    "k": [[0.2690, 0.6587, 0.0470, 0.1243, 0.7959, 0.4021],
          [0.1412, 0.2939, 0.8159, 0.5815, 0.4275, 0.5376],
          [0.5732, 0.8550, 0.4055, 0.6338, 0.7905, 0.8574]],
    "cos": [[0.5620, 0.1261, 0.8955, 0.9712, 0.2610, 0.1740],
            [0.3916, 0.5381, 0.6108, 0.2195, 0.0495, 0.6255],
            [0.8560, 0.7144, 0.8789, 0.7739, 0.5762, 0.1716]],
    "sin": [[0.8135, 0.9136, 0.3354, 0.9189, 0.0715, 0.7104],
            [0.5342, 0.5996, 0.1980, 0.8564, 0.3630, 0.7100],
            [0.5151, 0.7544, 0.8481, 0.7217, 0.8721, 0.0252]],
    "q_grad": [[0.8760, 0.3174, 1.7598, 0.4480, -0.2170, -0.3384],
               [0.3804, 0.6250, 0.8540, -0.2668, -0.2202, 0.3123],
               [0.9224, 1.0537, 1.1221, 0.3240, -0.0080, -0.0768]],
    "k_grad": [[0.3594, 0.3083, 0.0833, 0.0656, -0.3464, -0.1897],
               [0.0753, 0.2698, 0.9849, -0.1609, -0.3389, 0.1858],
               [0.7725, 1.3447, 0.6265, 0.2815, -0.0706, -0.2349]],
}


def printed(value, text):
    """Would torch print this fp16 value as the sample does (four decimals)?"""
    return abs(float(value) - text) <= 0.5e-4 + 1e-9


def near(text):
    """The fp16 values that print as text."""
    around = np.float16(text).view(np.uint16).astype(int) + np.arange(-4, 5)
    values = np.clip(around, 0, 0x7BFF).astype(np.uint16).view(np.float16)
    return [v for v in values if printed(v, text)]


def fit(q, k, cos, sign, q_grad, k_grad):
    """Inputs that print as the sample does, and an unseen sin in (0, 1), that give the sample's two results."""
    unit = np.arange(np.float16(1).view(np.uint16), dtype=np.uint16).view(np.float16)
    for c in near(cos):
        w = c + unit if sign > 0 else c - unit
        for a in near(q):
            good = np.abs((a * w).astype(np.float64) - q_grad) <= 0.5e-4 + 1e-9
            for b in near(k):
                both = good & (np.abs((b * w).astype(np.float64) - k_grad) <= 0.5e-4 + 1e-9)
                if both.any():
                    return a, b, c, unit[np.argmax(both)]
    return None


def test_sample(rng):
    """Needs one sin per position that explains q_grad and k_grad at once; then the operator prints the sample."""
    inputs = {n: rng.uniform(0, 1, (3, 128)).astype(np.float16) for n in ("q", "k", "cos", "sin")}
    for n in ("sin",):
        inputs[n][:, COLUMNS] = np.array(SAMPLE[n], np.float16)
    for row in range(3):
        for i, j in enumerate(COLUMNS):
            at = [SAMPLE[n][row][i] for n in ("q", "k", "cos", "q_grad", "k_grad")]
            found = fit(at[0], at[1], at[2], 1 if j < 64 else -1, at[3], at[4])
            assert found, f"no sin explains row {row}, column {j}"
            inputs["q"][row, j], inputs["k"][row, j], inputs["cos"][row, j] = found[:3]
            inputs["sin"][row, j + 64 if j < 64 else j - 64] = found[3]
    for fast in (False, True):
        out, _ = run("RopeGrad", inputs, {"qSeqLen": [3]}, fast=fast)
        for name in ("q_grad", "k_grad"):
            for row in range(3):
                for i, j in enumerate(COLUMNS):
                    assert printed(out[name][row, j], SAMPLE[name][row][i]), (name, row, j)


def test_public_smoke(rng):
    """Lengths 2,1,4,4; tables of 11..128 rows; each input from [0,1] or [-100,100]: 118 x 16 combinations, thinned."""
    lengths = [2, 1, 4, 4]
    for i, rows in enumerate(range(11, 129)):
        bits = (i * 7) % 16
        inputs = {}
        for n, name in enumerate(("q", "k", "cos", "sin")):
            low, high = (-100, 100) if bits >> n & 1 else (0, 1)
            shape = (11, 128) if n < 2 else (rows, 128)
            inputs[name] = rng.uniform(low, high, shape).astype(np.float16)
        out, _ = run("RopeGrad", inputs, {"qSeqLen": lengths}, fast=i % 8 != 0)
        same_bits(out, golden(inputs, lengths), f"rows {rows}, ranges {bits:04b}")


def test_public_random(rng):
    """Batch 16, lengths 1..2047, hidden 1280; batch 4 then 8, hidden 1024."""
    for batch, heads in ((16, 10), (4, 8), (8, 8)):
        lengths = [int(n) for n in rng.integers(1, 2048, batch)]
        inputs = problem(rng, lengths, heads, heads, 128, 2048, 0, 1)
        out, _ = run("RopeGrad", inputs, {"qSeqLen": lengths}, fast=True)
        same_bits(out, golden(inputs, lengths), f"batch {batch}")


def test_bits(rng):
    """fp16 equals fp16(fp16(cos +- sin) * q) for any head size, heads, batch, and every value of cos and sin."""
    cases = [([5, 9], 1, 1, 2), ([5, 9], 3, 1, 6), ([4, 1, 1], 2, 2, 48), ([4, 7], 41, 8, 80),
             ([6], 64, 1, 16), ([3, 2], 8, 64, 128), ([1] * 40, 2, 2, 64), ([9, 0, 3], 2, 1, 1026),
             ([40, 3, 77, 21, 50, 2, 64, 64], 2, 1, 112)]
    for lengths, q_heads, k_heads, head in cases:
        inputs = problem(rng, lengths, q_heads, k_heads, head, None, -300, 300)
        for name in ("cos", "sin"): # all exponents, subnormals and overflow of the sum
            bits = rng.integers(0, 0x7C00, inputs[name].shape) | rng.integers(0, 2, inputs[name].shape) << 15
            inputs[name] = bits.astype(np.uint16).view(np.float16)
        with np.errstate(over="ignore"):
            want = golden(inputs, lengths)
        out, _ = run("RopeGrad", inputs, {"qSeqLen": lengths})
        same_bits(out, want, f"heads {q_heads}/{k_heads}, head size {head}")


def test_nan_inf(rng):
    lengths = [20, 1, 13]
    for special in (np.nan, np.inf, -np.inf):
        inputs = problem(rng, lengths, 3, 2, 128)
        for name in inputs:
            flat = inputs[name].reshape(-1)
            flat[rng.integers(0, flat.size, flat.size // 10)] = special
        inputs["q"][3] = 0 # 0 * inf
        with np.errstate(invalid="ignore"):
            same_bits(run("RopeGrad", inputs, {"qSeqLen": lengths})[0], golden(inputs, lengths), str(special))


def rotated(x, cos, sin):
    h = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., h:], x[..., :h]], dim=-1) * sin


def autograd(inputs, lengths):
    p, out, magnitude = positions(lengths), {}, {}
    cos, sin = (torch.from_numpy(to_float(inputs[n]).astype(np.float64)[p]) for n in ("cos", "sin"))
    for name in ("q", "k"):
        g = torch.from_numpy(to_float(inputs[name]).astype(np.float64))
        g = g.reshape(len(p), -1, cos.shape[1])
        for store, a, c, s in ((out, g, cos, sin), (magnitude, g.abs(), cos.abs(), -sin.abs())):
            x = torch.zeros_like(g, requires_grad=True)
            rotated(x, c[:, None], s[:, None]).backward(a)
            store[name + "_grad"] = x.grad.numpy().reshape(len(p), -1)
    h = cos.shape[1] // 2
    for name in ("q", "k"): # |g cos| + |g sin|: the sign of one half of the second term is taken back
        g = np.abs(to_float(inputs[name]).astype(np.float64)).reshape(len(p), -1, 2, h)
        c, s = (np.abs(t.numpy()).reshape(len(p), 1, 2, h) for t in (cos, sin))
        magnitude[name + "_grad"] = (g * c + (g * s)[:, :, ::-1]).reshape(len(p), -1)
    return out, magnitude


def test_autograd(rng):
    """exact_grad=true is the gradient of half-rotation RoPE: half an ulp + 2^-20 of the terms."""
    mantissa = {"fp16": 10, "bf16": 7, "fp32": 23}
    for dtype in DTYPES:
        for lengths, q_heads, k_heads, head in (([7, 1, 12], 2, 1, 128), ([7, 30], 3, 3, 20),
                                                ([50, 3, 41, 8], 4, 1, 64), ([3], 1, 1, 1026)):
            inputs = problem(rng, lengths, q_heads, k_heads, head, dtype=dtype)
            out, _ = run("RopeGrad", inputs, {"qSeqLen": lengths, "exact_grad": True})
            want, magnitude = autograd(inputs, lengths)
            for name in want:
                exponent = np.floor(np.log2(np.maximum(np.abs(want[name]), 2.0 ** -14)))
                bound = 2.0 ** (exponent - mantissa[dtype] - 1) * 1.0001 + 2.0 ** -20 * magnitude[name]
                error = np.abs(to_float(out[name]).astype(np.float64) - want[name])
                assert (error <= bound).all(), (dtype, lengths, name, float((error / bound).max()))


def test_formulas_differ(rng):
    """They agree when both halves of every head are equal, and hardly anywhere else."""
    lengths = [30, 20]
    inputs = problem(rng, lengths, 4, 4, 128, dtype="fp32")
    exact, _ = run("RopeGrad", inputs, {"qSeqLen": lengths, "exact_grad": True})
    default, _ = run("RopeGrad", inputs, {"qSeqLen": lengths})
    apart = np.abs(exact["q_grad"] - default["q_grad"]) > 0.01 * np.abs(exact["q_grad"])
    assert apart.mean() > 0.95, apart.mean()
    for name in ("q", "k"):
        x = inputs[name].reshape(50, 4, 2, 64)
        x[:, :, 1] = x[:, :, 0]
    exact, _ = run("RopeGrad", inputs, {"qSeqLen": lengths, "exact_grad": True})
    default, _ = run("RopeGrad", inputs, {"qSeqLen": lengths})
    assert np.allclose(exact["q_grad"], default["q_grad"], rtol=0, atol=1e-6)
    assert np.allclose(exact["k_grad"], default["k_grad"], rtol=0, atol=1e-6)


def test_page(_):
    """The worked number of docs/rope_grad.md."""
    inputs = {"q": [[1, 2]], "k": [[1, 1]], "cos": [[0.5, 0.5]], "sin": [[0.25, 0.75]]}
    inputs = {n: np.array(v, np.float16) for n, v in inputs.items()}
    out, _ = run("RopeGrad", inputs, {"qSeqLen": [1]})
    assert out["q_grad"].tolist() == [[1.25, 0.5]] and out["k_grad"].tolist() == [[1.25, 0.25]]
    out, _ = run("RopeGrad", inputs, {"qSeqLen": [1], "exact_grad": True})
    assert out["q_grad"].tolist() == [[2.0, 0.75]] and out["k_grad"].tolist() == [[1.25, 0.25]]


def test_any_cores(rng):
    """The same bits for every number of cores, and for batches that need the large table."""
    for dtype in DTYPES:
        for exact in (False, True):
            lengths = [int(n) for n in rng.integers(0, 60, 20)]
            inputs = problem(rng, lengths, 2, 1, 32, dtype=dtype)
            attrs = {"qSeqLen": lengths, "exact_grad": exact}
            want, report = run("RopeGrad", inputs, attrs)
            assert report["warnings"] == 0
            for cores in (1, 2, 5, 13, 31, 47, 64):
                same_bits(run("RopeGrad", inputs, attrs, cores=cores)[0], want, f"{cores} cores")
                same_bits(run("RopeGrad", inputs, attrs, cores=cores, fast=True)[0], want, "fast")
    for count, least, most, key in ((2048, 1, 11, 1), (5957, 1, 13, 1), (9000, 3, 4, 1), (9000, 2, 2, 0), (70, 5, 900, 0)):
        lengths = [int(n) for n in rng.integers(least, most + 1, count)]
        inputs = problem(rng, lengths, 1, 1, 32 if count < 9000 else 16)
        for cores in (0, 3):
            out, report = run("RopeGrad", inputs, {"qSeqLen": lengths}, cores=cores, fast=count > 2048)
            same_bits(out, golden(inputs, lengths), f"{count} sequences")
            assert report["key"] == key


def test_perf(rng):
    """16 sequences of 1..2048 tokens: no more than the least traffic + 2 %, no more than a copy + 2 %."""
    lengths = [int(n) for n in rng.integers(1, 2049, 16)]
    tokens = sum(lengths)
    for hidden in (4096, 1280):
        shapes = {"q": (tokens, hidden), "k": (tokens, hidden), "cos": (2048, 128), "sin": (2048, 128)}
        report = perf("RopeGrad", shapes, {"qSeqLen": lengths}, "fp16", soc="ascend910b1")
        traffic = (report["gm_read"] + report["gm_write"]) / report["min_bytes"]
        print(f"hidden {hidden}, {tokens} tokens: bytes {traffic:.4f} of the least, "
              f"time {report['ratio']:.4f} of a copy, {report['ratio_l2']:.4f} of the L2")
        assert 1 <= traffic <= 1.02, traffic
        assert report["roofline_us"] <= report["time_free_us"] <= report["time_us"] <= 1.02 * report["copy_us"], report["ratio"]
        assert report["ratio_l2"] <= 1.1, report["ratio_l2"]
        assert report["warnings"] == 0 and report["block_dim"] == 48


def test_infer(_):
    spec = {"q": (-1, 256), "k": (-1, 128), "cos": (64, 128), "sin": (64, 128)}
    assert infer("RopeGrad", spec, {"qSeqLen": [3]}, "fp16") == {
        "q_grad": ("fp16", (-1, 256)), "k_grad": ("fp16", (-1, 128))}
    spec["q"] = (-2,)
    assert infer("RopeGrad", spec, {"qSeqLen": [3]}, "bf16")["q_grad"] == ("bf16", (-2,))


def test_starts(rng):
    """A token with a position of its own is a sequence of length 1 that starts there: the same bits as with rows of cos that
    lie as the tokens do."""
    for dtype in DTYPES:
        for exact in (False, True):
            for count, longest, apart, key in ((9, 40, 300, 0), (33, 9, 5, 0), (300, 7, 4000, 1), (1200, 3, 1 << 14, 1)):
                lengths = [int(n) for n in rng.integers(0, longest + 1, count)]
                starts = [int(n) for n in rng.integers(0, apart + 1, count)]
                inputs = problem(rng, lengths, 2, 1, 32, rows=apart + longest, dtype=dtype)
                attrs = {"qSeqLen": lengths, "start_positions": starts, "exact_grad": exact}
                rows = positions(lengths, starts)
                spread = {**inputs, "cos": inputs["cos"][rows], "sin": inputs["sin"][rows]}
                want, _ = run("RopeGrad", spread, {"qSeqLen": [len(rows)], "exact_grad": exact}, fast=True)
                for cores in (0, 1, 7, 48):
                    out, report = run("RopeGrad", inputs, attrs, cores=cores, fast=count > 50)
                    same_bits(out, want, f"{dtype} {exact} {count} sequences on {cores} cores")
                    assert report["key"] == key and report["warnings"] == 0


def test_slice(rng):
    """The same bits as with the rotated columns alone; the others are what they were."""
    lengths = [30, 1, 20]
    for dtype in DTYPES:
        for head, rotated, start in ((192, 64, 128), (192, 64, 16), (100, 20, 7), (96, 24, 72), (1500, 64, 700)):
            for exact in (False, True):
                inputs = problem(rng, lengths, 3, 1, head, dtype=dtype)
                inputs["cos"], inputs["sin"] = (np.ascontiguousarray(inputs[n][:, :rotated]) for n in ("cos", "sin"))
                attrs = {"qSeqLen": lengths, "exact_grad": exact}
                out, _ = run("RopeGrad", inputs, dict(attrs, head_size=head, slice_start=start))
                heads = {n: inputs[n].reshape(51, -1, head) for n in ("q", "k")}
                alone = {n: np.ascontiguousarray(x[..., start:start + rotated]).reshape(51, -1) for n, x in heads.items()}
                turned, _ = run("RopeGrad", {**inputs, **alone}, attrs)
                for name, x in heads.items():
                    want = x.copy()
                    want[..., start:start + rotated] = turned[name + "_grad"].reshape(51, -1, rotated)
                    same_bits({name: out[name + "_grad"]}, {name: want.reshape(51, -1)}, f"{dtype} {head} {start}")


def test_refusals(_):
    q, t = ("fp16", (11, 128)), ("fp16", (64, 128))
    good = {"q": q, "k": q, "cos": t, "sin": t}
    rows = [
        ({}, [2, 1, 4], "the sum of qSeqLen, 7"), ({}, [], "the sum of qSeqLen, 0"),
        ({}, [11, -1, 1], "qSeqLen[1] = -1"), ({}, [65], "qSeqLen[0] = 65"),
        ({"q": ("fp32", (11, 128))}, [11], "one dtype"), ({"sin": ("bf16", (64, 128))}, [11], "one dtype"),
        ({"q": ("fp16", (11, 129))}, [11], "multiple"), ({"k": ("fp16", (12, 128))}, [11], "same tokens"),
        ({"cos": ("fp16", (63, 128))}, [11], "cos and sin must have one shape"),
    ]
    for change, lengths, words in rows:
        try:
            tile("RopeGrad", {**good, **change}, {"qSeqLen": lengths})
        except Refused as said:
            assert words in str(said) and "RopeGrad" in str(said), str(said)
        else:
            raise AssertionError(f"{change} {lengths} must be refused")
    for lengths, words in (([1, 256] * 4097, "8194 sequences of qSeqLen that are not empty differ by up to 255, 8 bits"),
                           ([1, 2] * 32769, "65538 sequences"), ([1] * 2200 + [1 << 30], "2201 sequences")):
        many = {"q": ("fp16", (sum(lengths), 2)), "cos": ("fp16", (1 << 30, 2))}
        try:
            tile("RopeGrad", {**many, "k": many["q"], "sin": many["cos"]}, {"qSeqLen": lengths})
        except Refused as said:
            assert words in str(said) and "65536 bits" in str(said), str(said)
        else:
            raise AssertionError(f"{len(lengths)} sequences must be refused")
    assert tile("RopeGrad", good, {"qSeqLen": [0] * 5000 + [11]})["key"] == 0
    lengths, starts = [1, 1025] * 1500, [0, 32000] * 1500
    many = {"q": ("fp16", (sum(lengths), 2)), "cos": ("fp16", (1 << 16, 2))}
    many = {**many, "k": many["q"], "sin": many["cos"]}
    try:
        tile("RopeGrad", many, {"qSeqLen": lengths, "start_positions": starts})
    except Refused as said:
        assert ("the 3000 sequences that are not empty need 11 bits each for qSeqLen and 15 for start_positions, which differ "
                "by up to 32000, more than the 65536 bits") in str(said), str(said)
    else:
        raise AssertionError("lengths and starts must be refused")
    for same in (0, 5, 31000):  # starts that are alike take no room
        assert tile("RopeGrad", many, {"qSeqLen": lengths, "start_positions": [same] * 3000})["key"] == 1


def main():
    return run_tests(globals(), f"seed {SEED}", lambda test: test(np.random.default_rng(SEED)))


if __name__ == "__main__":
    sys.exit(main())

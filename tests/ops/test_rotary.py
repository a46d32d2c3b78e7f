# SPDX-License-Identifier: Apache-2.0
"""RotaryMulGrad and RotaryPositionEmbeddingGrad on the twin against torch autograd in float64, and the numbers of the
requirement: its three typical cases and the aclnn example."""
import os
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
from ascgrad_ct import Refused, cast, infer, perf, prepare, run, tile, to_float  # noqa: E402
from run_tests import run_tests  # noqa: E402

SEED = 20251117
DTYPES = ("fp32", "fp16", "bf16")
MUL, RPE = "RotaryMulGrad", "RotaryPositionEmbeddingGrad"
ULP = {"fp32": 2.0 ** -23, "fp16": 2.0 ** -10, "bf16": 2.0 ** -7}
TINY = {"fp32": 2.0 ** -149, "fp16": 2.0 ** -24, "bf16": 2.0 ** -133}


def forward(x, cos, sin, mode, sign=-1.0):
    """y = P(x) * cos + R(x) * sin, as the documents write it. sign=1 gives the sum of absolute terms."""
    if mode == 0:
        a, b = torch.chunk(x, 2, -1)
        return x * cos + torch.cat((sign * b, a), -1) * sin
    if mode == 1:
        a, b = x[..., ::2], x[..., 1::2]
        return x * cos + torch.stack((sign * b, a), -1).reshape(x.shape) * sin
    if mode == 2:
        a, b, c, d = torch.chunk(x, 4, -1)
        return x * cos + torch.cat((sign * b, a, sign * d, c), -1) * sin
    a, b = x[..., ::2], x[..., 1::2]
    return torch.cat((a, b), -1) * cos + torch.cat((sign * b, a), -1) * sin


def autograd(inputs, mode, absolute=False):
    """dx, dcos, dsin in float64; absolute: of the absolute values, with every sign positive."""
    t = {}
    for name, a in inputs.items():
        v = torch.from_numpy(to_float(a)).double()
        t[name] = (v.abs() if absolute else v).requires_grad_(name != "dy")
    y = forward(t["x"], t["cos"], t["sin"], mode, 1.0 if absolute else -1.0)
    y.backward(t["dy"])
    return {"dx": t["x"].grad.numpy(), "dcos": t["cos"].grad.numpy(), "dsin": t["sin"].grad.numpy()}


def problem(rng, shape, cos, dtype):
    shapes = {"dy": shape, "cos": cos, "sin": cos, "x": shape}
    return {n: cast(rng.standard_normal(s, np.float32), dtype) for n, s in shapes.items()}


def within(got, want, terms, dtype, what):
    """|error| <= half an ulp of the result + 2^-20 of the sum of the absolute terms."""
    for name, w in want.items():
        g = to_float(got[name]).astype(np.float64)
        exponent = np.floor(np.log2(np.maximum(np.abs(w), 2.0 ** -126)))
        half = 0.5 * np.maximum(ULP[dtype] * 2.0 ** exponent, TINY[dtype])
        error = np.abs(g - w) - half - 2.0 ** -20 * terms[name]
        at = np.unravel_index(np.argmax(error), error.shape)
        assert error.max() <= 0, f"{what}: {name}{list(at)} is {g[at]}, should be {w[at]}"


def same(a, b, what):
    for name in a:
        assert np.array_equal(np.ascontiguousarray(a[name]).view(np.uint8),
                              np.ascontiguousarray(b[name]).view(np.uint8)), f"{what}: {name} differs"


def as_mul(inputs):
    """The same problem for RotaryMulGrad."""
    return {"x": inputs["x"], "r1": inputs["cos"], "r2": inputs["sin"], "dy": inputs["dy"]}


def from_mul(out):
    return {"dx": out["dx"], "dcos": out["dr1"], "dsin": out["dr2"]}


def subsets(shape):
    for bits in range(1 << (len(shape) - 1)):
        yield tuple(1 if bits >> i & 1 else n for i, n in enumerate(shape[:-1])) + shape[-1:]


def test_autograd_every_mode_subset_dtype():
    rng = np.random.default_rng(SEED)
    for mode in range(4):
        for shape in ((3, 5, 4, 48), (7, 6, 16), (2, 9, 3, 40)):
            for cos in subsets(shape):
                for dtype in DTYPES:
                    inputs = problem(rng, shape, cos, dtype)
                    out, _ = run(RPE, inputs, {"mode": mode})
                    within(out, autograd(inputs, mode), autograd(inputs, mode, True), dtype,
                           f"mode {mode} {shape} {cos} {dtype}")


def slices(inputs, out, axis, step):
    """Parts of a problem whose rows of cos do not share rows of dy: they stay in the cache."""
    for at in range(0, inputs["cos"].shape[axis], step):
        part = (slice(None),) * axis + (slice(at, at + step),)
        yield {n: a[part] for n, a in inputs.items()}, {n: a[part] for n, a in out.items()}


def test_typical_cases():
    """The three cases of the requirement, whole, with random data and with dy = ones as its test has it."""
    rng = np.random.default_rng(SEED + 1)
    cases = (((2, 8192, 5, 128), (1, 8192, 1, 128), "fp32"), ((8192, 2, 5, 128), (8192, 1, 1, 128), "fp16"),
             ((2048, 4, 32, 64), (2048, 4, 1, 64), "bf16"))
    for shape, cos, dtype in cases:
        inputs = problem(rng, shape, cos, dtype)
        out, _ = run(MUL, as_mul(inputs), fast=True)
        for some, got in slices(inputs, from_mul(out), int(np.argmax(shape)), 128):
            within(got, autograd(some, 0), autograd(some, 0, True), dtype, f"typical {shape}")
        small = {n: cast(rng.random(tuple(min(k, 64) for k in a.shape), np.float32), "fp32")
                 for n, a in inputs.items()}
        small["dy"][:] = 1
        out, _ = run(MUL, as_mul(small))
        want = autograd(small, 0)
        for name, w in want.items():
            assert np.allclose(from_mul(out)[name], w, 1e-4, 1e-4), f"dy = ones, {shape}: {name}"


# The aclnn example: mode 1, [1,1,1,128], no x.
DY = """74 54 84 125 23 78 37 72 27 98 34 107 29 23 54 60 70 49 119 54 29 54 41 99 27 62 5 46 108 39 24 123 33 82 6 40
88 24 6 116 38 119 110 5 30 79 87 18 29 100 90 24 21 93 63 68 34 112 119 48 74 43 85 64 14 49 128 59 18 37 123 76 14
63 10 39 107 124 79 16 17 76 80 47 90 41 58 82 75 80 69 37 74 36 54 26 32 54 13 100 105 15 13 69 122 26 94 59 29 14
60 8 24 17 45 33 107 122 63 111 75 128 68 31 105 6 82 99"""
COS = """41 37 17 25 49 25 22 24 110 120 107 3 82 66 75 86 85 115 110 56 52 39 86 23 36 71 20 73 113 25 114 56 125 80
95 82 31 63 99 62 23 55 30 99 42 121 15 24 97 87 81 67 43 21 13 9 33 29 117 10 114 61 98 15 78 108 48 97 1 3 78 109
57 46 47 56 50 66 81 77 17 128 68 121 47 91 114 125 51 108 31 15 47 78 109 115 113 26 53 97 1 111 103 58 106 68 11
104 22 79 61 127 86 39 33 123 102 39 64 41 119 120 61 29 94 68 36 12"""
SIN = """46 56 56 101 66 10 96 16 86 57 102 66 12 105 76 58 90 6 79 128 126 82 41 3 45 7 66 4 46 22 31 26 37 63 97 84
91 90 47 77 90 34 41 83 91 108 120 13 90 32 85 37 119 31 51 82 122 125 7 116 121 108 38 56 100 20 97 119 10 4 53 13
46 82 103 119 124 80 23 67 78 56 119 122 40 58 128 27 30 52 71 42 123 69 4 5 116 97 38 107 8 4 65 120 40 22 60 44 48
66 68 125 4 93 112 112 113 90 94 23 104 39 85 84 64 128 96 119"""


def test_aclnn_example():
    numbers = {n: np.array(text.split(), np.float32).reshape(1, 1, 1, 128)
               for n, text in (("dy", DY), ("cos", COS), ("sin", SIN))}
    request = prepare(RPE, numbers, {"mode": 1})
    for i in (1, 2):  # the example passes empty outputs with no memory
        request.describe(request.out[i], 0, (1, 1, 1, 0))
    request.run()
    dx = request.outputs["dx"].ravel()
    assert dx[:6].tolist() == [6058, -1406, 14053, -1579, 1907, 432]
    assert dx[124:].tolist() == [10638, -6312, 14733, -6684]
    assert dx.sum(dtype=np.float64) == 479278 and np.abs(dx).sum(dtype=np.float64) == 725948


def test_both_operators_agree():
    rng = np.random.default_rng(SEED + 2)
    for shape in ((2, 33, 5, 128), (3, 4, 17, 80), (5, 3, 130), (1100, 2, 72), (4, 3072)):
        for cos in subsets(shape):
            for dtype in DTYPES:
                inputs = problem(rng, shape, cos, dtype)
                one, _ = run(MUL, as_mul(inputs), fast=True)
                two, _ = run(RPE, inputs, {"mode": 0}, fast=True)
                same(from_mul(one), two, f"{shape} {cos} {dtype}")


def test_bits_do_not_depend_on_the_chip():
    rng = np.random.default_rng(SEED + 3)
    cases = (((2, 50, 6, 128), (1, 50, 1, 128)), ((4, 500, 64), (1, 1, 64)), ((3, 700, 36), (3, 1, 36)),
             ((60, 5, 40), (1, 5, 40)), ((2, 3, 2, 2100), (1, 3, 1, 2100)))
    for mode in range(4):
        for shape, cos in cases:
            dtype = DTYPES[mode % 3]
            inputs = problem(rng, shape, cos, dtype)
            first, _ = run(RPE, inputs, {"mode": mode})
            for how in ({"cores": 1}, {"cores": 7}, {"soc": "ascend910b3"}, {"soc": "ascend950"}, {"fast": True},
                        {"order": 5}):
                again, _ = run(RPE, inputs, {"mode": mode}, **how)
                same(first, again, f"mode {mode} {shape} {how}")


FIRST = "ascend910a"  # the first generation, which has a kernel of its own for RotaryMulGrad


def test_first_generation_same_bits():
    """Every way through its kernel: copies across, bands, strips, halves that end inside blocks, merged rows, long sums,
    sums in segments, several levels, dx alone. The bits do not depend on the cores, and from 64 elements in a row on are
    those of every other chip (below, the others add in another order)."""
    rng = np.random.default_rng(SEED + 11)
    cases = (((2, 300, 5, 128), (1, 300, 1, 128)), ((70, 4, 32, 64), (70, 4, 1, 64)), ((3, 40, 24), (1, 40, 24)),
             ((1500, 2, 72), (1, 2, 72)), ((9, 2, 2048), (1, 2, 2048)), ((2, 3, 7, 1032), (1, 3, 1, 1032)),
             ((40, 3, 20, 16), (40, 1, 20, 16)), ((6000, 2, 128), (1, 1, 128)), ((4, 30, 16, 64), (1, 1, 16, 64)),
             ((50, 3, 48), (50, 3, 48)), ((5, 17, 8, 8), (5, 17, 1, 8)), ((700, 33, 16), (1, 1, 16)),
             ((8, 32, 128), (1, 1, 128)), ((2, 256, 64), (2, 1, 64)))
    segments = 0
    for shape, cos in cases:
        for dtype in ("fp32", "fp16"):
            if shape[-1] * (2 if dtype == "fp16" else 4) % 32:
                continue
            given = problem(rng, shape, cos, dtype)
            inputs = as_mul(given)
            out, _ = run(MUL, inputs, soc=FIRST)
            within(from_mul(out), autograd(given, 0), autograd(given, 0, True), dtype, f"{shape} {cos} {dtype}")
            for attrs in ({}, {"need_backward": False}):
                first, _ = run(MUL, inputs, attrs, soc=FIRST if shape[-1] < 64 else None)
                for how in ({}, {"cores": 1}, {"cores": 5, "order": 3}, {"fast": True}):
                    again, report = run(MUL, inputs, attrs, soc=FIRST, **how)
                    same(first, again, f"{shape} {cos} {dtype} {attrs} {how}")
                    assert report["key"] == 20
                segments += report["workspace"] > 0
    assert segments > 0


def test_first_generation_rows_inside_blocks():
    """Rows and halves that end inside 32-byte blocks: pieces of one half and of two, merged rows, strips, runs that begin inside
    blocks, sums in segments, tensors that end inside a block. The bits do not depend on the cores and
    dx has those of every other chip."""
    rng = np.random.default_rng(SEED + 12)
    cases = (((2, 30, 5, 100), (1, 30, 1, 100)), ((3, 41, 18), (1, 41, 18)), ((70, 3, 24), (70, 1, 24)), ((13, 36), (13, 36)),
             ((40, 3, 7, 20), (40, 1, 7, 20)), ((2, 7, 3, 500), (2, 7, 1, 500)), ((3, 2, 2062), (1, 2, 2062)),
             ((6000, 1, 50), (1, 1, 50)), ((4, 5, 3, 3000), (1, 5, 1, 3000)), ((1, 18), (1, 18)), ((5, 3, 1026), (1, 3, 1026)))
    segments = 0
    for shape, cos in cases:
        for dtype in ("fp32", "fp16"):
            given = problem(rng, shape, cos, dtype)
            inputs = as_mul(given)
            out, _ = run(MUL, inputs, soc=FIRST)
            within(from_mul(out), autograd(given, 0), autograd(given, 0, True), dtype, f"{shape} {cos} {dtype}")
            for attrs in ({}, {"need_backward": False}):
                first, _ = run(MUL, inputs, attrs, soc=FIRST)
                other, _ = run(MUL, inputs, attrs)
                same({"dx": first["dx"]}, {"dx": other["dx"]}, f"{shape} {dtype} {attrs}")
                for how in ({"cores": 1}, {"cores": 5, "order": 3}, {"fast": True}):
                    again, report = run(MUL, inputs, attrs, soc=FIRST, **how)
                    same(first, again, f"{shape} {cos} {dtype} {attrs} {how}")
                    assert report["key"] == 20
                segments += report["workspace"] > 0
    assert segments > 0


def test_first_generation_is_near_a_copy():
    cases = (((2, 8192, 5, 128), (1, 8192, 1, 128), "fp32"), ((8192, 2, 5, 128), (8192, 1, 1, 128), "fp16"),
             ((2048, 4, 32, 64), (2048, 4, 1, 64), "fp16"))
    for shape, cos, dtype in cases:
        shapes = {"x": shape, "r1": cos, "r2": cos, "dy": shape}
        assert perf(MUL, shapes, dtype=dtype, soc=FIRST)["ratio"] <= 1.15, (shape, dtype)


def test_first_generation_refusals():
    for d, r, dtype, words in ((128, 128, "bf16", "the first generation of the 910 has no bf16"),
                               (128, 64, "fp32", "rotates whole rows only, got 64 of 128 elements"),
                               (6, 6, "fp32", "a row must have at least 32 bytes, got 24"),
                               (14, 14, "fp16", "a row must have at least 32 bytes, got 28")):
        shapes = {"x": (2, 3, 4, d), "r1": (1, 3, 1, r), "r2": (1, 3, 1, r), "dy": (2, 3, 4, d)}
        try:
            tile(MUL, shapes, dtype=dtype, soc=FIRST)
        except Refused as error:
            assert words in str(error), error
        else:
            raise AssertionError(f"{d} {dtype} was not refused")


def test_a_million_rows():
    """The error of a sum does not grow with its length, also when all terms have one sign."""
    rng = np.random.default_rng(SEED + 4)
    inputs = {n: rng.random(s, np.float32) for n, s in
              (("dy", (1 << 20, 8)), ("cos", (1, 8)), ("sin", (1, 8)), ("x", (1 << 20, 8)))}
    out, report = run(RPE, inputs, {"mode": 0}, fast=True)
    assert report["key"] >= 10 and report["workspace"] > 0  # spread over the cores
    want = autograd(inputs, 0)
    within(out, want, autograd(inputs, 0, True), "fp32", "a million rows")
    error = np.abs(out["dcos"] - want["dcos"]) / want["dcos"]
    assert error.max() < 2.0 ** -22, error.max()


def test_x_is_not_read():
    rng = np.random.default_rng(SEED + 5)
    for dtype in DTYPES:
        for shape, cos in (((2, 9, 4, 128), (1, 9, 1, 128)), ((3, 5, 10), (3, 5, 10))):
            inputs = problem(rng, shape, cos, dtype)
            want = {"dx": autograd(inputs, 0)["dx"]}
            terms = {"dx": autograd(inputs, 0, True)["dx"]}
            poisoned = dict(as_mul(inputs), x=cast(np.full(shape, np.nan, np.float32), dtype))
            out, report = run(MUL, poisoned, {"need_backward": False})
            within(out, want, terms, dtype, "need_backward=false")
            assert not to_float(out["dr1"]).any() and not to_float(out["dr2"]).any()
            assert report["gm_read"] == sum(poisoned[n].nbytes for n in ("dy", "r1", "r2"))
            less = {n: a for n, a in inputs.items() if n != "x"}
            two, _ = run(RPE, less, {"mode": 0})
            same({"dx": out["dx"], "dcos": out["dr1"], "dsin": out["dr2"]}, two, "without x")


def test_unwanted_sums_stay_untouched():
    """Without x, empty dcos and dsin are never written; where they have elements they become 0, whatever was there."""
    rng = np.random.default_rng(SEED + 6)
    inputs = problem(rng, (2, 5, 4, 16), (1, 5, 1, 16), "fp16")
    del inputs["x"]
    request = prepare(RPE, inputs, {"mode": 3})
    for name in ("dcos", "dsin"):
        request.outputs[name][:] = 7
    request.run()
    assert not request.outputs["dcos"].any() and not request.outputs["dsin"].any()
    for empty in ((1, 1, 1, 0), (0,)):
        request = prepare(RPE, inputs, {"mode": 3})
        for i in (1, 2):
            request.describe(request.out[i], 1, empty)
        request.run()


def test_empty_sums_are_zero():
    for mode in range(4):
        shapes = {"dy": (0, 3, 4, 8), "cos": (1, 3, 1, 8), "sin": (1, 3, 1, 8), "x": (0, 3, 4, 8)}
        request = prepare(RPE, {n: np.zeros(s, np.float32) for n, s in shapes.items()}, {"mode": mode})
        request.outputs["dcos"][:] = request.outputs["dsin"][:] = np.nan
        request.run()
        assert not request.outputs["dcos"].any() and not request.outputs["dsin"].any()


def test_not_a_number_goes_where_it_belongs():
    rng = np.random.default_rng(SEED + 7)
    for mode in range(4):
        for dtype in DTYPES:
            inputs = problem(rng, (2, 6, 5, 24), (1, 6, 1, 24), dtype)
            for name, value in (("dy", np.nan), ("x", np.inf), ("cos", -np.inf), ("sin", np.nan)):
                dirty = {n: to_float(a).copy() for n, a in inputs.items()}
                dirty[name].ravel()[int(rng.integers(dirty[name].size))] = value
                out, _ = run(RPE, {n: cast(a, dtype) for n, a in dirty.items()}, {"mode": mode})
                for n, w in autograd({k: cast(a, dtype) for k, a in dirty.items()}, mode).items():
                    g = to_float(out[n])
                    assert np.array_equal(np.isfinite(g), np.isfinite(w)), f"{name}={value} mode {mode} {dtype}: {n}"


def test_infer():
    shapes = {"dy": (2, -1, 5, 128), "cos": (1, -1, 1, 128), "sin": (1, -1, 1, 128)}
    out = infer(RPE, shapes, {"mode": 1}, "bf16")
    assert out == {"dx": ("bf16", (2, -1, 5, 128)), "dcos": ("bf16", (1, -1, 1, 128)), "dsin": ("bf16", (1, -1, 1, 128))}
    out = infer(RPE, {"dy": (-2,), "cos": (-2,), "sin": (-2,), "x": (-2,)}, dtype="fp16")
    assert out["dx"] == ("fp16", (-2,)) and out["dsin"] == ("fp16", (-2,))
    out = infer(MUL, {"x": (2, 3, 4, 8), "r1": (1, 3, 1, 8), "r2": (1, 3, 1, 8), "dy": (-1, 3, 4, 8)})
    assert out == {"dx": ("fp32", (2, 3, 4, 8)), "dr1": ("fp32", (1, 3, 1, 8)), "dr2": ("fp32", (1, 3, 1, 8))}


def test_public_limits_are_gone():
    """What the built-in operators refuse or leave to composed kernels: B * N above 1024, B >= S, D above 896, 111D."""
    rng = np.random.default_rng(SEED + 8)
    cases = (((40, 3, 30, 64), (1, 3, 1, 64)), ((5, 2, 3, 64), (5, 1, 3, 64)), ((2, 3, 2, 1024), (1, 3, 1, 1024)),
             ((2, 3, 4, 64), (1, 1, 1, 64)), ((2, 3, 4, 64), (1, 3, 4, 64)), ((2, 3, 4, 10000), (1, 3, 1, 10000)))
    for shape, cos in cases:
        for mode in range(4):
            inputs = problem(rng, shape, cos, "bf16")
            out, _ = run(RPE, inputs, {"mode": mode}, fast=True)
            within(out, autograd(inputs, mode), autograd(inputs, mode, True), "bf16", f"{shape} {cos} mode {mode}")


def refused(op, shapes, attrs, words):
    try:
        tile(op, shapes, attrs)
    except Refused as e:
        assert words in str(e), f"{words!r} is not in {e}"
        return
    raise AssertionError(f"{op} {shapes} {attrs} was not refused")


def test_zeros_of_mode_3():
    """x = -0 and +0 against dy of both signs: the zeros of a sum are +0, dsin[A] is minus its sum. Were dcos the bare
    product, its sign would hang on what the chip takes for a masked lane of a pair sum."""
    for rows, cos_rows in ((4, 4), (4, 1), (1, 1)):
        for dtype in DTYPES:
            x, dy = (np.resize(np.array(v, np.float32), (rows, 32)) for v in ([-0.0, 0.0], [1.0, 1.0, 1.0, -1.0, -1.0]))
            table = np.ones((cos_rows, 32), np.float32)
            inputs = {"dy": dy, "cos": table, "sin": table, "x": x}
            out, _ = run(RPE, {n: cast(a, dtype) for n, a in inputs.items()}, {"mode": 3})
            for name, minus in (("dcos", [False] * 32), ("dsin", [True] * 16 + [False] * 16)):
                got = to_float(out[name])
                assert np.all(got == 0) and np.all(np.signbit(got) == minus), f"{rows} {cos_rows} {dtype}: {name}"


def odd_calls(rng, count):
    """Rows of 1026 elements and more that end inside 32-byte blocks, behind axes of odd sizes."""
    while count:
        mode, dtype = rng.integers(4), DTYPES[rng.integers(3)]
        d = 2 * int(rng.integers(513, 3000)) if rng.random() < 0.7 else int(rng.choice((1026, 1282, 1538, 2562, 4098)))
        d = d // 4 * 4 if mode == 2 else d
        lead = tuple(int(n) for n in rng.choice((1, 2, 3, 5, 7, 9, 11, 13, 15, 17, 21, 31, 33, 65), rng.integers(1, 5)))
        kept = tuple(n if rng.random() < 0.6 else 1 for n in lead)
        if not 3000 <= np.prod(lead) * d <= 600000:
            continue
        shapes = {"dy": lead + (d,), "cos": kept + (d,), "sin": kept + (d,)}
        if rng.random() < 0.75:
            shapes["x"] = lead + (d,)
        count -= 1
        yield shapes, {"mode": int(mode)}, dtype


def test_no_two_cores_in_one_block():
    """The twin warns where two cores write into one 32-byte block. About one call in ten has rows on different cores
    that meet inside one."""
    rng = np.random.default_rng(SEED + 7)
    for shapes, attrs, dtype in odd_calls(rng, 2000 if os.environ.get("ASCGRAD_LONG") else 150):
        try:
            report = perf(RPE, shapes, attrs, dtype)
        except Refused:  # the axes alternate too often
            continue
        assert report["warnings"] == 0, f"{shapes} {attrs} {dtype}"


def test_ends_of_rows():
    """The same where the rows meet: values, and the bits of one core."""
    rng = np.random.default_rng(SEED + 8)
    shapes = (((7, 65, 1032), (1, 65, 1032)), ((2, 7, 2562), (1, 7, 2562)), ((3, 33, 3, 1026), (1, 33, 1, 1026)),
              ((65, 3, 2052), (1, 1, 2052)), ((5, 45, 1540), (5, 1, 1540)), ((3, 5, 601, 36), (3, 1, 601, 36)))
    for shape, cos in shapes:
        for mode in range(4):
            for dtype in DTYPES:
                if mode == 2 and shape[-1] % 4:
                    continue
                inputs = problem(rng, shape, cos, dtype)
                want, terms = autograd(inputs, mode), autograd(inputs, mode, True)
                for with_x in (True, False):
                    if not with_x:
                        inputs, want = {n: inputs[n] for n in ("dy", "cos", "sin")}, {"dx": want["dx"]}
                    out, report = run(RPE, inputs, {"mode": mode})
                    what = f"mode {mode} {shape} {cos} {dtype}"
                    assert report["warnings"] == 0, what
                    within(out, want, terms, dtype, what)
                    same(run(RPE, inputs, {"mode": mode}, cores=1)[0], out, what)


def test_refusals():
    c = (1, 3, 1, 8)
    refused(RPE, {"dy": (2, 3, 4, 8), "cos": c, "sin": (1, 3, 4, 8)}, {}, "cos and sin must have one shape")
    refused(RPE, {"dy": (2, 3, 4, 8), "cos": c, "sin": c, "x": (2, 3, 8)}, {}, "dy and x must have one shape")
    refused(RPE, {"dy": (2, 3, 4, 8), "cos": (2, 2, 1, 8), "sin": (2, 2, 1, 8)}, {}, "got 2 and 3")
    refused(RPE, {"dy": (2, 3, 4, 8), "cos": c, "sin": c}, {"mode": 7}, "mode is 7, but must be 0 to 3")
    refused(RPE, {"dy": (3, 6), "cos": (3, 6), "sin": (3, 6)}, {"mode": 2}, "multiple of 4, got 6")
    refused(MUL, {"x": (3, 5), "r1": (3, 5), "r2": (3, 5), "dy": (3, 5)}, {}, "multiple of 2, got 5")
    refused(MUL, {"x": (3, 6), "r1": (1, 6), "r2": (1, 6), "dy": (2, 6)}, {}, "dy and x must have one shape")


def test_speed_of_small_shapes():
    """Against a measured copy and the L2, in the cycle model; the large shapes are measured by ./build.sh bench."""
    rows = (((1, 1024, 8, 128), (1, 1024, 1, 128), "bf16", 1.15, 1.18, 3.5),  # limits without and with scalar time, and in the L2
            ((1, 1024, 8, 128), (1, 1024, 1, 128), "fp32", 1.04, 1.06, 1.6),
            ((2, 1024, 16, 80), (1, 1024, 1, 80), "bf16", 1.12, 1.14, 4.3), ((2, 1024, 16, 80), (1, 1024, 1, 80), "fp32", 1.04, 1.05, 1.9),
            ((1, 96, 32, 128), (1, 96, 1, 128), "bf16", 1.5, 1.6, 5.6), ((1, 96, 32, 128), (1, 96, 1, 128), "fp32", 1.2, 1.25, 2.5))
    for shape, cos, dtype, limit, with_scalar, limit_l2 in rows:
        r = perf(RPE, {"dy": shape, "cos": cos, "sin": cos, "x": shape}, {"mode": 0}, dtype)
        for name, most in (("ratio_free", limit), ("ratio", with_scalar), ("ratio_l2", limit_l2)):
            assert r[name] <= most, f"{shape} {dtype}: {name} {r[name]:.3f}, limit {most}"
        assert r["gm_read"] + r["gm_write"] <= 1.02 * r["min_bytes"] and r["warnings"] == 0


def test_least_bytes_without_x():
    n, c = (2, 64, 4, 128), (1, 64, 1, 128)
    elements = 2 * 2 * 64 * 4 * 128 + 4 * 64 * 128  # dy in, dx out; cos, sin in, and zeros for dcos and dsin out
    r = perf(RPE, {"dy": n, "cos": c, "sin": c}, {"mode": 0}, "fp32")
    assert r["min_bytes"] == 4 * elements == r["gm_read"] + r["gm_write"], r


def test_cost_of_fp32_tables():
    """Their own bytes and nothing else: the ratio to a copy is that of tables in the dtype of dy."""
    for shape, cos, mode in (((2, 1024, 32, 128), (1, 1024, 1, 128), 0), ((2, 1024, 32, 128), (1, 1024, 1, 128), 1),
                             ((1, 2048, 16, 20), (1, 2048, 1, 20), 0), ((1, 2048, 16, 36), (1, 2048, 1, 36), 0)):
        ratio = {}
        for table in ("bf16", "fp32"):
            r = perf(RPE, {"dy": ("bf16", shape), "cos": (table, cos), "sin": (table, cos), "x": ("bf16", shape)}, {"mode": mode})
            assert r["gm_read"] + r["gm_write"] == r["min_bytes"] and r["warnings"] == 0
            ratio[table] = r["ratio"]
        assert ratio["fp32"] <= ratio["bf16"] + 0.05, (mode, ratio)


def test_cost_of_partial_rotary():
    """One pass: dy and dx once, of x what is rotated. GLM, and GPT-NeoX 25 % without x."""
    for shape, cos, mode, with_x, limit in (((2, 1024, 32, 128), (1, 1024, 1, 64), 1, True, 1.08),
                                            ((2, 1024, 32, 128), (1, 1024, 1, 32), 0, False, 1.08)):
        shapes = {"dy": shape, "cos": cos, "sin": cos}
        r = perf(RPE, dict(shapes, x=shape) if with_x else shapes, {"mode": mode}, "bf16")
        assert r["gm_read"] + r["gm_write"] == r["min_bytes"] and r["warnings"] == 0
        assert r["ratio"] <= limit, f"{shape} {cos}: {r['ratio']:.3f} of a copy, limit {limit}"


def test_tails_bit_by_bit():
    """What is not rotated: every bit of dy, zeros and infinities with their signs, denormals; NaN stays NaN."""
    rng = np.random.default_rng(SEED + 11)
    for d, rotated in ((64, 16), (128, 64), (50, 20), (33, 12), (2100, 1800)):
        for dtype in DTYPES:
            words = np.uint32 if dtype == "fp32" else np.uint16
            kind = {"fp32": np.float32, "fp16": np.float16, "bf16": np.uint16}[dtype]
            dy = rng.integers(0, np.iinfo(words).max, (3, 2, d), dtype=words, endpoint=True).view(kind)
            cos = cast(rng.standard_normal((3, 1, rotated)), dtype)
            for mode in range(4):
                dx = run(RPE, {"dy": dy, "cos": cos, "sin": cos}, {"mode": mode}, fast=True)[0]["dx"]
                got, want = dx[..., rotated:], dy[..., rotated:]
                nan = np.isnan(to_float(want))
                assert np.array_equal(np.ascontiguousarray(got).view(words)[~nan], np.ascontiguousarray(want).view(words)[~nan])
                assert np.isnan(to_float(got)[nan]).all(), (d, dtype, mode)


def main():
    torch.manual_seed(SEED)
    return run_tests(globals(), f"seed {SEED}")


if __name__ == "__main__":
    sys.exit(main())

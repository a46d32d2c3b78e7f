# SPDX-License-Identifier: Apache-2.0
"""NormRopeConcatGrad on the twin against torch autograd of the forward, written plainly, and the requirement's example."""
import itertools
import os
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
from ascgrad_ct import Refused, cast, infer, perf, run, tile, to_float  # noqa: E402
from run_tests import run_tests  # noqa: E402

SEED = 20251117
DTYPES = ("fp32", "fp16", "bf16")
OP = "NormRopeConcatGrad"
MANTISSA = {"fp32": 24, "fp16": 11, "bf16": 8}
LEAST = {"fp32": -126, "fp16": -14, "bf16": -126}

# norm types: 1 layer norm, 2 with weight and bias, 3 RMSNorm, 4 with weight; 5 to 8 the same across heads; 9 L2
CENTRED, WEIGHTED, ACROSS, L2 = (1, 2, 5, 6), (2, 4, 6, 8), (5, 6, 7, 8), 9

# stream: prefix of its norm tensors, x, the gradient it is part of, its dx, its dgamma and dbeta
STREAMS = {
    "q": ("norm_query", "query", "grad_query_output", "grad_query"),
    "eq": ("norm_added_query", "encoder_query", "grad_query_output", "grad_encoder_query"),
    "k": ("norm_key", "key", "grad_key_output", "grad_key"),
    "ek": ("norm_added_key", "encoder_key", "grad_key_output", "grad_encoder_key"),
}


def problem(rng, dtype, attrs, b=2, n=3, d=16, sq=5, sk=7, seq=4, sek=3, rows=6, low=-2.0, high=2.0,
            weights=None, tables=None, nk=None, nv=None):
    """Inputs rounded to dtype, weights and tables to theirs. seq or sek None: that encoder part is absent. rows None: no
    sin and cos. nk, nv: heads of key and value, if not n; nv -1: value is [0]."""
    def data(*shape, dtype=dtype):
        return cast(rng.uniform(low, high, shape).astype(np.float32), dtype)
    lengths = {"q": sq, "eq": seq, "k": sk, "ek": sek}
    nk = n if nk is None else nk
    nv = nk if nv is None else nv
    heads = {"q": n, "eq": n, "k": nk, "ek": nk}

    def grad(count, length):
        return data(b, length, count, d) if attrs.get("grad_layout") else data(b, count, length, d)
    inputs = {
        "grad_query_output": grad(n, sq + (seq or 0)),
        "grad_key_output": grad(nk, sk + (sek or 0)),
        "grad_value_output": data(0) if nv < 0 else grad(nv, sk + (sek or 0)),
    }
    for name, (norm, x, _, _) in STREAMS.items():
        if lengths[name] is None:
            continue
        inputs[x] = data(b, lengths[name], heads[name], d)
        kind = attrs.get("norm_added_type" if name[0] == "e" else "norm_type", 0)
        if kind:
            wide = to_float(inputs[x]).astype(np.float64)
            along = {"axis": (2, 3) if kind in ACROSS else 3, "keepdims": True}
            square = wide.var(**along) if kind in CENTRED else (wide ** 2).mean(**along)
            inputs[norm + "_rstd"] = (1 / np.sqrt((square * d if kind == L2 else square) + 1e-5)).astype(np.float32)
        if kind in CENTRED:
            inputs[norm + "_mean"] = wide.mean(**along).astype(np.float32)
        if kind in WEIGHTED:
            inputs[norm + "_weight"] = data(d * heads[name] if kind in ACROSS else d, dtype=weights or dtype)
    if rows is not None:
        inputs["rope_sin"], inputs["rope_cos"] = (data(rows, d, dtype=tables or dtype) for _ in range(2))
    return inputs


def rotate(y, cos, sin, kind):
    """y [B,N,S,D], cos and sin [rows,D]: the first rows turn, the others stay."""
    rows = cos.shape[0]
    head, tail = y[:, :, :rows], y[:, :, rows:]
    if kind == 2:
        h = y.shape[-1] // 2
        turned = torch.cat([-head[..., h:], head[..., :h]], -1)
    else:
        turned = torch.stack([-head[..., 1::2], head[..., 0::2]], -1).reshape(head.shape)
    return torch.cat([head * cos + turned * sin, tail], 2)


def norm(x, kind, weight, bias):
    if kind == 0:
        return x
    if kind == L2:
        return x / torch.sqrt((x ** 2).sum(-1, keepdim=True) + 1e-5)
    if kind in ACROSS:
        return norm(x.flatten(2), kind - 4, weight, bias).reshape(x.shape)
    if kind not in CENTRED:
        y = x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + 1e-5)
        return y * weight if kind in WEIGHTED else y
    y = torch.nn.functional.layer_norm(x, x.shape[-1:], eps=1e-5)
    return y * weight + bias if kind in WEIGHTED else y


def autograd(inputs, attrs):
    """All gradients in float64, from the forward as it is documented."""
    t = {k: torch.tensor(to_float(v).astype(np.float64)) for k, v in inputs.items()}
    leaves, out = {}, {}
    kinds = (attrs.get("norm_type", 0), attrs.get("norm_added_type", 0))
    layout = attrs.get("grad_layout", 0)
    for main, added, grad in (("q", "eq", "grad_query_output"), ("k", "ek", "grad_key_output"),
                              ("v", "ev", "grad_value_output")):
        parts = []
        if t[grad].dim() == 1:
            continue
        for name, kind in ((main, kinds[0]), (added, kinds[1])):
            source = STREAMS["k" if name == "v" else "ek" if name == "ev" else name][1]
            if source not in t:
                continue
            x = t[source].clone()
            if name[-1] == "v":
                x = torch.zeros(*x.shape[:2], t[grad].shape[2 if layout else 1], x.shape[3], dtype=x.dtype)
            leaves[name] = x.requires_grad_()
            y = x
            if name[-1] != "v" and kind:
                prefix = STREAMS[name][0]
                if kind in WEIGHTED:
                    leaves[name + ".w"] = t[prefix + "_weight"].clone().requires_grad_()
                if kind in WEIGHTED and kind in CENTRED:
                    leaves[name + ".b"] = torch.zeros_like(t[prefix + "_weight"]).requires_grad_()
                y = norm(x, kind, leaves.get(name + ".w"), leaves.get(name + ".b"))
            parts.append(y)
        if attrs.get("concat_order", 0):
            parts.reverse()
        y = torch.cat(parts, 1).permute(0, 2, 1, 3)
        if main != "v" and attrs.get("rope_type", 0):
            y = rotate(y, t["rope_cos"], t["rope_sin"], attrs["rope_type"])
        y.backward(t[grad].transpose(1, 2) if layout else t[grad])
    names = {"v": "grad_value", "ev": "grad_encoder_value"}
    for name, leaf in leaves.items():
        stream, _, part = name.partition(".")
        target = names.get(stream) or STREAMS[stream][3]
        if part:
            target = "grad_" + STREAMS[stream][0] + ("_weight" if part == "w" else "_bias")
        out[target] = leaf.grad.numpy()
    return out


def terms(inputs, attrs):
    """Closed form with mean and rstd as given: (value, sum of the absolute terms) of every gradient that is produced."""
    t = {k: to_float(v).astype(np.float64) for k, v in inputs.items()}
    out, rope, order = {}, attrs.get("rope_type", 0), attrs.get("concat_order", 0)
    for name in ("grad_query_output", "grad_key_output", "grad_value_output"):
        if attrs.get("grad_layout") and t[name].ndim == 4:
            t[name] = t[name].transpose(0, 2, 1, 3)

    def part(grad, main, added, name):
        lengths = [t[m].shape[1] if m in t else 0 for m in (main, added)]
        first = order == (1 if name == "added" else 0)
        start = 0 if first else lengths[1 if name == "main" else 0]
        return t[grad][:, :, start:start + lengths[name == "added"]], start

    for name, (prefix, x, grad, target) in STREAMS.items():
        added = name[0] == "e"
        encoder = "encoder_" + ("query" if name[-1] == "q" else "key")
        main = encoder[8:]
        if x not in t:
            continue
        g, start = part(grad, main, encoder, "added" if added else "main")
        turned, size = g.copy(), np.abs(g)
        rows = max(0, min(len(t["rope_cos"]) - start, g.shape[2])) if rope else 0
        if rows:
            cos, sin = t["rope_cos"][start:start + rows], t["rope_sin"][start:start + rows]
            here, product = g[:, :, :rows], g[:, :, :rows] * sin
            if rope == 2:
                h = g.shape[-1] // 2
                moved = np.concatenate([product[..., h:], -product[..., :h]], -1)
            else:
                moved = np.stack([product[..., 1::2], -product[..., 0::2]], -1).reshape(product.shape)
            turned[:, :, :rows] = here * cos + moved
            size[:, :, :rows] = np.abs(here * cos) + np.abs(moved)
        turned, size = turned.transpose(0, 2, 1, 3), size.transpose(0, 2, 1, 3)
        kind = attrs.get("norm_added_type" if added else "norm_type", 0)
        if kind == 0:
            out[target] = turned, size
            continue
        rstd = t[prefix + "_rstd"]
        hat = (t[x] - t[prefix + "_mean"] if kind in CENTRED else t[x]) * rstd
        gamma = t[prefix + "_weight"] if kind in WEIGHTED else np.ones(1)
        if kind in ACROSS and kind in WEIGHTED:
            gamma = gamma.reshape(t[x].shape[2:])
        along = (2, 3) if kind in ACROSS else 3

        def mean(numbers):
            return (np.sum if kind == L2 else np.mean)(numbers, axis=along, keepdims=True)
        hot, big = turned * gamma, size * np.abs(gamma)
        value = hot - hat * mean(hot * hat)
        bound = big + np.abs(hat) * mean(big * np.abs(hat))
        if kind in CENTRED:
            value, bound = value - mean(hot), bound + mean(big)
        out[target] = rstd * value, np.abs(rstd) * bound

        def total(numbers):
            return numbers.sum((0, 1) if kind in ACROSS else (0, 1, 2)).reshape(-1)
        if kind in WEIGHTED:
            out[f"grad_{prefix}_weight"] = total(turned * hat), total(size * np.abs(hat))
        if kind in WEIGHTED and kind in CENTRED:
            out[f"grad_{prefix}_bias"] = total(turned), total(size)
    for x, target, name in (("key", "grad_value", "main"), ("encoder_key", "grad_encoder_value", "added")):
        if x in t and t["grad_value_output"].ndim == 4:
            g = part("grad_value_output", "key", "encoder_key", name)[0].transpose(0, 2, 1, 3)
            out[target] = g, np.abs(g)
    return out


def half_ulp(value, dtype):
    _, exponent = np.frexp(value)
    return np.ldexp(0.5, np.maximum(exponent - 1, LEAST[dtype]) - MANTISSA[dtype] + 1)


def compare(got, want, bound, dtype, what, slack=2.0 ** -20):
    got = to_float(got).astype(np.float64)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    error = np.abs(got - want) - half_ulp(want, dtype) - slack * bound
    assert not np.isnan(error).any() and (error <= 0).all(), \
        f"{what}: {got.flat[np.argmax(error)]} is not {want.flat[np.argmax(error)]}"


def check(inputs, attrs, dtype, what, torch_too=True, weights=None, **how):
    """Runs the operator and compares every output with the closed form and with autograd."""
    got, report = run(OP, inputs, attrs, **how)
    want = terms(inputs, attrs)
    for name, array in got.items():
        if name not in want:
            kind = attrs.get("norm_added_type" if "added" in name else "norm_type", 0)
            # the stream is absent
            zeros = name.startswith("grad_norm") and kind in WEIGHTED and (kind in CENTRED or "weight" in name)
            heads, size = inputs["query" if "query" in name else "key"].shape[2:]
            size *= heads if kind in ACROSS else 1
            assert array.shape == ((size,) if zeros else (0,)), f"{what}: shape of {name}"
            assert not array.any(), f"{what}: {name} is not 0"
            continue
        compare(array, *want[name], weights or dtype if name.startswith("grad_norm") else dtype, f"{what}: {name}")
    if torch_too:  # mean and rstd are rounded to fp32 there and not here: a little more room
        for name, value in autograd(inputs, attrs).items():
            bound = want[name][1]
            if name.replace("_weight", "_bias") in want:  # x - mean may be much less than x
                bound = bound + want[name.replace("_weight", "_bias")][1] / 32
            compare(got[name], value, bound, weights or dtype if name.startswith("grad_norm") else dtype,
                    f"{what}: {name} against autograd", 2.0 ** -18)
    return got, report


def test_all_combinations():
    """600 attribute combinations x 4 encoder situations, with heads, layouts and dtypes taking turns, of the first 150 all
    dtypes; seqRope in five places."""
    rng = np.random.default_rng(SEED)
    places = itertools.cycle(["one", "inside", "seam", "beyond", "full"])
    turns = itertools.cycle(DTYPES)
    heads = itertools.cycle(itertools.product((3, 1, 2, 5), (3, 1, 0, -1, 2), (0, 1)))
    for kinds in itertools.product(range(10), range(10), range(3), range(2)):
        attrs = dict(zip(("norm_type", "norm_added_type", "rope_type", "concat_order"), kinds))
        old = max(kinds[:2]) < 5
        for seq, sek in ((4, 4), (None, None), (4, None), (None, 4)):
            for dtype in DTYPES if old else [next(turns)]:
                nk, nv, attrs["grad_layout"] = next(heads)
                first = 5 if attrs["concat_order"] == 0 else (seq or 0)
                total = min(5 + (seq or 0), 6 + (sek or 0))
                rows = {"one": 1, "inside": 2, "seam": max(1, first), "beyond": min(total, first + 1),
                        "full": total}[next(places)]
                inputs = problem(rng, dtype, attrs, sq=5, sk=6, seq=seq, sek=sek,
                                 rows=rows if attrs["rope_type"] else None, d=(16, 6, 64)[kinds[2]], nk=nk, nv=nv)
                check(inputs, attrs, dtype, f"{attrs} seq={seq} sek={sek} rows={rows} heads {nk} {nv} {dtype}")


def test_seq_rope():
    """Every seqRope from 1 to the full length, both orders, q and k of different lengths."""
    rng = np.random.default_rng(SEED + 1)
    for order, kind in itertools.product((0, 1), (1, 2)):
        attrs = {"norm_type": 2, "norm_added_type": 1, "rope_type": kind, "concat_order": order}
        for rows in range(1, 10):
            inputs = problem(rng, "fp32", attrs, sq=5, sk=7, seq=4, sek=3, rows=rows, d=8)
            check(inputs, attrs, "fp32", f"order {order} rope {kind} seqRope {rows}")


def test_sizes():
    """D that is odd, tiny, huge; N * D unaligned; S below and far above the number of cores."""
    rng = np.random.default_rng(SEED + 2)
    kinds = itertools.cycle((2, 1, 4, 3, 8, 4, 2, 3, 9, 6, 5, 7, 8))
    layouts, heads = itertools.cycle((0, 0, 1)), itertools.cycle((None, 2, None, 1, 3))
    cases = [dict(d=2), dict(d=6), dict(d=10, n=5), dict(d=64, n=1, b=1, sq=300, sk=211), dict(d=128, n=24, sq=3, sk=4),
             dict(d=130, n=2), dict(d=80, n=16), dict(d=1024, n=2), dict(d=1000, n=3), dict(d=2048, n=1, b=1),
             dict(d=4098, n=2, b=1, sq=2, sk=1, seq=1, sek=1, rows=2), dict(d=8192, n=1, b=1, sq=2, sk=1, rows=2)]
    for case, kind in itertools.product(cases, (0, 1, 2)):
        for dtype in DTYPES:
            attrs = {"norm_type": next(kinds), "norm_added_type": next(kinds), "rope_type": kind, "grad_layout": next(layouts)}
            inputs = problem(rng, dtype, attrs, nk=next(heads), **case)
            check(inputs, attrs, dtype, f"{case} {attrs} {dtype}", fast=True)
    for d in (1, 3, 7, 65):
        attrs = {"norm_type": 2, "norm_added_type": 4, "concat_order": 1}
        for dtype in DTYPES:
            check(problem(rng, dtype, attrs, d=d, rows=None), attrs, dtype, f"odd D {d} {dtype}", torch_too=d > 1)


def test_long():
    """Many chunks: the sums of dgamma and dbeta over many lines, and the same bits for any number of cores."""
    for kind in (2, 4, 6, 8):
        long(np.random.default_rng(SEED + 3), {"norm_type": kind, "norm_added_type": kind, "rope_type": 2})


def long(rng, attrs):
    inputs = problem(rng, "fp32", attrs, b=2, n=8, nk=2, d=64, sq=900, sk=400, seq=50, sek=30, rows=300, low=0.0, high=1.0)
    first, _ = check(inputs, attrs, "fp32", "long", fast=True)
    for how in (dict(cores=1), dict(cores=7), dict(cores=40), dict(soc="ascend950"), dict(soc="ascend910b4")):
        again, _ = run(OP, inputs, attrs, fast=True, **how)
        for name in first:
            assert (first[name] == again[name]).all(), f"{how}: the bits of {name} differ"


def test_example():
    """The requirement's example: B1 N10 D6, sequences 5 and 3, seqRope 5, mostly ones."""
    one = np.ones
    attrs = {"norm_type": 2, "norm_added_type": 2, "rope_type": 1, "concat_order": 0}
    for dtype in DTYPES:
        inputs = {"grad_query_output": one((1, 10, 8, 6)), "grad_key_output": one((1, 10, 8, 6)),
                  "grad_value_output": one((1, 10, 8, 6)), "query": one((1, 5, 10, 6)), "key": one((1, 5, 10, 6)),
                  "encoder_query": one((1, 3, 10, 6)), "encoder_key": one((1, 3, 10, 6)),
                  "rope_sin": one((5, 6)), "rope_cos": one((5, 6))}
        for prefix, length, mean in (("norm_query", 5, 0), ("norm_key", 5, 0), ("norm_added_query", 3, 1),
                                     ("norm_added_key", 3, 0)):
            inputs[prefix + "_weight"] = one(6)
            inputs[prefix + "_mean"] = one((1, length, 10, 1)) * mean
            inputs[prefix + "_rstd"] = one((1, length, 10, 1))
        got, _ = run(OP, inputs, attrs, dtype=dtype)
        got = {k: to_float(v) for k, v in got.items()}
        assert (got["grad_query"] == np.array([0, -2, 0, -2, 0, -2])).all()
        assert (got["grad_value"] == 1).all() and (got["grad_encoder_value"] == 1).all()
        for name in ("weight", "bias"):
            assert (got[f"grad_norm_query_{name}"] == [100, 0, 100, 0, 100, 0]).all()
        assert (got["grad_norm_added_query_weight"] == 0).all()
        assert (got["grad_norm_added_key_weight"] == 30).all()


def test_not_participating():
    """NaN beyond seqRope must not spread, nor NaN in the gradient of one line to another."""
    rng = np.random.default_rng(SEED + 4)
    attrs = {"norm_type": 1, "rope_type": 2}
    inputs = problem(rng, "fp32", attrs, seq=None, sek=None, rows=3)
    inputs["grad_query_output"][0, 0, 4] = np.nan
    inputs["grad_query_output"][1, 2, 1, 5] = np.inf
    got, _ = run(OP, inputs, attrs)
    nan = np.isnan(got["grad_query"])
    assert nan[0, 4, 0].all() and nan[1, 1, 2].any()
    nan[0, 4, 0] = nan[1, 1, 2] = False
    assert not nan.any() and not np.isnan(got["grad_key"]).any()


def test_empty_and_zero_length():
    """A zero-length encoder is an absent one; nothing to do still leaves zeros in the weight gradients."""
    rng = np.random.default_rng(SEED + 5)
    attrs = {"norm_type": 2, "norm_added_type": 2, "rope_type": 1}
    inputs = problem(rng, "fp16", attrs, seq=None, sek=None, rows=4)
    absent, _ = check(inputs, attrs, "fp16", "absent")
    inputs["encoder_query"] = np.zeros((2, 0, 3, 16), np.float16)
    inputs["encoder_key"] = np.zeros((2, 0, 3, 16), np.float16)
    empty, _ = run(OP, inputs, attrs)
    for name in absent:
        assert absent[name].tobytes() == empty[name].tobytes(), name
    for shape in (dict(b=0), dict(n=0), dict(sq=0, sk=0, seq=0, sek=0)):
        got, _ = run(OP, problem(rng, "bf16", attrs, **{**shape, "rows": 0 if "sq" in shape else 3}), attrs)
        for name, array in got.items():
            assert array.size == (16 if "norm" in name else 0) and not array.any(), (shape, name)


def test_unused_inputs():
    """sin and cos with rope_type 0, norm tensors with type 0: given or not, the result is the same."""
    rng = np.random.default_rng(SEED + 6)
    given = problem(rng, "bf16", {"norm_type": 2, "norm_added_type": 2}, rows=5)
    bare = {k: v for k, v in given.items() if "norm" not in k and "rope" not in k}
    a, b = run(OP, given, {})[0], run(OP, bare, {})[0]
    assert all(a[k].tobytes() == b[k].tobytes() for k in a)


def test_refusals():
    rng = np.random.default_rng(SEED + 7)
    attrs = {"norm_type": 2, "norm_added_type": 2, "rope_type": 2, "concat_order": 0}
    good = problem(rng, "fp16", attrs)
    run(OP, good, attrs)

    def refused(words, change=None, drop=(), **other):
        inputs = {k: v for k, v in good.items() if k not in drop}
        inputs.update(change or {})
        try:
            run(OP, inputs, {**attrs, **other})
        except Refused as e:
            assert words in str(e), f"'{e}' does not say '{words}'"
            return
        raise AssertionError(f"not refused: {words}")

    for name in good:
        if name.startswith(("norm_", "rope_")):
            refused(name, drop=(name,))
    refused("norm_type is 10, but must be 0 to 9", norm_type=10)
    refused("grad_layout is 2, but must be 0 to 1", grad_layout=2)
    refused("norm_query_mean has shape [2,5,3,1], but must be [2,5,1,1]", norm_type=6)
    refused("norm_type 4 needs norm_query_weight", drop=("norm_query_weight",), norm_type=4)
    refused("norm_added_type 3 needs norm_added_key_rstd", drop=("norm_added_key_rstd",), norm_added_type=3)
    refused("norm_added_type", norm_added_type=-1)
    refused("rope_type", rope_type=3)
    refused("concat_order", concat_order=2)
    half = np.float16
    refused("grad_query_output", {"grad_query_output": np.zeros((2, 3, 8, 16), half)})
    refused("grad_query_output", drop=("encoder_query",))
    refused("grad_value_output", {"grad_value_output": np.zeros((2, 3, 9, 16), half)})
    refused("norm_query_mean", {"norm_query_mean": np.zeros((2, 4, 3, 1), np.float32)})
    refused("norm_query_mean", {"norm_query_mean": good["norm_query_mean"].astype(half)})
    refused("norm_key_weight", {"norm_key_weight": np.zeros(15, half)})
    refused("rope_cos", {"rope_cos": np.zeros((5, 16), half)})
    refused("rows", {"rope_cos": np.zeros((10, 16), half), "rope_sin": np.zeros((10, 16), half)})
    refused("key", {"key": np.zeros((2, 7, 4, 16), half)})
    refused("dtype", {"key": np.zeros((2, 7, 3, 16), np.float32)})
    refused("4 dimensions", {"query": np.zeros((10, 3, 16), half)})


def test_wide_weights_and_tables():
    """Weights, tables or both of fp32 beside 16-bit data: nothing is rounded to 16 bits but dx."""
    rng = np.random.default_rng(SEED + 10)
    kinds = itertools.cycle(itertools.product((2, 4, 1), (4, 2, 3)))
    for (weights, tables), rope, d, dtype in itertools.product(
            (("fp32", None), (None, "fp32"), ("fp32", "fp32")), (0, 1, 2), (16, 10, 36, 40, 80, 128, 2050), ("fp16", "bf16")):
        attrs = dict(zip(("norm_type", "norm_added_type"), next(kinds)), rope_type=rope)
        inputs = problem(rng, dtype, attrs, d=d, rows=6 if rope else None, weights=weights, tables=tables)
        what = f"D {d} rope {rope} {attrs} {dtype}, weights {weights}, tables {tables}"
        got, _ = check(inputs, attrs, dtype, what, weights=weights)
        wide = any(name.endswith("_weight") and weights for name in inputs)
        assert got["grad_norm_query_bias"].dtype == (np.float32 if wide else got["grad_query"].dtype), what


def test_rms_reads_no_mean():
    """For RMSNorm a mean is not looked at: absent, or NaN of another shape, the bits are the same."""
    rng = np.random.default_rng(SEED + 9)
    for kinds in ((3, 4), (4, 3), (2, 4)):
        attrs = dict(zip(("norm_type", "norm_added_type"), kinds), rope_type=2)
        bare = problem(rng, "bf16", attrs)
        given = dict(bare)
        for name, kind in zip(("query", "key", "added_query", "added_key"), (kinds[0],) * 2 + (kinds[1],) * 2):
            if kind > 2:
                given[f"norm_{name}_mean"] = np.full((3, 1), np.nan, np.float32)
        a, b = run(OP, given, attrs)[0], run(OP, bare, attrs)[0]
        assert all(a[k].tobytes() == b[k].tobytes() for k in a), kinds


def test_infer():
    shapes = {"grad_query_output": (2, 3, -1, 16), "grad_key_output": (-2,), "grad_value_output": (2, 3, -1, 16),
              "query": (2, -1, 3, 16), "key": (-2,), "encoder_query": (2, 4, 3, -1)}
    got = infer(OP, shapes, {"norm_type": 2}, "bf16")
    assert got["grad_query"] == ("bf16", (2, -1, 3, 16)) and got["grad_key"] == ("bf16", (-2,))
    assert got["grad_value"] == ("bf16", (-2,)) and got["grad_encoder_query"] == ("bf16", (2, 4, 3, -1))
    assert got["grad_encoder_key"] == ("bf16", (0,)) and got["grad_norm_key_bias"] == ("bf16", (16,))
    assert got["grad_norm_added_key_bias"] == ("bf16", (0,))
    rms = infer(OP, shapes, {"norm_type": 3, "norm_added_type": 4}, "bf16")
    assert rms["grad_norm_query_weight"] == ("bf16", (0,)) and rms["grad_norm_query_bias"] == ("bf16", (0,))
    assert rms["grad_norm_added_key_weight"] == ("bf16", (16,)) and rms["grad_norm_added_key_bias"] == ("bf16", (0,))
    unknown = {k: (-2,) for k in shapes}
    assert infer(OP, unknown, {"norm_added_type": 2})["grad_norm_added_query_weight"] == ("fp32", (-1,))


def shapes_of(b, n, d, sq, sk, seq, sek, rows, *kinds):
    shapes = {"grad_query_output": (b, n, sq + seq, d), "grad_key_output": (b, n, sk + sek, d),
              "grad_value_output": (b, n, sk + sek, d), "rope_sin": (rows, d), "rope_cos": (rows, d)}
    for (prefix, x, _, _), s in zip(STREAMS.values(), (sq, seq, sk, sek)):
        shapes[x] = (b, s, n, d)
        across = "added" in prefix and kinds[1:] and kinds[1] in ACROSS or "added" not in prefix and kinds and kinds[0] in ACROSS
        shapes[prefix + "_mean"] = shapes[prefix + "_rstd"] = (b, s, 1 if across else n, 1)
        shapes[prefix + "_weight"] = (n * d if across else d,)
    return shapes


def test_small_call():
    """The public unit test's shape; the public kernel takes 35 times the data sheet's time there."""
    report = perf(OP, shapes_of(2, 32, 64, 4, 8, 16, 32, 8),
                  {"norm_type": 2, "norm_added_type": 2, "rope_type": 1}, "bf16")
    assert report["ratio"] <= 3.5 and report["ratio_l2"] <= 12, (report["ratio"], report["ratio_l2"])


def test_tiling_is_bounded():
    """Whatever the shape, the plan fits the smallest UB and needs no more cores than there are."""
    rng = np.random.default_rng(SEED + 8)
    for _ in range(300):
        n, d = int(rng.integers(1, 200)), int(2 * rng.integers(1, 4000) if rng.random() < 0.3 else
                                              2 * rng.integers(1, 200))
        s = [int(v) for v in rng.integers(1, 3000, 4)]
        attrs = dict(zip(("norm_type", "norm_added_type", "rope_type"), map(int, rng.integers(0, (10, 10, 3)))))
        shapes = shapes_of(int(rng.integers(1, 9)), n, d, *s, 1, attrs["norm_type"], attrs["norm_added_type"])
        for dtype in DTYPES:
            plan = tile(OP, shapes, attrs, dtype, soc="ascend910b4")
            assert 1 <= plan["block_dim"] <= 40
            assert tile(OP, shapes, attrs, dtype, cores=3)["block_dim"] <= 3


def main():
    torch.set_num_threads(1)
    return run_tests(globals(), f"seed {SEED}")


if __name__ == "__main__":
    sys.exit(main())

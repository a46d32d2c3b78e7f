# SPDX-License-Identifier: Apache-2.0
"""The shapes that are measured: one list for the cycle model, one for this CPU, and the plain forward of each operator."""
import torch

BIG = (2, 4096, 32, 128)
ROW = (1, 4096, 1, 128)


def rotary(dy, cos, mode=0, x=True, op="RotaryPositionEmbeddingGrad"):
    shapes = {"dy": dy, "cos": cos, "sin": cos}
    if x:
        shapes["x"] = dy
    return op, shapes, {"mode": mode}


def rope(hidden, k_hidden, lengths, head=128):
    tokens = sum(lengths)
    table = (max(lengths), head)
    return "RopeGrad", {"q": (tokens, hidden), "k": (tokens, k_hidden), "cos": table, "sin": table}, {"qSeqLen": lengths}


def norm_rope_concat(b, n, d, sq, sk, seq, sek, rope_rows, attrs):
    norm, added, rope_type, order = attrs
    shapes = {"grad_query_output": (b, n, sq + seq, d), "grad_key_output": (b, n, sk + sek, d),
              "grad_value_output": (b, n, sk + sek, d), "query": (b, sq, n, d), "key": (b, sk, n, d),
              "encoder_query": (b, seq, n, d), "encoder_key": (b, sek, n, d),
              "norm_query_weight": (d,), "norm_key_weight": (d,),
              "norm_added_query_weight": (d,), "norm_added_key_weight": (d,),
              "rope_sin": (rope_rows, d), "rope_cos": (rope_rows, d)}
    for name, rows in (("query", sq), ("key", sk), ("added_query", seq), ("added_key", sek)):
        for what in ("mean", "rstd"):
            shapes[f"norm_{name}_{what}"] = (b, rows, n, 1)
    return "NormRopeConcatGrad", shapes, {"norm_type": norm, "norm_added_type": added,
                                          "rope_type": rope_type, "concat_order": order}


def exp_segsum(*shape):
    return "ExpSegsumGrad", {"grad_output": shape, "grad_self": shape}, {}


LENGTHS = [1, 137, 274, 410, 547, 683, 820, 956, 1093, 1230, 1366, 1503, 1639, 1776, 1912, 2048]

# title, dtype, call, the limits of time / copy in memory with no scalar time and of time / L2 rate; in the model of 2.0.0,
# against the data sheet's bandwidth and with no scalar time: what this package took and what the public kernel takes (None:
# not known)
MODEL = [
    ("half, with x", "bf16", rotary(BIG, ROW), 1.02, 3.00, 1.02, 1.27),
    ("half, with x", "fp32", rotary(BIG, ROW), 1.02, 1.05, 1.01, 1.09),
    ("interleave, with x", "bf16", rotary(BIG, ROW, 1), 1.09, 3.50, 1.03, 4.49),
    ("interleave, with x", "fp32", rotary(BIG, ROW, 1), 1.02, 1.10, 1.02, 2.08),
    ("quarter, with x", "bf16", rotary(BIG, ROW, 2), 1.13, 3.20, 1.02, None),
    ("quarter, with x", "fp32", rotary(BIG, ROW, 2), 1.02, 1.05, 1.01, None),
    ("interleave-half, with x", "bf16", rotary(BIG, ROW, 3), 1.13, 3.75, 1.10, None),
    ("interleave-half, with x", "fp32", rotary(BIG, ROW, 3), 1.02, 1.20, 1.02, None),
    ("half, no x", "bf16", rotary(BIG, ROW, 0, False), 1.04, 1.65, 1.01, 1.64),
    ("half, no x", "fp32", rotary(BIG, ROW, 0, False), 1.03, 1.10, 1.01, 1.24),
    ("half [2,8192,5,128]", "bf16", rotary((2, 8192, 5, 128), (1, 8192, 1, 128)), 1.04, 3.00, 1.04, None),
    ("half [2,8192,5,128]", "fp32", rotary((2, 8192, 5, 128), (1, 8192, 1, 128)), 1.02, 1.25, 1.01, None),
    ("half [2048,4,32,64]", "bf16", rotary((2048, 4, 32, 64), (2048, 4, 1, 64)), 1.02, 3.30, 1.02, None),
    ("half [2048,4,32,64]", "fp32", rotary((2048, 4, 32, 64), (2048, 4, 1, 64)), 1.01, 1.35, 1.01, None),
    ("half [2,32,4096,128]", "bf16", rotary((2, 32, 4096, 128), (1, 1, 4096, 128)), 1.02, 2.95, 1.02, None),
    ("half [2,32,4096,128]", "fp32", rotary((2, 32, 4096, 128), (1, 1, 4096, 128)), 1.02, 1.05, 1.01, None),
    ("half [8192,32,128]", "bf16", rotary((8192, 32, 128), (8192, 1, 128)), 1.02, 2.95, 1.02, None),
    ("half [8192,32,128]", "fp32", rotary((8192, 32, 128), (8192, 1, 128)), 1.01, 1.05, 1.01, None),
    ("half [1,1024,8,128]", "bf16", rotary((1, 1024, 8, 128), (1, 1024, 1, 128)), 1.13, 3.45, 1.15, 1.35),
    ("half [1,1024,8,128]", "fp32", rotary((1, 1024, 8, 128), (1, 1024, 1, 128)), 1.04, 1.55, 1.03, 1.10),
    ("half [2,1024,16,80]", "bf16", rotary((2, 1024, 16, 80), (1, 1024, 1, 80)), 1.22, 4.25, 1.26, 2.19),
    ("half [2,1024,16,80]", "fp32", rotary((2, 1024, 16, 80), (1, 1024, 1, 80)), 1.03, 1.85, 1.03, 1.19),
    ("half [1,96,32,128]", "bf16", rotary((1, 96, 32, 128), (1, 96, 1, 128)), 1.62, 5.50, 1.70, 5.0),
    ("half [1,96,32,128]", "fp32", rotary((1, 96, 32, 128), (1, 96, 1, 128)), 1.30, 2.40, 1.15, 3.7),
    ("half [4,4096,16,128]/[1,1,1,128]", "bf16", rotary((4, 4096, 16, 128), (1, 1, 1, 128)), 1.13, 3.00, 1.04, None),
    ("half [4,4096,16,128]/[1,1,1,128]", "fp32", rotary((4, 4096, 16, 128), (1, 1, 1, 128)), 1.13, 1.10, 1.02, None),
    ("16 sequences, hidden 4096", "fp16", rope(4096, 4096, LENGTHS), 1.03, 1.05, 1.00, 1.82),
    ("16 sequences, hidden 1280", "fp16", rope(1280, 1280, LENGTHS), 1.03, 1.10, 1.00, 3.18),
    ("N24 D128 S4096+512, half", "bf16", norm_rope_concat(1, 24, 128, 4096, 4096, 512, 512, 4608, (2, 2, 2, 0)), 1.09, 3.45, 1.06, 9.5),
    ("N24 D128 S4096+512, interleave", "bf16", norm_rope_concat(1, 24, 128, 4096, 4096, 512, 512, 4608, (2, 2, 1, 0)), 1.09, 4.00, 1.15, None),
    ("B2 N32 D64 S4..32, interleave", "bf16", norm_rope_concat(2, 32, 64, 4, 8, 16, 32, 8, (2, 2, 1, 0)), 6.48, 11.15, 3.48, 35.5),
    ("[1,16,16,256,256]", "bf16", exp_segsum(1, 16, 16, 256, 256), 1.22, 4.15, 1.30, 6.8),
    ("[16,16,512,512]", "bf16", exp_segsum(16, 16, 512, 512), 1.22, 3.00, 1.22, None),
    ("[64,16,128,128]", "bf16", exp_segsum(64, 16, 128, 128), 1.46, 5.00, 1.50, None),
    ("[64,16,64,64]", "bf16", exp_segsum(64, 16, 64, 64), 2.43, 6.50, 2.26, 19.4),
    ("[1,1,1024,1024]", "fp32", exp_segsum(1, 1, 1024, 1024), 4.86, 5.70, 2.45, 58.0),
    ("[4,32,16,16,16]", "fp32", exp_segsum(4, 32, 16, 16, 16), 6.48, 4.85, 2.52, 28.0),
]

def _heads(d):
    return rotary((1, 4096, 32, d), (1, 4096, 1, d))


def _exact(heads, d):
    op, shapes, attrs = rope(heads * d, heads * d, [512] * 4, d)
    return op, shapes, {**attrs, "exact_grad": True}


# With scalar time: title, dtype, call, the limit with its calibrated cost, and with one cycle per instruction: a number, or
# "x 1.35" of the calibrated time.
SCALAR = [
    ("half [2,4096,32,128]", "bf16", rotary(BIG, ROW), 1.03, 1.04),
    ("half [2,8192,5,128]", "bf16", rotary((2, 8192, 5, 128), (1, 8192, 1, 128)), 1.04, 1.10),
    ("half [1,1024,8,128]", "bf16", rotary((1, 1024, 8, 128), (1, 1024, 1, 128)), 1.15, 1.30),
    ("half [2,4096,32,128]", "fp32", rotary(BIG, ROW), 1.02, 1.03),
    ("half [2,8192,5,128]", "fp32", rotary((2, 8192, 5, 128), (1, 8192, 1, 128)), 1.02, 1.03),
    ("half [1,1024,8,128]", "fp32", rotary((1, 1024, 8, 128), (1, 1024, 1, 128)), 1.05, 1.08),
    ("interleave [2,4096,32,128]", "bf16", rotary(BIG, ROW, 1), 1.03, 1.06),
    ("quarter [2,4096,32,128]", "bf16", rotary(BIG, ROW, 2), 1.03, 1.06),
    ("interleave-half [2,4096,32,128]", "bf16", rotary(BIG, ROW, 3), 1.03, 1.06),
    *((f"half [1,4096,32,{d}]", "bf16", _heads(d), limit, "x 1.35") for d, limit in
      ((16, 1.38), (20, 1.62), (32, 1.07), (36, 1.46), (72, 1.10), (80, 1.04), (100, 1.14))),
    *((f"exact, {heads} heads of {d}, 2048 tokens", "bf16", _exact(heads, d), limit, "x 1.35") for heads, d, limit in
      ((64, 24, 1.62), (16, 72, 1.34), (32, 100, 1.17))),
    ("N24 D128 S4096+512, half", "bf16", norm_rope_concat(1, 24, 128, 4096, 4096, 512, 512, 4608, (2, 2, 2, 0)), 1.06, 1.07),
    ("N24 D128 S4096+512, interleave", "bf16", norm_rope_concat(1, 24, 128, 4096, 4096, 512, 512, 4608, (2, 2, 1, 0)), 1.06, 1.07),
    ("N16 D72 S1024, half", "bf16", norm_rope_concat(1, 16, 72, 1024, 1024, 0, 0, 1024, (1, 0, 2, 0)), 1.30, 1.79),
    ("N16 D80 S1024, half", "bf16", norm_rope_concat(1, 16, 80, 1024, 1024, 0, 0, 1024, (1, 0, 2, 0)), 1.22, 1.79),
    ("[64,16,64,64]", "bf16", exp_segsum(64, 16, 64, 64), 1.46, "x 1.5"),
    ("[64,16,128,128]", "bf16", exp_segsum(64, 16, 128, 128), 1.14, "x 1.5"),
    ("[1,16,16,256,256]", "bf16", exp_segsum(1, 16, 16, 256, 256), 1.12, "x 1.5"),
]

# title, call; each is measured in three dtypes. RopeGrad has fewer heads in k, as in grouped attention.
CPU = [
    ("rotary half [2,4096,32,128]", rotary(BIG, ROW)),
    ("rotary interleave [2,4096,32,128]", rotary(BIG, ROW, 1)),
    ("rope exact, 16 sequences, hidden 4096 and 1024", rope(4096, 1024, LENGTHS)),
    ("norm rope concat N24 D128 S4096+512", norm_rope_concat(1, 24, 128, 4096, 4096, 512, 512, 4608, (2, 2, 2, 0))),
    ("exp segsum [1,16,16,256,256]", exp_segsum(1, 16, 16, 256, 256)),
]
CPU[2][1][2]["exact_grad"] = True


def _half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def _interleave(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)


def forward(op, t, attrs):
    """The plain forward: returns (outputs, their gradients, what to differentiate by)."""
    if op == "RotaryPositionEmbeddingGrad":
        turn = _interleave if attrs["mode"] == 1 else _half
        y = t["x"] * t["cos"] + turn(t["x"]) * t["sin"]
        return [y], [t["dy"]], [t["x"], t["cos"], t["sin"]]
    if op == "RopeGrad":
        position = torch.cat([torch.arange(n) for n in attrs["qSeqLen"]])
        cos, sin = t["cos"].detach()[position].unsqueeze(1), t["sin"].detach()[position].unsqueeze(1)
        ys = []
        for name in "qk":
            x = t[name].view(t[name].shape[0], -1, cos.shape[-1])
            ys.append((x * cos + _half(x) * sin).flatten(1))
        return ys, [torch.ones_like(y) for y in ys], [t["q"], t["k"]]
    if op == "NormRopeConcatGrad":
        turn = _interleave if attrs["rope_type"] == 1 else _half
        ys, wrt = [], []
        for name in ("query", "key"):
            parts = []
            for x, weight in ((t[name], t[f"norm_{name}_weight"]), (t[f"encoder_{name}"], t[f"norm_added_{name}_weight"])):
                bias = torch.zeros_like(weight, requires_grad=True)
                parts.append(torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias))
                wrt += [x, weight, bias]
            y = torch.cat(parts, 1).transpose(1, 2)
            ys.append(y * t["rope_cos"].detach() + turn(y) * t["rope_sin"].detach())
        values = [t[name].detach().clone().requires_grad_() for name in ("key", "encoder_key")]
        ys.append(torch.cat(values, 1).transpose(1, 2).contiguous())
        return ys, [t["grad_query_output"], t["grad_key_output"], t["grad_value_output"]], wrt + values
    length = t["grad_output"].shape[-1]
    x = torch.randn(t["grad_output"].shape[:-1], dtype=t["grad_output"].dtype).mul_(0.01).requires_grad_()
    lower = torch.ones(length, length, dtype=torch.bool).tril()
    strict = lower.tril(-1)
    repeated = x.unsqueeze(-1).expand(*x.shape, length).masked_fill(~strict, 0)
    y = torch.cumsum(repeated, -2).masked_fill(~lower, float("-inf")).exp()
    return [y], [t["grad_output"]], [x]

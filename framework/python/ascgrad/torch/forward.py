# SPDX-License-Identifier: Apache-2.0
"""The forward of each operator in plain PyTorch: fp16 and bf16 are widened to fp32 and rounded once at the end."""
import torch

WEIGHTED = (2, 4)  # norm types with a weight: layer norm with weight and bias, RMSNorm with weight


def permuted(x, mode):
    """P(x) of y = P(x) * cos + R(x) * sin."""
    return torch.cat((x[..., 0::2], x[..., 1::2]), -1) if mode == 3 else x


def _partners(size, mode):
    """The slices (first, second) of a row with R(x)[first] = -x[second] and R(x)[second] = x[first]."""
    if mode == 1:
        return ((slice(0, None, 2), slice(1, None, 2)),)
    part = size // 4 if mode == 2 else size // 2
    return tuple((slice(at, at + part), slice(at + part, at + 2 * part)) for at in range(0, size, 2 * part))


def widen(x):
    return x.float() if x is not None and x.dtype in (torch.float16, torch.bfloat16) else x


def rotary(x, cos, sin, mode=0):
    """The first elements of a row are rotated, as many as cos has; the others stay. What is checked here is what a compiled
    forward could not know otherwise."""
    size, multiple = cos.shape[-1], 4 if mode == 2 else 2
    if size % multiple:  # as an operation, whose error Dynamo passes on with its text
        torch.ops.ascgrad.refuse(f"the last dimension of cos must be a multiple of {multiple}, got {size}")
    wide, tail = permuted(widen(x[..., :cos.shape[-1]]), mode), x[..., cos.shape[-1]:]
    sin, y = widen(sin), wide * widen(cos)
    for first, second in _partners(cos.shape[-1], mode):  # in place: R(x) is never made; each product is rounded, as usual
        y[..., first].sub_(wide[..., second] * sin[..., first])
        y[..., second].add_(wide[..., first] * sin[..., second])
    return torch.cat((y.to(x.dtype), tail), -1) if tail.shape[-1] else y.to(x.dtype)


def rope(x, cos, sin, lengths, head_size=0):
    """x: [tokens, heads * D]; the position restarts at 0 in every sequence. D is head_size, or the columns of cos: the
    first, as many as cos has, are rotated."""
    rows = torch.cat([torch.arange(n, device=x.device) for n in (*lengths, 0)])
    size = head_size or cos.shape[1]
    heads = x.reshape(x.shape[0], x.shape[1] // size, size)
    turned = rotary(heads[..., :cos.shape[1]], cos[rows].unsqueeze(1), sin[rows].unsqueeze(1))
    return torch.cat((turned, heads[..., cos.shape[1]:]), -1).reshape(x.shape)


def normalised(x, kind, weight, bias, eps):
    """-> normalised x in fp32, mean, rstd ([B,S,N,1], fp32; None where the norm has none)."""
    wide = widen(x)
    if kind == 0:
        return wide, None, None
    mean = wide.mean(-1, keepdim=True) if kind in (1, 2) else None
    centred = wide if mean is None else wide - mean
    rstd = torch.rsqrt((centred ** 2).mean(-1, keepdim=True) + eps)
    y = centred * rstd
    if kind in WEIGHTED:
        y = y * widen(weight)
    return y + widen(bias) if kind == 2 else y, mean, rstd


def joined(main, encoder, order):
    """Concatenate along S, then BSND -> BNSD."""
    parts = [p for p in ((main, encoder) if order == 0 else (encoder, main)) if p is not None]
    return torch.cat(parts, 1).transpose(1, 2)


def with_rope(x, sin, cos, kind):
    """Rotate the first rows of [B,N,S,D], as many as the tables have."""
    if kind == 0:
        return x
    rows, mode = cos.shape[0], 2 - kind
    return torch.cat((rotary(x[:, :, :rows], cos, sin, mode), x[:, :, rows:]), 2)


def exp_segsum(x):
    """y[i, j] = exp(x[j+1] + ... + x[i]) for i >= j, else 0."""
    wide = widen(x)
    length = x.shape[-1]
    rows = wide.unsqueeze(-1).expand(*x.shape, length)
    strict = torch.ones(length, length, dtype=torch.bool, device=x.device).tril(-1)
    sums = rows.masked_fill(~strict, 0).cumsum(-2)
    return torch.exp(sums).tril().to(x.dtype)

# SPDX-License-Identifier: Apache-2.0
"""The forward of each operator in plain PyTorch: fp16 and bf16 are widened to fp32 and rounded once at the end."""
import torch

WEIGHTED = (2, 4)  # norm types with a weight: layer norm with weight and bias, RMSNorm with weight


def permuted(x, mode):
    """P(x) of y = P(x) * cos + R(x) * sin."""
    return torch.cat((x[..., 0::2], x[..., 1::2]), -1) if mode == 3 else x


def rotated(x, mode):
    """R(x): half [-x2, x1]; interleave (-x1, x0) by pairs; quarter [-x2, x1, -x4, x3]; interleave-half on P(x)."""
    if mode == 1:
        return torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2)
    if mode == 2:
        a, b, c, d = x.chunk(4, -1)
        return torch.cat((-b, a, -d, c), -1)
    a, b = permuted(x, mode).chunk(2, -1)
    return torch.cat((-b, a), -1)


def widen(x):
    return x.float() if x is not None and x.dtype in (torch.float16, torch.bfloat16) else x


def rotary(x, cos, sin, mode=0):
    """The first elements of a row are rotated, as many as cos has; the others stay. What is checked here is what a compiled
    forward could not know otherwise."""
    if cos.shape[-1] % (4 if mode == 2 else 2):
        raise RuntimeError(f"the last dimension of cos must be a multiple of {4 if mode == 2 else 2}, got {cos.shape[-1]}")
    wide, tail = widen(x[..., :cos.shape[-1]]), x[..., cos.shape[-1]:]
    y = permuted(wide, mode) * widen(cos) + rotated(wide, mode) * widen(sin)
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

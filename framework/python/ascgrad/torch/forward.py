# SPDX-License-Identifier: Apache-2.0
"""The forward of each operator in plain PyTorch: fp16 and bf16 are widened to fp32 and rounded once at the end."""
import torch

from ascgrad._names import ACROSS, BIASED, CENTRED, L2, WEIGHTED

BAND = 131072  # elements of x that are in fp32 at a time on a CPU: they stay in its cache
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)


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


def rotary(x, cos, sin, mode=0, start=0):
    """The elements of a row from `start` on are rotated, as many as cos has; the others stay. What is checked here is what a
    compiled forward could not know otherwise."""
    size, multiple = cos.shape[-1], 4 if mode == 2 else 2
    if size % multiple:  # as an operation, whose error Dynamo passes on with its text
        torch.ops.ascgrad.refuse(f"the last dimension of cos must be a multiple of {multiple}, got {size}")
    return (_in_bands if _has_bands(x, cos, sin) else _turned)(x, cos, sin, mode, start)


def _turned(x, cos, sin, mode, start=0):
    end = start + cos.shape[-1]
    wide = permuted(widen(x[..., start:end]), mode)
    sin, y = widen(sin), wide * widen(cos)
    for first, second in _partners(cos.shape[-1], mode):  # in place: R(x) is never made; each product is rounded, as usual
        y[..., first].sub_(wide[..., second] * sin[..., first])
        y[..., second].add_(wide[..., first] * sin[..., second])
    y = y.to(x.dtype)
    return y if end - start == x.shape[-1] else torch.cat((x[..., :start], y, x[..., end:]), -1)


def _has_bands(x, cos, sin):
    """Large 16-bit tensors on a CPU, where nobody looks on: neither autograd nor a compiler, which would see every band."""
    return (x.dtype in (torch.float16, torch.bfloat16) and x.device.type == "cpu" and not _is_compiling()
            and type(x) in (torch.Tensor, torch.nn.Parameter) and x.dim() > 1 and x.numel() > BAND
            and not (torch.is_grad_enabled() and any(t.requires_grad for t in (x, cos, sin))))


def _in_bands(x, cos, sin, mode, start):
    """The same bits, a band along the longest axis at a time: in fp32 all at once they would leave the cache, three times."""
    axis = max(range(-x.dim(), -1), key=lambda a: x.shape[a])
    rows, out = max(1, BAND * x.shape[axis] // x.numel()), torch.empty(x.shape, dtype=x.dtype)
    whole = [t.dim() < -axis or t.shape[axis] == 1 for t in (cos, sin)]
    cos, sin = (widen(t) if same else t for t, same in zip((cos, sin), whole))
    for first in range(0, x.shape[axis], rows):
        count = min(rows, x.shape[axis] - first)
        tables = (t if same else t.narrow(axis, first, count) for t, same in zip((cos, sin), whole))
        out.narrow(axis, first, count).copy_(_turned(x.narrow(axis, first, count), *tables, mode, start))
    return out


def rope(x, cos, sin, lengths, head_size=0, slice_start=0, start_positions=()):
    """x: [tokens, heads * D]; every sequence begins at its start position, or at 0. D is head_size, or the columns of cos:
    those from slice_start on are rotated, as many as cos has."""
    starts = start_positions or (0,) * len(lengths)
    rows = torch.cat([torch.arange(first, first + n, device=x.device) for first, n in (*zip(starts, lengths), (0, 0))])
    size = head_size or cos.shape[1]
    heads = x.reshape(x.shape[0], x.shape[1] // size, size)
    return rotary(heads, cos[rows].unsqueeze(1), sin[rows].unsqueeze(1), 0, slice_start).reshape(x.shape)


def statistics(x, kind, eps):
    """-> mean, rstd of a norm over D, or over N and D ([B,S,N,1] or [B,S,1,1], fp32; None where the norm has none)."""
    if kind == 0:
        return None, None
    wide, axes = widen(x), (-2, -1) if kind in ACROSS else (-1,)
    mean = wide.mean(axes, keepdim=True) if kind in CENTRED else None
    squares = (wide if mean is None else wide - mean) ** 2
    return mean, torch.rsqrt((squares.sum(axes, keepdim=True) if kind == L2 else squares.mean(axes, keepdim=True)) + eps)


def normalised(x, kind, weight, bias, eps):
    """-> normalised x in fp32, mean, rstd."""
    mean, rstd = statistics(x, kind, eps)
    y = widen(x)
    if kind == 0:
        return y, mean, rstd
    y = (y if mean is None else y - mean) * rstd
    columns = x.shape[-2:] if kind in ACROSS else x.shape[-1:]
    if kind in WEIGHTED:
        y = y * widen(weight).reshape(columns)
    return y + widen(bias).reshape(columns) if kind in BIASED else y, mean, rstd


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

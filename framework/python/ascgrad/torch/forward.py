# SPDX-License-Identifier: Apache-2.0
"""The forward of each operator in plain PyTorch: fp16 and bf16 are widened to fp32 and rounded once at the end."""
import torch

BAND = 131072  # elements of x that are in fp32 at a time on a CPU: they stay in its cache
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
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
    return _in_bands(x, cos, sin, mode) if _has_bands(x, cos, sin) else _turned(x, cos, sin, mode)


def _turned(x, cos, sin, mode):
    wide, tail = permuted(widen(x[..., :cos.shape[-1]]), mode), x[..., cos.shape[-1]:]
    sin, y = widen(sin), wide * widen(cos)
    for first, second in _partners(cos.shape[-1], mode):  # in place: R(x) is never made; each product is rounded, as usual
        y[..., first].sub_(wide[..., second] * sin[..., first])
        y[..., second].add_(wide[..., first] * sin[..., second])
    return torch.cat((y.to(x.dtype), tail), -1) if tail.shape[-1] else y.to(x.dtype)


def _has_bands(x, cos, sin):
    """Large 16-bit tensors on a CPU, where nobody looks on: neither autograd nor a compiler, which would see every band."""
    return (x.dtype in (torch.float16, torch.bfloat16) and x.device.type == "cpu" and not _is_compiling()
            and type(x) in (torch.Tensor, torch.nn.Parameter) and x.dim() > 1 and x.numel() > BAND
            and not (torch.is_grad_enabled() and any(t.requires_grad for t in (x, cos, sin))))


def _in_bands(x, cos, sin, mode):
    """The same bits, a band along the longest axis at a time: in fp32 all at once they would leave the cache, three times."""
    axis = max(range(-x.dim(), -1), key=lambda a: x.shape[a])
    rows, out = max(1, BAND * x.shape[axis] // x.numel()), torch.empty(x.shape, dtype=x.dtype)
    whole = [t.dim() < -axis or t.shape[axis] == 1 for t in (cos, sin)]
    cos, sin = (widen(t) if same else t for t, same in zip((cos, sin), whole))
    for first in range(0, x.shape[axis], rows):
        count = min(rows, x.shape[axis] - first)
        tables = (t if same else t.narrow(axis, first, count) for t, same in zip((cos, sin), whole))
        out.narrow(axis, first, count).copy_(_turned(x.narrow(axis, first, count), *tables, mode))
    return out


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

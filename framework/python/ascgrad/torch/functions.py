# SPDX-License-Identifier: Apache-2.0
"""Differentiable functions: the forward in plain PyTorch, the backward by the ascgrad operator.

Only what is needed is computed and kept: x is saved only if cos or sin want a gradient. Tables of rope and
norm_rope_concat get none (the operators have no such output), and asking for one is an error. Tables, weights and
biases are cast to the dtype of x, and their gradients back; where the operator takes fp32 tables or weights beside 16-bit x,
these stay as they are.
"""
from typing import Optional, Sequence, Tuple, Union

import torch
from torch.autograd.function import once_differentiable

from ascgrad import _library, _names, _shapes

from . import forward, fused, library

_grad = torch.ops.ascgrad
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)


def _given(function, **tensors):
    """TypeError or RuntimeError with one sentence unless these are tensors of the three dtypes on one device."""
    first = None
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{function}: {name} must be a torch.Tensor, got {type(tensor).__name__}")
        if tensor.dtype not in library.NAMES:
            raise RuntimeError(f"{function}: {name} must be float32, float16 or bfloat16, got {str(tensor.dtype)[6:]}")
        first = first or (name, tensor.device)
        if tensor.device != first[1]:
            raise RuntimeError(f"{function}: {name} is on {tensor.device}, {first[0]} on {first[1]}")


def _check(function, op, tensors, attrs, words):
    """RuntimeError with the operator's sentence, in the caller's words, before the forward runs. Under torch.compile the
    Meta kernel of the operator refuses, when the backward is traced; Dynamo cannot look into libascgrad."""
    if not _is_compiling():
        try:
            _shapes.outputs(op, {name: (library.NAMES[t.dtype], list(t.shape)) for name, t in tensors.items()}, attrs)
        except ValueError as refusal:
            raise RuntimeError(_names.retold(function, str(refusal), words)) from None


def _distinct(*tensors):
    """The same tensors, none of them twice: Dynamo of PyTorch 2.14 refuses that in an autograd.Function."""
    found = []
    for t in tensors:
        found.append(t.view_as(t) if t is not None and any(t is other for other in found) else t)
    return found if _is_compiling() else tensors


def _like(x, *tensors, wide=False):
    """Tensors in the dtype of x; wide: fp32 ones stay, if all of them are."""
    if wide and all(t is None or t.dtype == torch.float32 for t in tensors):
        return list(tensors)
    return [t if t is None else t.to(x.dtype) for t in tensors]


def _wide(op, x, table):
    """Whether the IR has a column with x in 16 bits and the table in fp32."""
    types = {name: types.split(",") for name, _, types in _library.operators()[op]["in"]}
    return ("fp16", "fp32") in zip(types[x], types[table])


_WIDE_MUL = _wide("RotaryMulGrad", "x", "r1")
_WIDE_EMBEDDING = _wide("RotaryPositionEmbeddingGrad", "dy", "cos")
_WIDE_ROPE = _wide("RopeGrad", "q", "cos")
_WIDE_CONCAT = _wide("NormRopeConcatGrad", "query", "rope_cos")
_WIDE_WEIGHT = _wide("NormRopeConcatGrad", "query", "norm_query_weight")


class _RotaryMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, r1, r2):
        _check("rotary_mul", "RotaryMulGrad", {"x": x, "r1": r1, "r2": r2, "dy": x}, {},
               {"dy": "x", "r1": "cos (r1)", "r2": "sin (r2)"})
        ctx.tables = ctx.needs_input_grad[1] or ctx.needs_input_grad[2]
        ctx.save_for_backward(r1, r2, *([x] if ctx.tables else []))
        return fused.rotary(x, r1, r2)

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        r1, r2, *x = ctx.saved_tensors
        # x is required by the IR but not read without need_backward: any tensor of its shape will do
        dx, dr1, dr2 = _grad.rotary_mul_grad(x[0] if x else dy, r1, r2, dy, ctx.tables)
        return (dx, *((dr1, dr2) if ctx.tables else (None, None)))


class _RotaryPositionEmbedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, cos, sin, mode):
        _check("rotary_position_embedding", "RotaryPositionEmbeddingGrad", {"dy": x, "cos": cos, "sin": sin}, {"mode": mode},
               {"dy": "x"})
        ctx.tables = ctx.needs_input_grad[1] or ctx.needs_input_grad[2]
        ctx.mode = mode
        ctx.save_for_backward(cos, sin, *([x] if ctx.tables else []))
        return fused.rotary(x, cos, sin, mode)

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        cos, sin, *x = ctx.saved_tensors
        dx, dcos, dsin = _grad.rotary_position_embedding_grad(dy, cos, sin, x[0] if x else None, ctx.mode)
        return (dx, *((dcos, dsin) if ctx.tables else (None, None)), None)


class _Rope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, cos, sin, lengths, exact_grad, head_size):
        _check("rope", "RopeGrad", {"q": q, "k": k, "cos": cos, "sin": sin}, {"qSeqLen": lengths, "head_size": head_size},
               {"qSeqLen": "seq_len"})
        _no_table_gradient("rope", cos, sin)
        ctx.attributes = lengths, exact_grad, head_size
        ctx.save_for_backward(cos, sin)
        return tuple(forward.rope(x, cos, sin, lengths, head_size) for x in (q, k))

    @staticmethod
    @once_differentiable
    def backward(ctx, dq, dk):
        cos, sin = ctx.saved_tensors
        return (*_grad.rope_grad(dq, dk, cos, sin, *ctx.attributes), None, None, None, None, None)


class _NormRopeConcat(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kinds, eps, sin, cos, query, key, value, enc_query, enc_key, enc_value, *affine):
        norm, added, rope, order = ctx.kinds = kinds
        _no_table_gradient("norm_rope_concat", sin, cos)
        streams = ((query, norm, 0), (key, norm, 2), (enc_query, added, 4), (enc_key, added, 6))
        normal, stats = [], []
        for x, kind, at in streams:
            y, mean, rstd = (None, None, None) if x is None else \
                forward.normalised(x, kind, affine[at], affine[at + 1], eps)
            normal.append(y)
            stats += [affine[at] if kind in forward.WEIGHTED else None, mean, rstd]
        ctx.save_for_backward(query, key, enc_query, enc_key, *stats, sin, cos)
        out_query = forward.with_rope(forward.joined(normal[0], normal[2], order), sin, cos, rope)
        out_key = forward.with_rope(forward.joined(normal[1], normal[3], order), sin, cos, rope)
        out_value = forward.joined(value, enc_value, order).contiguous()
        return out_query.to(query.dtype), out_key.to(query.dtype), out_value

    @staticmethod
    @once_differentiable
    def backward(ctx, dquery, dkey, dvalue):
        grads = _grad.norm_rope_concat_grad(dquery, dkey, dvalue, *ctx.saved_tensors, *ctx.kinds)
        # absent parts come as [0]
        grads = [g if needed else None for g, needed in zip(grads, ctx.needs_input_grad[4:])]
        return (None, None, None, None, *grads)


class _ExpSegsum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = forward.exp_segsum(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        return _grad.exp_segsum_grad(dy, *ctx.saved_tensors)


def _no_table_gradient(name, *tables):
    if any(t is not None and t.requires_grad for t in tables):
        raise RuntimeError(f"{name}: cos and sin have no gradient in this operator; pass them detached")


_CONCAT_NAMES = ("query", "key", "value", "encoder_query", "encoder_key", "encoder_value",
                 *(f"{stream}_{part}" for stream in _names.STREAMS for part in ("weight", "bias")), "rope_sin", "rope_cos")


def _check_concat(kinds, tensors):
    """RuntimeError with a sentence if the operator would refuse the backward."""
    described = {name: (library.NAMES[t.dtype], list(t.shape)) for name, t in tensors.items() if t is not None}
    names = ("norm_type", "norm_added_type", "rope_type", "concat_order")
    try:
        _shapes.outputs("NormRopeConcatGrad", _shapes.norm_rope_concat(kinds, described), dict(zip(names, kinds)))
    except ValueError as refusal:
        words = {f"grad_{name}_output": name for name in ("query", "key", "value")}
        raise RuntimeError(_names.retold("norm_rope_concat", str(refusal), words)) from None


def rotary_mul(x: torch.Tensor, r1: torch.Tensor, r2: torch.Tensor) -> torch.Tensor:
    """y = r1 * x + r2 * rotate_half(x); r1 (cos) and r2 (sin) broadcast over leading axes. Where they have fewer columns
    than x, only so many of a row are rotated."""
    _given("rotary_mul", x=x, r1=r1, r2=r2)
    return _RotaryMul.apply(*_distinct(x, *_like(x, r1, r2, wide=_WIDE_MUL)))


def rotary_position_embedding(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mode: Union[int, str] = 0) -> torch.Tensor:
    """y = P(x) * cos + R(x) * sin; mode 0..3 or "half", "interleave", "quarter", "interleave-half". Where cos and sin have
    fewer columns than x, only so many of a row are rotated."""
    _given("rotary_position_embedding", x=x, cos=cos, sin=sin)
    tensors = _distinct(x, *_like(x, cos, sin, wide=_WIDE_EMBEDDING))
    return _RotaryPositionEmbedding.apply(*tensors, _names.mode(mode))


def rope(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, seq_len: Sequence[int],
         exact_grad: bool = True, head_size: int = 0) -> Tuple[torch.Tensor, torch.Tensor]:
    """RoPE of packed sequences: q [tokens, heads * D], k [tokens, kv heads * D], cos and sin [positions, D], or with
    head_size=D fewer columns: the first of a head are rotated then.
    exact_grad=False gives the operator's default formula, which is not the gradient (docs/rope_grad.md)."""
    _given("rope", q=q, k=k, cos=cos, sin=sin)
    tensors = _distinct(q, k, *_like(q, cos, sin, wide=_WIDE_ROPE))
    return _Rope.apply(*tensors, _names.lengths("seq_len", seq_len), exact_grad, _names.whole("head_size", head_size))


def norm_rope_concat(
        query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
        encoder_query: Optional[torch.Tensor] = None, encoder_key: Optional[torch.Tensor] = None,
        encoder_value: Optional[torch.Tensor] = None, norm_query_weight: Optional[torch.Tensor] = None,
        norm_query_bias: Optional[torch.Tensor] = None, norm_key_weight: Optional[torch.Tensor] = None,
        norm_key_bias: Optional[torch.Tensor] = None, norm_added_query_weight: Optional[torch.Tensor] = None,
        norm_added_query_bias: Optional[torch.Tensor] = None, norm_added_key_weight: Optional[torch.Tensor] = None,
        norm_added_key_bias: Optional[torch.Tensor] = None, rope_sin: Optional[torch.Tensor] = None,
        rope_cos: Optional[torch.Tensor] = None,
        norm_type: int = 0, norm_added_type: int = 0, rope_type: int = 0, concat_order: int = 0,
        eps: Optional[float] = None) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """[B,S,N,D] in, [B,N,S,D] out: norm, concat with the encoder part along S, transpose, rope on the first rows.
    Types: norm 0 none, 1 layer norm, 2 with weight and bias, 3 RMSNorm, 4 with weight; rope 0 none, 1 interleave,
    2 half. eps is 1e-5. Weights and biases that the type does not have are not looked at."""
    if eps is None:  # not a default: under torch.compile(dynamic=True) that is an input, over which PyTorch 2.8 stumbles
        eps = 1e-5
    if (encoder_key is None) != (encoder_value is None):
        raise RuntimeError("norm_rope_concat: encoder_key and encoder_value come together")
    affine = (norm_query_weight, norm_query_bias, norm_key_weight, norm_key_bias, norm_added_query_weight,
              norm_added_query_bias, norm_added_key_weight, norm_added_key_bias)
    has = [kind in kinds for kind in (norm_type, norm_type, norm_added_type, norm_added_type)
           for kinds in (forward.WEIGHTED, (2,))]
    affine = [t if used else None for t, used in zip(affine, has)]
    kinds = tuple(_names.whole(name, value) for name, value in (
        ("norm_type", norm_type), ("norm_added_type", norm_added_type), ("rope_type", rope_type),
        ("concat_order", concat_order)))
    tables = (rope_sin, rope_cos) if rope_type else (None, None)
    streams = (query, key, value, encoder_query, encoder_key, encoder_value)
    present = {name: t for name, t in zip(_CONCAT_NAMES, (*streams, *affine, *tables))
               if t is not None or name in ("query", "key", "value")}
    _given("norm_rope_concat", **present)
    tables = _like(query, *tables, wide=_WIDE_CONCAT)
    affine = _like(query, *affine, wide=_WIDE_WEIGHT)
    if not _is_compiling():
        _check_concat(kinds, dict(zip(_CONCAT_NAMES, (*streams, *affine, *tables))))
    return _NormRopeConcat.apply(kinds, eps, *_distinct(*tables, *streams, *affine))


def exp_segsum(x: torch.Tensor) -> torch.Tensor:
    """x [..., T] -> y [..., T, T], y[i, j] = exp(x[j+1] + ... + x[i]) on and below the diagonal, else 0."""
    _given("exp_segsum", x=x)
    if x.dim() == 0:
        raise RuntimeError("exp_segsum: x must have at least one axis, got a scalar")
    return _ExpSegsum.apply(x)

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
    def forward(ctx, function, x, cos, sin, mode, start):
        _check(function, "RotaryPositionEmbeddingGrad", {"dy": x, "cos": cos, "sin": sin},
               {"mode": mode, "slice_start": start}, {"dy": "x", "slice_start": "start"})
        ctx.tables = ctx.needs_input_grad[2] or ctx.needs_input_grad[3]
        ctx.attributes = mode, start
        ctx.save_for_backward(cos, sin, *([x] if ctx.tables else []))
        return fused.rotary(x, cos, sin, mode, start)

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        cos, sin, *x = ctx.saved_tensors
        dx, dcos, dsin = _grad.rotary_position_embedding_grad(dy, cos, sin, x[0] if x else None, *ctx.attributes)
        return (None, dx, *((dcos, dsin) if ctx.tables else (None, None)), None, None)


class _Rope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, function, q, k, cos, sin, lengths, exact_grad, *slices):
        head_size, slice_start, starts = slices
        _check(function, "RopeGrad", {"q": q, "k": k, "cos": cos, "sin": sin},
               {"qSeqLen": lengths, "head_size": head_size, "slice_start": slice_start, "start_positions": starts},
               {"qSeqLen": "seq_len", "slice_start": "start", "start_positions": "starts"})
        _no_table_gradient(function, cos, sin)
        ctx.attributes = lengths, exact_grad, *slices
        ctx.save_for_backward(cos, sin)
        return tuple(forward.rope(x, cos, sin, lengths, *slices) for x in (q, k))

    @staticmethod
    @once_differentiable
    def backward(ctx, dq, dk):
        cos, sin = ctx.saved_tensors
        return (None, *_grad.rope_grad(dq, dk, cos, sin, *ctx.attributes), *[None] * (2 + len(ctx.attributes)))


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
            stats += [affine[at] if kind in _names.WEIGHTED else None, mean, rstd]
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


class _QkNormRope(torch.autograd.Function):
    """ready: the normalised query and key where somebody has them already, else (None, None)."""

    @staticmethod
    def forward(ctx, kinds, eps, sin, cos, query, key, query_weight, query_bias, key_weight, key_bias, *ready):
        norm, rope = kinds
        _no_table_gradient("qk_norm_rope", sin, cos)
        stats = [forward.statistics(x, norm, eps) for x in (query, key)]
        tensors = {"grad_query_output": query, "grad_key_output": key, "grad_value_output": _no_value(query),
                   "query": query, "key": key, "norm_query_weight": query_weight, "norm_query_mean": stats[0][0],
                   "norm_query_rstd": stats[0][1], "norm_key_weight": key_weight, "norm_key_mean": stats[1][0],
                   "norm_key_rstd": stats[1][1], "rope_sin": sin, "rope_cos": cos}
        _check("qk_norm_rope", "NormRopeConcatGrad", {name: t for name, t in tensors.items() if t is not None},
               {"norm_type": norm, "rope_type": rope, "grad_layout": 1}, _QK_WORDS)
        ctx.kinds = kinds
        ctx.save_for_backward(query, key, None, None, query_weight, *stats[0], key_weight, *stats[1], *[None] * 6, sin, cos)
        out = []
        for x, weight, bias, y in zip((query, key), (query_weight, key_weight), (query_bias, key_bias), ready):
            y = forward.normalised(x, norm, weight, bias, eps)[0] if y is None else y
            out.append(fused.rotary(y, cos[None, :, None], sin[None, :, None], 2 - rope).to(x.dtype))
        return tuple(out)

    @staticmethod
    @once_differentiable
    def backward(ctx, dquery, dkey):
        # attention leaves its gradients as [B,N,S,D], seen through a transposition: the operator takes them as they lie
        turned = dquery.transpose(1, 2), dkey.transpose(1, 2)
        layout = int(not (turned[0].is_contiguous() and turned[1].is_contiguous()))
        norm, rope = ctx.kinds
        grads = _grad.norm_rope_concat_grad(*((dquery, dkey) if layout else turned), _no_value(dquery), *ctx.saved_tensors,
                                            norm, 0, rope, 0, layout)
        grads = [g if needed else None for g, needed in zip((*grads[:2], *grads[6:10]), ctx.needs_input_grad[4:])]
        return (None, None, None, None, *grads, None, None)


def _no_value(like):
    """Where value takes no part."""
    return like.new_empty([0])


_QK_WORDS = {"grad_query_output": "query", "grad_key_output": "key", "norm_query_weight": "query_weight",
             "norm_key_weight": "key_weight", "rope_cos": "cos", "rope_sin": "sin"}
_NORMS = {"layer": 1, "rms": 3, "l2": _names.L2}
_ROPES = {"interleave": 1, "half": 2}


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
    return _rotated("rotary_position_embedding", x, cos, sin, mode, 0)


def rotary(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mode: Union[int, str] = "half",
           start: int = 0) -> torch.Tensor:
    """rotary_position_embedding of the columns from `start` on, as many as cos and sin have; the others stay. MLA:
    rotary(x, cos, sin, "interleave", start=128) for heads of 128 columns without a position and 64 with one."""
    return _rotated("rotary", x, cos, sin, mode, start)


def _rotated(function, x, cos, sin, mode, start):
    _given(function, x=x, cos=cos, sin=sin)
    tensors = _distinct(x, *_like(x, cos, sin, wide=_WIDE_EMBEDDING))
    return _RotaryPositionEmbedding.apply(function, *tensors, _names.mode(mode), _names.whole("start", start))


def rope(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, seq_len: Sequence[int],
         exact_grad: bool = True, head_size: int = 0) -> Tuple[torch.Tensor, torch.Tensor]:
    """RoPE of packed sequences: q [tokens, heads * D], k [tokens, kv heads * D], cos and sin [positions, D], or with
    head_size=D fewer columns: the first of a head are rotated then.
    exact_grad=False gives the operator's default formula, which is not the gradient (docs/rope_grad.md)."""
    return _packed("rope", q, k, cos, sin, seq_len, exact_grad, _names.whole("head_size", head_size), 0, ())


def rope_packed(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, seq_len: Sequence[int],
                starts: Sequence[int] = (), start: int = 0) -> Tuple[torch.Tensor, torch.Tensor]:
    """RoPE in half mode of packed sequences: q [tokens, heads, D], k [tokens, kv heads, D], cos and sin [positions, R] with
    R <= D. The tokens are len(seq_len) sequences, or pieces of sequences, one behind the other; a piece takes the rows of cos
    from its number in `starts` on, from 0 without. Of a head the R columns from `start` on are rotated."""
    _given("rope_packed", q=q, k=k)
    for name, x in (("q", q), ("k", k)):
        if x.dim() != 3:
            raise RuntimeError(f"rope_packed: {name} must have three axes [tokens, heads, D], got {list(x.shape)}")
    if q.shape[2] != k.shape[2]:
        raise RuntimeError(f"rope_packed: heads of q and k must have one size, got {q.shape[2]} and {k.shape[2]}")
    q_out, k_out = _packed("rope_packed", q.flatten(1), k.flatten(1), cos, sin, seq_len, True, q.shape[2], start, starts)
    return q_out.view(q.shape), k_out.view(k.shape)


def _packed(function, q, k, cos, sin, seq_len, exact_grad, head_size, start, starts):
    _given(function, q=q, k=k, cos=cos, sin=sin)
    tensors = _distinct(q, k, *_like(q, cos, sin, wide=_WIDE_ROPE))
    return _Rope.apply(function, *tensors, _names.lengths("seq_len", seq_len), exact_grad, head_size,
                       _names.whole("start", start), _names.lengths("starts", starts))


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
    Types: norm 0 none, 1 layer norm, 2 with weight and bias, 3 RMSNorm, 4 with weight, 5 to 8 the same across heads with
    weights and biases of heads * D, 9 L2; rope 0 none, 1 interleave, 2 half. Key and value may have other heads than query.
    eps is 1e-5. Weights and biases that the type does not have are not looked at."""
    if eps is None:  # not a default: under torch.compile(dynamic=True) that is an input, over which PyTorch 2.8 stumbles
        eps = 1e-5
    if (encoder_key is None) != (encoder_value is None):
        raise RuntimeError("norm_rope_concat: encoder_key and encoder_value come together")
    affine = (norm_query_weight, norm_query_bias, norm_key_weight, norm_key_bias, norm_added_query_weight,
              norm_added_query_bias, norm_added_key_weight, norm_added_key_bias)
    has = [kind in kinds for kind in (norm_type, norm_type, norm_added_type, norm_added_type)
           for kinds in (_names.WEIGHTED, _names.BIASED)]
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


def qk_norm_rope(
        query: torch.Tensor, key: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor,
        query_weight: Optional[torch.Tensor] = None, key_weight: Optional[torch.Tensor] = None,
        query_bias: Optional[torch.Tensor] = None, key_bias: Optional[torch.Tensor] = None, norm: str = "rms",
        mode: str = "half", across_heads: bool = False, eps: Optional[float] = None) -> Tuple[torch.Tensor, torch.Tensor]:
    """query [B,S,N,D] and key [B,S,M,D], normalised and rotated, with one launch for the whole backward. M need not be N.
    cos and sin: [S,D], or [B,S,D] where the samples have their own. norm: "rms", "layer" or "l2", over D, or with
    across_heads over all heads of a token; weights (and biases of "layer") have D elements, or with across_heads those of all
    heads. mode: "half" or "interleave". eps is 1e-6."""
    _given("qk_norm_rope", query=query, key=key, cos=cos, sin=sin)
    for name, value, known in (("norm", norm, _NORMS), ("mode", mode, _ROPES)):
        if value not in known:
            raise ValueError(f"qk_norm_rope: {name} must be one of {', '.join(known)}; got {value!r}")
    affine = (query_weight, query_bias, key_weight, key_bias)
    wanted = (query_weight is not None,) * 4 if norm == "layer" else (query_weight is not None, False) * 2
    if tuple([t is not None for t in affine]) != wanted or norm == "l2" and (query_weight is not None or across_heads):
        raise RuntimeError("qk_norm_rope: " + {
            "layer": "weights and biases of query and key come together", "rms": "the weights of query and key come together, "
            "and there are no biases", "l2": "norm l2 has no weights, and is over one head"}[norm])
    kind = _NORMS[norm] + (query_weight is not None) + 4 * bool(across_heads)
    return _normalised_and_rotated(kind, _ROPES[mode], 1e-6 if eps is None else eps, query, key, cos, sin, affine)


def _normalised_and_rotated(kind, rope, eps, query, key, cos, sin, affine, ready=(None, None)):
    for name, x in (("query", query), ("key", key)):
        if x.dim() != 4:
            raise RuntimeError(f"qk_norm_rope: {name} must have four axes [B, S, N, D], got {list(x.shape)}")
    shapes = [x.shape for x in (query, key)]
    if cos.dim() == 3 and cos.shape[0] == 1:
        cos, sin = cos[0], sin[0]
    elif cos.dim() == 3:  # a token is a token, whatever sample it belongs to
        query, key, *ready = [x if x is None else x.reshape(1, -1, *x.shape[2:]) for x in (query, key, *ready)]
        cos, sin = cos.flatten(0, 1), sin.flatten(0, 1)
    tensors = _distinct(*_like(query, sin, cos, wide=_WIDE_CONCAT), query, key, *_like(query, *affine, wide=_WIDE_WEIGHT),
                        *ready)
    normal_query, normal_key = _QkNormRope.apply((kind, rope), eps, *tensors)
    return normal_query.view(shapes[0]), normal_key.view(shapes[1])


def exp_segsum(x: torch.Tensor) -> torch.Tensor:
    """x [..., T] -> y [..., T, T], y[i, j] = exp(x[j+1] + ... + x[i]) on and below the diagonal, else 0."""
    _given("exp_segsum", x=x)
    if x.dim() == 0:
        raise RuntimeError("exp_segsum: x must have at least one axis, got a scalar")
    return _ExpSegsum.apply(x)

# SPDX-License-Identifier: Apache-2.0
"""The ascgrad operators in TensorFlow.

    import ascgrad.tensorflow as at
    y = at.rotary_mul(x, cos, sin)            # its gradient is RotaryMulGrad
    dx, dr1, dr2 = at.ops.rotary_mul_grad(x=x, r1=cos, r2=sin, dy=dy)

at.ops are the operators of a library that is compiled for the installed TensorFlow when it is first imported, or by
`python -m ascgrad.tensorflow build`. Importing this registers the gradients of RotaryMul, RotaryPositionEmbedding, Rope,
NormRopeConcat and ExpSegsum; so import it before a SavedModel that has them is loaded.
"""
from typing import Any, Sequence, Tuple, Union

import tensorflow as tf

from ascgrad import _names, _shapes
from ascgrad._names import STREAMS

from . import _build

MODES = _names.MODES
_OPTIONAL = ("encoder_query", "encoder_key", "encoder_value",
             *(f"{stream}_{kind}" for stream in STREAMS for kind in ("weight", "bias")), "rope_sin", "rope_cos")
_KINDS = ("norm_type", "norm_added_type", "rope_type", "concat_order")
_SLICES = ("head_size", "slice_start", "start_positions")  # attributes of Rope as its gradient has them
_NAMES = {tf.float32: "fp32", tf.float16: "fp16", tf.bfloat16: "bf16"}

ops = _build.load()


def _given(function, **tensors):
    """The values as tensors; TypeError with one sentence for what is none, or of a dtype that the operators do not take."""
    found = []
    for name, value in tensors.items():
        if value is None:
            raise TypeError(f"{function}: {name} must be a tensor, got None")
        value = tf.convert_to_tensor(value)
        if value.dtype not in _NAMES:
            raise TypeError(f"{function}: {name} must be float32, float16 or bfloat16, got {value.dtype.name}")
        found.append(value)
    return found


def _described(tensor):
    """(dtype, shape), an unknown size being -1; the rank must be known."""
    return _NAMES[tensor.dtype], [-1 if n is None else n for n in tensor.shape.as_list()]


def _check(function, op, attrs, words=None, **tensors):
    """ValueError with the operator's sentence in the caller's words, while a graph is built too, as far as the shapes are
    known there."""
    if any(t.shape.rank is None for t in tensors.values()):
        return
    try:
        _shapes.outputs(op, {name: _described(t) for name, t in tensors.items()}, attrs)
    except ValueError as refusal:
        # AutoGraph passes on types that it knows, and no others
        raise ValueError(_names.retold(function, str(refusal), words or {})) from None


def _like(x, *tensors):
    """Tensors in the dtype of x; under mixed precision tables and weights are float32 beside half activations."""
    return [tf.cast(t, x.dtype) for t in tensors]


def _tables(x, *tables):
    """Tables as they are if they are float32, which the rotary operators take beside 16-bit x; else in the dtype of x."""
    tables = [tf.convert_to_tensor(t) for t in tables]
    return tables if all(t.dtype == tf.float32 for t in tables) else _like(x, *tables)


def _unwanted(op):
    """Inputs whose gradient nobody asks for. Only the eager tape knows them; in a graph what is not asked for is pruned,
    so there the gradients of x and of the tables are two nodes."""
    return None if isinstance(op, tf.Operation) else getattr(op, "skip_input_indices", None) or ()


def _gradients(op, with_tables, without):
    """dx, dcos, dsin of a rotation: with_tables() and without() give the operator's outputs."""
    unwanted = _unwanted(op)
    if unwanted is None:
        _, dcos, dsin = with_tables()
        return without()[0], dcos, dsin
    if 1 in unwanted and 2 in unwanted:
        return without()[0], None, None
    return with_tables()


@tf.RegisterGradient("RotaryMul")
def _rotary_mul_grad(op, dy):
    x, r1, r2 = op.inputs
    return _gradients(op, lambda: ops.rotary_mul_grad(x=x, r1=r1, r2=r2, dy=dy),
                      lambda: ops.rotary_mul_grad(x=x, r1=r1, r2=r2, dy=dy, need_backward=False))


@tf.RegisterGradient("RotaryPositionEmbedding")
def _rotary_position_embedding_grad(op, dy):
    x, cos, sin = op.inputs
    attrs = {name: op.get_attr(name) for name in ("mode", "slice_start")}
    return _gradients(op, lambda: ops.rotary_position_embedding_grad(dy=dy, cos=cos, sin=sin, x=[x], **attrs),
                      lambda: ops.rotary_position_embedding_grad(dy=dy, cos=cos, sin=sin, x=[], **attrs))


@tf.RegisterGradient("Rope")
def _rope_grad(op, dq, dk):
    """The true gradient; the operator's default formula is another one (docs/rope_grad.md)."""
    grads = ops.rope_grad(q=dq, k=dk, cos=op.inputs[2], sin=op.inputs[3], qSeqLen=op.get_attr("seq_len"),
                          exact_grad=True, **{name: op.get_attr(name) for name in _SLICES})
    return [grads.q_grad, grads.k_grad, None, None]


@tf.RegisterGradient("NormRopeConcat")
def _norm_rope_concat_grad(op, dquery, dkey, dvalue, *_):
    given, rest = {}, list(op.inputs[3:])
    for name in _OPTIONAL:
        given[name] = [rest.pop(0)] if op.get_attr(name + "_type") else []
    kinds = {name: op.get_attr(name) for name in _KINDS}
    stats = {}
    for i, stream in enumerate(STREAMS):
        kind = kinds["norm_type" if i < 2 else "norm_added_type"]
        used = kind and (i < 2 or given[("encoder_query", "encoder_key")[i - 2]])
        stats[f"{stream}_weight"] = given[f"{stream}_weight"] if kind in _names.WEIGHTED else []
        stats[f"{stream}_mean"] = [op.outputs[3 + 2 * i]] if used and kind in _names.CENTRED else []
        stats[f"{stream}_rstd"] = [op.outputs[4 + 2 * i]] if used else []
    weights = [t[0].dtype for name, t in stats.items() if name.endswith("_weight") and t]
    grads = ops.norm_rope_concat_grad(
        Tgrad_norm_query_weight=weights[0] if weights else tf.float32, grad_query_output=dquery, grad_key_output=dkey, grad_value_output=dvalue, query=op.inputs[0],
        key=op.inputs[1], encoder_query=given["encoder_query"], encoder_key=given["encoder_key"],
        rope_sin=given["rope_sin"], rope_cos=given["rope_cos"], **stats, **kinds)
    out = [grads.grad_query, grads.grad_key, grads.grad_value]
    for name in _OPTIONAL:
        if given[name]:
            out.append(getattr(grads, "grad_" + name, None))  # the tables have none
    return out


@tf.RegisterGradient("ExpSegsum")
def _exp_segsum_grad(op, dy):
    return ops.exp_segsum_grad(grad_output=dy, grad_self=op.outputs[0])


def rotary_mul(x: Any, r1: Any, r2: Any) -> tf.Tensor:
    """y = r1 * x + r2 * rotate_half(x); r1 (cos) and r2 (sin) broadcast over leading axes. Where they have fewer columns
    than x, only so many of a row are rotated."""
    x, r1, r2 = _given("rotary_mul", x=x, r1=r1, r2=r2)
    r1, r2 = _tables(x, r1, r2)
    _check("rotary_mul", "RotaryMulGrad", {}, {"dy": "x", "r1": "cos (r1)", "r2": "sin (r2)"}, x=x, r1=r1, r2=r2, dy=x)
    return ops.rotary_mul(x=x, r1=r1, r2=r2)


def rotary_position_embedding(x: Any, cos: Any, sin: Any, mode: Union[int, str] = 0, slice_start: int = 0) -> tf.Tensor:
    """y = P(x) * cos + R(x) * sin; mode 0..3 or "half", "interleave", "quarter", "interleave-half". Where cos and sin have
    fewer columns than x, so many of a row are rotated, from slice_start on."""
    x, cos, sin = _given("rotary_position_embedding", x=x, cos=cos, sin=sin)
    attrs = {"mode": _names.mode(mode), "slice_start": _names.whole("slice_start", slice_start)}
    cos, sin = _tables(x, cos, sin)
    _check("rotary_position_embedding", "RotaryPositionEmbeddingGrad", attrs, {"dy": "x"}, dy=x, cos=cos, sin=sin)
    return ops.rotary_position_embedding(x=x, cos=cos, sin=sin, **attrs)


def rope(q: Any, k: Any, cos: Any, sin: Any, seq_len: Sequence[int], head_size: int = 0, slice_start: int = 0,
         start_positions: Sequence[int] = ()) -> Tuple[tf.Tensor, tf.Tensor]:
    """RoPE of packed sequences: q [tokens, heads * D], k [tokens, kv heads * D], cos and sin [positions, D], or with
    head_size=D fewer columns: so many of a head are rotated then, from slice_start on. start_positions: the row of cos at
    which each sequence starts, 0 without."""
    q, k, cos, sin = _given("rope", q=q, k=k, cos=cos, sin=sin)
    seq_len = _names.lengths("seq_len", seq_len)
    slices = dict(zip(_SLICES, (_names.whole("head_size", head_size), _names.whole("slice_start", slice_start),
                                _names.lengths("start_positions", start_positions))))
    cos, sin = _like(q, cos, sin)
    _check("rope", "RopeGrad", {"qSeqLen": seq_len, **slices}, {"qSeqLen": "seq_len"}, q=q, k=k, cos=cos, sin=sin)
    return ops.rope(q=q, k=k, cos=cos, sin=sin, seq_len=seq_len, **slices)


def norm_rope_concat(query: Any, key: Any, value: Any, norm_type: int = 0, norm_added_type: int = 0, rope_type: int = 0,
                     concat_order: int = 0, eps: float = 1e-5, **optional: Any) -> Tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """[B,S,N,D] in, [B,N,S,D] out: norm, concat with the encoder part along S, transpose, rope on the first rows.
    Optional tensors by name: encoder_query, encoder_key, encoder_value, norm_query_weight, norm_query_bias, the same
    for norm_key, norm_added_query and norm_added_key, rope_sin, rope_cos. Types: norm 0 none, 1 layer norm, 2 with
    weight and bias, 3 RMSNorm, 4 with weight, 5 to 8 the same across heads with weights of heads * D, 9 L2; rope 0 none, 1
    interleave, 2 half. Key and value may have other heads than query. Weights and biases that the type does
    not have are not looked at."""
    unknown = set(optional) - set(_OPTIONAL)
    if unknown:
        raise TypeError(f"norm_rope_concat has no input {sorted(unknown)}")
    for i, stream in enumerate(STREAMS):
        kind = norm_type if i < 2 else norm_added_type
        for part, kinds in (("weight", _names.WEIGHTED), ("bias", _names.BIASED)):
            if kind not in kinds:
                optional.pop(f"{stream}_{part}", None)
    kinds = tuple(_names.whole(name, value) for name, value in zip(
        _KINDS, (norm_type, norm_added_type, rope_type, concat_order)))
    if not rope_type:
        optional = {name: value for name, value in optional.items() if not name.startswith("rope_")}
    tensors = {"query": query, "key": key, "value": value, **{n: t for n, t in optional.items() if t is not None}}
    tensors = dict(zip(tensors, _given("norm_rope_concat", **tensors)))
    query, key, value = (tensors[name] for name in ("query", "key", "value"))
    lists = {name: _like(query, tensors[name]) if name in tensors else [] for name in _OPTIONAL}
    tensors.update({name: parts[0] for name, parts in lists.items() if parts})
    if all(t.shape.rank is not None for t in tensors.values()):
        try:
            given = _shapes.norm_rope_concat(kinds, {name: _described(t) for name, t in tensors.items()})
            _shapes.outputs("NormRopeConcatGrad", given, dict(zip(_KINDS, kinds)))
        except ValueError as refusal:
            words = {f"grad_{name}_output": name for name in ("query", "key", "value")}
            raise ValueError(_names.retold("norm_rope_concat", str(refusal), words)) from None
    out = ops.norm_rope_concat(query=query, key=key, value=value, norm_type=norm_type,
                               norm_added_type=norm_added_type, rope_type=rope_type, concat_order=concat_order,
                               eps=eps, **lists)
    return out.query_output, out.key_output, out.value_output


def exp_segsum(x: Any) -> tf.Tensor:
    """x [..., T] -> y [..., T, T], y[i, j] = exp(x[j+1] + ... + x[i]) on and below the diagonal, else 0."""
    x, = _given("exp_segsum", x=x)
    if x.shape.rank == 0:
        raise ValueError("exp_segsum: x must have at least one axis, got a scalar")
    return ops.exp_segsum(x=x)

# SPDX-License-Identifier: Apache-2.0
"""The ascgrad operators in TensorFlow.

    import ascgrad_tf as at
    y = at.rotary_mul(x, cos, sin)            # its gradient is RotaryMulGrad
    dx, dr1, dr2 = at.ops.rotary_mul_grad(x=x, r1=cos, r2=sin, dy=dy)

at.ops are the operators of libascgrad_tf.so (framework/tensorflow/build.sh), found by ASCGRAD_TF_LIB, else beside
this package. Importing it registers the gradients of RotaryMul, RotaryPositionEmbedding, Rope, NormRopeConcat and
ExpSegsum.
"""
import os

import tensorflow as tf

MODES = {"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3}
_STREAMS = ("norm_query", "norm_key", "norm_added_query", "norm_added_key")
_OPTIONAL = ("encoder_query", "encoder_key", "encoder_value",
             *(f"{stream}_{kind}" for stream in _STREAMS for kind in ("weight", "bias")), "rope_sin", "rope_cos")
_KINDS = ("norm_type", "norm_added_type", "rope_type", "concat_order")

ops = tf.load_op_library(os.environ.get(
    "ASCGRAD_TF_LIB", os.path.join(os.path.dirname(os.path.abspath(__file__)), "libascgrad_tf.so")))


@tf.RegisterGradient("RotaryMul")
def _rotary_mul_grad(op, dy):
    x, r1, r2 = op.inputs
    return ops.rotary_mul_grad(x=x, r1=r1, r2=r2, dy=dy)


@tf.RegisterGradient("RotaryPositionEmbedding")
def _rotary_position_embedding_grad(op, dy):
    x, cos, sin = op.inputs
    return ops.rotary_position_embedding_grad(dy=dy, cos=cos, sin=sin, x=[x], mode=op.get_attr("mode"))


@tf.RegisterGradient("Rope")
def _rope_grad(op, dq, dk):
    """The true gradient; the operator's default formula is another one (docs/rope_grad.md)."""
    grads = ops.rope_grad(q=dq, k=dk, cos=op.inputs[2], sin=op.inputs[3], qSeqLen=op.get_attr("seq_len"),
                          exact_grad=True)
    return [grads.q_grad, grads.k_grad, None, None]


@tf.RegisterGradient("NormRopeConcat")
def _norm_rope_concat_grad(op, dquery, dkey, dvalue, *_):
    given, rest = {}, list(op.inputs[3:])
    for name in _OPTIONAL:
        given[name] = [rest.pop(0)] if op.get_attr(name + "_type") else []
    kinds = {name: op.get_attr(name) for name in _KINDS}
    stats = {}
    for i, stream in enumerate(_STREAMS):
        kind = kinds["norm_type" if i < 2 else "norm_added_type"]
        used = kind and (i < 2 or given[("encoder_query", "encoder_key")[i - 2]])
        stats[f"{stream}_weight"] = given[f"{stream}_weight"] if kind == 2 else []
        stats[f"{stream}_mean"] = [op.outputs[3 + 2 * i]] if used else []
        stats[f"{stream}_rstd"] = [op.outputs[4 + 2 * i]] if used else []
    grads = ops.norm_rope_concat_grad(
        grad_query_output=dquery, grad_key_output=dkey, grad_value_output=dvalue, query=op.inputs[0],
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


def rotary_mul(x, r1, r2):
    """y = r1 * x + r2 * rotate_half(x); r1 (cos) and r2 (sin) broadcast over leading axes."""
    return ops.rotary_mul(x=x, r1=r1, r2=r2)


def rotary_position_embedding(x, cos, sin, mode=0):
    """y = P(x) * cos + R(x) * sin; mode 0..3 or "half", "interleave", "quarter", "interleave-half"."""
    return ops.rotary_position_embedding(x=x, cos=cos, sin=sin, mode=MODES.get(mode, mode))


def rope(q, k, cos, sin, seq_len):
    """RoPE of packed sequences: q [tokens, heads * D], k [tokens, kv heads * D], cos and sin [positions, D]."""
    return ops.rope(q=q, k=k, cos=cos, sin=sin, seq_len=seq_len)


def norm_rope_concat(query, key, value, norm_type=0, norm_added_type=0, rope_type=0, concat_order=0, eps=1e-5,
                     **optional):
    """[B,S,N,D] in, [B,N,S,D] out: norm, concat with the encoder part along S, transpose, rope on the first rows.
    Optional tensors by name: encoder_query, encoder_key, encoder_value, norm_query_weight, norm_query_bias, the same
    for norm_key, norm_added_query and norm_added_key, rope_sin, rope_cos."""
    unknown = set(optional) - set(_OPTIONAL)
    if unknown:
        raise TypeError(f"norm_rope_concat has no input {sorted(unknown)}")
    lists = {name: [] if optional.get(name) is None else [optional[name]] for name in _OPTIONAL}
    out = ops.norm_rope_concat(query=query, key=key, value=value, norm_type=norm_type,
                               norm_added_type=norm_added_type, rope_type=rope_type, concat_order=concat_order,
                               eps=eps, **lists)
    return out.query_output, out.key_output, out.value_output


def exp_segsum(x):
    """x [..., T] -> y [..., T, T], y[i, j] = exp(x[j+1] + ... + x[i]) on and below the diagonal, else 0."""
    return ops.exp_segsum(x=x)

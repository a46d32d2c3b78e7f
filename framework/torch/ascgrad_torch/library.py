# SPDX-License-Identifier: Apache-2.0
"""torch.ops.ascgrad.*: the five operators under the snake case of their IR names, arguments in the order of the IR
(inputs, then attributes), for CPU through libascgrad and for Meta.

A refusal is a RuntimeError with the operator's sentence. Meta needs no library: it then leaves the refusing to tiling.
"""
import importlib
import os
import sys

import numpy as np
import torch

_T, _O = "Tensor ", "Tensor? "


def _schema(required, optional, attrs, outputs):
    """Part of a schema in torch's language, from words."""
    args = [_T + n for n in required.split()] + [_O + n for n in optional.split()] + attrs
    outs = outputs.split()
    returns = "Tensor " + outs[0] if len(outs) == 1 else "(" + ", ".join(_T + n for n in outs) + ")"
    return f"({', '.join(args)}) -> {returns}"


SCHEMAS = {
    "RotaryMulGrad": ("rotary_mul_grad", _schema(
        "x r1 r2 dy", "", ["bool need_backward=True"], "dx dr1 dr2")),
    "RotaryPositionEmbeddingGrad": ("rotary_position_embedding_grad", _schema(
        "dy cos sin", "x", ["int mode=0"], "dx dcos dsin").replace("Tensor? x", "Tensor? x=None")),
    "RopeGrad": ("rope_grad", _schema(
        "q k cos sin", "", ["int[] qSeqLen", "bool exact_grad=False"], "q_grad k_grad")),
    "NormRopeConcatGrad": ("norm_rope_concat_grad", _schema(
        "grad_query_output grad_key_output grad_value_output query key",
        "encoder_query encoder_key norm_query_weight norm_query_mean norm_query_rstd norm_key_weight "
        "norm_key_mean norm_key_rstd norm_added_query_weight norm_added_query_mean norm_added_query_rstd "
        "norm_added_key_weight norm_added_key_mean norm_added_key_rstd rope_sin rope_cos",
        ["int norm_type=0", "int norm_added_type=0", "int rope_type=0", "int concat_order=0"],
        "grad_query grad_key grad_value grad_encoder_query grad_encoder_key grad_encoder_value "
        "grad_norm_query_weight grad_norm_query_bias grad_norm_key_weight grad_norm_key_bias "
        "grad_norm_added_query_weight grad_norm_added_query_bias grad_norm_added_key_weight "
        "grad_norm_added_key_bias")),
    "ExpSegsumGrad": ("exp_segsum_grad", _schema("grad_output grad_self", "", [], "grad_input")),
}

_NAMES = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}
_native = None


def native():
    """The binding of libascgrad (framework/python/ascgrad.py)."""
    global _native
    if _native is None:
        try:
            _native = importlib.import_module("ascgrad")
        except ModuleNotFoundError:
            sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "python"))
            _native = importlib.import_module("ascgrad")
    return _native


def _dtype_name(tensor, op, name):
    if tensor.dtype not in _NAMES:
        raise RuntimeError(f"{op}: {name} is {tensor.dtype}; the operator takes float32, float16 and bfloat16")
    return _NAMES[tensor.dtype]


def _split(op, args):
    """Arguments in IR order -> present inputs by name, attributes by name."""
    schema = getattr(torch.ops.ascgrad, SCHEMAS[op][0]).default._schema
    tensors, attrs = {}, {}
    for formal, value in zip(schema.arguments, args):
        if "Tensor" not in str(formal.type):
            attrs[formal.name] = value
        elif value is not None:
            tensors[formal.name] = value
    return tensors, attrs


def _to_numpy(tensor, op, name):
    tensor = tensor.detach()
    if _dtype_name(tensor, op, name) == "bf16":
        return tensor.contiguous().view(torch.int16).numpy().view(np.uint16)
    return tensor.numpy()


def _to_torch(array):
    if array.dtype == np.uint16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _cpu(op):
    def kernel(*args):
        tensors, attrs = _split(op, args)
        arrays = {name: _to_numpy(t, op, name) for name, t in tensors.items()}
        try:
            out, _ = native().run(op, arrays, attrs, fast=True)
        except ValueError as refusal:
            raise RuntimeError(str(refusal)) from None
        out = tuple(_to_torch(a) for a in out.values())
        return out if len(out) > 1 else out[0]
    return kernel


def check(op, tensors, attrs):
    """Raises RuntimeError with the operator's sentence if it refuses these shapes; unknown sizes are let through."""
    try:
        ascgrad = native()
    except OSError:
        return
    shapes = {name: (_dtype_name(t, op, name), [n if isinstance(n, int) else -1 for n in t.shape])
              for name, t in tensors.items()}
    known = all(-1 not in shape for _, shape in shapes.values())
    try:
        (ascgrad.tile if known else ascgrad.infer)(op, shapes, attrs)
    except ValueError as refusal:
        raise RuntimeError(str(refusal)) from None


def _same(*names):
    """Each output has the shape of the input named; all have the dtype of the first one."""
    def outputs(t, attrs):
        return [t[names[0]].new_empty(t[n].shape) for n in names]
    return outputs


def _norm_rope_concat_outputs(t, attrs):
    query, key = t["query"], t["key"]
    like = [query, key, key, t.get("encoder_query"), t.get("encoder_key"), t.get("encoder_key")]
    out = [query.new_empty([0] if x is None else x.shape) for x in like]
    for attr in ("norm_type", "norm_added_type"):
        size = query.shape[-1] if attrs.get(attr, 0) == 2 else 0
        out += [query.new_empty([size]) for _ in range(4)]
    return out


_META = {
    "RotaryMulGrad": _same("x", "r1", "r2"),
    "RotaryPositionEmbeddingGrad": _same("dy", "cos", "sin"),
    "RopeGrad": _same("q", "k"),
    "NormRopeConcatGrad": _norm_rope_concat_outputs,
    "ExpSegsumGrad": lambda t, attrs: [t["grad_output"].new_empty(t["grad_output"].shape[:-1])],
}


def _meta(op):
    def kernel(*args):
        tensors, attrs = _split(op, args)
        check(op, tensors, attrs)
        out = tuple(_META[op](tensors, attrs))
        return out if len(out) > 1 else out[0]
    return kernel


_library = torch.library.Library("ascgrad", "DEF")
for _op, (_name, _text) in SCHEMAS.items():
    _library.define(_name + _text)
    _library.impl(_name, _cpu(_op), "CPU")
    _library.impl(_name, _meta(_op), "Meta")
    if torch.__version__ < "2":  # there a Meta tensor stops at the autograd key, which has no fallthrough
        _library.impl(_name, _meta(_op), "AutogradMeta")

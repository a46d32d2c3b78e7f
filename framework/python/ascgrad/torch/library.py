# SPDX-License-Identifier: Apache-2.0
"""torch.ops.ascgrad.*: the operators under the snake case of their IR names, arguments in the order of the IR (inputs,
then attributes), for CPU through libascgrad and for Meta; npu.py has them for the NPU. The schemas are made from the IR.

A refusal is a RuntimeError with the operator's sentence. Meta needs no library: it then leaves the refusing to tiling.
"""
import numpy as np
import torch

import ascgrad
from ascgrad import _library, _shapes

NAMES = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}
DTYPES = {name: dtype for dtype, name in NAMES.items()}
_KINDS = {"int": "int", "bool": "bool", "float": "float", "listInt": "int[]", "listFloat": "float[]"}


def _schema(ir):
    """The IR of an operator in torch's language. An argument may be left out if all behind it may be."""
    formals = [("Tensor? " if optional else "Tensor ", name, optional, None) for name, optional, _ in ir["in"]]
    formals += [(_KINDS[kind] + " ", name, name in ir["default"], ir["default"].get(name)) for name, kind in ir["attr"]]
    words, may_be_left_out = [], True
    for kind, name, optional, default in reversed(formals):
        may_be_left_out = may_be_left_out and optional
        words.append(kind + name + (f"={default}" if may_be_left_out else ""))
    returns = ", ".join("Tensor " + name for name in ir["out"])
    return f"({', '.join(reversed(words))}) -> " + (f"({returns})" if len(ir["out"]) > 1 else returns)


def dtype_name(tensor, op, name):
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{op}: {name} must be a torch.Tensor, got {type(tensor).__name__}")
    if tensor.dtype not in NAMES:
        raise RuntimeError(f"{op}: {name} is {tensor.dtype}; the operator takes float32, float16 and bfloat16")
    return NAMES[tensor.dtype]


def split(op, args):
    """Arguments in IR order -> present inputs by name, attributes by name."""
    ir = _library.operators()[op]
    names = [name for name, _, _ in ir["in"]]
    tensors = {name: value for name, value in zip(names, args) if value is not None}
    attrs = {name: [int(v) for v in value] if kind == "listInt" else value
             for (name, kind), value in zip(ir["attr"], args[len(names):])}
    return tensors, attrs


def _to_numpy(tensor, op, name):
    tensor = tensor.detach()
    if dtype_name(tensor, op, name) == "bf16":
        return tensor.contiguous().view(torch.int16).numpy().view(np.uint16)
    return tensor.numpy()


def _to_torch(array):
    if array.dtype == np.uint16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def unpacked(values):
    return tuple(values) if len(values) > 1 else values[0]


def _cpu(op):
    def kernel(*args):
        tensors, attrs = split(op, args)
        arrays = {name: _to_numpy(t, op, name) for name, t in tensors.items()}
        try:
            out, _ = ascgrad.run(op, arrays, attrs, fast=True)
        except ValueError as refusal:
            raise RuntimeError(str(refusal)) from None
        return unpacked([_to_torch(a) for a in out.values()])
    return kernel


def _hint(symbol):
    """A size of a symbolic dimension that fits the others, without a guard on it; None if it has none."""
    try:
        return int(symbol.node.hint)
    except (AttributeError, TypeError, RuntimeError):
        return None


def output_shapes(op, tensors, attrs):
    """(dtype, shape) of the outputs; RuntimeError with the operator's sentence if it refuses."""
    given = {name: (dtype_name(t, op, name), list(t.shape)) for name, t in tensors.items()}
    try:
        return _shapes.outputs(op, given, attrs, _hint)
    except ValueError as refusal:
        raise RuntimeError(str(refusal)) from None


def _meta(op):
    def kernel(*args):
        tensors, attrs = split(op, args)
        like = next(iter(tensors.values()))
        return unpacked([like.new_empty(shape, dtype=DTYPES[dtype])
                          for dtype, shape in output_shapes(op, tensors, attrs)])
    return kernel


def _refuse(sentence):
    raise RuntimeError(sentence)


of_torch = torch.library.Library("ascgrad", "DEF")
of_torch.define("refuse(str sentence) -> ()")
of_torch.impl("refuse", _refuse, "CompositeExplicitAutograd")
for _op, _ir in _library.operators().items():
    of_torch.define(_ir["kernel"] + _schema(_ir))
    of_torch.impl(_ir["kernel"], _cpu(_op), "CPU")
    of_torch.impl(_ir["kernel"], _meta(_op), "Meta")
    if torch.__version__ < "2":  # there a Meta tensor stops at the autograd key, which has no fallthrough
        of_torch.impl(_ir["kernel"], _meta(_op), "AutogradMeta")

# SPDX-License-Identifier: Apache-2.0
"""torchair converters: in graph mode on an NPU the operators of torch.ops.ascgrad become nodes of the GE graph.

    import torchair, ascgrad.torch
    ascgrad.torch.converters.register()

register() also replaces torchair's converters of npu_rotary_mul and npu_rotary_mul_backward. The stock one of the
backward refuses sizes that are not a multiple of 64, broadcasts over more than 1024 elements, and every dynamic shape;
none of these is a limit of our RotaryMulGrad. The stock one of the forward drops the mode "interleave" on A2 and A3, so
that its result is not what our backward is the gradient of; with ours forward and backward agree.
"""
import importlib
import sys
from typing import Any, List

import torch

from ascgrad import _library
from ascgrad._names import MODES

_KINDS = {"int": ("Int", int), "bool": ("Bool", bool), "float": ("Float", float),
          "listInt": ("ListInt", lambda values: [int(v) for v in values]),
          "listFloat": ("ListFloat", lambda values: [float(v) for v in values])}
_DTYPES = {0: "fp32", 1: "fp16", 27: "bf16"}  # of ge::DataType


def _node(ge, op, inputs, attrs):
    """One of our operators with the names, order and kinds of its IR; inputs and attributes by name."""
    ir = _library.operators()[op]
    settings = {}
    for name, kind in ir["attr"]:
        form, convert = _KINDS[kind]
        settings[name] = getattr(ge.attr, form)(convert(attrs.get(name, ir["default"].get(name))))
    return ge.custom_op(op, inputs={name: inputs.get(name) for name, _, _ in ir["in"]}, outputs=ir["out"], attrs=settings)


def _converter(ge, op):
    ir = _library.operators()[op]
    inputs, attrs = [name for name, _, _ in ir["in"]], [name for name, _ in ir["attr"]]

    def convert(*args, meta_outputs=None, **named):
        given = dict(zip(inputs + attrs, args), **named)
        return _node(ge, op, given, {name: given[name] for name in attrs if name in given})

    return convert


def _cast(ge, tensor, dtype):
    """tensor in another dtype: CANN's forward takes x and the tables in one, ours fp32 tables beside 16-bit x, too."""
    if tensor.dtype == dtype:
        return tensor
    return ge.custom_op("Cast", inputs={"x": tensor}, outputs=["y"], attrs={"dst_type": ge.attr.Int(int(dtype))})


def _wanted(outputs):
    """Which of the first outputs of the node being converted are used. torchair passes a converter no node, but it
    walks the graph with torch.fx.Interpreter, whose run_node(n) is one of our callers."""
    frame = sys._getframe()
    while frame is not None:
        node = frame.f_locals.get("n")
        if frame.f_code.co_name == "run_node" and isinstance(node, torch.fx.Node):
            return [any(len(user.args) > 1 and user.args[1] == i for user in node.users) for i in range(outputs)]
        frame = frame.f_back
    return [True] * outputs


def _mode(name, mode):
    if mode not in MODES:
        raise RuntimeError(f"{name}: rotary_mode '{mode}' is none of {sorted(MODES)}")
    return MODES[mode]


def _rotary_mul(ge, stock):
    def convert(self, r1, r2, rotary_mode="half", *rest, meta_outputs=None, **named):
        mode = _mode("npu_rotary_mul", rotary_mode)
        cos, sin = (_cast(ge, table, self.dtype) for table in (r1, r2))
        if mode == 0 or any(value is not None for value in (*rest, *named.values())):
            return stock(self, cos, sin, rotary_mode, *rest, meta_outputs=meta_outputs, **named)
        return ge.custom_op("RotaryPositionEmbedding", inputs={"x": self, "cos": cos, "sin": sin}, outputs=["y"],
                            attrs={"mode": ge.attr.Int(mode)})

    return convert


def _takes(op, x, table, x_dtype, *table_dtypes):
    """Whether the IR has a column with these dtypes of ge::DataType: then the tables go to the operator as they are."""
    types = {name: types.split(",") for name, _, types in _library.operators()[op]["in"]}
    return all((_DTYPES.get(int(x_dtype)), _DTYPES.get(int(dtype))) in zip(types[x], types[table]) for dtype in table_dtypes) \
        and len(set(table_dtypes)) == 1


def _rotary_mul_backward(ge):
    def convert(grad, self, r1, r2, rotary_mode="half", *, need_backward=True, meta_outputs=None):
        mode = _mode("npu_rotary_mul_backward", rotary_mode)
        tables = need_backward and any(_wanted(3)[1:])
        as_they_are = _takes(*(("RotaryMulGrad", "x", "r1") if mode == 0 else ("RotaryPositionEmbeddingGrad", "dy", "cos")),
                             self.dtype, r1.dtype, r2.dtype)
        cos, sin = (r1, r2) if as_they_are else (_cast(ge, table, self.dtype) for table in (r1, r2))
        if mode != 0:
            dx, dcos, dsin = _node(ge, "RotaryPositionEmbeddingGrad", {
                "dy": grad, "cos": cos, "sin": sin, "x": self if tables else None}, {"mode": mode})
        else:
            dx, dcos, dsin = _node(ge, "RotaryMulGrad", {"x": self, "r1": cos, "r2": sin, "dy": grad},
                                   {"need_backward": tables})
        if not as_they_are:  # gradients have the dtypes of what went in; torchair knows them only after this
            dcos, dsin = (gradient if table.dtype == self.dtype else _cast(ge, gradient, table.dtype)
                          for gradient, table in ((dcos, r1), (dsin, r2)))
        return dx, dcos, dsin

    return convert


def _npu_operator(name):
    """torch.ops.npu.<name>, or None where this torch_npu (or no torch_npu) does not have it."""
    try:
        return getattr(torch.ops.npu, name).default
    except (AttributeError, RuntimeError):
        return None


def register(torchair: Any = None) -> List[str]:
    """Registers the converters and returns the names of what was registered."""
    if torchair is None:
        import torchair
    # torchair imports its converters of torch_npu's operators when it first looks one up, and so would overwrite ours
    importlib.import_module(torchair.__name__ + "._ge_concrete_graph.ge_converter.custom")
    converters = {getattr(torch.ops.ascgrad, ir["kernel"]).default: _converter(torchair.ge, op)
                  for op, ir in _library.operators().items()}
    forward, backward = (_npu_operator("npu_rotary_mul" + tail) for tail in ("", "_backward"))
    if forward is not None and backward is not None:
        stock = forward._ge_converter
        converters[forward] = _rotary_mul(torchair.ge, getattr(stock, "__wrapped__", stock))
        converters[backward] = _rotary_mul_backward(torchair.ge)
    for overload, convert in converters.items():
        torchair.register_fx_node_ge_converter(overload)(convert)
    return [str(overload) for overload in converters]

# SPDX-License-Identifier: Apache-2.0
"""torchair converters: in graph mode on an NPU the operators of torch.ops.ascgrad become nodes of the GE graph.

    import torchair, ascgrad_torch
    ascgrad_torch.converters.register()

register() also replaces torchair's converter of npu_rotary_mul_backward, which refuses sizes that are not a multiple
of 64, broadcasts over more than 1024 elements, and every dynamic shape. None of these is a limit of our RotaryMulGrad.
"""
import torch

from .forward import MODES
from .library import SCHEMAS


def _attribute(attr, kind, value):
    """A torch argument as torchair's attribute object; torch spells the types int, bool and int[]."""
    if kind == "bool":
        return attr.Bool(bool(value))
    if kind == "int":
        return attr.Int(int(value))
    return attr.ListInt([int(v) for v in value])


def _converter(ge, op, schema):
    """The IR has the arguments and results of the schema, by the same names and in the same order."""
    formals = [(a.name, str(a.type), a.default_value) for a in schema.arguments]
    outputs = [r.name for r in schema.returns]

    def convert(*args, meta_outputs=None, **named):
        given = dict(zip([name for name, _, _ in formals], args), **named)
        inputs, attrs = {}, {}
        for name, kind, default in formals:
            value = given.get(name, default)
            if "Tensor" in kind:
                inputs[name] = value
            else:
                attrs[name] = _attribute(ge.attr, {"List[int]": "int[]"}.get(kind, kind), value)
        return ge.custom_op(op, inputs=inputs, outputs=outputs, attrs=attrs)

    return convert


def _rotary_mul_backward(ge):
    def convert(grad, self, r1, r2, rotary_mode="half", *, need_backward=True, meta_outputs=None):
        if rotary_mode not in MODES:
            raise RuntimeError(f"npu_rotary_mul_backward: rotary_mode '{rotary_mode}' is none of {sorted(MODES)}")
        outputs = ["dx", "dcos", "dsin"]
        if rotary_mode != "half":
            return ge.custom_op("RotaryPositionEmbeddingGrad", outputs=outputs,
                                inputs={"dy": grad, "cos": r1, "sin": r2, "x": self if need_backward else None},
                                attrs={"mode": ge.attr.Int(MODES[rotary_mode])})
        return ge.custom_op("RotaryMulGrad", inputs={"x": self, "r1": r1, "r2": r2, "dy": grad},
                            outputs=["dx", "dr1", "dr2"], attrs={"need_backward": ge.attr.Bool(need_backward)})

    return convert


def register(torchair=None):
    """Registers the converters and returns the names of what was registered."""
    if torchair is None:
        import torchair
    done = []
    for op, (name, _) in SCHEMAS.items():
        overload = getattr(torch.ops.ascgrad, name).default
        convert = _converter(torchair.ge, op, overload._schema)
        torchair.register_fx_node_ge_converter(overload)(convert)
        done.append(str(overload))
    try:
        backward = torch.ops.npu.npu_rotary_mul_backward.default
    except (AttributeError, RuntimeError):
        return done  # this torch_npu does not have it
    torchair.register_fx_node_ge_converter(backward)(_rotary_mul_backward(torchair.ge))
    return done + [str(backward)]

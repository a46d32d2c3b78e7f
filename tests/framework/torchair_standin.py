# SPDX-License-Identifier: Apache-2.0
"""torchair's own Python, out of a torch_npu wheel, without its C++ parts: `import torchair` after prepare().

The wheel is unpacked, not installed: torch_npu itself cannot be imported without CANN. What stands in for C++ here knows
the IR of this package and the operators of CANN named below, and never runs a graph. torch.ops.npu.npu_rotary_mul and
its backward are defined with the schemas that the wheel lists, and computed in plain PyTorch.
"""
import importlib
import os
import re
import sys
import types

import torch
from functorch.compile import make_boxed_func

import ascgrad
from ascgrad._names import MODES
from ascgrad.torch import forward

CANN = ("Cast", "RotaryMul", "RotaryPositionEmbedding")


class Word:
    """An enumeration of which only the names matter."""

    def __getattr__(self, name):
        return name


class Graph:
    """TorchNpuGraphBase: what the compiled graph would be handed to."""

    def __init__(self, name):
        self.name = name


def registered(op):
    """get_registered_ir_def: what GE finds in the installed packages."""
    if op in CANN:
        return "SUCCESS", [], [], []
    if op not in ascgrad.ops:
        return "FAILED", [], [], []
    ir = ascgrad.ops[op]
    kinds = [(name, "optional" if optional else "required") for name, optional, _ in ir["in"]]
    return "SUCCESS", kinds, [(name, "required") for name in ir["out"]], ir["attr"]


def schemas(wheel):
    """Name -> schema, as the wheel lists torch_npu's operators."""
    with open(os.path.join(wheel, "torch_npu", "csrc", "aten", "npu_native_functions_by_codegen.yaml"),
              encoding="utf-8") as file:
        return dict(re.findall(r"func: (npu_rotary_mul\w*)(\(.*)", file.read()))


def define_npu_operators(wheel):
    """torch.ops.npu.* as torch_npu has them, differentiable: the gradient is the backward operator, always with x."""
    library = torch.library.Library("npu", "DEF")
    for name, schema in schemas(wheel).items():
        library.define(name + schema)

    def rotated(x, r1, r2, rotary_mode="half", rotate=None):
        return forward.rotary(x, r1, r2, MODES[rotary_mode])

    def gradients(grad, x, r1, r2, rotary_mode="half"):
        tensors = [t.detach().requires_grad_() for t in (x, r1, r2)]
        with torch.enable_grad():
            return torch.autograd.grad(rotated(*tensors, rotary_mode), tensors, grad)

    class Rotary(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, r1, r2, mode):
            ctx.save_for_backward(x, r1, r2)
            ctx.mode = mode
            with torch._C._AutoDispatchBelowAutograd():
                return torch.ops.npu.npu_rotary_mul(x, r1, r2, mode)

        @staticmethod
        def backward(ctx, grad):
            return *torch.ops.npu.npu_rotary_mul_backward(grad, *ctx.saved_tensors, ctx.mode), None

    library.impl("npu_rotary_mul", lambda x, r1, r2, mode="half", rotate=None: Rotary.apply(x, r1, r2, mode), "Autograd")
    library.impl("npu_rotary_mul", rotated, "CPU")
    library.impl("npu_rotary_mul", lambda x, *rest: torch.empty_like(x), "Meta")
    library.impl("npu_rotary_mul_backward", gradients, "CPU")
    library.impl("npu_rotary_mul_backward",
                 lambda grad, x, r1, r2, mode="half": tuple(torch.empty_like(t) for t in (x, r1, r2)), "Meta")
    return library


class OnCpu(torch.overrides.TorchFunctionMode):
    """torch.empty(device="npu") makes a tensor of the CPU."""

    def __torch_function__(self, func, classes, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if kwargs.get("device") == "npu":
            kwargs["device"] = "cpu"
        return func(*args, **kwargs)


def allow_fx_pass():
    """What torchair does once in a process whose first configuration has npu_fx_pass. The patterns are traced on the CPU, and
    torch_npu, of which they need one function, is there for so long only."""
    from torchair import _utils
    from torchair._utils.npu_fx_passes import joint_graph
    begin = joint_graph.lazy_init

    def lazy_init(*args, **named):
        standin = types.ModuleType("torch_npu")
        standin.npu_rotary_mul = torch.ops.npu.npu_rotary_mul
        sys.modules["torch_npu"] = standin
        try:
            with OnCpu():
                return begin(*args, **named)
        finally:
            del sys.modules["torch_npu"]

    joint_graph.lazy_init = lazy_init
    _utils.npu_patch_fx_pass(_utils.get_npu_default_decompositions())


def stock_converter(name):
    """torchair's own converter of an operator of torch_npu, before anybody replaces it."""
    importlib.import_module("torchair._ge_concrete_graph.ge_converter.custom")
    return getattr(torch.ops.npu, name).default._ge_converter


def prepare(wheel):
    """wheel: a folder with an unpacked torch_npu wheel. Returns torchair and a list: every GE graph it will make."""
    sys.path.insert(0, os.path.join(wheel, "torch_npu", "dynamo"))
    native = types.ModuleType("torchair.core._torchair")
    native.__dict__.update(
        TorchNpuGraphBase=Graph, TorchDataType=Word(), get_registered_ir_def=registered,
        check_cann_compat=lambda op, inputs, attrs: "", InitializeGraphEngine=lambda options: None,
        FinalizeGraphEngine=lambda: None)
    sys.modules[native.__name__] = native
    import torchair
    from torchair import npu_fx_compiler
    from torchair._ge_concrete_graph.fx2ge_converter import GeConcreteGraph
    graphs, begin, compile_graph = [], GeConcreteGraph.__init__, npu_fx_compiler._NpuFxCompiler.__call__

    def remembered(self, *args, **named):
        begin(self, *args, **named)
        graphs.append(self)

    def compiled(self, module, inputs):
        compile_graph(self, module, inputs)
        return make_boxed_func(module)  # there is no chip: the traced graph itself runs, on the CPU

    GeConcreteGraph.__init__ = remembered
    npu_fx_compiler._NpuFxCompiler.__call__ = compiled
    return torchair, graphs

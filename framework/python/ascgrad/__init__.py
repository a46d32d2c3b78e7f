# SPDX-License-Identifier: Apache-2.0
"""The ascgrad operators on NumPy arrays, on the CPU.

    import numpy, ascgrad
    out, _ = ascgrad.run("ExpSegsumGrad", {"grad_output": a, "grad_self": b}, fast=True)
    out["grad_input"]

bf16 is held in uint16 arrays (its bits); to_bf16 and from_bf16 convert. ascgrad.ops is the IR of the operators.
ascgrad.torch, ascgrad.tensorflow and ascgrad.mindspore bring them into the frameworks.
"""
import ctypes
import os
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import _library, _names
from ._library import Call, Plan, Report, Setting, Tensor

__all__ = ["BF16", "FP16", "FP32", "Refused", "Violation", "cast", "from_bf16", "infer", "ops", "perf", "prepare", "run",
           "tile", "to_bf16", "to_float", "version"]

if os.environ.get("ASCGRAD_OPP", "0") not in ("", "0"):  # before a framework starts CANN
    from . import _opp
    _opp.offer(os.environ["ASCGRAD_OPP"])

FP32, FP16, BF16 = 0, 1, 27
_DTYPES = {"fp32": FP32, "fp16": FP16, "bf16": BF16}
_NUMPY = {FP32: np.float32, FP16: np.float16, BF16: np.uint16}
Attrs = Optional[Mapping[str, Any]]
Shapes = Mapping[str, Sequence[Any]]  # a shape, or (dtype, shape)
ops: Dict[str, Dict[str, Any]]  # the IR, by operator


def __getattr__(name: str) -> Any:
    if name == "ops":  # read from the library, so not before it is wanted
        return _library.operators()
    if name == "__version__":  # of the package; from a source tree, that of the library
        try:
            from ._version import VERSION
            return VERSION
        except ImportError:
            return version()
    raise AttributeError(f"module 'ascgrad' has no attribute '{name}'")


class Refused(ValueError):
    """The operator refuses these shapes, dtypes or attributes; the text is its sentence."""


class Violation(RuntimeError):
    """The twin stopped the kernel: a rule of the hardware was broken."""


def version() -> str:
    """The version of libascgrad."""
    return _library.load().ascgrad_version().decode()


def to_bf16(a: Any) -> np.ndarray:
    """float -> the bits of bf16, nearest, ties to even."""
    bits = np.ascontiguousarray(a, np.float32).view(np.uint32)
    rounded = ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)
    return np.where(np.isnan(np.asarray(a, np.float32)), np.uint16(0x7FC0), rounded)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    """The bits of bf16 -> float32, exactly."""
    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)


def to_float(a: Any) -> np.ndarray:
    """Any of the three dtypes -> float32, exactly."""
    a = np.asarray(a)
    return from_bf16(a) if a.dtype == np.uint16 else a.astype(np.float32)


def cast(a: Any, dtype: str) -> np.ndarray:
    """float array -> array of 'fp32', 'fp16' or 'bf16'."""
    if dtype == "bf16":
        return to_bf16(a)
    return np.ascontiguousarray(a, np.float32 if dtype == "fp32" else np.float16)


def _dtype_of(name, array):
    for number, kind in _NUMPY.items():
        if array.dtype == kind:
            return number
    raise TypeError(f"{name} must be float32, float16 or uint16 (the bits of bf16), got {array.dtype}")


def _raise(code, why):
    if code == 0:
        return
    text = why.value.decode()
    raise {2: Refused, 3: Violation, 4: MemoryError}.get(code, ValueError)(text)


class _Request:
    """Keeps the arrays alive while the library looks at them."""

    def __init__(self, op, attrs, soc, cores, fast, order, trace):
        if op not in _library.operators():
            raise ValueError(f"there is no operator '{op}'")
        self.ir = _library.operators()[op]
        self.inp = (Tensor * len(self.ir["in"]))()
        self.out = (Tensor * len(self.ir["out"]))()
        self.attr = (Setting * max(1, len(self.ir["attr"])))()
        for t in self.inp:
            t.rank = -1
        self.keep = []
        self._set_attrs(op, dict(attrs or {}))
        self.call = Call(ctypes.sizeof(Call), op.encode(), 0, self.inp, len(self.inp), self.out, len(self.out), self.attr,
                          len(self.ir["attr"]), soc.encode() if soc else None, _names.whole("cores", cores, 32), bool(fast),
                          _names.whole("order", order), trace.encode() if trace else None)

    def _set_attrs(self, op, attrs):
        for i, (name, kind) in enumerate(self.ir["attr"]):
            if name not in attrs:
                continue
            value = attrs.pop(name)
            self.attr[i].set = True
            if kind.startswith("list"):
                value = _names.lengths(name, value) if kind == "listInt" else [float(v) for v in value]
                data = ((ctypes.c_int64 if kind == "listInt" else ctypes.c_float) * max(1, len(value)))(*value)
                self.keep.append(data)
                self.attr[i].list, self.attr[i].count = ctypes.addressof(data), len(value)
            elif kind == "float":
                self.attr[i].real = value
            elif kind == "bool":
                self.attr[i].value = _names.switch(name, value)
            else:
                self.attr[i].value = _names.mode(value) if name == "mode" else _names.whole(name, value)
        if attrs:
            raise ValueError(f"{op} has no attribute {sorted(attrs)}")

    @staticmethod
    def describe(tensor, number, shape, data=None):
        if len(shape) > _library.RANKS:
            raise ValueError(f"{len(shape)} axes are more than {_library.RANKS}")
        tensor.dtype, tensor.rank, tensor.data = number, len(shape), data
        for k, n in enumerate(shape):
            tensor.dim[k] = _names.whole("a size", n)

    def each_input(self, op, given):
        names = [a[0] for a in self.ir["in"]]
        unknown = set(given) - set(names)
        if unknown:
            raise ValueError(f"{op} has no input {sorted(unknown)}")
        return [(i, a, given[a[0]]) for i, a in enumerate(self.ir["in"])
                if given.get(a[0]) is not None]

    def infer(self):
        why = ctypes.create_string_buffer(_library.WHY)
        _raise(_library.load().ascgrad_infer(ctypes.byref(self.call), why), why)
        return [(t.dtype, tuple(t.dim[:t.rank])) for t in self.out]

    def make_outputs(self):
        arrays = {}
        for name, t, (number, shape) in zip(self.ir["out"], self.out, self.infer()):
            arrays[name] = np.zeros(shape, _NUMPY[number])
            t.data = arrays[name].ctypes.data
        return arrays

    def run(self):
        why, report = ctypes.create_string_buffer(_library.WHY), Report(ctypes.sizeof(Report))
        _raise(_library.load().ascgrad_run(ctypes.byref(self.call), ctypes.byref(report), why), why)
        values = {name: getattr(report, name) for name, _ in Report._fields_}
        values["warning"] = [text.value.decode() for text in report.warning][:report.warnings]
        return values


def prepare(op: str, inputs: Mapping[str, Any], attrs: Attrs = None, dtype: Optional[str] = None,
            soc: Optional[str] = None, cores: int = 0, fast: bool = False, order: int = 0,
            trace: Optional[str] = None) -> _Request:
    """A call with its outputs made: .run() runs it and returns the report, .outputs has the arrays by name.
    With dtype, float arrays are converted to it first."""
    _names.dtype(dtype, allow_none=True)
    if trace:
        open(trace, "w", encoding="ascii").close()  # OSError with the reason, before anything runs
    request = _Request(op, attrs, soc, cores, fast, order, trace)
    for i, (name, _, types), array in request.each_input(op, inputs):
        array = np.asarray(array)
        if dtype and array.dtype != np.uint16:
            array = cast(array, dtype if dtype in types.split(",") else "fp32")
        array = np.ascontiguousarray(array).reshape(array.shape)
        request.keep.append(array)
        request.describe(request.inp[i], _dtype_of(name, array), array.shape,
                         array.ctypes.data if array.size else None)
    request.outputs = request.make_outputs()
    return request


def run(op: str, inputs: Mapping[str, Any], attrs: Attrs = None,
        **how: Any) -> Tuple[Dict[str, np.ndarray], Dict[str, Any]]:
    """Run on the twin; returns (outputs by name, report). Options as for prepare."""
    request = prepare(op, inputs, attrs, **how)
    report = request.run()
    return request.outputs, report


def _specs(request, op, shapes, dtype):
    """shapes: name -> shape (dtype applies) or (dtype, shape)."""
    _names.dtype(dtype)
    for i, (_, _, types), spec in request.each_input(op, shapes):
        kind = dtype if dtype in types.split(",") else "fp32"
        if len(spec) == 2 and isinstance(spec[0], str):
            kind, spec = spec
        request.describe(request.inp[i], _DTYPES[_names.dtype(kind)], tuple(spec))


def infer(op: str, shapes: Shapes, attrs: Attrs = None, dtype: str = "fp32") -> Dict[str, Tuple[str, Tuple[int, ...]]]:
    """Output name -> (dtype, shape)."""
    request = _Request(op, attrs, None, 0, False, 0, None)
    _specs(request, op, shapes, dtype)
    names = {number: name for name, number in _DTYPES.items()}
    return {name: (names[number], shape)
            for name, (number, shape) in zip(request.ir["out"], request.infer())}


def tile(op: str, shapes: Shapes, attrs: Attrs = None, dtype: str = "fp32", soc: Optional[str] = None,
         cores: int = 0) -> Dict[str, Any]:
    """What tiling decides: key, block_dim, workspace, sync_all and the bytes of the tiling struct."""
    request = _Request(op, attrs, soc, cores, False, 0, None)
    _specs(request, op, shapes, dtype)
    request.infer()
    why, plan = ctypes.create_string_buffer(_library.WHY), Plan()
    _raise(_library.load().ascgrad_tile(ctypes.byref(request.call), ctypes.byref(plan), why), why)
    return {"key": plan.key, "block_dim": plan.block_dim, "workspace": plan.workspace,
            "sync_all": plan.sync_all, "data": bytes(plan.data[:plan.size])}


def perf(op: str, shapes: Shapes, attrs: Attrs = None, dtype: str = "fp32", soc: Optional[str] = None, cores: int = 0,
         trace: Optional[str] = None) -> Dict[str, Any]:
    """The cycle model's report for these shapes, on zeros."""
    request = _Request(op, attrs, soc, cores, False, 0, trace)
    _specs(request, op, shapes, dtype)
    for t in request.inp:
        if t.rank >= 0:
            array = np.zeros(tuple(t.dim[:t.rank]), _NUMPY[t.dtype])
            request.keep.append(array)
            t.data = array.ctypes.data if array.size else None
    request.keep.append(request.make_outputs())
    return request.run()

# SPDX-License-Identifier: Apache-2.0
"""The five operators on NumPy arrays, through libascgrad.

    import numpy, ascgrad
    out, _ = ascgrad.run("ExpSegsumGrad", {"grad_output": a, "grad_self": b}, fast=True)
    out["grad_input"]

bf16 is held in uint16 arrays (its bits); to_bf16 and from_bf16 convert. The library is found by ASCGRAD_LIB, else by
the loader's own rules (libascgrad.so.2).
"""
import ctypes
import os

import numpy as np

FP32, FP16, BF16 = 0, 1, 27
_DTYPES = {"fp32": FP32, "fp16": FP16, "bf16": BF16}
_NUMPY = {FP32: np.float32, FP16: np.float16, BF16: np.uint16}
_RANKS, _WHY, _PLAN = 25, 1024, 65536


class Refused(ValueError):
    """The operator refuses these shapes, dtypes or attributes; the text is its sentence."""


class Violation(RuntimeError):
    """The twin stopped the kernel: a rule of the hardware was broken."""


class _Tensor(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("dim", ctypes.c_int64 * _RANKS), ("data", ctypes.c_void_p)]


class _Setting(ctypes.Structure):
    _fields_ = [("set", ctypes.c_bool), ("value", ctypes.c_int64),
                ("list", ctypes.POINTER(ctypes.c_int64)), ("count", ctypes.c_size_t)]


class _Call(ctypes.Structure):
    _fields_ = [("op", ctypes.c_char_p), ("inp", ctypes.POINTER(_Tensor)), ("inputs", ctypes.c_uint32),
                ("out", ctypes.POINTER(_Tensor)), ("outputs", ctypes.c_uint32),
                ("attr", ctypes.POINTER(_Setting)), ("attrs", ctypes.c_uint32),
                ("soc", ctypes.c_char_p), ("cores", ctypes.c_uint32), ("fast", ctypes.c_bool),
                ("order", ctypes.c_uint64), ("trace", ctypes.c_char_p)]


class _Report(ctypes.Structure):
    _fields_ = [("key", ctypes.c_uint64), ("block_dim", ctypes.c_uint32), ("workspace", ctypes.c_uint64),
                ("time_us", ctypes.c_double), ("time_free_us", ctypes.c_double), ("time_worst_us", ctypes.c_double),
                ("launch_us", ctypes.c_double), ("cycles", ctypes.c_double), ("roofline_us", ctypes.c_double),
                ("ratio", ctypes.c_double), ("ratio_free", ctypes.c_double), ("ratio_worst", ctypes.c_double),
                ("gm_read", ctypes.c_uint64), ("gm_write", ctypes.c_uint64), ("min_bytes", ctypes.c_uint64),
                ("busy_v", ctypes.c_double), ("busy_mte2", ctypes.c_double), ("busy_mte3", ctypes.c_double),
                ("busy_s", ctypes.c_double), ("dmas", ctypes.c_uint64), ("barriers", ctypes.c_uint64),
                ("vector_calls", ctypes.c_uint64), ("scalar_instructions", ctypes.c_uint64),
                ("cores_used", ctypes.c_uint32),
                ("warnings", ctypes.c_uint32), ("warning", (ctypes.c_char * 256) * 8)]


class _Arg(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("optional", ctypes.c_bool), ("types", ctypes.c_char_p)]


class _Attr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("required", ctypes.c_bool),
                ("initial", ctypes.c_int64)]


class _Info(ctypes.Structure):
    _fields_ = [("type", ctypes.c_char_p), ("kernel", ctypes.c_char_p), ("inputs", ctypes.c_uint32),
                ("outputs", ctypes.c_uint32), ("attrs", ctypes.c_uint32),
                ("inp", _Arg * 21), ("out", _Arg * 14), ("attr", _Attr * 4)]


class _Plan(ctypes.Structure):
    _fields_ = [("key", ctypes.c_uint64), ("block_dim", ctypes.c_uint32), ("workspace", ctypes.c_uint64),
                ("sync_all", ctypes.c_bool), ("size", ctypes.c_size_t), ("data", ctypes.c_ubyte * _PLAN)]


def _load():
    lib = ctypes.CDLL(os.environ.get("ASCGRAD_LIB", "libascgrad.so.2"))
    lib.ascgrad_describe.restype = ctypes.c_bool
    lib.ascgrad_version.restype = ctypes.c_char_p
    ops, index, info = {}, 0, _Info()
    while lib.ascgrad_describe(index, ctypes.byref(info)):
        ops[info.type.decode()] = {
            "kernel": info.kernel.decode(),
            "in": [(a.name.decode(), a.optional, a.types.decode()) for a in info.inp[:info.inputs]],
            "out": [a.name.decode() for a in info.out[:info.outputs]],
            "attr": [(a.name.decode(), a.type.decode()) for a in info.attr[:info.attrs]],
        }
        index += 1
    return lib, ops


_lib, ops = _load()


def version():
    return _lib.ascgrad_version().decode()


def to_bf16(a):
    """float -> the bits of bf16, nearest, ties to even."""
    bits = np.ascontiguousarray(a, np.float32).view(np.uint32)
    rounded = ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)
    return np.where(np.isnan(np.asarray(a, np.float32)), np.uint16(0x7FC0), rounded)


def from_bf16(bits):
    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)


def to_float(a):
    """Any of the three dtypes -> float32, exactly."""
    a = np.asarray(a)
    return from_bf16(a) if a.dtype == np.uint16 else a.astype(np.float32)


def cast(a, dtype):
    """float array -> array of 'fp32', 'fp16' or 'bf16'."""
    if dtype == "bf16":
        return to_bf16(a)
    return np.ascontiguousarray(a, np.float32 if dtype == "fp32" else np.float16)


def _dtype_of(array):
    for number, kind in _NUMPY.items():
        if array.dtype == kind:
            return number
    raise TypeError(f"arrays are float32, float16 or uint16 (bf16), not {array.dtype}")


def _raise(code, why):
    if code == 0:
        return
    text = why.value.decode()
    raise {2: Refused, 3: Violation, 4: MemoryError}.get(code, ValueError)(text)


class _Request:
    """Keeps the arrays alive while the library looks at them."""

    def __init__(self, op, attrs, soc, cores, fast, order, trace):
        if op not in ops:
            raise ValueError(f"there is no operator '{op}'")
        self.ir = ops[op]
        self.inp = (_Tensor * len(self.ir["in"]))()
        self.out = (_Tensor * len(self.ir["out"]))()
        self.attr = (_Setting * max(1, len(self.ir["attr"])))()
        for t in self.inp:
            t.rank = -1
        self.keep = []
        self._set_attrs(op, dict(attrs or {}))
        self.call = _Call(op.encode(), self.inp, len(self.inp), self.out, len(self.out), self.attr,
                          len(self.ir["attr"]), soc.encode() if soc else None, cores, fast, order,
                          trace.encode() if trace else None)

    def _set_attrs(self, op, attrs):
        for i, (name, kind) in enumerate(self.ir["attr"]):
            if name not in attrs:
                continue
            value = attrs.pop(name)
            self.attr[i].set = True
            if kind == "listInt":
                data = (ctypes.c_int64 * max(1, len(value)))(*value)
                self.keep.append(data)
                self.attr[i].list, self.attr[i].count = data, len(value)
            else:
                self.attr[i].value = int(value)
        if attrs:
            raise ValueError(f"{op} has no attribute {sorted(attrs)}")

    @staticmethod
    def describe(tensor, number, shape, data=None):
        if len(shape) > _RANKS:
            raise ValueError(f"{len(shape)} axes are more than {_RANKS}")
        tensor.dtype, tensor.rank, tensor.data = number, len(shape), data
        for k, n in enumerate(shape):
            tensor.dim[k] = n

    def each_input(self, op, given):
        names = [a[0] for a in self.ir["in"]]
        unknown = set(given) - set(names)
        if unknown:
            raise ValueError(f"{op} has no input {sorted(unknown)}")
        return [(i, a, given[a[0]]) for i, a in enumerate(self.ir["in"])
                if given.get(a[0]) is not None]

    def infer(self):
        why = ctypes.create_string_buffer(_WHY)
        _raise(_lib.ascgrad_infer(ctypes.byref(self.call), why), why)
        return [(t.dtype, tuple(t.dim[:t.rank])) for t in self.out]

    def make_outputs(self):
        arrays = {}
        for name, t, (number, shape) in zip(self.ir["out"], self.out, self.infer()):
            arrays[name] = np.zeros(shape, _NUMPY[number])
            t.data = arrays[name].ctypes.data
        return arrays

    def run(self):
        why, report = ctypes.create_string_buffer(_WHY), _Report()
        _raise(_lib.ascgrad_run(ctypes.byref(self.call), ctypes.byref(report), why), why)
        values = {name: getattr(report, name) for name, _ in _Report._fields_}
        values["warning"] = [text.value.decode() for text in report.warning][:report.warnings]
        return values


def prepare(op, inputs, attrs=None, dtype=None, soc=None, cores=0, fast=False, order=0, trace=None):
    """A call with its outputs made: .run() runs it and returns the report, .outputs has the arrays by name.
    With dtype, float arrays are converted to it first."""
    request = _Request(op, attrs, soc, cores, fast, order, trace)
    for i, (_, _, types), array in request.each_input(op, inputs):
        array = np.asarray(array)
        if dtype and array.dtype != np.uint16:
            array = cast(array, dtype if dtype in types.split(",") else "fp32")
        array = np.ascontiguousarray(array).reshape(array.shape)
        request.keep.append(array)
        request.describe(request.inp[i], _dtype_of(array), array.shape,
                         array.ctypes.data if array.size else None)
    request.outputs = request.make_outputs()
    return request


def run(op, inputs, attrs=None, **how):
    """Run on the twin; returns (outputs by name, report). Options as for prepare."""
    request = prepare(op, inputs, attrs, **how)
    report = request.run()
    return request.outputs, report


def _specs(request, op, shapes, dtype):
    """shapes: name -> shape (dtype applies) or (dtype, shape)."""
    for i, (_, _, types), spec in request.each_input(op, shapes):
        kind = dtype if dtype in types.split(",") else "fp32"
        if len(spec) == 2 and isinstance(spec[0], str):
            kind, spec = spec
        request.describe(request.inp[i], _DTYPES[kind], tuple(spec))


def infer(op, shapes, attrs=None, dtype="fp32"):
    """Output name -> (dtype, shape)."""
    request = _Request(op, attrs, None, 0, False, 0, None)
    _specs(request, op, shapes, dtype)
    names = {number: name for name, number in _DTYPES.items()}
    return {name: (names[number], shape)
            for name, (number, shape) in zip(request.ir["out"], request.infer())}


def tile(op, shapes, attrs=None, dtype="fp32", soc=None, cores=0):
    """What tiling decides: key, block_dim, workspace, sync_all and the bytes of the tiling struct."""
    request = _Request(op, attrs, soc, cores, False, 0, None)
    _specs(request, op, shapes, dtype)
    request.infer()
    why, plan = ctypes.create_string_buffer(_WHY), _Plan()
    _raise(_lib.ascgrad_tile(ctypes.byref(request.call), ctypes.byref(plan), why), why)
    return {"key": plan.key, "block_dim": plan.block_dim, "workspace": plan.workspace,
            "sync_all": plan.sync_all, "data": bytes(plan.data[:plan.size])}


def perf(op, shapes, attrs=None, dtype="fp32", soc=None, cores=0, trace=None):
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

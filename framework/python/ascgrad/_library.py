# SPDX-License-Identifier: Apache-2.0
"""libascgrad: where it is, its structs (twin/ascgrad.h) and the IR of its operators.

Nothing is loaded before it is asked for, so that a machine on which the library cannot be loaded still imports
everything that only needs to know the operators: their IR then comes from ir.json, which the wheel carries.
"""
import ctypes
import functools
import glob
import json
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))
WHY, RANKS, PLAN = 1024, 25, 65536


class Tensor(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("dim", ctypes.c_int64 * RANKS), ("data", ctypes.c_void_p)]


class _Value(ctypes.Union):
    _fields_ = [("value", ctypes.c_int64), ("real", ctypes.c_float)]


class Setting(ctypes.Structure):
    _anonymous_ = ("_value",)
    _fields_ = [("set", ctypes.c_bool), ("_value", _Value), ("list", ctypes.c_void_p), ("count", ctypes.c_size_t)]


class Call(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("op", ctypes.c_char_p), ("number", ctypes.c_uint32), ("inp", ctypes.POINTER(Tensor)), ("inputs", ctypes.c_uint32),
                ("out", ctypes.POINTER(Tensor)), ("outputs", ctypes.c_uint32),
                ("attr", ctypes.POINTER(Setting)), ("attrs", ctypes.c_uint32),
                ("soc", ctypes.c_char_p), ("cores", ctypes.c_uint32), ("fast", ctypes.c_bool),
                ("order", ctypes.c_uint64), ("trace", ctypes.c_char_p), ("watch", ctypes.c_void_p),
                ("allocate", ctypes.c_void_p), ("context", ctypes.c_void_p)]


class Report(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("key", ctypes.c_uint64), ("block_dim", ctypes.c_uint32),
                ("workspace", ctypes.c_uint64),
                *[(name, ctypes.c_double) for name in (
                    "time_us", "time_free_us", "time_worst_us", "launch_us", "cycles", "roofline_us", "ratio", "ratio_free",
                    "ratio_worst")],
                ("gm_read", ctypes.c_uint64), ("gm_write", ctypes.c_uint64), ("min_bytes", ctypes.c_uint64),
                ("busy_v", ctypes.c_double), ("busy_mte2", ctypes.c_double), ("busy_mte3", ctypes.c_double),
                ("busy_s", ctypes.c_double), ("dmas", ctypes.c_uint64), ("barriers", ctypes.c_uint64),
                ("vector_calls", ctypes.c_uint64), ("scalar_instructions", ctypes.c_uint64),
                ("cores_used", ctypes.c_uint32), ("warnings", ctypes.c_uint32), ("warning", (ctypes.c_char * 256) * 8),
                *[(name, ctypes.c_double) for name in (
                    "time_low_us", "time_high_us", "copy_us", "ratio_roofline", "time_l2_us", "copy_l2_us", "ratio_l2",
                    "l2_share")]]


class Plan(ctypes.Structure):
    _fields_ = [("key", ctypes.c_uint64), ("block_dim", ctypes.c_uint32), ("workspace", ctypes.c_uint64),
                ("sync_all", ctypes.c_bool), ("size", ctypes.c_size_t), ("data", ctypes.c_ubyte * PLAN)]


class _Arg(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("optional", ctypes.c_bool), ("types", ctypes.c_char_p)]


class _Default(ctypes.Union):
    _fields_ = [("initial", ctypes.c_int64), ("initial_real", ctypes.c_float)]


class _Attr(ctypes.Structure):
    _anonymous_ = ("_default",)
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("required", ctypes.c_bool), ("_default", _Default)]

    def default(self):
        return {b"bool": self.initial != 0, b"int": self.initial, b"float": self.initial_real}.get(self.type, [])


class _Info(ctypes.Structure):
    _fields_ = [("type", ctypes.c_char_p), ("kernel", ctypes.c_char_p), ("inputs", ctypes.c_uint32),
                ("outputs", ctypes.c_uint32), ("attrs", ctypes.c_uint32),
                ("inp", _Arg * 21), ("out", _Arg * 14), ("attr", _Attr * 8)]


def path():
    """ASCGRAD_LIB, else the library in this package, else what the loader finds."""
    inside = glob.glob(os.path.join(FOLDER, "lib", "libascgrad.so*"))
    return os.environ.get("ASCGRAD_LIB") or (inside[0] if inside else "libascgrad.so")


@functools.lru_cache(maxsize=None)
def load():
    """The library; OSError with a sentence if there is none for this machine."""
    try:
        library = ctypes.CDLL(path())
    except OSError as error:
        raise OSError(f"ascgrad: libascgrad cannot be loaded ({error}); install the wheel for this machine, "
                      "or set ASCGRAD_LIB to a libascgrad.so") from None
    library.ascgrad_describe.restype = ctypes.c_bool
    library.ascgrad_version.restype = ctypes.c_char_p
    return library


def available():
    """Whether the library can be loaded."""
    try:
        load()
    except OSError:
        return False
    return True


def _described(library):
    """From the library: the IR that it was built with."""
    found, index, info = {}, 0, _Info()
    while library.ascgrad_describe(index, ctypes.byref(info)):
        attrs = info.attr[:info.attrs]
        found[info.type.decode()] = {
            "kernel": info.kernel.decode(),
            "in": [(a.name.decode(), a.optional, a.types.decode()) for a in info.inp[:info.inputs]],
            "out": [a.name.decode() for a in info.out[:info.outputs]],
            "out_types": [a.types.decode() for a in info.out[:info.outputs]],
            "attr": [(a.name.decode(), a.type.decode()) for a in attrs],
            "default": {a.name.decode(): a.default() for a in attrs if not a.required},
        }
        index += 1
    return found


def _recorded(file):
    """From the irdump of the same build, where the library cannot be loaded."""
    with open(file, encoding="ascii") as text:
        return {op["type"]: {
            "kernel": op["kernel"],
            "in": [(t["name"], t["kind"] == "optional", ",".join(t["dtypes"])) for t in op["inputs"]],
            "out": [t["name"] for t in op["outputs"]],
            "out_types": [",".join(t["dtypes"]) for t in op["outputs"]],
            "attr": [(a["name"], a["type"]) for a in op["attrs"]],
            "default": {a["name"]: a["default"] for a in op["attrs"] if not a["required"]},
        } for op in json.load(text)}


@functools.lru_cache(maxsize=None)
def operators():
    """Operator -> {"kernel", "in": [(name, optional, dtypes)], "out": [name], "attr": [(name, type)], "default"}."""
    recorded = os.path.join(FOLDER, "ir.json")
    if not available() and os.path.exists(recorded):
        return _recorded(recorded)
    return _described(load())

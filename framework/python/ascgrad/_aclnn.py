# SPDX-License-Identifier: Apache-2.0
"""The aclnn functions of the installed package (docs/aclnn.md), for frameworks whose tensors are on the NPU.

    library().call("ExpSegsumGrad", inputs, attrs, outputs, allocate, stream)

Nothing is compiled: the functions, and CANN's for the objects they take, are called through ctypes.
"""
import ctypes
import functools
import json
import os

from . import _library

_DTYPES = {"fp32": 0, "fp16": 1, "bf16": 27}
_ND = 2
_LIBRARY = "op_api/lib/libcust_opapi.so"


def places():
    """Where CANN's users look for such a library, in their order."""
    found = [folder for folder in os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":") if folder]
    opp = os.environ.get("ASCEND_OPP_PATH", "")
    try:
        with open(os.path.join(opp, "vendors/config.ini"), encoding="utf-8") as f:
            names = f.readline().strip().partition("=")[2]
    except OSError:
        names = ""
    found += [os.path.join(opp, "vendors", name) for name in names.split(",") if name]
    return [os.path.join(folder, _LIBRARY) for folder in found]


@functools.lru_cache(maxsize=None)
def _functions():
    """Operator -> [name of an aclnn function, how many attributes it has], the fewest first."""
    with open(os.path.join(_library.FOLDER, "aclnn.json"), encoding="ascii") as text:
        return json.load(text)


def function(op, attrs):
    """Name of the function with the fewest attributes that can say these, and the attributes that it has: [(name, kind)].
    What it leaves out has its default."""
    ir = _library.operators()[op]
    said = [i + 1 for i, (name, _) in enumerate(ir["attr"])
            if name not in ir["default"] or attrs.get(name, ir["default"][name]) != ir["default"][name]]
    name, count = next((name, count) for name, count in _functions()[op] if count >= max(said, default=0))
    return name, ir["attr"][:count]


class Tensor:
    """What a function is told of a tensor: shape and strides in elements, and the address of its first element."""

    def __init__(self, dtype, shape, strides, address):
        self.dtype, self.shape, self.strides, self.address = dtype, list(shape), list(strides), address


class Library:
    """The functions of one libcust_opapi.so."""

    def __init__(self, path):
        # CANN's libraries first, for all: they must be the ones that the process has already
        self.acl = ctypes.CDLL("libascendcl.so", mode=ctypes.RTLD_GLOBAL)
        self.base = ctypes.CDLL("libnnopbase.so", mode=ctypes.RTLD_GLOBAL)
        self.functions = ctypes.CDLL(path)
        self.acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.base.aclCreateTensor.restype = self.base.aclCreateIntArray.restype = ctypes.c_void_p
        self.base.aclCreateFloatArray.restype = ctypes.c_void_p

    def function(self, op, attrs):
        """function(), if this package has it."""
        name, formals = function(op, attrs)
        if not hasattr(self.functions, name + "GetWorkspaceSize"):
            raise RuntimeError(f"ascgrad: the installed package has no {name}")
        return name, formals

    def _array(self, values):
        return (ctypes.c_int64 * max(len(values), 1))(*values)

    def _tensor(self, t, made):
        """An aclTensor, or NULL for None."""
        if t is None:
            return ctypes.c_void_p(None)
        # how far the memory goes is not asked; the last element is where the strides lead
        storage = self._array([1 + sum((n - 1) * s for n, s in zip(t.shape, t.strides)) if 0 not in t.shape else 0])
        acl = self.base.aclCreateTensor(
            self._array(t.shape), ctypes.c_uint64(len(t.shape)), ctypes.c_int(_DTYPES[t.dtype]), self._array(t.strides),
            ctypes.c_int64(0), ctypes.c_int(_ND), storage, ctypes.c_uint64(1), ctypes.c_void_p(t.address or None))
        made.append((self.base.aclDestroyTensor, acl))
        return ctypes.c_void_p(acl)

    def _attr(self, kind, value, made):
        if kind in ("int", "bool", "float"):
            return {"int": ctypes.c_int64, "bool": ctypes.c_bool, "float": ctypes.c_double}[kind](value)
        if kind == "listInt":
            create, destroy, array = self.base.aclCreateIntArray, self.base.aclDestroyIntArray, self._array(value)
        else:
            create, destroy = self.base.aclCreateFloatArray, self.base.aclDestroyFloatArray
            array = (ctypes.c_float * max(len(value), 1))(*value)
        acl = create(array, ctypes.c_uint64(len(value)))
        made.append((destroy, acl))
        return ctypes.c_void_p(acl)

    def _check(self, name, code):
        if code != 0:
            said = (self.acl.aclGetRecentErrMsg() or b"").decode(errors="replace").strip()
            raise RuntimeError(f"{name} failed with code {code}" + (f": {said}" if said else ""))

    def call(self, op, inputs, attrs, outputs, allocate, stream):
        """inputs and attrs by name, outputs in order; allocate(bytes) gives the address of a workspace that lives until
        the stream has passed the call, stream is an aclrtStream. RuntimeError with the operator's sentence if it refuses."""
        ir, (name, formals), made = _library.operators()[op], self.function(op, attrs), []
        try:
            arguments = [self._tensor(inputs.get(n), made) for n, _, _ in ir["in"]]
            arguments += [self._attr(kind, attrs.get(n, ir["default"].get(n)), made) for n, kind in formals]
            arguments += [self._tensor(t, made) for t in outputs]
            size, executor = ctypes.c_uint64(0), ctypes.c_void_p(None)
            self._check(name, getattr(self.functions, name + "GetWorkspaceSize")(
                *arguments, ctypes.byref(size), ctypes.byref(executor)))
            workspace = allocate(size.value) if size.value else None
            self._check(name, getattr(self.functions, name)(
                ctypes.c_void_p(workspace), size, executor, ctypes.c_void_p(stream or None)))
        finally:
            for destroy, acl in made:
                destroy(ctypes.c_void_p(acl))


@functools.lru_cache(maxsize=None)
def library():
    """The library of the first package that has ours; RuntimeError with a sentence if there is none."""
    for path in places():
        if os.path.exists(path):
            found = Library(path)
            if all(hasattr(found.functions, n) for n in ("aclnnRopeGrad", "aclnnExpSegsumBackward")):
                return found
    raise RuntimeError("ascgrad: no installed ascgrad package with aclnn functions; looked at "
                       + (", ".join(places()) or "nothing: ASCEND_OPP_PATH is not set"))

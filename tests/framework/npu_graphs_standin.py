# SPDX-License-Identifier: Apache-2.0
"""The Python of torch_npu that captures and replays graphs, out of its wheel, without its C++ parts and without an NPU.

Real are torch_npu.npu.graphs (NPUGraph, graph, make_graphed_callables) and npugraph_ex, the backend of torch.compile.
Streams and events do nothing here, tensors are on the CPU, and a captured graph is the list of operations that were called:
replaying it calls them again and puts the results where they were.
"""
import contextlib
import ctypes
import importlib
import importlib.machinery
import itertools
import os
import sys
import types

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves

captured = []  # every graph, in the order of capture


class Recorder(TorchDispatchMode):
    """Memory is allocated once, when a graph is captured; everything else is called again."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, classes, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if "empty" not in func.__name__:
            self.calls.append((func, args, kwargs or {}, out))
        return out


class Graph:
    """_NPUGraph."""

    recorder = None

    def capture_begin(self, **_how):
        self.recorder = Recorder()
        self.recorder.__enter__()
        captured.append(self)

    def capture_end(self):
        self.recorder.__exit__(None, None, None)

    def operators(self):
        return [func.__name__ for func, *_ in self.recorder.calls if func.namespace == "ascgrad"]

    def replay(self):
        with torch.no_grad():
            for func, args, kwargs, out in self.recorder.calls:
                for old, new in zip(tree_leaves(out), tree_leaves(func(*args, **kwargs))):
                    if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                        old.copy_(new)

    def reset(self):
        self.recorder = None

    def pool(self):
        return 0, 1


class Stream:
    """Streams and events."""

    numbers = itertools.count()

    def __init__(self, *_args, **_how):
        self.stream_id, self.npu_stream, self.device_index = next(self.numbers), 0, 0

    def nothing(self, *_args):
        pass

    wait = wait_stream = wait_event = record = record_event = reset = synchronize = nothing


@contextlib.contextmanager
def within(*_args, **_how):
    yield


def nothing(*_args, **_how):
    pass


def storage_at(pointer, _device, size):
    with _disable_current_modes():
        return torch.frombuffer((ctypes.c_char * size).from_address(pointer), dtype=torch.uint8).untyped_storage()


def tensor_of(meta, storage):
    with _disable_current_modes():
        return torch.empty(0, dtype=meta["dtype"]).set_(storage, meta["storage_offset"], meta["size"], meta["stride"])


def module(name, folder=None, **content):
    made = types.ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    if folder:
        made.__path__ = [folder]  # what is not here is the wheel's
    made.__dict__.update(content)
    sys.modules[name] = made
    return made


def prepare(wheel):
    """wheel: a folder with an unpacked torch_npu wheel. Returns torch_npu, with torch.npu and the backend npugraph_ex."""
    root = os.path.join(wheel, "torch_npu")
    native = module(
        "torch_npu._C", _NPUGraph=Graph, _NPUStreamBase=Stream, _graph_pool_handle=lambda: (0, 1), _weak_ref_tensor=lambda t: t,
        _npu_isCurrentStreamCapturing=lambda: False, _npu_getCheckpointState=nothing, _npu_setCheckpointPoolState=nothing,
        _construct_storage_from_data_pointer=storage_at, _construct_NPU_Tensor_From_Storage_And_Metadata=tensor_of,
        **{f"_{name}_{end}": nothing for name in ("graph_task_group", "graph_task_update", "super_kernel_scope")
           for end in ("begin", "end")})
    default = Stream()
    npu = module(
        "torch_npu.npu", os.path.join(root, "npu"), Stream=Stream, Event=Stream, ExternalEvent=Stream, stream=within,
        device=within,
        current_stream=lambda *_: default, current_device=lambda: 0, is_initialized=lambda: False, set_stream=nothing,
        synchronize=nothing, empty_cache=nothing, host_empty_cache=nothing, is_autocast_enabled=lambda: False,
        get_stream_limit=lambda stream: {"cube_core_num": 24, "vector_core_num": 48}, _get_deterministic_level=lambda: 0,
        utils=module("torch_npu.npu.utils", get_cann_version=lambda module="CANN": "8.1.RC1",
                     _is_gte_cann_version=lambda *_, **__: False, _dummy_type=None))
    torch_npu = module("torch_npu", root, npu=npu, _C=native, get_npu_format=lambda tensor: 2,
                       utils=module("torch_npu.utils", os.path.join(root, "utils")))
    torch.npu, torch.Tensor.is_npu = npu, True
    graphs = importlib.import_module("torch_npu.npu.graphs")
    npu.__dict__.update({name: getattr(graphs, name) for name in graphs.__all__})
    sys.path.insert(0, os.path.join(root, "dynamo"))
    dynamo = importlib.import_module("torch_npu.dynamo")
    torch._dynamo.register_backend(dynamo._exec, dynamo.NPUGRAPH_EX_BACKEND)
    return torch_npu

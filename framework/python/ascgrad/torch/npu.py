# SPDX-License-Identifier: Apache-2.0
"""torch.ops.ascgrad.* for tensors on the NPU, in eager mode and under aclgraph, by the installed package's aclnn functions.

Registered when ascgrad.torch is imported, for the key that torch_npu uses; without torch_npu nobody has such tensors.
"""
import contextlib

import torch

from .. import _aclnn, _library
from . import library


def _described(tensor, op, name):
    return _aclnn.Tensor(library.dtype_name(tensor, op, name), tensor.shape, tensor.stride(), tensor.data_ptr())


@contextlib.contextmanager
def _place(device):
    """The device made current, and its stream: allocation, launch and the reuse of memory follow one order."""
    import torch_npu  # pylint: disable=import-outside-toplevel,import-error
    with torch_npu.npu.device(device):
        yield torch_npu.npu.current_stream(device).npu_stream


def _one_device(op, tensors):
    """RuntimeError if a tensor is elsewhere than the first: the kernel would read its address as one of the NPU's."""
    first, *others = tensors.items()
    for name, tensor in others:
        if tensor.device != first[1].device:
            raise RuntimeError(f"{op}: {name} is on {tensor.device}, {first[0]} on {first[1].device}; "
                               "all tensors must be on one device")
    return first[1]


def kernel(op, place=_place):
    """The operator as a function of tensors and attributes in IR order."""
    def call(*args):
        tensors, attrs = library.split(op, args)
        like = _one_device(op, tensors)
        with place(like.device) as stream:
            out = [like.new_empty(shape, dtype=library.DTYPES[dtype])
                   for dtype, shape in library.output_shapes(op, tensors, attrs)]
            held = []  # the allocator gives memory away again in the order of the stream

            def allocate(size):
                held.append(like.new_empty([size], dtype=torch.uint8))
                return held[0].data_ptr()
            _aclnn.library().call(op, {name: _described(t.detach(), op, name) for name, t in tensors.items()}, attrs,
                                  [_described(t, op, "an output") for t in out], allocate, stream)
        return library.unpacked(out)
    return call


def register(torch_library):
    for op, ir in _library.operators().items():
        torch_library.impl(ir["kernel"], kernel(op), "PrivateUse1")

# SPDX-License-Identifier: Apache-2.0
"""The forward of a rotation on an NPU: CANN's own operator, through torch_npu.npu_rotary_mul, where its rules allow the
call; otherwise the plain operations of forward.py. ASCGRAD_VERBOSE=1 says which, once for each shape.

The rules are those of torch_npu's documentation for A2 and A3: four axes, heads of fewer than 896 elements, tables as wide as
x and of its dtype, in one of the layouts below. The modes quarter and interleave-half have no such operator there.
"""
import functools
import os
import sys

import torch

from ascgrad._names import MODES

from . import forward

_VERBOSE = os.environ.get("ASCGRAD_VERBOSE") == "1"
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
_NAMES = {number: name for name, number in MODES.items()}
# Where the sequence is in x; which of the three leading axes of a table are as long as those of x (1), or one (0)
_HALF = {2: ((0, 0, 1), (1, 0, 1), (1, 1, 1)), 1: ((0, 1, 0), (1, 1, 0), (1, 1, 1)), 0: ((1, 0, 0), (1, 1, 0), (1, 1, 1))}
_INTERLEAVE = {2: ((0, 0, 1),), 1: ((0, 1, 0),), 0: ((1, 0, 0),)}


def refusal(x_shape, table_shape, same_dtype, mode):
    """Why CANN's forward does not take the call, or None."""
    if mode not in (0, 1):
        return f"mode {_NAMES[mode]}"
    if len(x_shape) != 4 or len(table_shape) != 4:
        return f"{len(x_shape)} axes"
    if table_shape[-1] != x_shape[-1]:
        return "tables of fewer columns than x"
    if x_shape[-1] >= 896:
        return f"heads of {x_shape[-1]}"
    if not same_dtype:
        return "tables of another dtype than x"
    for sequence, patterns in (_HALF if mode == 0 else _INTERLEAVE).items():
        batch, heads = (n for axis, n in enumerate(x_shape[:3]) if axis != sequence)
        if (batch * heads if mode else max(batch, heads)) >= 1000:
            continue
        for pattern in patterns:
            if all(table_shape[axis] == (x_shape[axis] if full else 1) for axis, full in enumerate(pattern)):
                return None
    return f"tables {list(table_shape)} for x {list(x_shape)}"


def on_npu(x):
    """Whether torch_npu has this tensor; npu_rotary_mul is there then."""
    return x.device.type == "npu"


@functools.lru_cache(maxsize=1024)
def _tell(x_shape, table_shape, mode, why):
    way = "npu_rotary_mul" if why is None else f"plain operations ({why})"
    print(f"ascgrad: forward of a rotation, {_NAMES[mode]}, x {list(x_shape)}, tables {list(table_shape)}: {way}",
          file=sys.stderr, flush=True)


def rotary(x, cos, sin, mode=0, start=0):
    """forward.rotary, or on an NPU what CANN has for it."""
    if not on_npu(x):
        return forward.rotary(x, cos, sin, mode, start)
    why = refusal(x.shape, cos.shape, x.dtype == cos.dtype == sin.dtype, mode)
    if why is None and cos.shape != sin.shape:
        why = "cos and sin of two shapes"
    if _VERBOSE and not _is_compiling():
        _tell(tuple(x.shape), tuple(cos.shape), mode, why)
    if why is not None:
        return forward.rotary(x, cos, sin, mode, start)
    return torch.ops.npu.npu_rotary_mul(x, cos, sin, _NAMES[mode])

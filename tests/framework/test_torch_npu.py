# SPDX-License-Identifier: Apache-2.0
"""What PyTorch does with tensors on the NPU: the kernels of ascgrad.torch.npu, through an installed package and the
stand-in for CANN, whose device memory is the host's, against the CPU's. Without torch_npu there is no device to dispatch
to, so the kernels are called by hand; that they are registered is asked of torch."""
import contextlib
import os
import subprocess
import sys
import types

import torch

import ascgrad.torch as at
from ascgrad import _aclnn, _library
from run_tests import run_tests


def rand(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype)


def holes(tensor):
    """The same values, every second element of a transposed memory."""
    memory = torch.zeros(*reversed([2 * n for n in tensor.shape]), dtype=tensor.dtype)
    view = memory.permute(*reversed(range(tensor.dim())))[tuple(slice(None, None, 2) for _ in tensor.shape)]
    view.copy_(tensor)
    return view


def calls(dtype):
    """(operator, arguments in the order of the IR)"""
    def r(*shape):
        return rand(*shape, dtype=dtype)
    x, table = (2, 5, 3, 80), (1, 5, 1, 80)
    return [
        ("RotaryMulGrad", [r(*x), r(*table), r(*table), r(*x), True]),
        ("RotaryMulGrad", [r(*x), r(*table), r(*table), r(*x), False]),
        ("RotaryPositionEmbeddingGrad", [r(*x), r(*table), r(*table), r(*x), 1]),
        ("RotaryPositionEmbeddingGrad", [r(*x), r(*table), r(*table), None, 3]),
        ("RopeGrad", [r(9, 16), r(9, 8), r(6, 8), r(6, 8), [4, 0, 5], True]),
        ("RopeGrad", [r(3, 16), r(3, 8), r(6, 8), r(6, 8), [1, 1, 1], False]),
        ("NormRopeConcatGrad", [r(2, 3, 9, 8), r(2, 3, 7, 8), r(2, 3, 7, 8), r(2, 5, 3, 8), r(2, 4, 3, 8),
                                r(2, 4, 3, 8), r(2, 3, 3, 8), None, rand(2, 5, 3, 1), rand(2, 5, 3, 1), None,
                                rand(2, 4, 3, 1), rand(2, 4, 3, 1), *[None] * 6, r(4, 8), r(4, 8), 1, 0, 2, 1]),
        # by the functions that have the attributes which came later
        ("RotaryPositionEmbeddingGrad", [r(*x), r(1, 5, 1, 64), r(1, 5, 1, 64), None, 1, 16]),
        ("RopeGrad", [r(9, 16), r(9, 8), r(6, 4), r(6, 4), [4, 0, 5], True, 8, 4, [2, 6, 1]]),
        ("NormRopeConcatGrad", [r(2, 5, 4, 8), r(2, 5, 2, 8), r(0), r(2, 5, 4, 8), r(2, 5, 2, 8), None, None, r(8), None,
                                rand(2, 5, 4, 1), r(8), None, rand(2, 5, 2, 1), *[None] * 6, r(5, 8), r(5, 8), 4, 0, 2, 0, 1]),
        ("ExpSegsumGrad", [r(2, 3, 7, 7), r(2, 3, 7, 7)]),
    ]


@contextlib.contextmanager
def place(_):
    yield 0


def both(op, args, moved=lambda t: t):
    kernel = _library.operators()[op]["kernel"]
    want = getattr(torch.ops.ascgrad, kernel)(*args)
    got = at.npu.kernel(op, place)(*[moved(a) if isinstance(a, torch.Tensor) else a for a in args])
    want, got = (v if isinstance(v, (tuple, list)) else [v] for v in (want, got))
    assert len(want) == len(got)
    for name, w, g in zip(_library.operators()[op]["out"], want, got):
        assert w.dtype == g.dtype and torch.equal(w, g), (op, name)


def test_same_as_the_cpu():
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for op, args in calls(dtype):
            both(op, args)


def test_strided_inputs():
    for op, args in calls(torch.float16):
        both(op, args, holes)


def test_one_device():
    """A tensor elsewhere is refused before its address reaches a kernel; meta stands for another device here."""
    x = torch.ones(4, 4)
    try:
        at.npu.kernel("ExpSegsumGrad", place)(x, x.to("meta"))
    except RuntimeError as error:
        assert str(error) == ("ExpSegsumGrad: grad_self is on meta, grad_output on cpu; all tensors must be on one "
                              "device"), error
    else:
        raise AssertionError("not refused")


def test_the_tensors_device_and_stream():
    """Launched on the stream of the tensors' own device, which is made current for it, as torch_npu has them."""
    said = []

    @contextlib.contextmanager
    def current(device):
        said.append(("device", device))
        yield
        said.append(("back", device))

    def stream(device=None):
        said.append(("stream", device))
        return types.SimpleNamespace(npu_stream=0)

    module = types.ModuleType("torch_npu")
    module.npu = types.SimpleNamespace(device=current, current_stream=stream)
    sys.modules["torch_npu"] = module
    try:
        at.npu.kernel("ExpSegsumGrad")(torch.ones(4, 4), torch.ones(4, 4))
    finally:
        del sys.modules["torch_npu"]
    cpu = torch.device("cpu")
    assert said == [("device", cpu), ("stream", cpu), ("back", cpu)], said


def test_every_operator_is_registered():
    for op, ir in _library.operators().items():
        assert torch._C._dispatch_has_kernel_for_dispatch_key("ascgrad::" + ir["kernel"], "PrivateUse1"), op


def test_a_refusal_is_the_operators_sentence():
    try:
        _aclnn.library().call("ExpSegsumGrad", {"grad_output": _aclnn.Tensor("fp16", [4, 5], [5, 1], 64),
                                                "grad_self": _aclnn.Tensor("fp16", [4, 5], [5, 1], 128)}, {},
                              [_aclnn.Tensor("fp16", [4], [1], 192)], None, 0)
    except RuntimeError as error:
        assert "aclnnExpSegsumBackward failed with code 561002" in str(error), error
        assert "last two dimensions" in str(error), error
    else:
        raise AssertionError("not refused")


def test_nothing_installed():
    code = "from ascgrad import _aclnn\n_aclnn.library()"
    done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, ASCEND_OPP_PATH="/nonexistent"),
                          stderr=subprocess.PIPE, universal_newlines=True, check=False)
    assert done.returncode != 0 and "no installed ascgrad package" in done.stderr, done.stderr


if __name__ == "__main__":
    torch.manual_seed(0)
    sys.exit(run_tests(globals(), f"torch {torch.__version__} on the stand-in"))

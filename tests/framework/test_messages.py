# SPDX-License-Identifier: Apache-2.0
"""What a wrong call is told, in every framework that is here: one sentence in the caller's words, and never a crash. Each
row is a call, the kind of error, and words that the sentence must have.

usage: test_messages.py numpy|torch|tensorflow|mindspore
"""
import sys
import tempfile

import numpy as np
from run_tests import run_tests

import ascgrad

NAME = sys.argv[1]


def ones(*shape):
    return np.ones(shape, np.float32)


def numpy_rows():
    rotary = {"dy": ones(2, 3, 2, 4), "cos": ones(1, 3, 1, 4), "sin": ones(1, 3, 1, 4)}
    rope = {"q": ones(3, 4), "k": ones(3, 4), "cos": ones(3, 4), "sin": ones(3, 4)}
    square = {"grad_output": ones(2, 2), "grad_self": ones(2, 2)}

    def call(op, inputs, attrs=None, **how):
        return lambda: ascgrad.run(op, inputs, attrs, fast=True, **how)

    turn = "RotaryPositionEmbeddingGrad"
    for name, call_of in (("run", lambda d: ascgrad.run("ExpSegsumGrad", square, dtype=d)),
                          ("infer", lambda d: ascgrad.infer("ExpSegsumGrad", {"grad_output": (2, 2), "grad_self": (2, 2)}, dtype=d)),
                          ("tile", lambda d: ascgrad.tile("ExpSegsumGrad", {"grad_output": (2, 2), "grad_self": (2, 2)}, dtype=d)),
                          ("perf", lambda d: ascgrad.perf("ExpSegsumGrad", {"grad_output": (2, 2), "grad_self": (2, 2)}, dtype=d))):
        for dtype in ("float16", "bfloat16", "foo", 16):
            yield f"{name} dtype {dtype}", lambda c=call_of, d=dtype: c(d), ValueError, f"dtype must be one of fp32, fp16, bf16; got {dtype!r}"
    yield "pair", lambda: ascgrad.infer("ExpSegsumGrad", {"grad_output": ("foo", (2, 2)), "grad_self": (2, 2)}), ValueError, "got 'foo'"
    yield "float64", call("ExpSegsumGrad", {**square, "grad_self": np.ones((2, 2))}), TypeError, "grad_self must be float32, float16 or"
    yield "mode 2**64+1", call(turn, rotary, {"mode": 2 ** 64 + 1}), ValueError, "mode must be in [-9223372036854775808"
    yield "mode 1.7", call(turn, rotary, {"mode": 1.7}), TypeError, "mode must be an integer, got 1.7"
    yield "mode foo", call(turn, rotary, {"mode": "foo"}), ValueError, "mode must be 0 to 3 or one of half, interleave, quarter"
    yield "mode 9", call(turn, rotary, {"mode": 9}), ascgrad.Refused, "mode"
    yield "qSeqLen 2**64+3", call("RopeGrad", rope, {"qSeqLen": [2 ** 64 + 3]}), ValueError, "qSeqLen[0] must be in ["
    yield "qSeqLen 3.0", call("RopeGrad", rope, {"qSeqLen": [3.0]}), TypeError, "qSeqLen[0] must be an integer, got 3.0"
    yield "qSeqLen 3", call("RopeGrad", rope, {"qSeqLen": 3}), TypeError, "qSeqLen must be a list of integers, got 3"
    yield "exact_grad yes", call("RopeGrad", rope, {"qSeqLen": [3], "exact_grad": "yes"}), TypeError, "exact_grad must be True or False"
    yield "cores", call("ExpSegsumGrad", square, cores=2 ** 32 + 1), ValueError, "cores must be in [0, 4294967295]"
    yield "cores -1", call("ExpSegsumGrad", square, cores=-1), ValueError, "cores must be in [0, 4294967295], got -1"
    yield "cores 1.5", call("ExpSegsumGrad", square, cores=1.5), TypeError, "cores must be an integer"
    yield "size", lambda: ascgrad.infer("ExpSegsumGrad", {"grad_output": (2 ** 64 + 2, 2), "grad_self": (2, 2)}), ValueError, "a size must be in"
    yield "trace", call("ExpSegsumGrad", square, trace=tempfile.gettempdir()), OSError, "directory"
    yield "axes", call("ExpSegsumGrad", {n: ones(*[1] * 26) for n in square}), ValueError, "26 axes are more than 25"
    yield "no such input", call("ExpSegsumGrad", {"x": ones(2, 2)}), ValueError, "has no input ['x']"
    yield "None", call("ExpSegsumGrad", {"grad_output": ones(2, 2), "grad_self": None}), ValueError, "ExpSegsumGrad needs input grad_self"


def torch_rows():
    import torch

    import ascgrad.torch as at
    x, cos = torch.randn(2, 3, 2, 4), torch.randn(1, 3, 1, 4)
    q, heads = torch.randn(3, 4), torch.randn(2, 3, 2, 4)
    yield from door_rows(at, lambda *s: torch.randn(s), x.double(), x.numpy(), (RuntimeError, TypeError, ValueError))
    yield "device", lambda: at.rotary_mul(x, cos.to("meta"), cos), RuntimeError, "rotary_mul: r1 is on meta, x on cpu"
    yield "int", lambda: at.exp_segsum(torch.ones(3, dtype=torch.int64)), RuntimeError, "must be float32, float16 or bfloat16, got int64"
    yield "complex", lambda: at.rotary_mul(x, cos.to(torch.complex64), cos), RuntimeError, "r1 must be float32, float16 or bfloat16, got complex64"
    yield "table's gradient", lambda: at.rope(q, q, q.clone().requires_grad_(), q, [3]), RuntimeError, "rope: cos and sin have no gradient"
    yield "raw operator", lambda: torch.ops.ascgrad.exp_segsum_grad(torch.ones(4, 5), torch.ones(4, 5)), RuntimeError, "last two dimensions"
    yield "alone", lambda: at.norm_rope_concat(heads, heads, heads, encoder_key=heads), RuntimeError, "encoder_key and encoder_value come together"
    yield "use(None)", lambda: at.use(None), TypeError, "must be a torch.nn.Module, got NoneType"


def tensorflow_rows():
    import tensorflow as tf

    import ascgrad.tensorflow as at
    random = tf.random.normal
    yield from door_rows(at, lambda *s: random(s), tf.cast(random((2, 3, 2, 4)), tf.float64), None, (ValueError, TypeError))
    yield "no such input", lambda: at.norm_rope_concat(random((2, 3, 2, 4)), random((2, 3, 2, 4)), random((2, 3, 2, 4)), weight=1), \
        TypeError, "norm_rope_concat has no input ['weight']"


def door_rows(at, rand, double, array, kinds):
    """The same calls of the functions that PyTorch and TensorFlow have in common."""
    x, cos, odd, q = rand(2, 3, 2, 4), rand(1, 3, 1, 4), rand(1, 3, 1, 3), rand(3, 4)
    bad, b = rand(1, 2, 1, 4), rand(2, 3, 2, 4)
    yield "shape", lambda: at.rotary_mul(x, bad, bad), kinds, "rotary_mul: dimension 1 of cos (r1) must be 1 or that of x, got 2 and 3"
    yield "odd", lambda: at.rotary_mul(rand(2, 3, 2, 3), odd, odd), kinds, "rotary_mul: the last dimension of"
    yield "rank", lambda: at.rotary_position_embedding(x, q, q), kinds, "rotary_position_embedding: "
    yield "None for x", lambda: at.rotary_mul(None, cos, cos), kinds, "rotary_mul: x must be a "
    yield "None for a table", lambda: at.rotary_mul(x, None, cos), kinds, "rotary_mul: r1 must be a "
    yield "float64", lambda: at.rotary_mul(double, cos, cos), kinds, "rotary_mul: x must be float32, float16 or bfloat16, got "
    if array is not None:
        yield "NumPy", lambda: at.rotary_mul(array, cos, cos), kinds, "rotary_mul: x must be a torch.Tensor, got ndarray"
    yield "mode foo", lambda: at.rotary_position_embedding(x, cos, cos, "foo"), kinds, "mode must be 0 to 3 or one of half"
    yield "mode 1.5", lambda: at.rotary_position_embedding(x, cos, cos, 1.5), kinds, "mode must be an integer, got 1.5"
    yield "mode 4", lambda: at.rotary_position_embedding(x, cos, cos, 4), kinds, "rotary_position_embedding: "
    yield "seq_len", lambda: at.rope(q, q, q, q, [2]), kinds, "rope: "
    yield "seq_len 1.5", lambda: at.rope(q, q, q, q, [1.5]), kinds, "seq_len[0] must be an integer, got 1.5"
    yield "seq_len 3", lambda: at.rope(q, q, q, q, 3), kinds, "seq_len must be a list of integers, got 3"
    yield "scalar", lambda: at.exp_segsum(rand()), kinds, "exp_segsum: x must have at least one axis"
    yield "exp_segsum(None)", lambda: at.exp_segsum(None), kinds, "exp_segsum: x must be a "
    yield "no weight", lambda: at.norm_rope_concat(b, b, b, norm_type=4), kinds, "norm_rope_concat: norm_type 4 needs norm_query_weight"
    yield "no tables", lambda: at.norm_rope_concat(b, b, b, rope_type=2), kinds, "norm_rope_concat: rope_type 2 needs rope_sin"
    yield "norm_type 10", lambda: at.norm_rope_concat(b, b, b, norm_type=10), kinds, "norm_rope_concat: "
    yield "three axes", lambda: at.norm_rope_concat(b[0], b, b), kinds, "norm_rope_concat: query must have four axes [B, S, N, D], got [3, 2, 4]"
    yield "another D", lambda: at.norm_rope_concat(b, rand(2, 3, 2, 6), rand(2, 3, 2, 6)), kinds, "norm_rope_concat: "
    yield "None for value", lambda: at.norm_rope_concat(b, b, None), kinds, "norm_rope_concat: value must be a "


def mindspore_rows():
    from mindspore import Tensor

    import ascgrad.mindspore as am
    def rand(*shape):
        return Tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
    x, cos, bad, kinds = rand(2, 3, 2, 4), rand(1, 3, 1, 4), rand(1, 2, 1, 4), (ValueError, TypeError, RuntimeError)
    yield "shape", lambda: am.RotaryMul()(x, bad, bad), kinds, "RotaryMul: dimension 1 of cos (r1) must be 1 or that of x, got 2 and 3"
    yield "float64", lambda: am.RotaryMul()(Tensor(np.ones((2, 3, 2, 4))), cos, cos), kinds, "RotaryMul: x must be float32, float16 or"
    yield "mode foo", lambda: am.RotaryPositionEmbedding("foo"), kinds, "mode must be 0 to 3 or one of half"
    yield "mode 1.5", lambda: am.RotaryPositionEmbedding(1.5), kinds, "mode must be an integer, got 1.5"
    yield "seq_len 1.5", lambda: am.Rope([1.5]), kinds, "seq_len[0] must be an integer, got 1.5"
    yield "rope", lambda: am.Rope([2])(rand(3, 4), rand(3, 4), rand(3, 4), rand(3, 4)), kinds, "Rope: "


def test_every_wrong_call():
    rows = list({"numpy": numpy_rows, "torch": torch_rows, "tensorflow": tensorflow_rows, "mindspore": mindspore_rows}[NAME]())
    assert len(rows) >= 6
    wrong = []
    for name, call, kinds, words in rows:
        try:
            call()
        except kinds as error:
            said = str(error)
            if words not in said or len(said.splitlines()) > (1 if NAME in ("numpy", "torch") else 20):
                wrong.append(f"{name}: wanted '{words}', got '{said}'")
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
        else:
            wrong.append(f"{name}: not refused")
    assert not wrong, f"{len(wrong)} of {len(rows)}:\n" + "\n".join(wrong)
    print(f"{NAME}: {len(rows)} wrong calls, each refused with its sentence")


def test_what_is_odd_but_right():
    """Empty tensors, other strides, NumPy's integers: these run."""
    out, _ = ascgrad.run("RopeGrad", {n: ones(*s) for n, s in (("q", (3, 4)), ("k", (3, 4)), ("cos", (3, 4)), ("sin", (3, 4)))},
                         {"qSeqLen": np.array([1, 2]), "exact_grad": np.bool_(True)}, fast=True, cores=np.int32(1))
    assert out["q_grad"].shape == (3, 4)
    if NAME == "torch":
        import torch

        import ascgrad.torch as at
        x, cos = torch.randn(2, 3, 2, 4), torch.randn(1, 3, 1, 4)
        strided = torch.randn(4, 2, 3, 2).permute(1, 2, 3, 0).requires_grad_()
        at.rotary_mul(strided, cos, cos).sum().backward()
        assert strided.grad.shape == x.shape
        empty = torch.empty(0, 3, 2, 4, requires_grad=True)
        at.rotary_mul(empty, cos, cos).sum().backward()
        assert empty.grad.shape == empty.shape
        none = torch.empty(0, 4, requires_grad=True)
        assert at.rope(none, none, torch.randn(3, 4), torch.randn(3, 4), [])[0].shape == (0, 4)


if __name__ == "__main__":
    sys.exit(run_tests(globals(), f"messages of {NAME}"))

# SPDX-License-Identifier: Apache-2.0
"""The MindSpore cells on the CPU in graph mode, their gradients against NumPy in float64."""
import json
import os
import sys
import tempfile
from types import SimpleNamespace
from unittest import mock

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops
from mindspore.ops.operations import _custom_ops_utils, custom_ops

import ascgrad
import ascgrad.mindspore as am
from ascgrad import _aclnn, _library
from run_tests import run_tests

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../op_api"))
import generate  # noqa: E402  what the aclnn functions are

SEED = 20263
DTYPES = {ms.float32: 1e-5, ms.float16: 2e-3, ms.bfloat16: 1.6e-2}  # allowed error, relative to the scale
random = np.random.default_rng(SEED)


def rand(*shape, dtype=ms.float32):
    return Tensor(random.standard_normal(shape).astype(np.float32)).astype(dtype)


def numbers(tensor):
    return ops.cast(tensor, ms.float32).asnumpy().astype(np.float64)


def close(got, want, dtype, what):
    assert got.dtype == dtype, f"{what}: {got.dtype}"
    got = numbers(got)
    assert got.shape == want.shape, f"{what}: {got.shape} {want.shape}"
    error = np.abs(got - want).max() / max(1.0, np.abs(want).max())
    assert error <= DTYPES[dtype], f"{what} {dtype}: error {error:.3g}"


class Pulled(ms.nn.Cell):
    """sum(outputs * upstream), so that the gradient of it is what backward gives for upstream."""

    def __init__(self, cell, upstream):
        super().__init__()
        self.cell, self.upstream = cell, upstream

    def construct(self, *inputs):
        out = self.cell(*inputs)
        if not isinstance(out, tuple):
            out = (out,)
        total = 0
        for y, g in zip(out, self.upstream):
            total = total + ops.sum(ops.cast(y, ms.float32) * g)
        return total


def numeric(function, arrays, upstream, delta=1e-6):
    """Gradients of sum(function * upstream) by central differences, in float64."""
    def value():
        return sum(float((y * g).sum()) for y, g in zip(function(*arrays), upstream))
    grads = []
    for array in arrays:
        grad = np.zeros_like(array)
        for i in np.ndindex(array.shape):
            kept = array[i]
            array[i] = kept + delta
            high = value()
            array[i] = kept - delta
            grad[i] = (high - value()) / (2 * delta)
            array[i] = kept
        grads.append(grad)
    return grads


def against_numpy(cell, plain, tensors, what, wanted=None):
    dtype = tensors[0].dtype
    out = cell(*tensors)
    out = list(out) if isinstance(out, tuple) else [out]
    arrays = [numbers(t) for t in tensors]
    upstream = [numbers(rand(*y.shape, dtype=dtype)) for y in out]
    for i, (a, b) in enumerate(zip(out, plain(*arrays))):
        close(a, b, dtype, f"{what} output {i}")
    count = wanted or len(tensors)
    pulled = Pulled(cell, tuple(Tensor(g.astype(np.float32)) for g in upstream))
    grads = ms.grad(pulled, grad_position=tuple(range(len(tensors))))(*tensors)
    grads = grads if isinstance(grads, tuple) else (grads,)
    want = numeric(lambda *a: plain(*a, *arrays[count:]), arrays[:count], upstream)
    for i, b in enumerate(want):
        close(grads[i], b, dtype, f"{what} gradient {i}")


def rotated(x, mode):
    if mode == 1:
        return np.stack((-x[..., 1::2], x[..., 0::2]), -1).reshape(x.shape)
    if mode == 2:
        a, b, c, d = np.split(x, 4, -1)
        return np.concatenate((-b, a, -d, c), -1)
    if mode == 3:
        return np.concatenate((-x[..., 1::2], x[..., 0::2]), -1)
    a, b = np.split(x, 2, -1)
    return np.concatenate((-b, a), -1)


def plain_rotary(x, cos, sin, mode=0):
    kept = np.concatenate((x[..., 0::2], x[..., 1::2]), -1) if mode == 3 else x
    return [kept * cos + rotated(x, mode) * sin]


def plain_slice(x, cos, sin, mode, start):
    end = start + cos.shape[-1]
    return [np.concatenate((x[..., :start], plain_rotary(x[..., start:end], cos, sin, mode)[0], x[..., end:]), -1)]


def plain_rope(q, k, cos, sin, head_size=0, start=0, positions=(0, 0), lengths=(2, 3)):
    rows = np.concatenate([np.arange(n) + first for n, first in zip(lengths, positions)])
    heads = [x.reshape(x.shape[0], -1, head_size or cos.shape[1]) for x in (q, k)]
    return [plain_slice(x, cos[rows][:, None], sin[rows][:, None], 0, start)[0].reshape(x.shape[0], -1) for x in heads]


def plain_exp_segsum(x):
    t = x.shape[-1]
    y = np.zeros((*x.shape, t))
    for i in range(t):
        for j in range(i + 1):
            y[..., i, j] = np.exp(x[..., j + 1:i + 1].sum(-1))
    return [y]


def plain_norm_rope_concat(norm, added, rope, order, encoder):
    def function(*inputs):
        inputs = list(inputs)
        main = [inputs.pop(0) for _ in range(3)]
        extra = [inputs.pop(0) for _ in range(3)] if encoder else [None] * 3
        tables = [inputs.pop(-2), inputs.pop(-1)] if rope else None
        def normal(x, kind):
            if x is None or kind == 0:
                return x
            axes, columns = ((2, 3), x.shape[2:]) if 5 <= kind <= 8 else (3, x.shape[3:])
            mean = x.mean(axes, keepdims=True) if kind in (1, 2, 5, 6) else 0
            squares = ((x - mean) ** 2).sum(axes, keepdims=True)
            y = (x - mean) / np.sqrt(squares / (1 if kind == 9 else np.prod(columns)) + 1e-5)
            y = y * inputs.pop(0).reshape(columns) if kind in (2, 4, 6, 8) else y
            return y + inputs.pop(0).reshape(columns) if kind in (2, 6) else y
        main[:2] = [normal(x, norm) for x in main[:2]]
        extra[:2] = [normal(x, added) for x in extra[:2]]
        out = []
        for i, (a, b) in enumerate(zip(main, extra)):
            parts = [p for p in ((a, b) if order == 0 else (b, a)) if p is not None]
            y = np.concatenate(parts, 1).transpose(0, 2, 1, 3)
            if i < 2 and rope:
                rows = tables[1].shape[0]
                turned = plain_rotary(y[:, :, :rows], tables[1], tables[0], 2 - rope)[0]
                y = np.concatenate((turned, y[:, :, rows:]), 2)
            out.append(y)
        return out
    return function


def test_registration():
    """What MindSpore is told for Ascend is the IR: names, order, kinds."""
    for op, ir in ascgrad.ops.items():
        info = am.reg_info(op)
        assert info["op_name"] == op and info["target"] == "Ascend"
        assert [(i["name"], i["paramType"] == "optional") for i in info["inputs"]] == [(n, o) for n, o, _ in ir["in"]]
        assert [o["name"] for o in info["outputs"]] == ir["out"]
        assert [(a["name"], a["type"]) for a in info["attr"]] == ir["attr"]
        for i, (_, _, types) in enumerate(ir["in"]):
            kinds = {row[i][0] for row in info["dtype_format"]}
            assert kinds == ({"float32"} if set(types.split(",")) == {"fp32"} else {"float16", "bfloat16", "float32"}), (op, kinds)


def functions():
    """(operator, aclnn function) for all of them, from the IR of this build; those with the fewest attributes first."""
    with open(os.path.join(_library.FOLDER, "ir.json"), encoding="ascii") as ir:
        found = [generate.Function(op) for op in json.load(ir)]
    return [(f.type, f.fewer) for f in found if f.fewer] + [(f.type, f) for f in found]


def made_on_ascend(make, custom, mode, level=""):
    """What make() gives where there is an NPU and the installed package, as far as ascgrad.mindspore asks for them."""
    context = {"device_target": "Ascend", "mode": mode, "jit_level": level}
    library = _aclnn.Library.__new__(_aclnn.Library)
    library.functions = SimpleNamespace(**{f.name + "GetWorkspaceSize": None for _, f in functions()})
    with mock.patch.object(ms, "get_context", context.get), mock.patch.object(_aclnn, "library", lambda: library), \
            mock.patch.object(ops, "Custom", custom):
        return make()


def test_aclnn_registration():
    """The types that MindSpore takes from the registration of a function, and those that it reads in its header."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"ASCEND_CUSTOM_OPP_PATH": folder}):
        include = os.path.join(folder, "op_api/include")
        os.makedirs(include)
        for op, function in functions():
            attrs = ascgrad.ops[op]["attr"][:len(function.attrs)]
            info = am.reg_info(op, function.name, attrs)
            assert info["op_name"] == function.name
            assert [a["name"] for a in info["attr"]] == [name for name, _ in attrs]
            read = _custom_ops_utils.CustomInfoGenerator(function.name)
            with open(os.path.join(include, read.aclnn_api_file_name), "w", encoding="ascii") as header:
                header.write(generate.header(generate.Function(function.op)))
            told = _custom_ops_utils.CustomCodeGenerator().get_api_types_by_reg_info(info)
            assert read.get_aclnn_api_types()[:-2] == told[:-2], (op, told)
            primitive = ops.Custom(function.name, lambda *s: s[0], lambda *d: d[0], "aot", reg_info=info)
            assert primitive.get_attr_dict()["reg_op_name"] == function.name


def test_aclnn_float_attribute():
    """None of the operators has one yet: in C it is a double."""
    ir = {"in": [("x", False, "fp32")], "out": ["y"], "out_types": ["fp32"], "attr": [("eps", "float")], "default": {}}
    with mock.patch.object(_library, "operators", lambda: {"AGrad": ir}):
        assert am.reg_info("AGrad", "aclnnAGrad", ir["attr"])["attr"][0]["type"] == "double"
        assert am.reg_info("AGrad")["attr"][0]["type"] == "float"


def test_aclnn_calls():
    """In O0, O1 and PyNative mode the functions get inputs, then attributes, in the order of the IR. A stand-in for
    ops.Custom takes them and runs the operator of the CPU."""
    x, table, lengths = rand(2, 3, 2, 4), rand(1, 3, 1, 4), [2, 3]
    calls = [("RotaryMulGrad", [x, table, table, x], {"need_backward": True}, ()),
             ("RotaryPositionEmbeddingGrad", [x, table, table, x], {"mode": 1}, ("x",)),
             ("RopeGrad", [rand(5, 8), rand(5, 4), rand(3, 4), rand(3, 4)], {"qSeqLen": lengths, "exact_grad": True, "head_size": 0}, ()),
             ("ExpSegsumGrad", [rand(2, 4, 4), rand(2, 4, 4)], {}, ())]
    for mode, level in ((ms.PYNATIVE_MODE, "O2"), (ms.GRAPH_MODE, ""), (ms.GRAPH_MODE, "O0"), (ms.GRAPH_MODE, "O1")):
        ms.set_context(mode=mode)
        for op, tensors, attrs, optional in calls:
            cpu, named = am.grad(op, optional, **attrs), []
            count, wanted = len(tensors), tuple(tuple(v) if isinstance(v, list) else v for v in attrs.values())

            def custom(name, out_shape, out_dtype, func_type, reg_info):
                named.append((name, func_type, reg_info["op_name"]))
                def run(*given):
                    if given[count:] != wanted:
                        raise ValueError("other attributes")
                    return cpu(*given[:count])
                return run

            with mock.patch.object(ms, "jit", wraps=ms.jit) as jit:
                grad = made_on_ascend(lambda: am.grad(op, optional, **attrs), custom, mode, level)
            assert jit.called == (mode == ms.PYNATIVE_MODE), "PyNative's own call takes no attributes"
            name = next(f.name for of, f in functions() if of == op)
            assert named == [(name, "aot", name)], named
            for a, b in zip(grad(*tensors), cpu(*tensors)):
                assert np.array_equal(numbers(a), numbers(b)), (op, mode, level)


def test_aclnn_in_a_cell():
    """The bprop of a Cell on Ascend, in both modes: PyNative's road is a graph of one node."""
    tensors = [rand(2, 3, 2, 4), rand(1, 3, 1, 4), rand(1, 3, 1, 4)]
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        cpu = am.grad("RotaryMulGrad")

        def custom(*_, **__):
            def run(x, r1, r2, dy, need_backward):
                return cpu(x, r1, r2, dy)
            return run

        cell = made_on_ascend(am.RotaryMul, custom, mode)
        step = ops.GradOperation(get_all=True)
        for a, b in zip(step(cell)(*tensors), step(am.RotaryMul())(*tensors)):
            assert np.array_equal(numbers(a), numbers(b)), mode


def test_aclnn_is_not_for_ge():
    named = []
    def custom(name, **_):
        named.append(name)
        return mock.Mock()
    made_on_ascend(lambda: am.grad("ExpSegsumGrad"), custom, ms.GRAPH_MODE, "O2")
    assert named == ["ExpSegsumGrad"]


def test_aclnn_refusals():
    """What MindSpore cannot express is refused when it is called: forward of a Cell needs nothing of it."""
    tensors = [rand(1, 2, 2, 4) for _ in range(3)]
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        embedding = made_on_ascend(lambda: am.grad("RotaryPositionEmbeddingGrad"), None, mode)
        refused(lambda: embedding(*tensors), "RotaryPositionEmbeddingGrad without x: MindSpore cannot leave out")
        cell = made_on_ascend(am.NormRopeConcat, None, mode)
        assert cell(*tensors)[0].shape == (1, 2, 2, 4)
        refused(lambda: ops.GradOperation(get_all=True)(cell)(*tensors), "NormRopeConcatGrad without encoder_query")
        everything = [name for name, _, _ in ascgrad.ops["NormRopeConcatGrad"]["in"]]
        whole = made_on_ascend(lambda: am.grad("NormRopeConcatGrad", everything), None, mode)
        refused(lambda: whole(*tensors), "several attributes of one type")
        starts = made_on_ascend(lambda: am.grad("RopeGrad", qSeqLen=[2], start_positions=[1]), None, mode)
        refused(lambda: starts(*tensors), "several attributes of one type")
        # MindSpore's own word for why PyNative's call is a graph: if it changes, so can ours
        primitive = custom_ops._CustomExt("f", lambda *s: s[0], lambda *d: d[0])
        refused(lambda: custom_ops.pyboost_custom_ext(primitive, [(tensors[0], 1)]), "tuple of Tensor")


def test_rotary_mul():
    for dtype in DTYPES:
        against_numpy(am.RotaryMul(), plain_rotary, [rand(2, 3, 2, 4, dtype=dtype), rand(1, 3, 1, 4, dtype=dtype),
                                                     rand(1, 3, 1, 4, dtype=dtype)], "RotaryMul")


def test_partial_rotary():
    """Tables with fewer columns than x, and fp32 ones beside 16-bit x."""
    def plain(x, cos, sin, mode):
        return [np.concatenate((plain_rotary(x[..., :8], cos, sin, mode)[0], x[..., 8:]), -1)]
    for mode in range(4):
        tensors = [rand(1, 3, 2, 12), rand(1, 3, 1, 8), rand(1, 3, 1, 8)]
        against_numpy(am.RotaryPositionEmbedding(mode), lambda *a, mode=mode: plain(*a, mode), tensors, f"partial, mode {mode}")
    half = [rand(1, 3, 2, 12, dtype=ms.float16), rand(1, 3, 1, 8), rand(1, 3, 1, 8)]
    grads = ms.grad(am.RotaryMul(), grad_position=(0, 1, 2))(*half)
    assert [g.dtype for g in grads] == [ms.float16, ms.float32, ms.float32]
    want = numeric(lambda *a: plain(*a, 0), [numbers(t) for t in half], [np.ones(half[0].shape)])
    for got, b in zip(grads, want):
        close(got, b, got.dtype, "fp32 tables")


def test_rotary_position_embedding():
    for dtype in DTYPES:
        for mode, number in am.MODES.items():
            against_numpy(am.RotaryPositionEmbedding(mode), lambda x, c, s, m=number: plain_rotary(x, c, s, m),
                          [rand(3, 2, 4, dtype=dtype), rand(3, 1, 4, dtype=dtype), rand(3, 1, 4, dtype=dtype)], mode)
            against_numpy(am.RotaryPositionEmbedding(mode, 3), lambda x, c, s, m=number: plain_slice(x, c, s, m, 3),
                          [rand(3, 2, 8, dtype=dtype), rand(3, 1, 4, dtype=dtype), rand(3, 1, 4, dtype=dtype)],
                          f"{mode} from column 3 on")


def test_rope():
    for dtype in DTYPES:
        against_numpy(am.Rope([2, 3]), plain_rope, [rand(5, 8, dtype=dtype), rand(5, 4, dtype=dtype),
                                                    rand(3, 4, dtype=dtype), rand(3, 4, dtype=dtype)], "Rope", wanted=2)
        against_numpy(am.Rope([2, 3], head_size=6), lambda *a: plain_rope(*a, 6),
                      [rand(5, 12, dtype=dtype), rand(5, 6, dtype=dtype), rand(3, 4, dtype=dtype),
                       rand(3, 4, dtype=dtype)], "partial Rope", wanted=2)
        against_numpy(am.Rope([2, 3], head_size=6, slice_start=1, start_positions=[4, 2]), lambda *a: plain_rope(*a, 6, 1, (4, 2)),
                      [rand(5, 12, dtype=dtype), rand(5, 6, dtype=dtype), rand(6, 4, dtype=dtype),
                       rand(6, 4, dtype=dtype)], "Rope of a slice, with starts", wanted=2)


def test_exp_segsum():
    for dtype in DTYPES:
        against_numpy(am.ExpSegsum(), plain_exp_segsum, [rand(2, 5, dtype=dtype)], "ExpSegsum")


def test_norm_rope_concat():
    for dtype in DTYPES:
        for kinds in ((2, 2, 1, 0, True), (1, 2, 2, 1, True), (2, 0, 2, 0, False), (0, 0, 0, 1, True),
                      (4, 3, 2, 0, True), (3, 4, 1, 1, True), (4, 2, 0, 0, True), (6, 5, 2, 0, True), (8, 7, 1, 1, True),
                      (9, 0, 2, 0, False)):
            norm, added, rope, _, encoder = kinds
            heads = (3, 2, 2)
            tensors = [rand(1, s, n, 4, dtype=dtype) for s, n in zip((3, 2, 2), heads)]
            tensors += [rand(1, s, n, 4, dtype=dtype) for s, n in zip((2, 1, 1), heads)] if encoder else []
            for kind, n in ((norm, 3), (norm, 2), *([(added, 3), (added, 2)] if encoder else [])):
                tensors += [rand(4 * n if kind > 4 else 4, dtype=dtype)
                            for _ in range((kind in (2, 4, 6, 8)) + (kind in (2, 6)))]
            count = len(tensors)
            tensors += [rand(2, 4, dtype=dtype) for _ in range(2 if rope else 0)]
            against_numpy(am.NormRopeConcat(norm, added, rope, kinds[3], encoder), plain_norm_rope_concat(*kinds),
                          tensors, f"NormRopeConcat {kinds}", wanted=count)


def test_raw_operators():
    x, table = rand(2, 3, 2, 4), rand(1, 3, 1, 4)
    dx, dcos, dsin = am.grad("RotaryPositionEmbeddingGrad")(x, table, table)
    assert numbers(dx).any() and not numbers(dcos).any() and not numbers(dsin).any()
    dx2, dr1, _ = am.grad("RotaryMulGrad", need_backward=False)(x, table, table, x)
    assert np.array_equal(numbers(dx), numbers(dx2)) and not numbers(dr1).any()


def refused(function, text):
    try:
        function()
    except (ValueError, TypeError, RuntimeError) as error:
        assert text in str(error), f"wanted '{text}' in: {error}"
        return
    raise AssertionError(f"not refused: {text}")


def test_refusals():
    x, good, bad = rand(2, 3, 2, 4), rand(1, 3, 1, 4), rand(1, 2, 1, 4)
    refused(lambda: am.grad("RotaryMulGrad")(x, good, bad, x), "[1,3,1,4] and [1,2,1,4]")
    refused(lambda: am.grad("ExpSegsumGrad")(rand(4, 5), rand(4, 5)), "ExpSegsumGrad")
    refused(lambda: am.grad("RopeGrad"), "qSeqLen")
    refused(lambda: am.grad("ExpSegsumGrad")(rand(4, 4), rand(4, 4, dtype=ms.float16)), "one dtype")


def test_refusals_of_cells():
    """The operator's sentence, while the graph is built, in graph mode and in PyNative mode."""
    x, bad = rand(2, 3, 2, 4), rand(1, 2, 1, 4)
    odd = [rand(2, 3, 2, 5), rand(1, 3, 1, 5), rand(1, 3, 1, 5)]
    double = [Tensor(np.ones(s), ms.float64) for s in ((2, 3, 2, 4), (1, 3, 1, 4), (1, 3, 1, 4))]
    calls = [
        (am.RotaryMul(), (x, bad, bad), "RotaryMul: dimension 1 of cos (r1) must be 1 or that of x"),
        (am.RotaryMul(), odd, "multiple of 2, got 5"), (am.RotaryPositionEmbedding(), (x, bad, bad), "RotaryPositionEmbedding: "),
        (am.Rope([3]), (rand(4, 4), rand(4, 4), rand(4, 4), rand(4, 4)), "Rope: "),
        (am.RotaryMul(), double, "RotaryMul: x must be float32, float16 or bfloat16, got Float64"),
        (am.ExpSegsum(), double[:1], "ExpSegsum: the input must be float32, float16 or bfloat16, got Float64"),
        (am.grad("RotaryMulGrad"), [*double, double[0]], "RotaryMulGrad: x is Float64"),
    ]
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        for function, args, text in calls:
            refused(lambda f=function, a=args: f(*a), text)


def test_dynamic_batch():
    """One Cell, any batch; and with a batch that is not known yet the shapes are passed through."""
    step = ops.GradOperation(get_all=True)(am.RotaryMul())
    cos, sin = rand(1, 3, 1, 4), rand(1, 3, 1, 4)
    for batch in (1, 2, 7):
        x = rand(batch, 3, 2, 4)
        want = am.grad("RotaryMulGrad")(x, cos, sin, ops.ones_like(x))
        for a, b in zip(step(x, cos, sin), want):
            assert a.shape == b.shape and np.array_equal(numbers(a), numbers(b)), batch
    unknown, table = [-1, 3, 2, 4], [1, 3, 1, 4]
    assert am.grad("RotaryMulGrad")._shapes(unknown, table, table, unknown) == (unknown, table, table)
    refused(lambda: am.grad("ExpSegsumGrad")._shapes([-1, 4, 5], [-1, 4, 5]), "ExpSegsumGrad")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # MindSpore leaves notes about refusals where it runs
        ms.set_context(mode=ms.GRAPH_MODE)
        ms.set_device("CPU")
        return run_tests(globals(), f"mindspore {ms.__version__}, graph mode, seed {SEED}")


if __name__ == "__main__":
    sys.exit(main())

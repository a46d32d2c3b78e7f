# SPDX-License-Identifier: Apache-2.0
"""torch.ops.ascgrad.* and the differentiable functions, on the CPU, against PyTorch's own autograd."""
import importlib.machinery
import sys
import types
import warnings

import torch
from torch.fx.experimental.proxy_tensor import make_fx

import ascgrad
import ascgrad.torch as at
from ascgrad import _shapes
from ascgrad._names import MODES
from ascgrad.torch import forward, library
from torch_cases import cases, gradients, rand, run_seeded

SEED = 20261
DTYPES = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}  # allowed error, relative to the scale


def wide(tensors):
    return [t.detach().double().requires_grad_(t.requires_grad) if isinstance(t, torch.Tensor) else t
            for t in tensors]


def close(got, want, dtype, what):
    scale = max(1.0, float(want.abs().max()) if want.numel() else 0.0)
    error = float((got.double() - want).abs().max()) / scale if want.numel() else 0.0
    assert got.dtype == dtype and error <= DTYPES[dtype], f"{what} {dtype}: error {error:.3g}"


def against_autograd(ours, plain, args, what):
    """Forward and every gradient of ours, against the plain forward in float64 differentiated by PyTorch."""
    dtype = args[0].dtype
    exact = wide(args)
    got, want = ours(*args), plain(*exact)
    got, want = [[y] if isinstance(y, torch.Tensor) else list(y) for y in (got, want)]
    grads = [torch.randn(y.shape).to(dtype) for y in got]
    torch.autograd.backward(got, grads)
    torch.autograd.backward(want, [g.double() for g in grads])
    for i, (a, b) in enumerate(zip(got, want)):
        close(a.detach(), b.detach(), dtype, f"{what} output {i}")
    for i, (a, b) in enumerate(zip(args, exact)):
        if isinstance(a, torch.Tensor) and a.requires_grad:
            close(a.grad, b.grad, a.dtype, f"{what} gradient {i}")


def test_large_16_bit_forward():
    """On a CPU large 16-bit tensors are widened a band at a time, never whole, with the bits of the whole."""
    rows = [((2, 300, 4, 128), (1, 300, 1, 128), 0), ((3, 4, 200, 96), (3, 1, 200, 96), 1), ((700, 4, 64), (700, 1, 64), 2),
            ((2, 3, 400, 128), (400, 128), 3), ((2, 300, 4, 128), (1, 300, 1, 32), 0), ((2, 300, 4, 128), (2, 300, 4, 128), 0),
            ((1, 2, 2, 65536), (1, 1, 1, 65536), 1)]
    widen, widened = forward.widen, []

    def watched(t):
        widened.append(t.numel())
        return widen(t)

    for dtype in (torch.bfloat16, torch.float16):
        for shape, table, mode in rows:
            for table_dtype in (dtype, torch.float32):
                x = torch.randn(shape).to(dtype)
                cos, sin = (torch.randn(table).to(table_dtype) for _ in range(2))
                want = forward._turned(x, cos, sin, mode)
                forward.widen = watched
                widened.clear()
                try:
                    got = forward.rotary(x, cos, sin, mode)
                finally:
                    forward.widen = widen
                assert torch.equal(got, want), (shape, table, mode, dtype)
                assert x.numel() > forward.BAND >= max(widened), (shape, table, max(widened))
                if len(table) == len(shape):
                    y = at.rotary_position_embedding(x.requires_grad_(), cos, sin, mode)
                    assert torch.equal(y.detach(), want) and y.grad_fn is not None
    x = torch.randn(2, 300, 4, 128).bfloat16().requires_grad_()  # where autograd looks on, it sees the operations
    forward.rotary(x, torch.ones(1, 1, 1, 128), torch.ones(1, 1, 1, 128)).sum().backward()
    assert x.grad.shape == x.shape


def test_schemas_follow_the_ir():
    """Every operator of the IR is there, with its inputs, attributes, defaults and outputs."""
    for op, ir in ascgrad.ops.items():
        schema = getattr(torch.ops.ascgrad, ir["kernel"]).default._schema
        kinds = {"int": "int", "bool": "bool", "float": "float", "List[int]": "listInt",
                 "List[float]": "listFloat"}
        tensors = [(a.name, "Optional" in str(a.type)) for a in schema.arguments if "Tensor" in str(a.type)]
        attrs = [a for a in schema.arguments if "Tensor" not in str(a.type)]
        assert tensors == [(n, optional) for n, optional, _ in ir["in"]], op
        assert [(a.name, kinds[str(a.type)]) for a in attrs] == ir["attr"], op
        assert {a.name: a.default_value for a in attrs if a.has_default_value()} == ir["default"], op
        assert [r.name for r in schema.returns] == ir["out"], op


def test_rotary_mul():
    for dtype in DTYPES:
        for table in ((1, 5, 1, 6), (2, 1, 3, 6), (2, 5, 3, 6), (1, 1, 1, 6)):
            args = [rand(2, 5, 3, 6, dtype=dtype), rand(*table, dtype=dtype), rand(*table, dtype=dtype)]
            against_autograd(at.rotary_mul, forward.rotary, args, f"rotary_mul {table}")


def test_rotary_position_embedding():
    for dtype in DTYPES:
        for mode, number in MODES.items():
            args = [rand(4, 3, 8, dtype=dtype), rand(4, 1, 8, dtype=dtype), rand(4, 1, 8, dtype=dtype)]
            against_autograd(lambda x, c, s, m=mode: at.rotary_position_embedding(x, c, s, m),
                             lambda x, c, s, m=number: forward.rotary(x, c, s, m), args, mode)


def test_rope():
    for dtype in DTYPES:
        args = [rand(9, 16, dtype=dtype), rand(9, 8, dtype=dtype), rand(6, 4, dtype=dtype, grad=False),
                rand(6, 4, dtype=dtype, grad=False), [4, 0, 5]]
        against_autograd(at.rope, lambda q, k, c, s, n: (forward.rope(q, c, s, n), forward.rope(k, c, s, n)),
                         args, "rope")
        args = [rand(9, 20, dtype=dtype), rand(9, 10, dtype=dtype), *args[2:]]
        against_autograd(lambda *a: at.rope(*a, head_size=10),
                         lambda q, k, c, s, n: (forward.rope(q, c, s, n, 10), forward.rope(k, c, s, n, 10)), args, "partial rope")


def test_rope_default_formula():
    """exact_grad=False is q * (cos + [sin2, -sin1]): no mixing of the halves."""
    q, k = rand(5, 8), rand(5, 4)
    cos, sin = rand(5, 4, grad=False), rand(5, 4, grad=False)
    q_grad, k_grad = torch.ops.ascgrad.rope_grad(q, k, cos, sin, [5])
    factor = cos + torch.cat((sin[:, 2:], -sin[:, :2]), 1)
    assert torch.allclose(q_grad, (q * factor.repeat(1, 2)).detach(), atol=1e-6)
    assert torch.allclose(k_grad, (k * factor).detach(), atol=1e-6)


def plain_norm_rope_concat(query, key, value, eq, ek, ev, *rest):
    affine, (sin, cos, norm, added, rope, order) = rest[:8], rest[8:]
    parts = [forward.normalised(x, kind, affine[2 * i], affine[2 * i + 1], 1e-5)[0] if x is not None else None
             for i, (x, kind) in enumerate(((query, norm), (key, norm), (eq, added), (ek, added)))]
    return (forward.with_rope(forward.joined(parts[0], parts[2], order), sin, cos, rope),
            forward.with_rope(forward.joined(parts[1], parts[3], order), sin, cos, rope),
            forward.joined(value, ev, order))


def test_norm_rope_concat():
    for dtype in DTYPES:
        for norm, added, rope, order, encoder in ((2, 2, 1, 0, True), (1, 2, 2, 1, True), (2, 0, 2, 0, False),
                                                  (0, 1, 0, 1, True), (0, 0, 1, 0, False), (4, 3, 2, 1, True),
                                                  (3, 4, 1, 0, True), (4, 0, 0, 0, False), (2, 4, 2, 0, True),
                                                  (6, 5, 2, 0, True), (8, 7, 1, 1, True), (9, 0, 2, 0, False)):
            d, heads = 8, (3, 2, 2)
            main = [rand(2, s, n, d, dtype=dtype) for s, n in zip((5, 4, 4), heads)]
            extra = [rand(2, s, n, d, dtype=dtype) if encoder else None for s, n in zip((3, 2, 2), heads)]
            affine = []
            for kind, n in ((norm, 3), (norm, 2), (added, 3), (added, 2)):
                size = n * d if kind > 4 else d
                affine += [rand(size, dtype=dtype) if kind in kinds else None for kinds in ((2, 4, 6, 8), (2, 6))]
            if not encoder:
                affine[4:] = [None] * 4
            tables = [rand(4, d, dtype=dtype, grad=False) if rope else None for _ in range(2)]
            args = main + extra + affine + tables + [norm, added, rope, order]
            against_autograd(at.norm_rope_concat, plain_norm_rope_concat, args,
                             f"norm_rope_concat {norm}{added}{rope}{order} encoder={encoder}")


def test_norm_rope_concat_wide():
    """fp32 tables and weights beside 16-bit data: their gradients are not rounded to 16 bits."""
    for dtype in (torch.float16, torch.bfloat16):
        main = [rand(2, s, 3, 8, dtype=dtype) for s in (5, 4, 4)]
        affine = [rand(8) for _ in range(4)]
        tables = [rand(4, 8, grad=False) for _ in range(2)]
        args = main + [None] * 3 + affine + [None] * 4 + tables + [2, 0, 2, 0]
        against_autograd(at.norm_rope_concat, plain_norm_rope_concat, args, f"norm_rope_concat, wide, {dtype}")
        error = (affine[0].grad - affine[0].grad.to(dtype).float()).abs().max()
        assert error > 0, "the gradient of the weight has 16 bits only"


def test_exp_segsum():
    for dtype in DTYPES:
        against_autograd(at.exp_segsum, forward.exp_segsum, [rand(2, 3, 7, dtype=dtype)], "exp_segsum")
    y = at.exp_segsum(torch.zeros(4, requires_grad=True))
    assert torch.equal(y, torch.ones(4, 4).tril())


def test_gradcheck():
    def check(function, *args):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it would like float64; the operators have none
            assert torch.autograd.gradcheck(function, args, eps=1e-2, atol=5e-3, rtol=1e-2)
    check(at.rotary_mul, rand(2, 3, 2, 4), rand(1, 3, 1, 4), rand(1, 3, 1, 4))
    for mode in MODES:
        check(lambda x, c, s, m=mode: at.rotary_position_embedding(x, c, s, m),
              rand(3, 2, 4), rand(3, 1, 4), rand(3, 1, 4))
    cos, sin = rand(3, 4, grad=False), rand(3, 4, grad=False)
    check(lambda q, k: at.rope(q, k, cos, sin, [3, 2]), rand(5, 8), rand(5, 4))
    check(at.exp_segsum, rand(2, 4) * 0.5)
    check(lambda q, k, v, w, b: at.norm_rope_concat(
        q, k, v, norm_query_weight=w, norm_query_bias=b, norm_key_weight=w, norm_key_bias=b, rope_sin=sin,
        rope_cos=cos, norm_type=2, rope_type=2), *(rand(1, 3, 2, 4) for _ in range(3)), rand(4), rand(4))


def test_only_what_is_needed():
    x, cos, sin = rand(2, 3, 2, 4), rand(1, 3, 1, 4), rand(1, 3, 1, 4, grad=False)
    at.rotary_mul(x, cos, sin).sum().backward()  # dy has stride 0; only one table wants a gradient
    want = (x.detach()).sum((0, 2), keepdim=True)
    assert torch.allclose(cos.grad, want, atol=1e-5) and sin.grad is None
    y = at.rotary_mul(x, cos.detach(), sin)
    assert len(y.grad_fn.saved_tensors) == 2, "x must not be kept when no table wants a gradient"
    dx, dr1, dr2 = torch.ops.ascgrad.rotary_mul_grad(x, cos, sin, x, False)
    assert not dr1.any() and not dr2.any() and dx.any()
    dx, dcos, dsin = torch.ops.ascgrad.rotary_position_embedding_grad(x, cos, sin)
    assert not dcos.any() and not dsin.any() and dx.any()


def test_strides():
    dy, table = rand(2, 3, 4, 6, grad=False), rand(1, 1, 4, 6, grad=False)
    want = torch.ops.ascgrad.rotary_mul_grad(dy, table, table, dy)
    turned = [t.transpose(1, 2).contiguous().transpose(1, 2) for t in (dy, table)]
    for dtype in DTYPES:
        got = torch.ops.ascgrad.rotary_mul_grad(*(t.to(dtype) for t in (turned[0], turned[1], turned[1], turned[0])))
        for a, b in zip(got, want):
            close(a, b.double(), dtype, "strided")


def raw_calls():
    """Operator -> arguments of torch.ops.ascgrad.*, with and without what is optional."""
    x, t = torch.ones(2, 3, 2, 4, dtype=torch.bfloat16), torch.ones(1, 3, 1, 4, dtype=torch.bfloat16)
    qkv, enc, stat = torch.ones(2, 5, 3, 4), torch.ones(2, 2, 3, 4), torch.ones(2, 5, 3, 1)
    out = torch.ones(2, 3, 7, 4)
    return {
        "RotaryMulGrad": (x, t, t, x), "RotaryPositionEmbeddingGrad": (x, t, t),
        "RopeGrad": (torch.ones(5, 8), torch.ones(5, 4), torch.ones(3, 4), torch.ones(3, 4), [2, 3]),
        "NormRopeConcatGrad": (out, out, out, qkv, qkv, enc, enc, torch.ones(4), stat, stat, torch.ones(4),
                               stat, stat, *[None] * 8, 2, 0, 0, 0),
        "ExpSegsumGrad": (torch.ones(2, 5, 5), torch.ones(2, 5, 5)),
    }


def plain_call(ir):
    """For an operator without a call above: tensors of one shape, nothing optional, the defaults."""
    return (*(None if optional else torch.ones(2, 4) for _, optional, _ in ir["in"]),
            *(ir["default"][name] for name, _ in ir["attr"]))


def test_meta_agrees_with_cpu():
    calls = raw_calls()
    for op, ir in ascgrad.ops.items():
        function = getattr(torch.ops.ascgrad, ir["kernel"])
        call = calls.get(op) or plain_call(ir)
        real = function(*call)
        meta = function(*[a.to("meta") if isinstance(a, torch.Tensor) else a for a in call])
        real, meta = ([r] if isinstance(r, torch.Tensor) else list(r) for r in (real, meta))
        for a, m in zip(real, meta):
            assert a.shape == m.shape and a.dtype == m.dtype and m.device.type == "meta", (op, a.shape, m.shape)
        if op not in calls:
            continue
        tensors, _ = library.split(op, call)  # and so do the rules for a machine without libascgrad
        given = {name: (library.NAMES[t.dtype], list(t.shape)) for name, t in tensors.items()}
        rules = _shapes.like_inputs(op, given)
        assert rules == [(library.NAMES[a.dtype], list(a.shape)) for a in real], (op, rules)


def test_opcheck():
    """PyTorch's own checks of a custom operator, from 2.4 on: schema, fake tensors, dynamic AOT dispatch."""
    if not hasattr(torch.library, "opcheck"):
        return
    calls = raw_calls()
    for op, ir in ascgrad.ops.items():
        overload = getattr(torch.ops.ascgrad, ir["kernel"]).default
        assert set(torch.library.opcheck(overload, calls.get(op) or plain_call(ir)).values()) == {"SUCCESS"}, op


def test_compile():
    """Every function is one graph, static and dynamic, whose backward is the operator (PyTorch 2)."""
    if torch.__version__ < "2.1":
        return
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd
    for dynamic in (False, True):
        for op, function, args, _, _ in cases():
            torch._dynamo.reset()
            names = []

            def compiler(module, _, names=names):
                names += [str(n.target) for n in module.graph.nodes]
                return make_boxed_func(module)

            backend = aot_autograd(fw_compiler=compiler, bw_compiler=compiler)
            traced = torch.compile(function, backend=backend, fullgraph=True, dynamic=dynamic)
            for got, want in zip(gradients(traced, args), gradients(function, args)):
                assert (got is None) == (want is None) and (got is None or torch.allclose(got, want, atol=1e-5)), op
            assert f"ascgrad.{ascgrad.ops[op]['kernel']}.default" in names, (op, names)


def test_mixed_dtypes():
    """Tables in float32 beside bf16 are used as they are, and get float32 gradients that nobody has rounded; weights are
    cast for the operator, their gradients back."""
    x, cos, sin = rand(2, 3, 2, 4, dtype=torch.bfloat16), rand(1, 3, 1, 4), rand(1, 3, 1, 4)
    for function in (at.rotary_mul, at.rotary_position_embedding):
        mixed = gradients(function, [x, cos, sin])
        exact = gradients(lambda *t: forward.rotary(*t), [t.detach().double().requires_grad_() for t in (x, cos, sin)])
        assert [g.dtype for g in mixed] == [torch.bfloat16, torch.float32, torch.float32]
        for got, want, bits in zip(mixed, exact, (8, 20, 20)):
            assert torch.allclose(got.double(), want, rtol=2.0 ** -bits, atol=2.0 ** -bits)
        assert not torch.equal(mixed[1], mixed[1].bfloat16().float())
        half = gradients(function, [x, cos.detach().bfloat16().requires_grad_(), sin])
        assert [g.dtype for g in half] == [torch.bfloat16, torch.bfloat16, torch.float32]


def test_partial_rotary():
    """Tables with fewer columns than x: the rest of a row passes through, bit by bit."""
    for dtype, table in ((torch.float32, torch.float32), (torch.bfloat16, torch.bfloat16), (torch.float16, torch.float32)):
        x, cos, sin = rand(2, 3, 2, 20, dtype=dtype), rand(1, 3, 1, 8, dtype=table), rand(1, 3, 1, 8, dtype=table)
        functions = [at.rotary_mul] + [lambda *t, mode=mode: at.rotary_position_embedding(*t, mode) for mode in range(4)]
        for mode, function in zip((0, 0, 1, 2, 3), functions):
            y = function(x, cos, sin)
            assert y.shape == x.shape and torch.equal(y[..., 8:], x[..., 8:])
            dy = torch.randn_like(y)
            got = torch.autograd.grad(y, (x, cos, sin), dy)
            wide = [t.detach().double().requires_grad_() for t in (x, cos, sin)]
            want = torch.autograd.grad(forward.rotary(*wide, mode), wide, dy.double())
            assert torch.equal(got[0][..., 8:], dy[..., 8:])
            for a, b, kind in zip(got, want, (dtype, table, table)):
                assert a.dtype == kind
                bits = {torch.float32: 20, torch.float16: 10, torch.bfloat16: 7}[kind]
                assert torch.allclose(a.double(), b, rtol=2.0 ** -bits, atol=2.0 ** -bits), (mode, dtype)


def test_mixed_weights():
    qkv = [rand(2, 3, 2, 4, dtype=torch.bfloat16) for _ in range(3)]
    weights = [rand(4) for _ in range(4)]
    grads = gradients(lambda q, k, v, a, b, c, d: at.norm_rope_concat(
        q, k, v, norm_query_weight=a, norm_query_bias=b, norm_key_weight=c, norm_key_bias=d, norm_type=2), qkv + weights)
    assert [g.dtype for g in grads] == [torch.bfloat16] * 3 + [torch.float32] * 4


def test_dynamic_batch():
    """A graph traced with one batch runs with others: the operator is one node, no size is burnt in."""
    def step(x, cos, sin, dy):
        return torch.ops.ascgrad.rotary_mul_grad(x, cos, sin, dy)
    def args(batch):
        return [rand(*s, grad=False) for s in ((batch, 3, 2, 4), (1, 3, 1, 4), (1, 3, 1, 4), (batch, 3, 2, 4))]
    graph = make_fx(step)(*args(2))
    assert [str(n.target) for n in graph.graph.nodes if n.op == "call_function"][0].startswith(
        "ascgrad.rotary_mul_grad")
    for batch in (1, 2, 7, 0):
        given = args(batch)
        for a, b in zip(graph(*given), step(*given)):
            assert torch.equal(a, b)


def refused(function, *args, text):
    try:
        function(*args)
    except RuntimeError as error:
        assert text in str(error), f"wanted '{text}' in: {error}"
        return
    raise AssertionError(f"not refused: {text}")


def test_one_tensor_twice():
    """A table or a weight that is given twice traces as one graph; a compiled forward refuses as an eager one does."""
    if not hasattr(torch, "compiler"):
        return
    q, c, w = rand(2, 3, 2, 4), rand(1, 3, 1, 4).detach(), rand(4)
    for function in (lambda q: at.rotary_mul(q, c, c), lambda q: at.rotary_position_embedding(q, c, c, 1),
                     lambda q: at.norm_rope_concat(q, q, q, norm_type=4, norm_query_weight=w, norm_key_weight=w)[0]):
        results = []
        for call in (function, torch.compile(function, fullgraph=True, backend="aot_eager")):
            x = q.detach().requires_grad_()
            call(x).sum().backward()
            results.append(x.grad)
        assert torch.allclose(*results, atol=1e-6)
    odd = rand(1, 3, 1, 3).detach()
    try:
        torch.compile(lambda x: at.rotary_mul(x, odd, odd), backend="aot_eager")(rand(2, 3, 2, 3).detach())
    except Exception as error:
        assert "must be a multiple of 2, got 3" in str(error), error
    else:
        raise AssertionError("an odd size was not refused")


def test_refusals():
    x, good, bad = rand(2, 3, 2, 4), rand(1, 3, 1, 4), rand(1, 2, 1, 4)
    refused(torch.ops.ascgrad.rotary_mul_grad, x, good, bad, x, text="[1,3,1,4] and [1,2,1,4]")
    refused(at.rotary_mul, x, bad, bad, text="rotary_mul: dimension 1 of cos (r1) must be 1 or that of x")
    refused(torch.ops.ascgrad.rotary_mul_grad, *(t.detach().to("meta") for t in (x, bad, bad, x)), text="RotaryMulGrad")
    refused(at.rotary_position_embedding, x, good, good, 4, text="mode")
    refused(torch.ops.ascgrad.exp_segsum_grad, rand(4, 5), rand(4, 5), text="ExpSegsumGrad")
    refused(at.rope, rand(5, 8), rand(5, 8), good[0, :, 0], good[0, :, 0], [2, 2], text="rope: ")
    refused(at.rope, rand(2, 8), rand(2, 8), rand(2, 4), rand(2, 4), [2], text="no gradient")
    refused(torch.ops.ascgrad.exp_segsum_grad, torch.ones(2, 2, dtype=torch.int32), torch.ones(2, 2), text="int32")
    refused(torch.ops.ascgrad.exp_segsum_grad, torch.ones(2, 2).half(), torch.ones(2, 2), text="ExpSegsumGrad")


class FakeTorchair(types.ModuleType):
    """torchair's registry and the two calls the converters use; custom_op records the node. Its converters of
    torch_npu's operators come with a submodule that is imported late, and overwrite what is there, as the real ones."""

    def __init__(self, npu):
        super().__init__("torchair_fake")
        self.table, self.npu = {}, npu
        attr = types.SimpleNamespace(**{kind: (lambda v, kind=kind: (kind, v)) for kind in (
            "Int", "Bool", "Float", "ListInt", "ListFloat")})
        self.ge = types.SimpleNamespace(custom_op=self.custom_op, attr=attr)
        path = ""
        for part in ("torchair_fake", "_ge_concrete_graph", "ge_converter"):
            path += ("." if path else "") + part
            sys.modules[path] = self if part == "torchair_fake" else types.ModuleType(path)
            sys.modules[path].__path__ = []
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        if name == "torchair_fake._ge_concrete_graph.ge_converter.custom":
            return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        for name in ("npu_rotary_mul", "npu_rotary_mul_backward"):
            self.register_fx_node_ge_converter(getattr(torch.ops.npu, name).default)(lambda *args, **named: "stock")

    def custom_op(self, op_type, *, inputs, outputs, attrs):
        return [FakeTensor(op_type, i, list(inputs.items()), outputs, list(attrs.items())) for i in range(len(outputs))]

    def register_fx_node_ge_converter(self, overload):
        def keep(converter):
            overload._ge_converter = self.table[str(overload)] = converter
            return converter
        return keep

    def looked_up(self, name):
        """As _get_converter does it: the submodule first."""
        importlib.import_module("torchair_fake._ge_concrete_graph.ge_converter.custom")
        return self.table[name]


class FakeTensor(types.SimpleNamespace):
    """Output number index of a node; all are float32."""

    def __init__(self, op, index=0, inputs=(), outputs=(), attrs=(), dtype=0):
        super().__init__(op=op, index=index, inputs=inputs, outputs=outputs, attrs=attrs, dtype=dtype)


def test_converters():
    """Against a stand-in of torchair, where the real one does not run; test_torchair.py has the real one."""
    npu = torch.library.Library("npu", "DEF")  # what torch_npu defines
    npu.define("npu_rotary_mul(Tensor self, Tensor r1, Tensor r2, str rotary_mode='half') -> Tensor")
    npu.define("npu_rotary_mul_backward(Tensor grad, Tensor self, Tensor r1, Tensor r2, str rotary_mode='half')"
               " -> (Tensor, Tensor, Tensor)")
    fake = FakeTorchair(npu)
    assert len(at.converters.register(fake)) == len(ascgrad.ops) + 2
    kinds = {"int": "Int", "bool": "Bool", "float": "Float", "listInt": "ListInt", "listFloat": "ListFloat"}
    for op, ir in ascgrad.ops.items():
        tensors = [FakeTensor(f"t{i}") for i in range(len(ir["in"]))]
        required = [[3, 4] for name, _ in ir["attr"] if name not in ir["default"]]
        node = fake.looked_up(f"ascgrad.{ir['kernel']}.default")(*tensors, *required)[0]
        assert node.op == op and node.outputs == ir["out"]
        assert node.inputs == [(a[0], tensors[i]) for i, a in enumerate(ir["in"])]
        assert [(name, value[0]) for name, value in node.attrs] == [(name, kinds[kind]) for name, kind in ir["attr"]]
    front, back = (fake.looked_up(f"npu.npu_rotary_mul{tail}.default") for tail in ("", "_backward"))
    grad, x, cos, sin = (FakeTensor(name) for name in ("g", "x", "c", "s"))
    assert front(x, cos, sin) == "stock", "the half mode is torchair's own"
    assert front(x, cos, sin, "interleave")[0].op == "RotaryPositionEmbedding"
    dx, dr1, _ = back(grad, x, cos, sin)
    assert dx.op == dr1.op == "RotaryMulGrad" and dr1.index == 1
    assert dx.inputs == [("x", x), ("r1", cos), ("r2", sin), ("dy", grad)]
    assert back(grad, x, cos, sin, "interleave")[0].op == "RotaryPositionEmbeddingGrad"
    refused(back, grad, x, cos, sin, "spiral", text="spiral")


def main():
    return run_seeded(globals(), SEED)


if __name__ == "__main__":
    sys.exit(main())

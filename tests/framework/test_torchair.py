# SPDX-License-Identifier: Apache-2.0
"""The GE nodes that the real torchair makes of our operators, static and dynamic, against the IR.

usage: test_torchair.py WHEEL        a folder with an unpacked torch_npu wheel
"""
import sys
import warnings

import torch
import torchair_standin
from torch_cases import cases, gradients, rand, run_seeded

import ascgrad
import ascgrad.torch as at

SEED = 20264
torchair, graphs = torchair_standin.prepare(sys.argv[1])
npu = torchair_standin.define_npu_operators(sys.argv[1])
FLOAT, FLOAT16 = 0, 1  # of ge::DataType
STOCK = torchair_standin.stock_converter("npu_rotary_mul_backward")


def compiled(function, args, dynamic, fx_pass=False):
    """Forward and backward through the backend of torchair; the GE nodes of both graphs, and the gradients."""
    torch._dynamo.reset()
    graphs.clear()
    config = torchair.CompilerConfig()
    config.experimental_config.npu_fx_pass = fx_pass
    backend = torchair.get_npu_backend(compiler_config=config)
    function = torch.compile(function, backend=backend, fullgraph=True, dynamic=dynamic)
    grads = gradients(function, args)
    return [op for graph in graphs for op in graph.graph.op], grads


def of_type(nodes, *types):
    found = [node for node in nodes if node.type in types]
    assert len(found) == 1, f"wanted one of {types} among {[node.type for node in nodes]}"
    return found[0]


def attribute(value):
    """(kind of the IR, value) of an attribute in the GE graph."""
    kind = value.WhichOneof("value")
    if kind == "list":
        return "listInt", list(value.list.i)
    return {"i": "int", "b": "bool"}[kind], getattr(value, kind)


def follows_ir(node):
    """The node has the inputs, outputs and attributes of its IR, in order; returns fed inputs and attributes."""
    ir = ascgrad.ops[node.type]
    assert [d.name for d in node.input_desc] == [name for name, _, _ in ir["in"]], node.type
    assert [d.name for d in node.output_desc] == ir["out"], node.type
    unfed = [d.name for d in node.input_desc if "_is_unfed_optional" in d.attr]
    assert set(unfed) <= {name for name, optional, _ in ir["in"] if optional}, (node.type, unfed)
    assert len(node.input) == len(node.input_desc)
    assert [bool(source) for source in node.input] == [d.name not in unfed for d in node.input_desc], node.type
    attrs = {name: attribute(value) for name, value in node.attr.items() if not name.startswith("_")}
    kinds = dict(ir["attr"])
    assert all(kinds[name] == kind for name, (kind, _) in attrs.items()), (node.type, attrs)
    assert set(kinds) - set(attrs) <= set(ir["default"]), (node.type, attrs)
    values = {**ir["default"], **{name: value for name, (_, value) in attrs.items()}}
    return [d.name for d in node.input_desc if d.name not in unfed], values


def test_every_operator_becomes_its_node():
    seen = set()
    for dynamic in (False, True):
        for op, function, args, fed, attrs in cases():
            nodes, grads = compiled(function, args, dynamic)
            got = follows_ir(of_type(nodes, op))
            assert got == (fed or [name for name, _, _ in ascgrad.ops[op]["in"]], {**ascgrad.ops[op]["default"], **attrs}), (op, got)
            for i, (got, want) in enumerate(zip(grads, gradients(function, args))):
                assert (got is None) == (want is None), (op, i)
                assert got is None or torch.allclose(got, want, atol=1e-5), (op, i)
            seen.add(op)
    assert seen == set(ascgrad.ops), "an operator of the IR has no case here"


def test_npu_rotary_mul():
    """Models that use torch_npu.npu_rotary_mul get our backward: any even D, any broadcast, dynamic shapes."""
    def model(x, r1, r2):
        return torch.ops.npu.npu_rotary_mul(x, r1, r2)

    for dynamic in (False, True):
        for x, table in (((2, 5, 3, 80), (1, 5, 1, 80)), ((2048, 1, 1, 6), (1, 1, 1, 6))):
            nodes, _ = compiled(model, [rand(*x), rand(*table, grad=False), rand(*table, grad=False)], dynamic)
            of_type(nodes, "RotaryMul")
            fed, attrs = follows_ir(of_type(nodes, "RotaryMulGrad"))
            assert attrs == {"need_backward": False}, "nobody wants the gradients of constant tables"
            nodes, _ = compiled(model, [rand(*x), rand(*table), rand(*table, grad=False)], dynamic)
            assert follows_ir(of_type(nodes, "RotaryMulGrad"))[1] == {"need_backward": True}


def test_npu_rotary_mul_interleave():
    """The forward node must rotate by pairs too, else ours would be the gradient of another function."""
    def model(x, r1, r2):
        return torch.ops.npu.npu_rotary_mul(x, r1, r2, "interleave")

    for tables in (False, True):
        nodes, _ = compiled(model, [rand(2, 5, 3, 80), rand(1, 5, 1, 80, grad=tables), rand(1, 5, 1, 80, grad=tables)],
                            False)
        front = of_type(nodes, "RotaryMul", "RotaryPositionEmbedding")
        assert front.type == "RotaryPositionEmbedding" and front.attr["mode"].i == 1
        assert [d.name for d in front.input_desc][:3] == ["x", "cos", "sin"]
        fed, attrs = follows_ir(of_type(nodes, "RotaryPositionEmbeddingGrad"))
        assert attrs == {"mode": 1, "slice_start": 0} and fed == ["dy", "cos", "sin"] + (["x"] if tables else [])


def test_mixed_dtypes():
    """float32 tables beside bf16 x go to our operator as they are, and so do all-float32 nodes: no Cast around it. Tables that
    it does not take beside x, fp16 beside float32, are cast, their gradients back."""
    def casts(x_dtype, table_dtype, mode):
        tables = [rand(1, 5, 1, 80, dtype=table_dtype) for _ in range(2)]
        nodes, _ = compiled(lambda x, r1, r2: torch.ops.npu.npu_rotary_mul(x, r1, r2, mode),
                            [rand(2, 5, 3, 80, dtype=x_dtype), *tables], False)
        back = of_type(nodes, "RotaryMulGrad" if mode == "half" else "RotaryPositionEmbeddingGrad")
        by_name = {node.name: node for node in nodes}
        first = [d.name for d in back.input_desc].index("r1" if mode == "half" else "cos")
        before = [by_name[source.split(":")[0]] for source in back.input[first:first + 2]]
        after = [node for node in nodes if node.type == "Cast" and node.input[0].split(":")[0] == back.name]
        return [c.attr["dst_type"].i for c in before if c.type == "Cast"], \
            sorted((c.attr["dst_type"].i, c.input[0].split(":")[1]) for c in after)

    for mode in ("half", "interleave"):
        assert casts(torch.bfloat16, torch.float32, mode) == ([], []), mode
        assert casts(torch.float32, torch.float32, mode) == ([], []), mode
        assert casts(torch.float32, torch.float16, mode) == ([FLOAT] * 2, [(FLOAT16, "1"), (FLOAT16, "2")]), mode

    tables = [rand(1, 5, 1, 80) for _ in range(2)]
    nodes, grads = compiled(at.rotary_mul, [rand(2, 5, 3, 80, dtype=torch.float16), *tables], False)
    follows_ir(of_type(nodes, "RotaryMulGrad"))
    assert grads[0].dtype == torch.float16 and grads[1].dtype == torch.float32


def test_a_dynamic_graph_serves_other_sizes():
    torch._dynamo.reset()
    graphs.clear()
    function = torch.compile(at.rotary_mul, backend=torchair.get_npu_backend(), fullgraph=True, dynamic=True)
    for batch in (2, 3, 7):
        x, cos, sin = rand(batch, 5, 3, 80), rand(1, 5, 1, 80), rand(1, 5, 1, 80)
        got, want = (gradients(f, [x, cos, sin]) for f in (function, at.rotary_mul))
        assert all(torch.allclose(g, w, atol=1e-4) for g, w in zip(got, want))
    assert len(graphs) == 2, "a forward and a backward graph serve all batches"


def test_refusals_while_compiling():
    """What the plain forward would take but the operator does not is refused with the operator's sentence."""
    try:
        compiled(at.rotary_mul, [rand(2, 5, 3, 7), rand(1, 5, 1, 7), rand(1, 5, 1, 7)], False)
    except Exception as error:
        assert "multiple of 2, got 7" in str(error), error
        return
    raise AssertionError("an odd D was compiled")


def test_the_forward_is_canns():
    """On an NPU the forward of a rotation is npu_rotary_mul, in a graph RotaryMul, where CANN's rules allow it. There is no
    NPU here: the operators of torch_npu are the stand-in's, and the tensors are said to be there."""
    from ascgrad.torch import fused
    on_npu, fused.on_npu = fused.on_npu, lambda x: True
    try:
        for shape, table, fused_away in (((2, 5, 3, 8), (1, 5, 1, 8), True), ((2, 3, 5, 8), (2, 1, 5, 8), True),
                                         ((2, 5, 3, 8), (1, 5, 1, 4), False), ((5, 3, 8), (5, 1, 8), False)):
            args = [rand(*shape), rand(*table), rand(*table)]
            nodes, grads = compiled(at.rotary_mul, args, False)
            kinds = [node.type for node in nodes]
            assert (kinds.count("RotaryMul") == 1) == fused_away and kinds.count("RotaryMulGrad") == 1, (shape, table, kinds)
            fused.on_npu = on_npu
            for got, want in zip(grads, gradients(at.rotary_mul, args)):
                assert torch.allclose(got, want, atol=1e-6), shape
            fused.on_npu = lambda x: True
            assert torch.allclose(at.rotary_mul(*args), at.forward.rotary(*args), atol=1e-6)
    finally:
        fused.on_npu = on_npu


def test_rules_of_canns_forward():
    from ascgrad.torch.fused import refusal
    rows = [((2, 4, 7, 64), (1, 1, 7, 64), True, 0, None), ((2, 7, 4, 64), (2, 7, 1, 64), True, 0, None),
            ((7, 2, 4, 64), (7, 1, 1, 64), True, 1, None), ((2, 7, 4, 64), (2, 7, 1, 64), True, 1, "tables [2, 7, 1, 64]"),
            ((2, 4, 7, 64), (1, 4, 1, 64), True, 2, "mode quarter"), ((7, 4, 64), (7, 1, 64), True, 0, "3 axes"),
            ((2, 4, 7, 64), (1, 1, 7, 32), True, 0, "fewer columns"), ((2, 4, 7, 896), (1, 1, 7, 896), True, 0, "heads of 896"),
            ((2, 4, 7, 64), (1, 1, 7, 64), False, 0, "another dtype"), ((1000, 4, 7, 64), (1, 1, 7, 64), True, 0, "tables [1, 1, 7"),
            ((50, 20, 7, 64), (1, 1, 7, 64), True, 1, "tables [1, 1, 7"), ((50, 20, 7, 64), (1, 1, 7, 64), True, 0, None)]
    for x, table, same, mode, why in rows:
        said = refusal(x, table, same, mode)
        assert (said is None) == (why is None) and (why is None or why in said), (x, table, mode, said)


def test_zz_npu_fx_pass():
    """torchair's npu_fx_pass makes npu_rotary_mul of rope in plain operations, in the joint graph; then the backward is our
    RotaryMulGrad, for any even D and dynamic shapes. With torchair's own converter such models no longer compile. The last
    test: the pass changes tables of PyTorch for the whole process."""
    def rotate_half(x):
        x1 = x[..., : x.shape[-1] // 2]
        x2 = x[..., x.shape[-1] // 2:]
        return torch.cat((-x2, x1), dim=-1)

    def model(x, cos, sin):  # as transformers writes it
        return (x * cos) + (rotate_half(x) * sin)

    def other_order(x, cos, sin):
        turned = rotate_half(x)
        return (x * cos) + (turned * sin)

    torchair_standin.allow_fx_pass()
    backward = torch.ops.npu.npu_rotary_mul_backward.default
    ours = backward._ge_converter
    rows = (((2, 4, 5, 128), (1, 1, 5, 128), False, True), ((2, 4, 5, 80), (1, 1, 5, 80), False, False),
            ((2, 4, 5, 128), (1, 1, 5, 128), True, False), ((5, 4, 64), (5, 1, 64), False, False))
    for shape, table, dynamic, stock_compiles in rows:
        args = [rand(*shape), rand(*table, grad=False), rand(*table, grad=False)]
        if dynamic:  # the batch; with a dynamic head size the pass finds nothing
            torch._dynamo.mark_dynamic(args[0], 0)
        nodes, grads = compiled(model, args, None, fx_pass=True)
        of_type(nodes, "RotaryMul")
        assert follows_ir(of_type(nodes, "RotaryMulGrad"))[1] == {"need_backward": False}, shape
        assert not {node.type for node in nodes} & {"Neg", "Mul", "Add", "ConcatV2"}, [node.type for node in nodes]
        assert torch.allclose(grads[0], gradients(model, args)[0], atol=1e-5), shape
        backward._ge_converter = STOCK
        try:
            compiled(model, args, None, fx_pass=True)
            assert stock_compiles, f"torchair's own converter takes {shape}, dynamic {dynamic}"
        except Exception as error:
            assert not stock_compiles and ("is not implemented" in str(error) or "equal to four" in str(error)), error
        finally:
            backward._ge_converter = ours
    kinds = [node.type for node in compiled(other_order, args, False, fx_pass=True)[0]]
    assert "RotaryMul" in kinds and "RotaryMulGrad" not in kinds, "the page says that the pass depends on the order"


def main():
    wanted = {f"ascgrad.{ir['kernel']}.default" for ir in ascgrad.ops.values()}
    wanted |= {"npu.npu_rotary_mul.default", "npu.npu_rotary_mul_backward.default"}
    assert set(at.converters.register()) == wanted
    warnings.simplefilter("ignore")
    return run_seeded(globals(), SEED, sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())

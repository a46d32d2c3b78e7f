# SPDX-License-Identifier: Apache-2.0
"""The GE nodes that the real torchair makes of our operators, static and dynamic, against the IR.

usage: test_torchair.py WHEEL        a folder with an unpacked torch_npu wheel
"""
import sys
import warnings

import torch
import torchair_standin
from run_tests import run_tests
from torch_cases import cases, gradients, rand

import ascgrad
import ascgrad.torch as at

SEED = 20264
torchair, graphs = torchair_standin.prepare(sys.argv[1])
npu = torchair_standin.define_npu_operators(sys.argv[1])
FLOAT, FLOAT16, BF16 = 0, 1, 27  # of ge::DataType


def compiled(function, args, dynamic):
    """Forward and backward through the backend of torchair; the GE nodes of both graphs, and the gradients."""
    torch._dynamo.reset()
    graphs.clear()
    function = torch.compile(function, backend=torchair.get_npu_backend(), fullgraph=True, dynamic=dynamic)
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
            assert got == (fed or [name for name, _, _ in ascgrad.ops[op]["in"]], attrs), (op, got)
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
        assert attrs == {"mode": 1} and fed == ["dy", "cos", "sin"] + (["x"] if tables else [])


def test_mixed_dtypes():
    """bf16 with float32 tables: the tables are cast for the operator, their gradients back."""
    def model(x, r1, r2):
        return torch.ops.npu.npu_rotary_mul(x, r1, r2)

    tables = [rand(1, 5, 1, 80) for _ in range(2)]
    nodes, _ = compiled(model, [rand(2, 5, 3, 80, dtype=torch.bfloat16), *tables], False)
    back = of_type(nodes, "RotaryMulGrad")
    by_name = {node.name: node for node in nodes}
    casts = [by_name[source.split(":")[0]] for source in back.input[1:3]]
    assert [(c.type, c.attr["dst_type"].i) for c in casts] == [("Cast", BF16)] * 2
    after = [node for node in nodes if node.type == "Cast" and node.input[0].split(":")[0] == back.name]
    assert sorted((c.attr["dst_type"].i, c.input[0].split(":")[1]) for c in after) == [(FLOAT, "1"), (FLOAT, "2")]

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


def main():
    wanted = {f"ascgrad.{ir['kernel']}.default" for ir in ascgrad.ops.values()}
    wanted |= {"npu.npu_rotary_mul.default", "npu.npu_rotary_mul_backward.default"}
    assert set(at.converters.register()) == wanted
    warnings.simplefilter("ignore")

    def call(test):
        torch.manual_seed(SEED)
        test()

    return run_tests(globals(), f"torch {torch.__version__}, {sys.argv[1]}, seed {SEED}", call)


if __name__ == "__main__":
    sys.exit(main())

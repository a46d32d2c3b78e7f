# SPDX-License-Identifier: Apache-2.0
"""Our functions in graphs that torch_npu captures: make_graphed_callables, NPUGraph, torch.compile(backend="npugraph_ex").

usage: test_npu_graphs.py WHEEL        a folder with an unpacked torch_npu wheel
"""
import sys
import warnings

import npu_graphs_standin
import torch
from torch_cases import cases, gradients, rand, run_seeded

import ascgrad
import ascgrad.torch as at

SEED = 20265
torch_npu = npu_graphs_standin.prepare(sys.argv[1])
captured = npu_graphs_standin.captured
OPTIONS = {"pattern_fusion_pass": False}  # patterns of torch_npu's own operators, which are not here


def fresh(args):
    return [torch.randn_like(a).requires_grad_(a.requires_grad) for a in args]


def same(got, want):
    return all(a is None and b is None or torch.allclose(a, b, atol=1e-5) for a, b in zip(got, want))


def test_make_graphed_callables():
    """Forward and backward are captured once, with our operator in the second graph, and replayed for other numbers."""
    seen = set()
    for op, function, args, _, _ in cases():
        captured.clear()
        graphed = torch_npu.npu.make_graphed_callables(lambda *tensors: function(*tensors), tuple(fresh(args)))
        assert [graph.operators() for graph in captured] == [[], [ascgrad.ops[op]["kernel"] + ".default"]], op
        for _ in range(2):
            numbers = fresh(args)
            assert same(gradients(graphed, numbers), gradients(function, numbers)), op
        assert len(captured) == 2, "nothing is captured again"
        seen.add(op)
    assert seen == set(ascgrad.ops)


def test_capture_of_a_training_step():
    """with torch.npu.graph(...): forward and backward in one graph, replayed on new numbers in the same memory."""
    x, cos, sin = rand(2, 5, 3, 64), rand(1, 5, 1, 64), rand(1, 5, 1, 64)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y = at.rotary_mul(x, cos, sin)
        static = torch.autograd.grad(y.square().sum(), (x, cos, sin))
    assert graph.operators() == ["rotary_mul_grad.default"]
    for _ in range(2):
        with torch.no_grad():
            for tensor in (x, cos, sin):
                tensor.copy_(torch.randn_like(tensor))
        graph.replay()
        want = torch.autograd.grad(at.rotary_mul(x, cos, sin).square().sum(), (x, cos, sin))
        assert same(static, want)


def test_npugraph_ex():
    """torch.compile(backend="npugraph_ex"): a graph for the forward and one for the backward, each captured once."""
    for dynamic in (False, True):
        for op, function, args, _, _ in cases()[:1] if dynamic else cases():
            torch._dynamo.reset()
            captured.clear()
            compiled = torch.compile(function, backend="npugraph_ex", fullgraph=True, dynamic=dynamic, options=OPTIONS)
            for _ in range(3):
                numbers = fresh(args)
                assert same(gradients(compiled, numbers), gradients(function, numbers)), (op, dynamic)
            ours = [graph.operators() for graph in captured if graph.operators()]
            assert ours == [[ascgrad.ops[op]["kernel"] + ".default"]], (op, dynamic, ours)


def main():
    warnings.simplefilter("ignore")
    return run_seeded(globals(), SEED, sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())

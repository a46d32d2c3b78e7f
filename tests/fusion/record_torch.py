# SPDX-License-Identifier: Apache-2.0
"""Records the backward graphs of common ropes as PyTorch's autograd makes them, in GE's types.

make_fx traces what AOTAutograd traces: the ATen calls of forward and backward. Only what the gradients need is kept.
Each ATen call becomes what torchair's converters make of it: slices are StridedSliceV2, a slice's backward with step 1
is ConcatV2 with zeros, with another step it is ScatterElements into zeros, select is GatherV2.

usage: record_torch.py DIR
"""
import sys

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from recorder import Recorder

NAMES = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.int64: "int64"}
B, N, S, D = 2, 3, 4, 8


class Graph:
    """One traced graph on its way to text."""

    def __init__(self, comment, traced, names):
        self.out = Recorder(comment)
        self.names = {}
        self.args = dict(zip([n.name for n in traced.graph.nodes if n.op == "placeholder"], names))
        traced.graph.eliminate_dead_code()
        for node in traced.graph.nodes:
            self.visit(node)

    def meta(self, node):
        t = node.meta["value"]
        return NAMES[t.dtype], tuple(t.shape)

    def ints(self, values, shape=None):
        return self.out.ints("k", values, shape)

    def visit(self, node):
        out = self.out
        if node.op == "placeholder":
            if node.users:
                self.names[node] = out.input(self.args[node.name], *self.meta(node))
            return
        if node.op == "output":
            wanted = [n for n in node.args[0] if n is not None]
            self.results = [self.names[n] for n in wanted]
            out.output(*self.results)
            return
        kind = node.target.__name__.split(".")[0]
        getattr(self, kind)(node)

    def put(self, node, type_, inputs, **attrs):
        self.names[node] = self.out.node(node.name, type_, inputs, [self.meta(node)], **attrs)

    def ins(self, node, count):
        return [self.names[a] for a in node.args[:count]]

    def mul(self, node):
        self.put(node, "Mul", self.ins(node, 2))

    def add(self, node):
        self.put(node, "Add", self.ins(node, 2))

    def sub(self, node):
        self.put(node, "Sub", self.ins(node, 2))

    def neg(self, node):
        self.put(node, "Neg", self.ins(node, 1))

    def detach(self, node):
        self.put(node, "Identity", self.ins(node, 1))

    def view(self, node):
        self.put(node, "Reshape", self.ins(node, 1) + [self.ints(self.meta(node)[1])])

    _unsafe_view = _reshape_alias = view
    clone = detach

    def unsqueeze(self, node):
        self.put(node, "Unsqueeze", self.ins(node, 1))

    def squeeze(self, node):
        self.put(node, "Squeeze", self.ins(node, 1))

    def expand(self, node):
        self.put(node, "Expand", self.ins(node, 1) + [self.ints(self.meta(node)[1])])

    def cat(self, node):
        dim = node.args[1] if len(node.args) > 1 else 0
        self.put(node, "ConcatV2", [self.names[a] for a in node.args[0]] + [self.ints([dim], ())])

    def stack(self, node):
        dim = node.args[1] if len(node.args) > 1 else 0
        self.put(node, "Pack", [self.names[a] for a in node.args[0]], axis=dim)

    def sum(self, node):
        keep = node.args[2] if len(node.args) > 2 else False
        self.put(node, "ReduceSum", self.ins(node, 1) + [self.ints(node.args[1])], keep_dims=keep)

    def transpose(self, node):
        rank = len(self.meta(node)[1])
        perm = list(range(rank))
        a, b = node.args[1] % rank, node.args[2] % rank
        perm[a], perm[b] = b, a
        self.put(node, "Transpose", self.ins(node, 1) + [self.ints(perm)])

    def slice(self, node):
        x, dim, start, end = node.args[:4]
        step = node.args[4] if len(node.args) > 4 else 1
        self.put(node, "StridedSliceV2", [self.names[x], self.ints([start or 0]), self.ints([end]), self.ints([dim]),
                                          self.ints([step])])

    def select(self, node):
        x, dim, index = node.args
        self.put(node, "GatherV2", [self.names[x], self.ints([index], ()), self.ints([dim], ())])

    def split(self, node):
        x, size = node.args[:2]
        dim = node.args[2] if len(node.args) > 2 else 0
        outputs = [(NAMES[t.dtype], tuple(t.shape)) for t in node.meta["value"]]
        self.names[node] = self.out.node(
            node.name, "SplitV", [self.names[x], self.ints([s[dim] for _, s in outputs]), self.ints([dim], ())], outputs)

    def getitem(self, node):
        self.names[node] = f"{self.names[node.args[0]]}:{node.args[1]}"

    def slice_backward(self, node):
        grad, sizes, dim, start, end, step = node.args
        dtype, shape = self.meta(node)
        dim %= len(shape)
        part = list(shape)
        end = min(end, shape[dim])
        if step == 1:
            pieces = []
            for size in (start, None, shape[dim] - end):
                if size is None:
                    pieces.append(self.names[grad])
                elif size:
                    part[dim] = size
                    pieces.append(self.out.zeros(node.name + "_fill", dtype, part))
            self.put(node, "ConcatV2", pieces + [self.ints([dim], ())])
            return
        # Fill and Range are constants by the time a pass sees the graph; the Expand of the indices is not.
        places = list(range(start, end, step))
        one = [1] * len(shape)
        one[dim] = len(places)
        part[dim] = len(places)
        row = self.ints(places, one)
        indices = self.out.node(node.name + "_index", "Expand", [row, self.ints(part)], [("int64", tuple(part))])
        zeros = self.out.zeros(node.name + "_fill", dtype, shape)
        self.put(node, "ScatterElements", [zeros, indices, self.names[grad]], axis=dim)

    def select_backward(self, node):
        grad, sizes, dim, index = node.args
        dtype, shape = self.meta(node)
        wide = list(shape)
        dim %= len(shape)
        wide[dim] = 1
        lifted = self.out.node(node.name + "_lift", "Unsqueeze", [self.names[grad]], [(dtype, tuple(wide))])
        pads = [0] * (2 * len(shape))
        pads[2 * dim], pads[2 * dim + 1] = index, shape[dim] - 1 - index
        self.put(node, "Pad", [lifted, self.ints(pads, (len(shape), 2))])


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rotate_half_slices(x):
    return torch.cat((-x[..., x.shape[-1] // 2:], x[..., :x.shape[-1] // 2]), dim=-1)


def rotate_pairs(x):
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).reshape(x.shape)


def half(x, cos, sin):
    return x * cos + rotate_half(x) * sin


def half_slices(x, cos, sin):
    return x * cos + rotate_half_slices(x) * sin


def pairs(x, cos, sin):
    return x * cos + rotate_pairs(x) * sin


def two_halves(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def real_imag(x, cos, sin):
    z = x.reshape(*x.shape[:-1], -1, 2)
    a, b = z[..., 0], z[..., 1]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


def wide_pairs(x, cos, sin):
    """Tables that are broadcast over the two of a pair."""
    z = x.reshape(*x.shape[:-1], -1, 2)
    turned = torch.stack((-z[..., 1], z[..., 0]), dim=-1)
    return (z * cos.unsqueeze(-1) + turned * sin.unsqueeze(-1)).flatten(-2)


def quarters(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((rotate_half(a), rotate_half(b)), dim=-1) * sin


def deinterleaved(x, cos, sin):
    x = x.view(*x.shape[:-1], -1, 2).transpose(-1, -2).reshape(x.shape)
    return x * cos + rotate_half(x) * sin


def partial(x, cos, sin):
    width = cos.shape[-1]
    return torch.cat((half(x[..., :width], cos, sin), x[..., width:]), dim=-1)


FULL, HALF = (1, 1, S, D), (1, 1, S, D // 2)
# name, forward, shape of the tables, dtype, what is to be found (None: nothing), gradients of the tables too
ROWS = [
    ("half", half, FULL, torch.float32, dict(mode=0), False),
    ("half_fp16", half, FULL, torch.float16, dict(mode=0), False),
    ("half_bf16", half, FULL, torch.bfloat16, dict(mode=0), False),
    ("half_low_rank_tables", half, (S, D), torch.float32, dict(mode=0), False),
    ("half_slices", half_slices, FULL, torch.float16, dict(mode=0), False),
    ("pairs", pairs, FULL, torch.bfloat16, dict(mode=1), False),
    ("two_halves", two_halves, HALF, torch.float32, dict(mode=0, how="/halves"), False),
    ("real_imag", real_imag, HALF, torch.float16, dict(mode=1, how="/pairs"), False),
    ("wide_pairs", wide_pairs, HALF, torch.bfloat16, dict(mode=1, how="/pairs"), False),
    ("quarters", quarters, FULL, torch.float32, dict(mode=2), False),
    ("deinterleaved", deinterleaved, FULL, torch.bfloat16, dict(mode=3), False),
    ("partial", partial, (1, 1, S, D // 2), torch.float32, dict(mode=0, part=True), False),
    ("half_tables", half, FULL, torch.float32, dict(mode=0), True),
]


def backward(forward, tables):
    def run(x, cos, sin, dy):
        wanted = [x, cos, sin] if tables else [x]
        return torch.autograd.grad(forward(x, cos, sin), wanted, dy)
    return run


def trace(function, shapes, dtype):
    args = [torch.zeros(s, dtype=dtype, requires_grad=True) for s in shapes]
    traced = make_fx(function)(*args)
    # Shapes of every value, by running it once.
    class Shapes(torch.fx.Interpreter):
        def run_node(self, n):
            n.meta["value"] = super().run_node(n)
            return n.meta["value"]
    Shapes(traced).run(*[a.detach() for a in args])
    return traced


def main(folder):
    x = (B, N, S, D)
    for name, forward, table, dtype, found, tables in ROWS:
        traced = trace(backward(forward, tables), [x, table, table, x], dtype)
        graph = Graph(f"PyTorch {torch.__version__}, autograd of {forward.__name__}; made by record_torch.py",
                      traced, ["x", "cos", "sin", "dy"])
        how = found.get("how", "")
        dx = graph.results[0]
        fields = dict(mode=found["mode"], dx=dx, dy="dy", cos="cos" + how, sin="sin" + how)
        if found.get("part"):
            fields["dx"], fields["dy"] = part_names(graph)
        if tables:
            fields.update(x="x", dcos=graph.results[1], dsin=graph.results[2])
        graph.out.expect(**fields)
        graph.out.write(f"{folder}/torch_{name}.txt")
    for name, forward, table, dtype, _, _ in ROWS:
        if dtype != torch.float32 or name == "half_tables":
            continue
        traced = trace(lambda *a, f=forward: (f(*a[:3]),), [x, table, table], dtype)
        graph = Graph(f"PyTorch {torch.__version__}, forward of {forward.__name__}; made by record_torch.py", traced,
                      ["x", "cos", "sin"])
        graph.out.expect()
        graph.out.write(f"{folder}/torch_forward_{name}.txt")


def part_names(graph):
    """Of a rope on the first lanes only: the sum, and the slice of dy that it rotates."""
    lines = [line.split() for line in graph.out.lines if line.startswith("node")]
    slices = [w[1] for w in lines if w[2] == "StridedSliceV2" and "in=dy," in " ".join(w)]
    narrow = f"out=fp32[{B},{N},{S},{D // 2}]"
    sums = [w[1] for w in lines if w[2] == "Add" and narrow in w]
    return sums[-1], slices[0]


if __name__ == "__main__":
    main(sys.argv[1])

# SPDX-License-Identifier: Apache-2.0
"""Writes graphs that no framework here can be asked for.

MindSpore's gradients, from its published bprop rules: a Concat of equal parts is differentiated by Split, a StridedSlice
by StridedSliceGrad, Stack by Unstack (Pack and Unpack in GE), a sum of gradients is a chain of Add. And graphs that must
be left alone, or of which only a part may be replaced: control edges, other readers, a Cast on the way, tables of two
shapes, a wrong sign, a second product.

usage: record_rules.py DIR
"""
import sys

from recorder import Recorder

B, N, S, D = 2, 3, 4, 8
H = D // 2
X, LOW, TABLE, SMALL = (B, N, S, D), (B, N, S, H), (1, 1, S, D), (1, 1, S, H)


class Rope(Recorder):
    """The inputs, and the operations by short names; all of one dtype."""

    def __init__(self, comment, dtype="fp32", table=TABLE, sin_table=None):
        super().__init__(comment + "; made by record_rules.py")
        self.dtype = dtype
        self.dy = self.input("dy", dtype, X)
        self.cos = self.input("cos", dtype, table)
        self.sin = self.input("sin", dtype, sin_table or table)
        self.axis = self.ints("axis", [-1], ())

    def op(self, name, type_, inputs, shape=X, **more):
        return self.node(name, type_, inputs, [(self.dtype, shape)], **more)

    def split(self, name, x, shape=LOW):
        name = self.node(name, "Split", [self.axis, x], [(self.dtype, shape)] * 2)
        return name + ":0", name + ":1"

    def half(self, **more):
        """The usual backward in halves: the products, the turned one, their sum."""
        straight = self.op("straight", "Mul", [self.dy, self.cos])
        product = self.op("product", "Mul", [self.dy, self.sin], **more)
        low, high = self.split("parts", product)
        minus = self.op("minus", "Neg", [low], LOW)
        turned = self.op("turned", "ConcatV2", [high, minus, self.axis])
        return self.op("dx", "Add", [straight, turned])

    def found(self, path, **fields):
        """One reader of the result, and what is to be found."""
        self.output("dx")
        if fields:
            self.expect(**{**dict(dx="dx", dy="dy", cos="cos", sin="sin"), **fields})
        else:
            self.expect()
        self.write(path)


def mindspore(folder):
    rope = Rope("MindSpore, halves by Split and Concat", "fp16")
    rope.half()
    rope.found(f"{folder}/mindspore_half.txt", mode=0)

    rope = Rope("MindSpore, halves by slices", "bf16")
    product = rope.op("product", "Mul", [rope.sin, rope.dy])
    low, high = rope.split("parts", product)
    shape, steps = rope.ints("shape", X), rope.ints("steps", [1, 1, 1, 1])
    ends, middle, start = rope.ints("ends", X), rope.ints("middle", [0, 0, 0, H]), rope.ints("start", [0, 0, 0, 0])
    half_ends = rope.ints("half_ends", LOW)
    minus = rope.op("minus", "Neg", [low], LOW)
    first = rope.op("first", "StridedSliceGrad", [shape, start, half_ends, steps, high])
    second = rope.op("second", "StridedSliceGrad", [shape, middle, ends, steps, minus])
    straight = rope.op("straight", "Mul", [rope.cos, rope.dy])
    both = rope.op("both", "Add", [first, second])
    rope.op("dx", "Add", [both, straight])
    rope.found(f"{folder}/mindspore_half_slices.txt", mode=0)

    rope = Rope("MindSpore, pairs by slices with a step, stacked")
    pair = X[:3] + (H, 2)
    rope.ints("flat", X)
    shape, steps, ends = rope.ints("shape", X), rope.ints("steps", [1, 1, 1, 2]), rope.ints("ends", X)
    evens, odds = rope.ints("evens", [0, 0, 0, 0]), rope.ints("odds", [0, 0, 0, 1])
    product = rope.op("product", "Mul", [rope.dy, rope.sin])
    wide = rope.op("wide", "Reshape", [product, rope.ints("pair", pair)], pair)
    rope.node("parts", "Unpack", [wide], [(rope.dtype, LOW)] * 2, axis=-1)
    minus = rope.op("minus", "Neg", ["parts:0"], LOW)
    first = rope.op("first", "StridedSliceGrad", [shape, evens, ends, steps, "parts:1"])
    second = rope.op("second", "StridedSliceGrad", [shape, odds, ends, steps, minus])
    straight = rope.op("straight", "Mul", [rope.dy, rope.cos])
    rope.op("dx", "AddN", [straight, first, second])
    rope.found(f"{folder}/mindspore_pairs.txt", mode=1)

    rope = Rope("MindSpore, two halves, small tables", "fp16", SMALL)
    low, high = rope.split("parts", rope.dy)
    a = rope.op("a", "Mul", [low, rope.cos], LOW)
    b = rope.op("b", "Mul", [high, rope.sin], LOW)
    c = rope.op("c", "Mul", [high, rope.cos], LOW)
    d = rope.op("d", "Mul", [low, rope.sin], LOW)
    up = rope.op("up", "Add", [a, b], LOW)
    down = rope.op("down", "Sub", [c, d], LOW)
    rope.op("dx", "ConcatV2", [up, down, rope.axis])
    rope.found(f"{folder}/mindspore_two_halves.txt", mode=0, cos="cos/halves", sin="sin/halves")


def left_alone(folder):
    rope = Rope("A control edge holds a product")
    other = rope.op("other", "MatMul", [rope.dy])
    rope.half(after=other)
    rope.found(f"{folder}/left_control_edge.txt")

    rope = Rope("In float64")
    rope.dtype = "fp64"
    rope.lines = [line.replace("fp32", "fp64") for line in rope.lines]
    rope.half()
    rope.found(f"{folder}/left_fp64.txt")

    rope = Rope("A Cast on the way")
    straight = rope.op("straight", "Mul", [rope.dy, rope.cos])
    product = rope.node("product", "Mul", [rope.dy, rope.sin], [("fp32", X)])
    cast = rope.node("cast", "Cast", [product], [("fp16", X)])
    rope.node("parts", "Split", [rope.axis, cast], [("fp16", LOW)] * 2)
    minus = rope.node("minus", "Neg", ["parts:0"], [("fp16", LOW)])
    turned = rope.node("turned", "ConcatV2", ["parts:1", minus, rope.axis], [("fp16", X)])
    back = rope.op("back", "Cast", [turned])
    rope.op("dx", "Add", [straight, back])
    rope.found(f"{folder}/left_cast.txt")

    rope = Rope("Tables of two shapes", sin_table=(B, 1, S, D))
    rope.half()
    rope.found(f"{folder}/left_two_shapes.txt")

    for name, swap in (("left_wrong_sign", False), ("left_wrong_halves", True)):
        rope = Rope("Not rope: " + ("the parts change places" if swap else "the other part is negative"))
        straight = rope.op("straight", "Mul", [rope.dy, rope.cos])
        product = rope.op("product", "Mul", [rope.dy, rope.sin])
        low, high = rope.split("parts", product)
        minus = rope.op("minus", "Neg", [low if swap else high], LOW)
        turned = rope.op("turned", "ConcatV2", [minus, high, rope.axis] if swap else [minus, low, rope.axis])
        rope.op("dx", "Add", [straight, turned])
        rope.found(f"{folder}/{name}.txt")

    # Lane by lane the same, row by row not: one slice takes away a leading axis.
    rope = Rope("Two gradients: one row of every matrix, and every row of one matrix")
    cube, row, low = (D, D, D), (D, D), (D, H)
    x = rope.input("cube", "fp32", cube)
    cos, sin = rope.input("row_cos", "fp32", (1, D)), rope.input("row_sin", "fp32", (1, D))
    zero, one = rope.ints("zero", [0, 0, 0]), rope.ints("one", [1, 0, 0])
    ends, steps = rope.ints("ends", [2, D, D]), rope.ints("steps", [1, 1, 1])
    first = rope.op("first", "StridedSlice", [x, zero, ends, steps], row, begin_mask=5, end_mask=5, shrink_axis_mask=2)
    second = rope.op("second", "StridedSlice", [x, one, ends, steps], row, begin_mask=6, end_mask=6, shrink_axis_mask=1)
    straight = rope.op("straight", "Mul", [first, cos], row)
    left, right = rope.split("parts", rope.op("product", "Mul", [second, sin], row), low)
    turned = rope.op("turned", "ConcatV2", [right, rope.op("minus", "Neg", [left], low), rope.axis], row)
    rope.op("dx", "Add", [straight, turned], row)
    rope.found(f"{folder}/left_shrunk_lead.txt")

    rope = Rope("The gradient of a complete rope and something else")
    rope.half()
    rope.lines[-1] = rope.lines[-1].replace("dx Add", "part Add")
    rope.used.remove("dx")
    rope.op("square", "Mul", [rope.dy, rope.dy])
    rope.op("dx", "Add", ["part", "square"])
    rope.found(f"{folder}/found_inside.txt", mode=0, dx="part")


def shared(folder):
    rope = Rope("A product that others read, too", "fp16")
    rope.half()
    rope.op("reader", "MatMul", ["product"])
    rope.lines.append("output reader")
    rope.found(f"{folder}/found_shared.txt", mode=0)

    rope = Rope("Two ropes that share their tables; the second rotates what the first gives", "bf16")
    rope.half()
    again = Rope("")
    again.dtype, again.dy, again.used, again.lines = "bf16", "dx", rope.used, rope.lines
    again.half()
    rope.lines[-1] = rope.lines[-1].replace("dx.1", "second")
    rope.output("second")
    rope.expect(mode=0, dx="dx", dy="dy", cos="cos", sin="sin")
    rope.expect(mode=0, dx="second", dy="dx", cos="cos", sin="sin")
    rope.write(f"{folder}/found_twice.txt")

    rope = Rope("dx is needed for x: the sums cannot come from the same node")
    rope.half()
    x = rope.op("x", "MatMul", ["dx"])
    product = rope.op("product_x", "Mul", [rope.dy, x])
    rope.node("dcos", "ReduceSum", [product, rope.ints("sum_axes", [0, 1])], [("fp32", TABLE)], keep_dims=1)
    rope.lines.append("output dcos")
    rope.found(f"{folder}/found_without_sums.txt", mode=0)


if __name__ == "__main__":
    mindspore(sys.argv[1])
    left_alone(sys.argv[1])
    shared(sys.argv[1])

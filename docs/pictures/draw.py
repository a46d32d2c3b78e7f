# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of README and docs into this folder. The figures are those of docs/benchmarks.md, the graph of the
fusion is one that the tests match.

    draw.py [FOLDER]        FOLDER: where the pictures go instead
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, HERE)
from canvas import WIDTH, Sheet  # noqa: E402

LEFT, BAR = 12, 13
FAMILIES = {"rotary": "RotaryPositionEmbeddingGrad", "rope": "RopeGrad", "norm_rope_concat": "NormRopeConcatGrad",
            "exp_segsum": "ExpSegsumGrad"}
# README's rows: operator, case and dtype of the table, and what a reader calls it
WHY = [("RotaryPositionEmbeddingGrad", "half, with x", "bf16", "RotaryPositionEmbeddingGrad, half"),
       ("RotaryPositionEmbeddingGrad", "interleave, with x", "bf16", "RotaryPositionEmbeddingGrad, interleave"),
       ("RotaryPositionEmbeddingGrad", "half, no x", "bf16", "RotaryPositionEmbeddingGrad, half, dx only"),
       ("RopeGrad", "16 sequences, hidden 4096", "fp16", "RopeGrad, 16 packed sequences"),
       ("NormRopeConcatGrad", "N24 D128 S4096+512, half", "bf16", "NormRopeConcatGrad, image and text"),
       ("ExpSegsumGrad", "[1,16,16,256,256]", "bf16", "ExpSegsumGrad, 256 matrices of 256 x 256")]


def model():
    """The table of the cycle model in docs/benchmarks.md: a dictionary by column for each row, operator first."""
    with open(os.path.join(ROOT, "docs", "benchmarks.md"), encoding="utf-8") as page:
        table = re.search(r"<!-- model -->\n(.*?)<!-- /model -->", page.read(), re.S).group(1)
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    ratio = head.index("ratio")
    found = []
    for cells in rows:
        row = dict(zip(head, cells))
        row["ratio"] = cells[ratio]
        found.append(row)
    return found


def chart(title, sub, legend, rows, foot):
    """rows: a label and (kind, value) pairs, a bar each, with its own number behind it. Shorter is better."""
    sheet = Sheet(title)
    most = max(value for _, bars in rows for _, value in bars)
    room = WIDTH - 2 * LEFT - 52
    x = lambda value: LEFT + room * value / most
    sheet.text(LEFT, 22, title, "head")
    y = 22
    for line in sub:
        y += 18
        sheet.text(LEFT, y, line, "quiet")
    for kind, words in legend:
        y += 20
        sheet.bar(LEFT, y - 10, 12, 12, kind)
        sheet.text(LEFT + 20, y, words)
    ticks = [t for t in (0, 1, 2, 4, 8, 16, 32, 64) if t <= most]
    y += 14
    for label, bars in rows:
        y += 20
        sheet.text(LEFT, y, label)
        top = y + 6
        y += 6
        for kind, value in bars:
            sheet.bar(LEFT, y, x(value) - LEFT, BAR, kind)
            sheet.text(x(value) + 6, y + 11, f"{value:.2f}", "head" if kind == "ours" else "")
            y += BAR + 3
        for t in ticks:
            if x(t) > max(x(value) + 46 for _, value in bars):
                sheet.line(x(t), top, x(t), y - 3, True)
    y += 10
    sheet.line(LEFT, y, x(most), y)
    last = -99
    for t in ticks:
        sheet.line(x(t), y, x(t), y + 5)
        if x(t) - last > 24:
            sheet.text(x(t), y + 19, str(t), "quiet", "start" if t == 0 else "middle")
            last = x(t)
    y += 22
    for line in foot:
        y += 18
        sheet.text(LEFT, y, line, "quiet")
    return sheet


def against_public(title, rows):
    return chart(title, ["time / least possible; 1 is the memory's limit,", "shorter is better; ascend910b1"],
                 [("ours", "ascgrad"), ("other", "the public kernel (CANN; RopeGrad: ATB)")],
                 [(label, [("ours", float(r["2.0.0"])), ("other", float(r["public kernel"]))]) for label, r in rows],
                 ["A cycle model, not a measurement: both kernels in", "the model of 2.0.0 (docs/benchmarks.md)."])


def draw_why(rows):
    known = {(r["operator"], r["case"], r["dtype"]): r for r in rows}
    return against_public("What the backward takes", [(label, known[op, case, dtype]) for op, case, dtype, label in WHY])


def draw_public(rows):
    return against_public("Every case with a known public kernel",
                          [(f"{short(r)} {r['dtype']}", r) for r in rows if r["public kernel"] != "-"])


def short(r):
    return r["operator"].replace("RotaryPositionEmbeddingGrad", "Rotary...Grad") + ", " + r["case"] + ","


def draw_roofline(rows, op):
    mine = [r for r in rows if r["operator"] == op]
    return chart(op, ["modelled time / what moving the bytes takes,", "shorter is better; ascend910b1"],
                 [("ours", "data in memory, against a measured copy"), ("second", "data in the L2, against the L2's rate")],
                 [(f"{r['case']}, {r['dtype']}", [("ours", float(r["ratio"])), ("second", float(r["L2: ratio"]))])
                  for r in mine], ["A cycle model, not a measurement."])


def draw_call():
    """Who asks, and the way of one call to the kernel."""
    sheet, third, half = Sheet("The way of one call, and the folders on it"), 148, 226
    at = [LEFT, LEFT + 154, LEFT + 308]
    for x, lines in zip(at, (["GE graph", "TensorFlow,", "torchair"], ["aclnn call", "torch_npu,", "MindSpore"],
                             ["no chip", "command,", "wheel, C"])):
        sheet.box(x, 10, third, lines)
    sheet.arrow(at[0] + 74, 74, at[0] + 74, 154)
    sheet.box(at[1], 94, third, ["op_api/"])
    sheet.arrow(at[1] + 74, 74, at[1] + 74, 94)
    sheet.arrow(at[1] + 74, 122, at[1] + 74, 154)
    sheet.arrow(at[2] + 74, 74, at[2] + 74, 154)
    sheet.box(LEFT, 154, third * 2 + 6, ["ge/, the bridge", "context to node"])
    sheet.box(at[2], 154, third, ["twin/", "call to node"])
    for x in (LEFT + 151, at[2] + 74):
        sheet.arrow(x, 200, x, 222)
    sheet.box(LEFT, 222, WIDTH - 2 * LEFT, ["op_proto/ infers, op_tiling/ cuts up", "plain C: the same functions for all"])
    sheet.arrow(WIDTH / 2, 268, WIDTH / 2, 290)
    sheet.box(LEFT, 290, WIDTH - 2 * LEFT, ["the tiling struct", "written by tiling, read by the kernel"])
    sheet.arrow(WIDTH / 2, 336, WIDTH / 2, 358)
    sheet.box(LEFT, 358, WIDTH - 2 * LEFT, ["op_kernel/, one Ascend C source"], "kept")
    for x, lines in ((LEFT, ["AI Core of the chip", "by CANN's compiler", "bisheng"]),
                     (WIDTH - LEFT - half, ["twin/, on the CPU", "checks every access,", "counts cycles"])):
        sheet.arrow(x + half / 2, 386, x + half / 2, 408)
        sheet.box(x, 408, half, lines)
    return sheet


def axes_row(sheet, y, name, cells):
    """One shape as cells: (words, kind)."""
    if name:
        sheet.text(LEFT, y + 19, name)
    x, width = 70, (WIDTH - 70 - LEFT) / len(cells) - 4
    for words, kind in cells:
        if kind:
            sheet.bar(x, y, width, 28, kind)
        sheet.text(x + width / 2, y + 19, words, "", "middle")
        x += width + 4


def draw_axes():
    """How axes collapse, and the row program."""
    sheet = Sheet("How axes collapse, and what is done with a row")
    sheet.text(LEFT, 24, "Axes collapse to kept, summed, kept, summed, row", "head")
    for x, kind, words in ((LEFT, "kept", "kept: cos has it"), (LEFT + 160, "summed", "summed: 1 in cos")):
        sheet.bar(x, 36, 12, 12, kind)
        sheet.text(x + 20, 47, words, "quiet")
    axes_row(sheet, 60, "dy", [("2", "kept"), ("3", "kept"), ("4", "summed"), ("5", "summed"), ("6", "kept"), ("128", "row")])
    axes_row(sheet, 92, "cos", [("2", "kept"), ("3", "kept"), ("1", "summed"), ("1", "summed"), ("6", "kept"), ("128", "row")])
    sheet.arrow(WIDTH / 2, 126, WIDTH / 2, 148)
    axes_row(sheet, 152, "", [("K0 = 6", "kept"), ("R0 = 20", "summed"), ("K1 = 6", "kept"), ("R1 = 1", "summed"), ("128", "row")])
    for i, words in enumerate(("Neighbours of one kind merge. A core owns rows of", "cos with all rows of dy that belong to them: the sums",
                               "need no other core, and their order is the shape's.")):
        sheet.text(LEFT, 204 + 18 * i, words, "quiet")
    sheet.text(LEFT, 276, "The row program: dx = a c + P(a) s", "head")
    sheet.text(LEFT, 294, "a is a row of dy; P swaps partners, here the halves", "quiet")
    axes_row(sheet, 308, "a", [("first half", "kept"), ("second half", "second")])
    axes_row(sheet, 340, "P(a)", [("second half", "second"), ("first half", "kept")])
    axes_row(sheet, 380, "", [("times c, a row of cos", "row"), ("times s, sin with sign", "row")])
    sheet.arrow(WIDTH / 2, 412, WIDTH / 2, 434)
    axes_row(sheet, 438, "dx", [("one sum in fp32, one rounding", "kept")])
    for i, words in enumerate(("dcos sums a x, dsin the same with partners of a.", "Modes, dtypes and chips differ in how partners are",
                               "found and rows are moved, not in this.")):
        sheet.text(LEFT, 492 + 18 * i, words, "quiet")
    return sheet


def draw_fusion():
    """A recorded backward graph as GE has it, and what the pass makes of it."""
    place = {"mul_2": (0.5, 1), "slice_1": (0, 2), "slice_2": (1, 2), "neg_1": (0, 3), "cat_1": (0.5, 4), "mul_3": (2, 1),
             "add_1": (1.25, 5), "dy": (1.25, 0), "sin": (0.15, 0), "cos": (2.25, 0)}
    with open(os.path.join(ROOT, "tests", "fusion", "graphs", "torch_half.txt"), encoding="utf-8") as file:
        nodes = re.findall(r"^node (\w+) (\w+) .* in=(\S+)$", file.read(), re.M)
    sheet, width, step = Sheet("One rope's backward in a GE graph, before and after the pass"), 132, 52
    x = lambda name: LEFT + 66 + place[name][0] * 155
    y = lambda name: 44 + place[name][1] * step
    sheet.text(LEFT, 22, f"Before: {len(nodes)} kernels", "head")
    for name in ("sin", "dy", "cos"):
        sheet.text(x(name), y(name) + 19, name, "head", "middle")
    for name, _, inputs in nodes:
        for source in inputs.split(","):
            if source in place:
                below = y(source) + (26 if source in ("sin", "dy", "cos") else 28)
                sheet.arrow(x(source), below, x(name) + (x(source) - x(name)) / 6, y(name))
    for name, kind, _ in nodes:
        sheet.box(x(name) - width / 2, y(name), width, [kind])
    end = y("add_1") + 28
    sheet.arrow(x("add_1"), end, x("add_1"), end + 22)
    sheet.text(x("add_1"), end + 38, "dx", "head", "middle")
    sheet.text(LEFT, end + 76, "After: 1 kernel", "head")
    for name in ("sin", "dy", "cos"):
        sheet.text(x(name), end + 104, name, "head", "middle")
        sheet.arrow(x(name), end + 110, x(name), end + 132)
    sheet.box(LEFT, end + 132, WIDTH - 2 * LEFT, ["RotaryPositionEmbeddingGrad, mode 0"], "kept")
    sheet.arrow(x("dy"), end + 160, x("dy"), end + 182)
    sheet.text(x("dy"), end + 198, "dx", "head", "middle")
    return sheet


def pictures():
    rows = model()
    yield "why", draw_why(rows)
    yield "public", draw_public(rows)
    for family, op in FAMILIES.items():
        yield "roofline_" + family, draw_roofline(rows, op)
    yield "call", draw_call()
    yield "axes", draw_axes()
    yield "fusion", draw_fusion()


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else HERE
    for name, sheet in pictures():
        with open(os.path.join(folder, name + ".svg"), "w", encoding="utf-8") as file:
            file.write(sheet.svg())


if __name__ == "__main__":
    main()

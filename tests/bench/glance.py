# SPDX-License-Identifier: Apache-2.0
"""The first table of docs/benchmarks.md: rows of its large table, by what somebody trains and in words of that."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "pictures"))
import draw  # noqa: E402

ROTARY = "RotaryPositionEmbeddingGrad"
# what a reader trains, and operator, case and dtype of the large table
ROWS = [
    ("2 x 4096 tokens, 32 heads of 128 (Llama 2 7B)", ROTARY, "half, with x", "bf16"),
    ("the same, cos and sin are constants", ROTARY, "half, no x", "bf16"),
    ("the same, neighbours are partners (interleave)", ROTARY, "interleave, with x", "bf16"),
    ("2 x 8192 tokens, 5 heads of 128 (a large model on 8 NPUs)", ROTARY, "half [2,8192,5,128]", "bf16"),
    ("2 x 1024 patches, 16 heads of 80 (a vision tower)", ROTARY, "half [2,1024,16,80]", "bf16"),
    ("16 packed sequences, hidden size 4096", "RopeGrad", "16 sequences, hidden 4096", "fp16"),
    ("4096 tokens of an image and 512 of text, 24 heads of 128", "NormRopeConcatGrad", "N24 D128 S4096+512, half", "bf16"),
    ("256 chunks of 256 steps (Mamba-2)", "ExpSegsumGrad", "[1,16,16,256,256]", "bf16"),
]


def table():
    known = {(r["operator"], r["case"], r["dtype"]): r for r in draw.model()}
    lines = ["| you train with | operator | dtype | time, data in memory | times a copy | time, data in the L2 | public kernel's time / ours |",
             "|---|---|---|---|---|---|---|"]
    for what, op, case, dtype in ROWS:
        r = known[op, case, dtype]
        public = "-" if r["public kernel"] == "-" else f"{float(r['public kernel']) / float(r['2.0.0']):.1f}"
        lines.append(f"| {what} | {op} | {dtype} | {r['time us']} us | {r['ratio']} | {r['L2: time us']} us | {public} |")
    return "\n".join(lines)

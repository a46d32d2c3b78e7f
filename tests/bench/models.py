# SPDX-License-Identifier: Apache-2.0
"""The models that people name, one layer's call each, in the cycle model: data in memory and in the L2, beside the public kernel.

    models.py ASCGRAD        prints the table
"""
import sys

import sweep


def norm_rope(n, s, d, kind, rope):
    """query and key of n heads each with RMSNorm with weights (4), as one call."""
    heads, tokens = f"bf16[1,{n},{s},{d}]", f"bf16[1,{s},{n},{d}]"
    words = [f"{name}={heads}" for name in ("grad_query_output", "grad_key_output", "grad_value_output")]
    for name in ("query", "key"):
        words += [f"{name}={tokens}", f"norm_{name}_weight=bf16[{d}]", f"norm_{name}_rstd=fp32[1,{s},{n},1]"]
    return " ".join(["NormRopeConcatGrad"] + words + [f"rope_sin=bf16[{s},{d}]", f"rope_cos=bf16[{s},{d}]", f"norm_type={kind}",
                                                     f"rope_type={rope}"])


def heads(n, s, d, rotated=None, mode=0, x=False, table=None):
    return sweep.rotary("bf16", (1, s, n, d), (1, s, 1, rotated or d), x, mode, table)


# name, what of it, call; the public kernel's time over the data sheet's in the model of 2.0.0, without scalar time, for the
# nearest call that is known of it, and which that is; "-": nothing is known.
MODELS = [
    ("Llama 3 8B", "query, 8192 tokens", heads(32, 8192, 128), "1.66, [2,4096,32,128]"),
    ("Llama 3 8B", "key, 8192 tokens", heads(8, 8192, 128), "1.66, [2,4096,32,128]"),
    ("Llama 3 8B", "query, fp32 tables", heads(32, 8192, 128, table="fp32"), "-"),
    ("Qwen3 0.6B", "RMSNorm and rope, 16 heads, 1024 tokens", norm_rope(16, 1024, 128, 4, 2), "-"),
    ("Qwen3 8B", "query, 4096 tokens", heads(32, 4096, 128), "1.66, [2,4096,32,128]"),
    ("GPT-NeoX 20B", "24 of 96 columns, 2048 tokens", heads(64, 2048, 96, 24), "-"),
    ("GLM-4 9B", "64 of 128 columns, interleave, 4096 tokens", heads(32, 4096, 128, 64, 1), "-"),
    ("SigLIP 400M", "16 heads of 72, 4096 patches", heads(16, 4096, 72), "2.19, D = 80 with x"),
    ("WAN 2.1 14B", "query, interleave, 32760 tokens", heads(40, 32760, 128, mode=1), "4.49, [2,4096,32,128] with x"),
    ("Mamba-2 2.7B", "chunks of 256, 80 heads, 2048 tokens", "ExpSegsumGrad grad_output=bf16[1,80,8,256,256] grad_self=bf16[1,80,8,256,256]",
     "6.8, [1,16,16,256,256]"),
    ("Mamba-2 130M", "chunks of 64, 24 heads, 2048 tokens", "ExpSegsumGrad grad_output=bf16[1,24,32,64,64] grad_self=bf16[1,24,32,64,64]",
     "19.4, [64,16,64,64]"),
]


def table(binary):
    inputs = sweep.inputs_of(binary)
    head = ("model", "call, bf16", "time us", "ratio", "to the data sheet", "L2: time us", "L2: ratio", "in the L2", "public kernel, to the data sheet")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, what, row, public in MODELS:
        r = sweep.perf(binary, "ascend910b1", row, inputs)
        lines.append("| " + " | ".join((name, what, f"{r['time_us']:.1f}", f"{r['ratio']:.2f}", f"{r['ratio_roofline']:.2f}",
                                        f"{r['time_l2_us']:.1f}", f"{r['ratio_l2']:.2f}", f"{r['l2_share']:.0%}", public)) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(sys.argv[1]))

# SPDX-License-Identifier: Apache-2.0
"""Calls of the differentiable functions, each with the node its backward is to become."""
import torch
from run_tests import run_tests

import ascgrad.torch as at


def rand(*shape, grad=True, dtype=torch.float32):
    return torch.randn(*shape).to(dtype).requires_grad_(grad)


def gradients(function, args):
    """The gradients of the sum of everything the function returns; None where there is none."""
    out = function(*args)
    out = out if isinstance(out, tuple) else (out,)
    torch.autograd.backward(out, [torch.ones_like(y) for y in out])
    grads = [a.grad for a in args]
    for a in args:
        a.grad = None
    return grads


def norm_rope_concat(*args):
    """Encoder, both norms with weight and bias, rope: 21 of 21 inputs."""
    return at.norm_rope_concat(*args, norm_type=2, norm_added_type=2, rope_type=2, concat_order=1)


def main_part(query, key, value):
    return at.norm_rope_concat(query, key, value, norm_type=1)


def cases():
    """(backward operator, function, arguments, fed inputs or None for all, attributes that are not their defaults)"""
    x, table = (2, 5, 3, 80), (1, 5, 1, 80)
    streams = [(2, s, 3, 8) for s in (5, 4, 4, 3, 2, 2)]
    return [
        ("RotaryMulGrad", at.rotary_mul, [rand(*x), rand(*table, grad=False), rand(*table, grad=False)], None,
         {"need_backward": False}),
        ("RotaryMulGrad", at.rotary_mul, [rand(*x), rand(*table), rand(*table)], None, {"need_backward": True}),
        ("RotaryPositionEmbeddingGrad", lambda *a: at.rotary_position_embedding(*a, "interleave"),
         [rand(*x), rand(*table, grad=False), rand(*table, grad=False)], ["dy", "cos", "sin"], {"mode": 1}),
        ("RotaryPositionEmbeddingGrad", lambda *a: at.rotary_position_embedding(*a, "quarter"),
         [rand(*x), rand(*table), rand(*table)], None, {"mode": 2}),
        ("RopeGrad", lambda *a: at.rope(*a, [4, 0, 5]),
         [rand(9, 16), rand(9, 8), rand(6, 8, grad=False), rand(6, 8, grad=False)], None,
         {"qSeqLen": [4, 0, 5], "exact_grad": True, "head_size": 0}),
        ("NormRopeConcatGrad", norm_rope_concat,
         [rand(*s) for s in streams] + [rand(8) for _ in range(8)] + [rand(4, 8, grad=False) for _ in range(2)], None,
         {"norm_type": 2, "norm_added_type": 2, "rope_type": 2, "concat_order": 1}),
        ("NormRopeConcatGrad", main_part, [rand(*s) for s in streams[:3]],
         ["grad_query_output", "grad_key_output", "grad_value_output", "query", "key", "norm_query_mean",
          "norm_query_rstd", "norm_key_mean", "norm_key_rstd"],
         {"norm_type": 1, "norm_added_type": 0, "rope_type": 0, "concat_order": 0}),
        ("RotaryPositionEmbeddingGrad", lambda *a: at.rotary(*a, "interleave", start=16),
         [rand(*x), *(rand(1, 5, 1, 64, grad=False) for _ in range(2))], ["dy", "cos", "sin"], {"mode": 1, "slice_start": 16}),
        ("RopeGrad", lambda *a: at.rope_packed(*a, [4, 5], [2, 0], start=4),
         [rand(9, 2, 16), rand(9, 1, 16), rand(6, 8, grad=False), rand(6, 8, grad=False)], None,
         {"qSeqLen": [4, 5], "exact_grad": True, "head_size": 16, "slice_start": 4, "start_positions": [2, 0]}),
        ("NormRopeConcatGrad", at.qk_norm_rope,
         [rand(2, 5, 4, 16), rand(2, 5, 2, 16), rand(5, 16, grad=False), rand(5, 16, grad=False), rand(16), rand(16)],
         ["grad_query_output", "grad_key_output", "grad_value_output", "query", "key", "norm_query_weight", "norm_query_rstd",
          "norm_key_weight", "norm_key_rstd", "rope_sin", "rope_cos"],
         {"norm_type": 4, "rope_type": 2, "grad_layout": 1}),
        ("ExpSegsumGrad", at.exp_segsum, [rand(2, 3, 7)], None, {}),
    ]


def run_seeded(namespace, seed, *words):
    """run_tests with the same random numbers of PyTorch for each test; words for the title."""
    def call(test):
        torch.manual_seed(seed)
        test()

    return run_tests(namespace, ", ".join((f"torch {torch.__version__}", *words, f"seed {seed}")), call)

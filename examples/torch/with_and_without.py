# SPDX-License-Identifier: Apache-2.0
"""An attention block as Qwen3 has it, trained with and without ascgrad.torch.use(): the same gradients, and the times of a
forward and backward.

    python3 with_and_without.py [--tokens 1024] [--steps 10]

It runs on the NPU where torch_npu finds one, in bf16, and else on the CPU, in fp32. What one line does for a model of
transformers, it does for this file: it looks for functions like apply_rotary_pos_emb, and for norms of queries and keys.
"""
import argparse
import importlib
import importlib.util
import time

import torch
from torch import nn

import ascgrad.torch

DEVICE, DTYPE = "cpu", torch.float32
if importlib.util.find_spec("torch_npu"):
    importlib.import_module("torch_npu")
    DEVICE, DTYPE = "npu", torch.bfloat16
HEADS, KEY_HEADS, SIZE = 8, 2, 64


class RmsNorm(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype)


def rotate_half(x):
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)


def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(HEADS * SIZE, n * SIZE) for n in (HEADS, KEY_HEADS, KEY_HEADS))
        self.q_norm, self.k_norm = RmsNorm(SIZE), RmsNorm(SIZE)

    def forward(self, x, cos, sin):
        q, k, v = (project(x).view(*x.shape[:2], -1, SIZE) for project in (self.q_proj, self.k_proj, self.v_proj))
        q, k = apply_rotary_pos_emb(self.q_norm(q).transpose(1, 2), self.k_norm(k).transpose(1, 2), cos, sin)
        k, v = (t.repeat_interleave(HEADS // KEY_HEADS, 1) for t in (k, v.transpose(1, 2)))
        return torch.softmax(q @ k.transpose(-1, -2) / SIZE ** 0.5, -1) @ v


def wait():
    if DEVICE == "npu":
        torch.npu.synchronize()


def measured(model, args, steps):
    """Gradients of the last step, and milliseconds of one step: the least."""
    best = float("inf")
    for _ in range(steps):
        model.zero_grad()
        wait()
        begin = time.perf_counter()
        model(*args).float().pow(2).sum().backward()
        wait()
        best = min(best, time.perf_counter() - begin)
    return [p.grad.clone() for p in model.parameters()], 1e3 * best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    torch.manual_seed(0)
    angle = torch.outer(torch.arange(float(options.tokens)), 1e6 ** (-torch.arange(SIZE // 2) / (SIZE // 2))).repeat(1, 2)
    args = [t.to(DEVICE, DTYPE) for t in (torch.randn(1, options.tokens, HEADS * SIZE), angle.cos()[None], angle.sin()[None])]
    model = Attention().to(DEVICE, DTYPE)

    plain, plain_ms = measured(model, args, options.steps)
    print(ascgrad.torch.use(model, always=True))
    ours, ours_ms = measured(model, args, options.steps)

    worst = max(float((a - b).abs().max() / b.abs().max()) for a, b in zip(ours, plain))
    print(f"{DEVICE}: {plain_ms:.2f} ms without, {ours_ms:.2f} ms with; gradients within {worst:.1g} of each other")
    assert worst <= (1e-4 if DTYPE == torch.float32 else 5e-2), worst


if __name__ == "__main__":
    main()

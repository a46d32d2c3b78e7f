# SPDX-License-Identifier: Apache-2.0
"""Small models, each with the rotary embedding of a family as its Hugging Face file writes it.

The functions have the names and parameters that are usual there; they are what ascgrad.torch.use() has to recognise.
Each family is a Python module of its own, as it is there: family("llama").
"""
import sys
import types

import torch
from torch import nn

VOCABULARY, WIDTH, HEADS, LENGTH = 50, 64, 4, 12


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def rotate_pairs(x):
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


def llama(q, k, cos, sin, position_ids=None, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def neox(q, k, cos, sin, position_ids=None, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    size = cos.shape[-1]
    parts = []
    for x in (q, k):
        front, rest = x[..., :size], x[..., size:]
        parts.append(torch.cat((front * cos + rotate_half(front) * sin, rest), dim=-1))
    return tuple(parts)


def glm(q, k, cos, sin, position_ids=None, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    cos, sin = (t[..., :t.shape[-1] // 2].repeat_interleave(2, dim=-1) for t in (cos, sin))
    size = cos.shape[-1]
    parts = []
    for x in (q, k):
        front, rest = x[..., :size], x[..., size:]
        parts.append(torch.cat((front * cos + rotate_pairs(front) * sin, rest), dim=-1))
    return tuple(parts)


def qwen_vl(q, k, cos, sin, mrope_section, unsqueeze_dim=1):
    sections = mrope_section * 2
    cos, sin = (torch.cat([part[i % 3] for i, part in enumerate(t.split(sections, dim=-1))], dim=-1)
                .unsqueeze(unsqueeze_dim) for t in (cos, sin))
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def gptj(tensor, sin, cos):
    sin, cos = (torch.repeat_interleave(t[:, :, None, :], 2, 3) for t in (sin, cos))
    return tensor * cos + rotate_pairs(tensor) * sin


def vision(q, k, cos, sin):
    cos, sin = cos.unsqueeze(-2).float(), sin.unsqueeze(-2).float()
    return tuple((x.float() * cos + rotate_half(x.float()) * sin).to(x.dtype) for x in (q, k))


def old_llama(q, k, cos, sin, position_ids, unsqueeze_dim=1):
    cos, sin = cos[position_ids].unsqueeze(unsqueeze_dim), sin[position_ids].unsqueeze(unsqueeze_dim)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def not_a_rotation(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos - rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def deepseek(q, k, cos, sin, position_ids=None, unsqueeze_dim=1):
    cos, sin = (t[..., :t.shape[-1] // 2].unsqueeze(unsqueeze_dim) for t in (cos, sin))
    return tuple(torch.cat((x[..., 0::2] * cos - x[..., 1::2] * sin, x[..., 1::2] * cos + x[..., 0::2] * sin), dim=-1)
                 for x in (q, k))


def gpt_oss(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    halves = [x.chunk(2, dim=-1) for x in (q, k)]
    return tuple(torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1) for a, b in halves)


def nanochat(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos - rotate_half(q) * sin, k * cos - rotate_half(k) * sin


def complex_pairs(xq, xk, freqs_cis):
    pairs = [torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2)) for x in (xq, xk)]
    return tuple(torch.view_as_real(p * freqs_cis.unsqueeze(1)).flatten(3).type_as(xq) for p in pairs)


def last_part(x, cos, sin, unsqueeze_dim=1):
    cos, sin = (t.repeat_interleave(2, dim=-1).unsqueeze(unsqueeze_dim) for t in (cos, sin))
    front, back = x[..., :-cos.shape[-1]], x[..., -cos.shape[-1]:]
    return torch.cat((front, back * cos + rotate_pairs(back) * sin), dim=-1)


def prefix(q, k, cos, sin):
    rows = cos.shape[-2]
    return tuple(torch.cat((x[..., :-rows, :], x[..., -rows:, :] * cos + rotate_half(x[..., -rows:, :]) * sin), dim=-2)
                 for x in (q, k))


# family -> (function, its usual name, size of the rotated part of a head, mrope sections)
FAMILIES = {"llama": (llama, "apply_rotary_pos_emb", 16, None), "neox": (neox, "apply_rotary_pos_emb", 8, None),
            "glm": (glm, "apply_rotary_pos_emb", 8, None),
            "qwen_vl": (qwen_vl, "apply_multimodal_rotary_pos_emb", 16, [2, 3, 3])}


class Model(nn.Module):
    """Two layers of causal attention and a linear map; the rotation is looked up in the family's module."""

    def __init__(self, family):
        super().__init__()
        _, self.name, self.size, self.sections = FAMILIES[family]
        self.embedding, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)
        self.qkv = nn.ModuleList(nn.Linear(WIDTH, 3 * WIDTH) for _ in range(2))
        self.out = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))

    def tables(self, batch, length):
        place = torch.arange(length, dtype=torch.float32).expand(batch, length)
        angle = place[..., None] * 10000 ** (-torch.arange(0, self.size, 2) / self.size)
        if self.sections:  # time, height and width of an image
            angle = torch.stack((angle, angle * 0.5, angle * 0.25))
        angle = torch.cat((angle, angle), -1)
        return angle.cos(), angle.sin()

    def forward(self, tokens):
        x = self.embedding(tokens)
        batch, length = tokens.shape
        cos, sin = self.tables(batch, length)
        rotate = vars(sys.modules[type(self).__module__])[self.name]
        mask = torch.full((length, length), float("-inf")).triu(1)
        for qkv, out in zip(self.qkv, self.out):
            q, k, v = qkv(x).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
            q, k = rotate(q, k, cos, sin, *([self.sections] if self.sections else []))
            weights = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + mask, -1)
            x = x + out((weights @ v).transpose(1, 2).reshape(batch, length, WIDTH))
        return self.head(x)


def family(name):
    """A model of the family, its class defined in a module of its own."""
    module = types.ModuleType(f"small_{name}")
    function, usual, _, _ = FAMILIES[name]
    setattr(module, usual, function)
    module.Model = type("Model", (Model,), {"__module__": module.__name__})
    sys.modules[module.__name__] = module
    return module.Model(name)

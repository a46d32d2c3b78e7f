# SPDX-License-Identifier: Apache-2.0
"""The norm that a model computes of queries and keys before it rotates them, so that both have one backward.

Models like Qwen3 give their projections to q_norm and k_norm and rotate the results, often turned from [B,S,N,D] to
[B,N,S,D] in between. A norm that use() has recognised leaves a note on its result: what was normalised, and how. A rotation
whose q and k both have such a note, or are views of tensors that have one, takes what was normalised as its input: its
backward is then NormRopeConcatGrad for norm and rotation, and the graph of the norm is dropped. The values are those that
the model's own norm has computed. Where the model does something else with the result, nothing changes.
"""
import copy

import torch

_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
_NAMES = (("q_norm", "k_norm"), ("q_layernorm", "k_layernorm"), ("query_norm", "key_norm"), ("norm_q", "norm_k"))
_EPS = ("variance_epsilon", "eps", "epsilon")
_SEED = 7


class Noted:
    """The forward of an RMS norm with a weight, which leaves the note."""

    def __init__(self, module):
        self.module = module

    def __call__(self, x):
        y = type(self.module).forward(self.module, x)
        if not _is_compiling() and y.requires_grad and y.dtype == x.dtype:
            y.ascgrad_norm = x, self.module.weight, _eps_of(self.module), y._version
        return y


def _eps_of(module):
    return next((float(getattr(module, name)) for name in _EPS if getattr(module, name, None) is not None), None)


def is_rms_norm(module):
    """Whether the module computes x * rsqrt(mean(x^2) + eps) * weight over the last axis, found by trying a copy of it."""
    if [name for name, _ in module.named_parameters()] != ["weight"] or module.weight.dim() != 1 \
            or _eps_of(module) is None or module.weight.device.type == "meta" or "forward" in vars(module):
        return False
    module = copy.deepcopy(module).cpu().float()
    generator = torch.Generator("cpu").manual_seed(_SEED)
    x, weight = (torch.randn(shape, generator=generator, dtype=torch.float32, device="cpu")
                 for shape in ((2, 3, module.weight.shape[0]), module.weight.shape))
    module.weight.data.copy_(weight)
    with torch.no_grad():
        try:
            found = module(x)
        except Exception:  # whatever a module of someone else throws at a tensor it is not made for
            return False
    wanted = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + _eps_of(module)) * weight
    return isinstance(found, torch.Tensor) and found.shape == wanted.shape and torch.allclose(found, wanted, 1e-4, 1e-5)


def join(model, on):
    """Sets the norms of every attention that has a pair of them to leave notes, or no more to: {class: names of the norms}."""
    found = {}
    for part in model.modules():
        for pair in _NAMES:
            norms = [getattr(part, name, None) for name in pair]
            if not all(isinstance(norm, torch.nn.Module) for norm in norms):
                continue
            noted = [isinstance(vars(norm).get("forward"), Noted) for norm in norms]
            if not on:
                for norm in (n for n, has in zip(norms, noted) if has):
                    del norm.forward
            elif all(noted) or all(is_rms_norm(norm) for norm in norms):
                for norm in norms:
                    norm.forward = Noted(norm)
                found[f"{type(part).__module__}.{type(part).__qualname__}"] = " and ".join(pair)
    return found


def note_of(turned, heads_first):
    """(what was normalised [B,S,N,D], result of the norm, weight, eps) of a tensor [B,N,S,D] or [B,S,N,D] whose elements are,
    in another order of the axes, just those that a norm has left a note on; or None."""
    base = turned if hasattr(turned, "ascgrad_norm") else turned._base
    note = getattr(base, "ascgrad_norm", None)
    if note is None or turned.dim() != 4 or not base.is_contiguous():
        return None
    x, weight, eps, version = note
    shape = turned.transpose(1, 2).shape if heads_first else turned.shape
    same = base._version == version and turned.numel() == base.numel() and turned.data_ptr() == base.data_ptr()
    if not same or weight.numel() not in (shape[3], shape[2] * shape[3]) or base.shape[-1] != weight.numel():
        return None
    y = base.detach().view(shape)
    strides = y.transpose(1, 2).stride() if heads_first else y.stride()
    if any(n > 1 and a != b for n, a, b in zip(turned.shape, strides, turned.stride())):
        return None
    return x.reshape(shape), y, weight, eps

# SPDX-License-Identifier: Apache-2.0
"""One line for a model: ascgrad.torch.use(model).

What is replaced are the functions by which models of the Hugging Face kind rotate queries and keys; rotations.py finds
out which rotation a function is.
"""
import re
import sys
import warnings
from typing import Dict, Iterable, Tuple

import torch

from . import norms
from .rotations import CPU_ELEMENTS, Rotation, recognised

_NAME = re.compile(r"_?(vision_)?apply_.*(rotary|rope)")


class Used:
    """What use() did: replaced is {"module.function": rotation}, joined {"module.class": names of the norms whose backward is
    part of the rotation's}, left {"module.function": why}, note what else to know."""

    def __init__(self, replaced, left, note="", joined=None):
        self.replaced, self.left, self.note, self.joined = replaced, left, note, joined or {}

    def __str__(self):
        lines = [f"replaced {name} ({what})" for name, what in self.replaced.items()]
        lines += [f"joined {what} of {name} with the rotation: one backward" for name, what in self.joined.items()]
        lines += [f"left {name}: {why}" for name, why in self.left.items()]
        lines += [self.note] if self.note and self.replaced else []
        return "\n".join(lines) or "no function like apply_rotary_pos_emb to be replaced in the model's files"


def _functions(model):
    """The modules that define the model's parts, and in each the functions with such a name."""
    for module in sorted({type(part).__module__ for part in model.modules()}):
        if module.partition(".")[0] not in ("torch", "ascgrad"):
            space = vars(sys.modules[module])
            yield module, space, sorted(n for n, value in space.items() if _NAME.match(n) and callable(value))


def _helpers(code, names):
    """Which of these functions of its file a function calls, by its code."""
    if not hasattr(code, "co_names"):
        return []
    inner = [name for constant in code.co_consts for name in _helpers(constant, names)]
    return sorted({name for name in (*code.co_names, *inner) if name in names})


def classify(space: Dict[str, object], names: Iterable[str]) -> Tuple[Dict[str, Rotation], Dict[str, str]]:
    """The functions of one file: {name: rotation} of those that can be replaced, {name: why not} of the others."""
    known = {name: (space[name], None) if isinstance(space[name], Rotation) else recognised(space[name]) for name in names}
    rotations = {name: rotation for name, (rotation, _) in known.items() if rotation}
    left = {}
    for name, (_, why) in known.items():
        if name not in rotations:
            helpers = _helpers(getattr(space[name], "__code__", None), rotations)
            left[name] = f"its rotation is {' and '.join(helpers)}" if helpers else why
    return rotations, left


def _note(model, always):
    """On a CPU ours is not always the faster one; whoever debugs there must know which one runs."""
    if always or not any(parameter.device.type == "cpu" for parameter in model.parameters()):
        return ""
    return (f"on a CPU the model's own functions compute calls in 16 bits, of fewer than {CPU_ELEMENTS} elements, and compiled "
            "ones, all of which they do faster; use(model, always=True) leaves them none")


def use(model: torch.nn.Module, on: bool = True, always: bool = False) -> Used:
    """Replaces the rotary embedding of the model by ascgrad's differentiable functions, and says what it replaced and
    what not. Where queries and keys are normalised before (Qwen3), both have one backward. use(model, False) puts the
    model's own functions back.

    What is replaced are functions of the Python files that define the model's modules: other models out of the same
    files get them too. Call it before torch.compile. On a CPU small calls stay with the model's own functions, which are
    faster there, unless always is True."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"use: the model must be a torch.nn.Module, got {type(model).__name__}")
    replaced, left, missed = {}, {}, False
    for module, space, names in _functions(model):
        if not on:
            for name in names:
                if isinstance(space[name], Rotation):
                    space[name] = space[name].original
                    left[f"{module}.{name}"] = "the model's own again"
            continue
        rotations, others = classify(space, names)
        for name, rotation in rotations.items():
            rotation.always = always
            space[name] = rotation
            replaced[f"{module}.{name}"] = str(rotation)
        for name, why in others.items():
            left[f"{module}.{name}"] = why
            missed = missed or not why.startswith("its rotation is ")
    if on and (missed or not replaced):
        warnings.warn(f"ascgrad.torch.use: {Used(replaced, left)}", stacklevel=2)
    return Used(replaced, left, _note(model, always), norms.join(model, bool(on and replaced)))

# SPDX-License-Identifier: Apache-2.0
"""One line for a model: ascgrad.torch.use(model).

Models of the Hugging Face kind rotate queries and keys by a function of the file that defines them, apply_rotary_pos_emb
or the like. There are many of these functions, under few names and with many differences: halves or pairs, whole heads
or their first part, tables with or without a repetition, position ids, mrope sections. Which rotation a function is, is
found by trying it: the function and the ones known here get the same small random tensors, and only a function whose
numbers agree is replaced.
"""
import inspect
import itertools
import re
import sys
import warnings

import torch

from .functions import rotary_mul, rotary_position_embedding

_NAME = re.compile(r"apply_.*(rotary|rope)")
_MODES = ("half", "interleave", "interleave-half")
_TABLES = ("as given", "first half, each twice", "each twice")
_OPTIONS = ("cos", "sin", "position_ids", "mrope_section", "unsqueeze_dim")
# (q, tables) to try: heads first, heads last, no batch (vision), tables to be indexed, tables of three axes (mrope)
_LAYOUTS = (((2, 3, 5, 16), (2, 5)), ((2, 5, 3, 16), (2, 5)), ((5, 3, 16), (5,)), ((2, 3, 5, 16), (7,)),
            ((2, 3, 5, 16), (3, 2, 5)))


class _Rotation:
    """A rotation as those functions do it: called like them, computed by ours."""

    def __init__(self, original, unsqueeze, tables, mode, indexed):
        parameters = inspect.signature(original).parameters
        self.original, self.names = original, list(parameters)
        self.tensors = [name for name in self.names if name not in _OPTIONS]
        self.defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
        self.unsqueeze, self.tables, self.mode, self.indexed = unsqueeze, tables, mode, indexed

    def table(self, table, given):
        if given.get("mrope_section") is not None:
            parts = table.split(list(given["mrope_section"]) * 2, dim=-1)
            table = torch.cat([part[i % 3] for i, part in enumerate(parts)], dim=-1)
        if self.indexed:
            table = table[given["position_ids"]]
        axis = given.get("unsqueeze_dim", self.unsqueeze)
        table = table if axis is None else table.unsqueeze(axis)
        if self.tables == "first half, each twice":
            table = table[..., :table.shape[-1] // 2]
        return table if self.tables == "as given" else table.repeat_interleave(2, -1)

    def rotated(self, x, cos, sin):
        size = cos.shape[-1]
        part = x if size == x.shape[-1] else x[..., :size]
        part = rotary_mul(part, cos, sin) if self.mode == "half" else rotary_position_embedding(part, cos, sin, self.mode)
        return part if size == x.shape[-1] else torch.cat((part, x[..., size:]), -1)

    def __call__(self, *args, **named):
        given = {**self.defaults, **dict(zip(self.names, args)), **named}
        cos, sin = self.table(given["cos"], given), self.table(given["sin"], given)
        out = [self.rotated(given[name], cos, sin) for name in self.tensors]
        return tuple(out) if len(out) > 1 else out[0]

    def __str__(self):
        return self.mode + ("" if self.tables == "as given" else f", tables {self.tables}")


def _trial(parameters, x_shape, table_shape, width):
    """Arguments for a function with these parameters."""
    random = torch.Generator().manual_seed(width)
    given = {"cos": torch.randn(*table_shape, width, generator=random),
             "sin": torch.randn(*table_shape, width, generator=random),
             "position_ids": torch.randint(0, table_shape[0], (2, 5), generator=random), "mrope_section": [2, 3, 3]}
    return {name: given.get(name, torch.randn(*x_shape, generator=random)) for name, p in parameters.items()
            if name != "unsqueeze_dim" and (name not in given or p.default is p.empty or name == "mrope_section")}


def _outcome(function, given):
    """What the function makes of these tensors, or None if it cannot take them."""
    try:
        out = function(**given)
    except Exception:  # whatever a function of someone else throws at shapes it is not made for
        return None
    return list(out) if isinstance(out, (tuple, list)) else [out]


def _same(a, b):
    return a is not None and len(a) == len(b) and all(
        isinstance(x, torch.Tensor) and x.shape == y.shape and torch.allclose(x, y, atol=1e-5) for x, y in zip(a, b))


def _recognised(function):
    """The rotation that this function is, or None."""
    parameters = inspect.signature(function).parameters
    tensors = [name for name in parameters if name not in _OPTIONS]
    if len(tensors) not in (1, 2) or not {"cos", "sin"} <= set(parameters):
        return None
    for (x_shape, table_shape), width in itertools.product(_LAYOUTS, (16, 8)):
        if ("mrope_section" in parameters) != (len(table_shape) == 3 and table_shape[0] == 3):
            continue
        given = _trial(parameters, x_shape, table_shape, width)
        wanted = _outcome(function, given)
        if wanted is None:
            continue
        for unsqueeze, tables, mode in itertools.product((1, 2, -2, None), _TABLES, _MODES):
            rotation = _Rotation(function, unsqueeze, tables, mode, indexed=table_shape == (7,))
            if _same(_outcome(rotation, given), wanted) and _holds_for_less(rotation, function, given):
                return rotation
    return None


def _holds_for_less(rotation, function, given):
    """A function that also takes tables for the first part of the head must agree there too."""
    less = {name: value[..., :8] if name in ("cos", "sin") else value for name, value in given.items()}
    wanted = _outcome(function, less)
    return wanted is None or "mrope_section" in given or _same(_outcome(rotation, less), wanted)


class Used:
    """What use() did: replaced is {"module.function": rotation}, left {"module.function": why}."""

    def __init__(self, replaced, left):
        self.replaced, self.left = replaced, left

    def __str__(self):
        lines = [f"replaced {name} ({what})" for name, what in self.replaced.items()]
        lines += [f"left {name}: {why}" for name, why in self.left.items()]
        return "\n".join(lines) or "nothing to replace: no function like apply_rotary_pos_emb in the model's files"


def use(model: torch.nn.Module, on: bool = True) -> Used:
    """Replaces the rotary embedding of the model by ascgrad's differentiable functions, and says what it replaced and
    what not. use(model, False) puts the model's own functions back.

    What is replaced are functions of the Python files that define the model's modules: other models out of the same
    files get them too. Call it before torch.compile."""
    replaced, left = {}, {}
    for module in sorted({type(part).__module__ for part in model.modules()}):
        if module.partition(".")[0] in ("torch", "ascgrad"):
            continue
        space = vars(sys.modules[module])
        for name in sorted(n for n, value in space.items() if _NAME.match(n) and callable(value)):
            full, function = f"{module}.{name}", space[name]
            ours = isinstance(function, _Rotation)
            if not on:
                if ours:
                    space[name] = function.original
                    left[full] = "the model's own again"
                continue
            rotation = function if ours else _recognised(function)
            if rotation is None:
                left[full] = "not a rotation that ascgrad knows"
                continue
            space[name] = rotation
            replaced[full] = str(rotation)
    if on and not replaced:
        warnings.warn(f"ascgrad.torch.use: {Used(replaced, left)}", stacklevel=2)
    return Used(replaced, left)

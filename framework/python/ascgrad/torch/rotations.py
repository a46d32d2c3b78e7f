# SPDX-License-Identifier: Apache-2.0
"""Which rotation a function of a model is, found by trying it.

Models of the Hugging Face kind rotate queries and keys by a function of the file that defines them, apply_rotary_pos_emb
or the like. There are many of these functions, under few names and with many differences: halves or pairs, whole heads,
their first or their last part, tables with or without a repetition, position ids, mrope sections, complex tables. The
function and the rotations known here get the same small random tensors in every layout in which models hold them; a
rotation is taken only if its results and its gradients agree in each layout that the function accepts. A call that looks
like none of these is compared in the same way, once, before ours takes it.
"""
import contextlib
import inspect
import itertools
import warnings

import torch
from torch.utils import _python_dispatch

from ascgrad import _library

from . import norms
from .functions import _ROPES, _normalised_and_rotated, rotary, rotary_mul

_OPTIONS = ("cos", "sin", "position_ids", "mrope_section", "unsqueeze_dim")
_COMPLEX = ("freqs_cis", "freqs_ci")
_MODES = ("half", "interleave", "interleave-half")
_TABLES = {  # what is made of a table before it is used
    "as given": lambda t: t,
    "first half, each twice": lambda t: t[..., :t.shape[-1] // 2].repeat_interleave(2, -1),
    "each twice": lambda t: t.repeat_interleave(2, -1),
    "first half, twice": lambda t: torch.cat((t[..., :t.shape[-1] // 2],) * 2, -1),
    "twice": lambda t: torch.cat((t, t), -1),
}
_HEAD = 16
# (queries, keys, tables, options): sizes without the last one, which is _HEAD in x; the columns of tables are tried in turn
_LAYOUTS = (
    ((3, 4, 7), (3, 2, 7), (3, 7), {}),                       # heads first
    ((3, 7, 4), (3, 7, 2), (3, 7), {"unsqueeze_dim": 2}),     # heads last
    ((3, 7, 4), (3, 7, 2), (3, 7), {}),
    ((7, 4), (7, 2), (7,), {}),                               # no batch: vision towers
    ((3, 4, 7), (3, 2, 7), (11,), {"position_ids": (3, 7)}),  # tables to be indexed
    ((3, 4, 7), (3, 2, 7), (3, 3, 7), {"mrope_section": [2, 3, 3]}),
    ((3, 4, 7), (3, 2, 7), (1, 7), {}),                       # one table for all of the batch
    ((3, 7, 4), (3, 7, 2), (7,), {}),
    ((3, 4, 7), (3, 2, 7), (7,), {}),                         # nothing to be inserted
    ((3, 4, 7), (3, 2, 7), (3, 1, 7), {}),
    ((3, 7), (3, 7), (3, 7), {}),
    ((3, 4, 7), (3, 2, 7), (5,), {}),                         # fewer positions than tokens
    ((3, 4, 5), (3, 2, 7), (3, 7), {}),                       # fewer queries than keys
)
# On a CPU the model's own function is faster for fewer elements than this, in 16 bits, and under torch.compile, where it is
# fused with what surrounds it. Measured by tests/framework/test_models.py.
CPU_ELEMENTS = 1 << 18
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
_without_modes = getattr(_python_dispatch, "_disable_current_modes", contextlib.nullcontext)


class Rotation:
    """A rotation as those functions do it: called like them, computed by ours."""

    def __init__(self, original, unsqueeze=None, tables="as given", mode="half", negative=False, last=False, indexed=False):
        parameters = inspect.signature(original).parameters
        self.original = original
        self.names = [n for n, p in parameters.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
        self.tensors, self.complex = roles(original)
        self.unsqueeze, self.tables, self.mode, self.indexed = unsqueeze, tables, mode, indexed
        self.negative, self.last = negative, last
        self.always = True     # also where the model's own function is faster
        self.widens = False    # 16-bit x beside fp32 tables gives fp32
        self.alone = {}        # form of the result where a tensor is None: does the None stay in the tuple?
        self.proven = {}       # signature of a call -> whether ours agrees there

    def table(self, table, given):
        if given.get("mrope_section") is not None:
            parts = table.split(list(given["mrope_section"]) * 2, dim=-1)
            table = torch.cat([part[i % 3] for i, part in enumerate(parts)], dim=-1)
        if self.indexed:
            table = table[given["position_ids"]]
        axis = given.get("unsqueeze_dim", self.unsqueeze)
        return _TABLES[self.tables](table if axis is None else table.unsqueeze(axis))

    def both(self, given):
        """cos and sin as the operator takes them."""
        if self.complex:
            table = given[self.complex]
            cos, sin = table.real, table.imag
        else:
            cos, sin = given["cos"], given["sin"]
        cos, sin = self.table(cos, given), self.table(sin, given)
        return cos, -sin if self.negative else sin

    def rotated(self, x, cos, sin):
        size, whole = cos.shape[-1], x.shape[-1]
        ones = (1,) * (x.dim() - cos.dim())
        cos, sin = cos.reshape(ones + cos.shape), sin.reshape(ones + sin.shape)
        if self.widens and cos.dtype == torch.float32:
            x = x.float()
        if self.mode == "half" and not self.last:
            return rotary_mul(x, cos, sin)
        return rotary(x, cos, sin, self.mode, whole - size if self.last else 0)

    def with_norms(self, q, k, cos, sin):
        """The result where q and k come from norms that have left notes, with one backward for both; else None."""
        if self.mode not in _ROPES or self.last or cos.dim() != 4 or cos.shape[-1] != q.shape[-1] or cos.requires_grad \
                or self.widens and cos.dtype != q.dtype:
            return None
        for axis in (1, 2):  # of the heads
            notes = [norms.note_of(x, axis == 1) for x in (q, k)] if cos.shape[axis] == 1 else [None]
            if None in notes or cos.shape[3 - axis] != q.shape[3 - axis] or k.shape[3 - axis] != q.shape[3 - axis]:
                continue
            (query, ready, weight, eps), (key, key_ready, key_weight, key_eps) = notes
            across = [w.numel() > x.shape[3] for w, x in ((weight, query), (key_weight, key))]
            if eps == key_eps and across[0] == across[1]:
                out = _normalised_and_rotated(8 if across[0] else 4, _ROPES[self.mode], eps, query, key, cos.squeeze(axis),
                                              sin.squeeze(axis), (weight, None, key_weight, None), (ready, key_ready))
                return tuple(y.transpose(1, 2) for y in out) if axis == 1 else out
        return None

    def ours(self, given):
        """The result, or None if our operator does not take these shapes."""
        cos, sin = self.both(given)
        given_tensors = [given.get(name) for name in self.tensors]
        present = [x for x in given_tensors if x is not None]
        if not present or not all(_fits(x, cos) and _fits(x, sin) for x in present):
            return None
        joined = self.with_norms(*present, cos, sin) if len(present) == 2 else None
        if joined is not None:
            return joined
        out = [None if x is None else self.rotated(x, cos, sin) for x in given_tensors]
        if len(present) < len(out) and not self.alone.get("kept", True):
            out = [y for y in out if y is not None]
        return tuple(out) if len(out) > 1 else out[0]

    def __call__(self, *args, **named):
        given = {**self.defaults, **dict(zip(self.names, args)), **named}
        if (self.always or self.pays(given.get(self.tensors[0]))) and self.takes(given):
            out = self.ours(given)
            if out is not None:
                return out
        return self.original(*args, **named)

    @staticmethod
    def pays(x):
        """Whether ours is the faster one for this tensor."""
        if not isinstance(x, torch.Tensor) or x.device.type != "cpu":
            return True
        return not _is_compiling() and x.dtype == torch.float32 and x.numel() >= CPU_ELEMENTS

    def takes(self, given):
        """Whether ours has been seen to agree with the original in a call like this one."""
        odd = [name for name in given if name not in (*self.tensors, *_OPTIONS, self.complex)
               and given[name] is not self.defaults.get(name, given)]
        if odd:
            return False
        first = given[self.tensors[0]]
        if _is_compiling() or type(first) not in (torch.Tensor, torch.nn.Parameter):
            return True  # nothing can be tried while a graph is traced: what use() has seen must do
        shapes = _signature(self, given)
        if shapes not in self.proven:
            why = _differs(self, _small(self, given, shapes))
            self.proven[shapes] = why is None
            if why:
                warnings.warn(f"ascgrad.torch.use: {self.original.__module__}.{self.original.__name__}: {why}; "
                              "the model's own function computes such calls")
        return self.proven[shapes]

    def __str__(self):
        words = [self.mode]
        if self.tables != "as given":
            words.append("tables " + self.tables)
        words += ["complex tables"] * bool(self.complex) + ["sin negative"] * self.negative + ["last part"] * self.last
        return ", ".join(words)


def roles(function):
    """Names of the tensors that are rotated, and of the complex table, if the function has one."""
    parameters = inspect.signature(function).parameters
    table = next((name for name in _COMPLEX if name in parameters), None)
    return [name for name, p in parameters.items() if name not in (*_OPTIONS, table) and p.kind != p.VAR_KEYWORD
            and (p.default is p.empty or p.default is None)], table


def _fits(x, table):
    """Whether the table spreads over x, and not x over the table."""
    if table.dim() > x.dim() or table.shape[-1] > x.shape[-1] or table.shape[-1] % 2:
        return False
    return all(n in (1, m) for n, m in zip(reversed(table.shape[:-1]), reversed(x.shape[:-1])))


@contextlib.contextmanager
def _apart():
    """As if the caller had set nothing: default dtype and device, autocast, gradients, hooks of saved tensors, modes.
    Checkpointing counts by such hooks what a forward saves, and recomputes it without what is tried here."""
    dtype = torch.get_default_dtype()
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t))
        stack.enter_context(_without_modes())
        if hasattr(torch, "get_default_device"):
            stack.enter_context(torch.device("cpu"))
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(torch.autocast("cpu", enabled=False))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        try:
            torch.set_default_dtype(torch.float32)
            yield
        finally:
            torch.set_default_dtype(dtype)


def _random(shape, generator, dtype=torch.float32):
    return torch.randn(shape, generator=generator, dtype=torch.float32, device="cpu").to(dtype).requires_grad_()


def _arguments(rotation_of, shapes, tables, options, dtypes=(torch.float32, torch.float32)):
    """Random arguments: shapes of the tensors by name (None: absent), shape of the tables."""
    _, table = roles(rotation_of)
    generator = torch.Generator("cpu").manual_seed(tables[-1])
    given = {name: None if shape is None else _random(shape, generator, dtypes[0]) for name, shape in shapes.items()}
    for name in ([table] if table else ["cos", "sin"]):
        given[name] = _random(tables, generator, dtypes[1])
        if table:
            given[name] = torch.complex(given[name].detach(), _random(tables, generator, dtypes[1]).detach())
    for name, value in options.items():
        given[name] = value
        if name == "position_ids":
            given[name] = torch.randint(0, tables[0], value, generator=generator, device="cpu")
    return given


def _outcome(function, given):
    """Results of the function and the gradients of what it was given, or None if it cannot take that."""
    try:
        out = function(**given)
    except Exception:  # whatever a function of someone else throws at shapes it is not made for
        return None
    if out is None:
        return None
    kept = list(out) if isinstance(out, (tuple, list)) else [out]
    results = [y for y in kept if isinstance(y, torch.Tensor)]
    if len(results) + kept.count(None) < len(kept) or not results:
        return None
    return kept, results


def _gradients(results, given):
    """Gradients for fixed upstream ones, in the order of the arguments; None where there is none."""
    leaves = [given[name] for name in sorted(given) if isinstance(given[name], torch.Tensor) and given[name].requires_grad]
    upstream = [torch.linspace(-1, 1, y.numel(), device="cpu").reshape(y.shape).to(y.dtype) for y in results]
    return torch.autograd.grad(results, leaves, upstream, allow_unused=True)


def _close(a, b):
    bound = 1e-5 if b.dtype == torch.float32 else 3e-2
    return a.shape == b.shape and a.dtype == b.dtype and \
        float((a.detach().float() - b.detach().float()).abs().max() if a.numel() else 0) <= \
        bound * max(1.0, float(b.detach().float().abs().max()) if b.numel() else 1.0)


def _differs(rotation, given, backward=True):
    """None if ours agrees with the original on these arguments, else in what it does not; "" if the original refuses."""
    with _apart():
        wanted = _outcome(rotation.original, given)
        if wanted is None:
            return ""
        got = _outcome(lambda **g: rotation.ours({**rotation.defaults, **g}), given)
        shape = " ".join(str(list(t.shape)) for t in given.values() if isinstance(t, torch.Tensor))
        if got is None:
            return f"ours does not take {shape}"
        if [y is None for y in got[0]] != [y is None for y in wanted[0]] or \
                not all(_close(a, b) for a, b in zip(got[1], wanted[1])):
            return f"results differ for {shape}"
        if backward and _library.available():
            pairs = zip(_gradients(got[1], given), _gradients(wanted[1], given))
            if not all(a is None and b is None or a is not None and b is not None and _close(a, b) for a, b in pairs):
                return f"gradients differ for {shape}"
    return None


def _signature(rotation, given):
    """What is tried once: ranks, which sizes are equal and their order, columns, dtypes, options."""
    tables = [rotation.complex] if rotation.complex else ["cos", "sin"]
    tensors = [(name, given.get(name)) for name in (*rotation.tensors, *tables)]
    sizes = sorted({n for _, t in tensors if t is not None for n in t.shape[:-1] if n > 1})
    place = {n: i + 2 for i, n in enumerate(sizes)}
    shapes = tuple((name, None if t is None else (*(place.get(n, n) for n in t.shape[:-1]), t.shape[-1]),
                    None if t is None else t.dtype) for name, t in tensors)
    options = []
    for name in ("position_ids", "mrope_section", "unsqueeze_dim"):
        value = given.get(name)
        if isinstance(value, torch.Tensor):
            value = tuple(place.get(n, n) for n in value.shape)
        options.append((name, tuple(value) if isinstance(value, list) else value))
    return shapes, tuple(options)


def _small(rotation, given, signature):
    """Random arguments with that signature."""
    shapes, options = signature
    tables = [entry for entry in shapes if entry[0] not in rotation.tensors]
    tensors = {name: shape for name, shape, _ in shapes if name in rotation.tensors}
    kinds = next((dtype for name, _, dtype in shapes if name in rotation.tensors and dtype is not None), torch.float32)
    table_kind = torch.float32 if rotation.complex else tables[0][2]
    wanted = {name: list(value) if name == "mrope_section" else value for name, value in options
              if value is not None and name in rotation.names}
    return _arguments(rotation.original, tensors, tables[0][1], wanted, (kinds, table_kind))


def _trials(function):
    """Arguments in every layout, as far as the function takes them."""
    tensors, _ = roles(function)
    parameters = inspect.signature(function).parameters
    for (q, k, table, options), width in itertools.product(_LAYOUTS, (_HEAD, _HEAD // 2, _HEAD // 4)):
        needed = [n for n in ("position_ids", "mrope_section") if n in parameters
                  and (n in options or parameters[n].default is inspect.Parameter.empty)]
        if set(options) - set(parameters) or set(needed) - set(options):
            continue
        shapes = {name: ((q if i == 0 else k) + (_HEAD,)) for i, name in enumerate(tensors)}
        given = _arguments(function, shapes, table + (width,), options)
        out = _outcome(function, given)
        if out is not None and [y.shape for y in out[1]] == [given[name].shape for name in tensors]:
            yield given  # what spreads x over a larger table is no model's call


def recognised(function):
    """(rotation, None), or (None, why not)."""
    try:
        tensors, table = roles(function)
    except (TypeError, ValueError):
        return None, "it does not say what it takes"
    names = set(inspect.signature(function).parameters)
    if not 1 <= len(tensors) <= 3 or not (table or {"cos", "sin"} <= names):
        return None, f"it takes {', '.join(sorted(names))}: not x, cos and sin"
    with _apart():
        trials = list(_trials(function))
    if not trials:
        return None, "it takes none of the layouts that were tried"
    nearest = None
    for last, negative, tables, mode, unsqueeze, indexed in itertools.product(
            (False, True), (False, True), _TABLES, _MODES, (1, -2, 2, None), (False, True)):
        if indexed and "position_ids" not in names or table and tables != "each twice":
            continue
        rotation = Rotation(function, unsqueeze, tables, mode, negative, last, indexed)
        if _differs(rotation, trials[0], backward=False):
            continue
        differences = [d for d in (_differs(rotation, given) for given in trials) if d]
        if differences:
            if nearest is None or len(differences) < nearest[0]:
                nearest = len(differences), f"like {rotation}, but {differences[0]}"
            continue
        _learn(rotation, trials[0])
        return rotation, None
    return None, nearest[1] if nearest else "no rotation that ascgrad knows gives its numbers"


def _learn(rotation, given):
    """What the original does with mixed dtypes, and with a tensor that is None."""
    with _apart():
        names = rotation.tensors
        mixed = {n: t.detach().bfloat16() if n in names else t for n, t in given.items()}
        found = _outcome(rotation.original, mixed)
        rotation.widens = found is not None and found[1][0].dtype == torch.float32
        if len(names) == 2:
            found = _outcome(rotation.original, {**given, names[1]: None})
            rotation.alone["kept"] = found is None or len(found[0]) == 2

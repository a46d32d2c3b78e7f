# SPDX-License-Identifier: Apache-2.0
"""Shapes of the outputs, for frameworks that trace a model before they run it."""
import functools

from . import _library, infer, tile
from ._names import ACROSS, BIASED, CENTRED, STREAMS, WEIGHTED

# What Meta and MindSpore need on a machine without libascgrad: each output is like the input named here, [0] if that is
# absent; -1 behind a name drops the last axis. With the library these lines are not used, and a test holds them to it.
_LIKE = {
    "RotaryMulGrad": "x r1 r2",
    "RotaryPositionEmbeddingGrad": "dy cos sin",
    "RopeGrad": "q k",
    "NormRopeConcatGrad": "query key key encoder_query encoder_key encoder_key " + " ".join(
        f"{stream}_weight {stream}_weight" for stream in STREAMS),
    "ExpSegsumGrad": "grad_output-1",
}


def like_inputs(op, given):
    """The outputs by the table above."""
    if op not in _LIKE:
        _library.load()  # says what is missing
    found = []
    for rule in _LIKE[op].split():
        name, _, cut = rule.partition("-")
        dtype, shape = given.get(name, (None, [0]))
        found.append((dtype or next(iter(given.values()))[0], list(shape[:-1] if cut else shape)))
    return found


@functools.lru_cache(maxsize=1024)
def _known(op, given, attrs):
    """Everything is known, so everything can be checked. Training asks the same again and again."""
    sizes, attrs = {name: (dtype, shape) for name, dtype, shape in given}, dict(attrs)
    found = infer(op, sizes, attrs)
    tile(op, sizes, attrs)
    return list(found.values())


def outputs(op, given, attrs, hint=lambda symbol: None):
    """given: input name -> (dtype, shape), where a size is an int or, while tracing, a symbol. Returns (dtype, shape) of
    every output, with the symbols in their places. ValueError with the operator's sentence if it refuses.

    The operator is asked with the symbols unknown. Which output axis follows from which symbol is found by letting it
    know one symbol at a time (by its hint, a size that fits the rest): what becomes known then is that symbol."""
    if not _library.available():
        return like_inputs(op, given)
    sizes = {name: (dtype, [n if isinstance(n, int) else -1 for n in shape]) for name, (dtype, shape) in given.items()}
    if all(n >= 0 for _, shape in sizes.values() for n in shape):
        return _known(op, tuple((name, dtype, tuple(shape)) for name, (dtype, shape) in sizes.items()),
                      tuple((name, tuple(v) if isinstance(v, (list, tuple)) else v) for name, v in attrs.items()))
    found = [(dtype, list(shape)) for dtype, shape in infer(op, sizes, attrs).values()]
    for name, (_, shape) in given.items():
        for axis, symbol in enumerate(shape):
            size = None if isinstance(symbol, int) else hint(symbol)
            if size is None:
                continue
            sizes[name][1][axis] = size
            now = infer(op, sizes, attrs).values()
            sizes[name][1][axis] = -1
            for (_, dims), (_, known) in zip(found, now):
                dims[:] = [symbol if isinstance(d, int) and d == -1 and k != -1 else d for d, k in zip(dims, known)]
    return found


def norm_rope_concat(kinds, tensors):
    """What NormRopeConcatGrad gets when the forward got these tensors: name -> (dtype, shape), as given for outputs().
    ValueError if a tensor is missing that the kinds ask for, or has not four axes."""
    norm, added, rope, _ = kinds
    for name in ("query", "key", "value", "encoder_query", "encoder_key", "encoder_value"):
        if name in tensors and len(tensors[name][1]) != 4:
            raise ValueError(f"norm_rope_concat: {name} must have four axes [B, S, N, D], got {list(tensors[name][1])}")
    needed = ["rope_sin", "rope_cos"] if rope else []
    for stream in STREAMS:
        part = stream.replace("norm_added_", "encoder_").replace("norm_", "")
        kind = added if "added" in stream else norm
        if part in tensors:
            needed += [f"{stream}_weight"] * (kind in WEIGHTED) + [f"{stream}_bias"] * (kind in BIASED)
    for name in needed:
        if name not in tensors:
            what = "rope_type" if name.startswith("rope") else "norm_added_type" if "added" in name else "norm_type"
            number = {"rope_type": rope, "norm_added_type": added}.get(what, norm)
            raise ValueError(f"norm_rope_concat: {what} {number} needs {name}")
    given = {name: tensors[name] for name in tensors if not name.endswith(("value", "_bias"))}
    for name in ("query", "key", "value"):
        dtype, (batch, length, heads, size) = tensors[name]
        more = tensors[f"encoder_{name}"][1][1] if f"encoder_{name}" in tensors else 0
        given[f"grad_{name}_output"] = (dtype, [batch, heads, -1 if -1 in (length, more) else length + more, size])
    for stream in STREAMS:
        part = stream.replace("norm_added_", "encoder_").replace("norm_", "")
        kind = added if "added" in stream else norm
        for stat, present in (("mean", kind in CENTRED), ("rstd", kind > 0)):
            if present and part in tensors:
                batch, length, heads, _ = tensors[part][1]
                given[f"{stream}_{stat}"] = ("fp32", [batch, length, 1 if kind in ACROSS else heads, 1])
    return given

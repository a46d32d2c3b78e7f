# SPDX-License-Identifier: Apache-2.0
"""Shapes of the outputs, for frameworks that trace a model before they run it."""
import functools

from . import _library, infer, tile
from ._names import STREAMS

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

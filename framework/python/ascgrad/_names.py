# SPDX-License-Identifier: Apache-2.0
"""Words that the front doors of all frameworks use, and what they make of the values that they are given."""
import operator
import re
from typing import Any

MODES = {"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3}  # of RotaryPositionEmbedding
# Norm types of NormRopeConcat with a mean, with a weight, with a bias, over all heads of a token instead of one; and L2
CENTRED, WEIGHTED, BIASED, ACROSS, L2 = (1, 2, 5, 6), (2, 4, 6, 8), (2, 6), (5, 6, 7, 8), 9
STREAMS = ("norm_query", "norm_key", "norm_added_query", "norm_added_key")  # of NormRopeConcat
_DTYPES = ("fp32", "fp16", "bf16")


def whole(name: str, value: Any, bits: int = 64) -> int:
    """An integer that the operators can be given; nothing is rounded or cut off to make it one."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    low, high = (-(1 << 63), (1 << 63) - 1) if bits == 64 else (0, (1 << bits) - 1)
    if not low <= number <= high:
        raise ValueError(f"{name} must be in [{low}, {high}], got {number}")
    return number


def switch(name: str, value: Any) -> bool:
    """True or False, also as 1 or 0 and as NumPy has them."""
    if isinstance(value, str) or value not in (True, False):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def mode(value: Any) -> int:
    """The number of a mode of RotaryPositionEmbedding, given by number or by name."""
    if isinstance(value, str) and value not in MODES:
        raise ValueError(f"mode must be 0 to {len(MODES) - 1} or one of {', '.join(MODES)}; got {value!r}")
    return whole("mode", MODES[value] if isinstance(value, str) else value)


def dtype(value: Any, allow_none: bool = False) -> str:
    """fp32, fp16 or bf16."""
    if value not in _DTYPES and not (allow_none and value is None):
        raise ValueError(f"dtype must be one of {', '.join(_DTYPES)}; got {value!r}")
    return value


def lengths(name: str, values: Any) -> list:
    """A list of integers."""
    try:
        return [whole(f"{name}[{i}]", value) for i, value in enumerate(values)]
    except TypeError as error:
        if "must be an integer" in str(error):
            raise
        raise TypeError(f"{name} must be a list of integers, got {values!r}") from None


def retold(function: str, sentence: str, words: dict) -> str:
    """A refusal of an operator in the words of the function that was called: its name, and the names of what it takes."""
    sentence = re.sub(r"^\w+ '[^']*': |^\w+: ", "", sentence)
    named = re.compile(r"\b(" + "|".join(sorted(words, key=len, reverse=True)) + r")\b") if words else None
    return f"{function}: " + (named.sub(lambda found: words[found.group(1)], sentence) if named else sentence)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of chips, socs.txt, for whoever asks.

    socs.py FILE            prints their short names
    socs.py FILE --families prints them as rows of C, with what a reader calls them, for the command
"""
import collections
import re
import sys

# full: what the compiler is told; has: None if the chip has all operators, else {type: dtypes}.
Chip = collections.namedtuple("Chip", "full has product")


def read(path):
    """Short name -> Chip, in the order of the table."""
    with open(path, encoding="ascii") as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return {short: Chip(full, None if has == "all" else
                        {t: dtypes.split(",") for t, dtypes in (o.split(":") for o in has.split(";"))},
                        " ".join(product))
            for short, full, has, *product in rows}


def family(short, product):
    """ascend910b of Atlas A2: ascend910b (A2)"""
    series = re.fullmatch(r"Atlas (A\d)", product)
    return '    {"%s", "%s"},' % (short, short + (" (%s)" % series[1] if series else ""))


if __name__ == "__main__":
    chips = read(sys.argv[1])
    if sys.argv[2:] == ["--families"]:
        print("\n".join(family(short, chip.product) for short, chip in chips.items()))
    else:
        print(" ".join(chips))

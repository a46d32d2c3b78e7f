#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of chips, socs.txt, for whoever asks; socs.py FILE prints their short names."""
import collections
import sys

# full: what the compiler is told; has: None if the chip has all operators, else {type: dtypes}.
Chip = collections.namedtuple("Chip", "full has")


def read(path):
    """Short name -> Chip, in the order of the table."""
    with open(path, encoding="ascii") as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return {short: Chip(full, None if has == "all" else
                        {t: dtypes.split(",") for t, dtypes in (o.split(":") for o in has.split(";"))})
            for short, full, has, *_ in rows}


if __name__ == "__main__":
    print(" ".join(read(sys.argv[1])))

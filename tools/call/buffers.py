#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the kernels call their buffers, by the line of InitBuffer, for the page of `ascgrad perf`: buffers.py OUT FILE..."""
import os
import re
import sys


def main():
    rows = []
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                found = re.search(r"InitBuffer\((?:\w+(?:\.|->))*(\w+),", line)
                if found:
                    rows.append('    {"%s:%d", "%s"},\n' % (os.path.basename(path), number, found.group(1)))
    with open(sys.argv[1], "w", encoding="ascii") as f:
        f.write("".join(rows))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of measurements in docs/twin.md is what twin_cycles prints; another compiler may count a few per cent more or
fewer scalar instructions. test_measured.py TWIN_CYCLES PAGE [--write]"""
import subprocess
import sys

BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->"
MODEL, OFF = 4, 5  # columns that follow the compiler


def cells(line):
    return [cell.strip() for cell in line.strip("| ").split("|")]


def number(cell):
    return float(cell.split()[0])


def differ(page, now):
    """What is wrong with a line of the page, or None."""
    old, new = cells(page), cells(now)
    if len(old) != len(new) or any(a != b for i, (a, b) in enumerate(zip(old, new)) if i not in (MODEL, OFF)):
        return "other words"
    if abs(number(old[MODEL]) / number(new[MODEL]) - 1) > 0.03 or abs(number(old[OFF]) - number(new[OFF])) > 4:
        return f"the model has {new[MODEL]} ({new[OFF]}) now"
    return None


def main():
    program, page = sys.argv[1:3]
    run = subprocess.run([program, "--page"], capture_output=True, text=True)
    head, now = run.stdout.split("\n", 2)[:2], run.stdout.strip().split("\n")[2:]
    text = open(page).read()
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    if "--write" in sys.argv:
        with open(page, "w") as f:
            f.write(before + BEGIN + "\n".join(head + now) + "\n" + END + after)
        return run.returncode
    rows = table.strip().split("\n")
    wrong = [] if rows[:2] == head and len(rows) - 2 == len(now) else ["the page has another head or number of rows"]
    for old, new in zip(rows[2:], now):
        what = differ(old, new)
        if what:
            wrong.append(f"{old}\n  {what}")
    print("\n".join(wrong) or f"{len(now)} rows as on the page")
    return bool(wrong) or run.returncode


sys.exit(main())

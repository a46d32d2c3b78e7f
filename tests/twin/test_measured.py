#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of measurements in docs/twin.md is what twin_cycles prints; another compiler may count a few per cent more or
fewer scalar instructions. And every constant of the memory model names the rows that it comes from.
test_measured.py TWIN_CYCLES PAGE CONSTANTS [--write]"""
import re
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


def unfounded(path, rows):
    """What is wrong with the list of rows above the constants of data movement."""
    part = open(path).read().split("/* Data movement")[1].split("/* The scalar unit issues")[0]
    told = {}
    for line in re.split(r"\n \*   (?=\w)", part.split("*/")[0])[1:]:
        names, text = line.split(":", 1)
        told.update({name.strip(): re.sub(r"\s*\n \* *", " ", text).strip() for name in names.split(",")})
    wrong = []
    for name in re.findall(r"#define TWIN_(\w+)", part):
        text = told.pop(name, "")
        known = re.findall(r'"([^"]*)"', text)
        wrong += [f"{name} names the row {row!r}, which is not there" for row in known if row not in rows]
        if text != "none" and (len(known) == 0 or (len(known) == 1) != text.endswith(" alone")):
            wrong.append(f"{name} comes from {text or 'nowhere'}")
    return wrong + [f"{name} is no constant of data movement" for name in told]


def main():
    program, page, constants = sys.argv[1:4]
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
    wrong += unfounded(constants, {cells(line)[0] for line in now})
    print("\n".join(wrong) or f"{len(now)} rows as on the page")
    return bool(wrong) or run.returncode


sys.exit(main())

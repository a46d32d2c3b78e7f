# SPDX-License-Identifier: Apache-2.0
"""The counts that docs/coverage.md and CONTRIBUTING.md state, against the tree's own: tests of each tier, rows of
op_reference, possible faults of infer and tiling. Numbers of tests must be the same; rows and faults, which nearly every
change of the code moves a little, must be within 5 %.

    test_counts.py BUILD [--write]        --write: puts the tree's counts into the pages
"""
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests", "long")]
import mutate  # noqa: E402
import tally  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def tests():
    return {("tests", tier): len(tally.names_of(BUILD, tier)) for tier in ("short", *tally.OTHERS)}


def rows():
    return len(re.findall(r"^[A-Z]\w+ ", said(os.path.join(BUILD, "bin", "ascgrad"), "check", "--list"), re.M))


def faults():
    found = 0
    for file in mutate.sources(BUILD):
        with open(file, encoding="utf-8") as text:
            found += len(mutate.faults(text.read()))
    return found


def main():
    counts = {**tests(), ("rows", "all"): rows(), ("faults", "all"): faults()}
    write, bad, seen = "--write" in sys.argv, 0, set()
    for page in ("docs/coverage.md", "CONTRIBUTING.md"):
        path = os.path.join(ROOT, page)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        # <!-- count: tests long -->23
        for kind, name, number in re.findall(r"<!-- count: (\w+) (\w+) -->([\d,]+)", text):
            key = kind, name
            stated, own = int(number.replace(",", "")), counts.get(key)
            seen.add(key)
            if own is None or abs(stated - own) > (0 if kind == "tests" else 0.05 * own):
                bad += 1
                print(f"{page} says {number} {kind} of {name}, the tree has {own}")
        if write:
            text = re.sub(r"(<!-- count: (\w+) (\w+) -->)[\d,]+", lambda m: f"{m[1]}{counts[m[2], m[3]]:,}", text)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    for kind, name in sorted(set(counts) - seen):
        bad += 1
        print(f"no page says how many {kind} {name} has: {counts[kind, name]}")
    if write:
        print("the pages have the tree's counts now")
        return 0
    print(f"{len(counts)} counts, {bad} of them old; tests/docs/test_counts.py {sys.argv[1]} --write puts them right")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""coverage.py WORK: what coverage.sh has found in WORK, against the lines that docs/coverage.md explains."""
import glob
import json
import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


def missed(full, reasons):
    """Lines that no test reaches and no row of the page explains; and the rows that explain nothing."""
    used, found = set(), []
    for file in full["files"]:
        with open(os.path.join(ROOT, file["file"]), encoding="utf-8") as f:
            source = f.read().splitlines()
        for line in file["lines"]:
            n = line["line_number"]
            if line["count"] or line.get("gcovr/noncode"):
                continue
            near = "\n".join(source[max(0, n - 5):n])
            why = [row for row in reasons if row[0] == file["file"] and row[1] in near]
            used.update(why)
            if not why:
                found.append(f"not reached and not explained in docs/coverage.md: {file['file']}:{n}: {source[n - 1].strip()}")
    return found, [row for row in reasons if row not in used]


def main():
    work = sys.argv[1]
    with open(os.path.join(work, "summary.json"), encoding="utf-8") as f:
        summary = json.load(f)
    with open(os.path.join(work, "full.json"), encoding="utf-8") as f:
        full = json.load(f)
    with open(os.path.join(ROOT, "docs/coverage.md"), encoding="utf-8") as f:
        reasons = re.findall(r"^\| (\S+) \| `(.*?)` \|", f.read(), re.M)
    bad, idle = missed(full, reasons)
    print("\n".join(bad + [f"docs/coverage.md explains a line that is reached: {file}: {code}" for file, code in idle]))
    counted = {os.path.relpath(file["file"], ROOT) if os.path.isabs(file["file"]) else file["file"] for file in full["files"]}
    wanted = [os.path.relpath(f, ROOT) for folder in ("core/*.c", "ge/*.c", "op_proto/*_infer.c", "op_tiling/*.c")
              for f in glob.glob(os.path.join(ROOT, folder)) if not os.path.basename(f).startswith("old")]
    lost = sorted(set(wanted) - counted)
    print("".join(f"no counters of {name}\n" for name in lost), end="")
    print(f"{len(counted)} files, lines {summary['line_percent']} %, branches {summary['branch_percent']} % "
          f"({summary['branch_covered']} of {summary['branch_total']}), {len(bad)} lines missed without a reason")
    return 1 if bad or idle or lost or summary["branch_percent"] < 98 else 0


if __name__ == "__main__":
    sys.exit(main())

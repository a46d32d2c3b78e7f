# SPDX-License-Identifier: Apache-2.0
"""What ctest said of one tier or of several, in the end in one line: N passed, N failed, N skipped.

    tally.py BUILD TIER...        of BUILD/tier-TIER.xml, from `ctest --output-junit`

A tier's tests are those with its label, the short tier's those with none; what ctest runs to prepare for them is not
counted. A skipped test says why, in a line that begins `skipped: `; one that does not has failed, and so has a test of the
tier that is not in the record. Exit status 1 if a test failed, or if a tier has none.
"""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

OTHERS = ("long", "frameworks", "soak")


def names_of(build, tier):
    words = ("-L", f"^{tier}$") if tier in OTHERS else ("-LE", f"^({'|'.join(OTHERS)})$")
    said = subprocess.run(["ctest", "--test-dir", build, "-N", "-FS", ".*", *words], check=True, capture_output=True, text=True)
    return re.findall(r"Test +#\d+: (\S+)", said.stdout)


def verdict(case):
    """passed, failed or skipped, and the reason if there is one."""
    if case is None:
        return "failed", "it did not run"
    if case.get("status") == "run":
        return "passed", ""
    if case.find("skipped") is not None and "SKIP" in case.find("skipped").get("message", ""):
        reason = re.search(r"^skipped: (.+)$", case.findtext("system-out") or "", re.M)
        return ("skipped", reason[1]) if reason else ("failed", "skipped without a reason")
    return "failed", case.get("status")


def judge(tier, names, path):
    """Counts of each verdict; what did not pass is printed."""
    counts, cases = {"passed": 0, "failed": 0, "skipped": 0}, {}
    try:
        cases = {case.get("name"): case for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase")}
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        print(f"{tier}: no record of it: {error}")
    seconds = 0.0
    for name in names:
        what, why = verdict(cases.get(name))
        counts[what] += 1
        seconds += float(cases[name].get("time", 0)) if name in cases else 0
        if what != "passed":
            print(f"{tier}: {what}: {name}: {why}")
    slowest = sorted((name for name in names if name in cases), key=lambda name: -float(cases[name].get("time", 0)))[:5]
    print(f"tier {tier}: {len(names)} tests took {seconds:.0f} s, the slowest: "
          + ", ".join(f"{name} {float(cases[name].get('time', 0)):.0f} s" for name in slowest))
    return counts


def main():
    build, *tiers = sys.argv[1:]
    total, good = {"passed": 0, "failed": 0, "skipped": 0}, True
    for tier in tiers:
        counts = judge(tier, names_of(build, tier), os.path.join(build, f"tier-{tier}.xml"))
        good = good and counts["failed"] == 0 and sum(counts.values()) > 0
        total = {what: n + counts[what] for what, n in total.items()}
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**total))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

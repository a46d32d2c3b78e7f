# SPDX-License-Identifier: Apache-2.0
"""What ctest said of one tier or of several, in the end in one line: N passed, N failed, N skipped.

    tally.py TIER=FILE.xml...        FILE: from `ctest --output-junit`

A test belongs to the tier that is among its labels, to short if there is none; what a tier runs to prepare for its own
tests is not counted. A skipped test says why, in a line that begins `skipped: `; one that does not has failed. Exit status 1
if a test failed, or if a tier has none.
"""
import re
import sys
import xml.etree.ElementTree

TIERS = ("long", "frameworks", "soak")


def tier_of(case):
    labels = [p.get("value", "") for p in case.iter("property") if p.get("name") == "cmake_labels"]
    found = [tier for tier in TIERS if tier in ";".join(labels).split(";")]
    return found[0] if found else "short"


def verdict(case):
    """passed, failed or skipped, and the reason if there is one."""
    if case.get("status") == "run":
        return "passed", ""
    if case.find("skipped") is not None and "SKIP" in case.find("skipped").get("message", ""):
        reason = re.search(r"^skipped: (.+)$", case.findtext("system-out") or "", re.M)
        return ("skipped", reason[1]) if reason else ("failed", "skipped without a reason")
    return "failed", case.get("status")


def main():
    total, good = {"passed": 0, "failed": 0, "skipped": 0}, True
    for word in sys.argv[1:]:
        tier, _, path = word.partition("=")
        counts, seconds = dict.fromkeys(total, 0), 0.0
        try:
            suite = xml.etree.ElementTree.parse(path).getroot()
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            print(f"{tier}: no record of it: {error}")
            total["failed"] += 1
            good = False
            continue
        for case in suite.iter("testcase"):
            if tier_of(case) != tier:
                continue
            what, why = verdict(case)
            counts[what] += 1
            seconds += float(case.get("time", 0))
            if what != "passed":
                print(f"{tier}: {what}: {case.get('name')}: {why}")
        good = good and counts["failed"] == 0 and sum(counts.values()) > 0
        for what, n in counts.items():
            total[what] += n
        wall = suite.get("time") or "?"
        print(f"tier {tier}: {sum(counts.values())} tests, {seconds:.0f} s of tests in {wall} s")
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**total))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

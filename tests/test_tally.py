# SPDX-License-Identifier: Apache-2.0
"""tests/tally.py: what it counts, and what it does not let pass."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "python"))
from run_tests import run_tests  # noqa: E402

PROPERTIES = '<properties><property name="cmake_labels" value="{}"/></properties>'


def case(name, status="run", labels="", said="", skipped=False):
    skip = '<skipped message="SKIP_RETURN_CODE=77"/>' if skipped else ""
    return (f'<testcase name="{name}" time="1.5" status="{status}">{skip}{PROPERTIES.format(labels)}'
            f"<system-out>{said}</system-out></testcase>")


def tally(*cases, tier="short"):
    """Exit status and output for a record with these cases."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "record.xml")
        with open(path, "w", encoding="ascii") as file:
            file.write('<testsuite time="9">' + "".join(cases) + "</testsuite>")
        done = subprocess.run([sys.executable, "-B", os.path.join(os.path.dirname(__file__), "tally.py"), f"{tier}={path}"],
                              text=True, capture_output=True, check=False)
    return done.returncode, done.stdout


def ends(result, status, line):
    assert result[0] == status and result[1].splitlines()[-1] == line, result


def test_counts():
    skipped = case("c", "notrun", "long", "first\nskipped: no qemu here\n", True)
    ends(tally(case("a", labels="long"), case("b", labels="x;long"), skipped, tier="long"), 0, "2 passed, 0 failed, 1 skipped")
    assert "c: no qemu here" in tally(case("a", labels="long"), skipped, tier="long")[1]


def test_failures():
    ends(tally(case("a"), case("b", "fail")), 1, "1 passed, 1 failed, 0 skipped")
    ends(tally(case("a"), case("b", "notrun")), 1, "1 passed, 1 failed, 0 skipped")


def test_a_skip_without_a_reason():
    ends(tally(case("a"), case("b", "notrun", "", "nothing", True)), 1, "1 passed, 1 failed, 0 skipped")


def test_other_tiers_do_not_count():
    ends(tally(case("a"), case("b", labels="long")), 0, "1 passed, 0 failed, 0 skipped")
    ends(tally(case("a"), tier="long"), 1, "0 passed, 0 failed, 0 skipped")


def test_no_record():
    done = subprocess.run([sys.executable, "-B", os.path.join(os.path.dirname(__file__), "tally.py"), "short=/nowhere"],
                          text=True, capture_output=True, check=False)
    ends((done.returncode, done.stdout), 1, "0 passed, 1 failed, 0 skipped")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), "tally.py"))

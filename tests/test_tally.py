# SPDX-License-Identifier: Apache-2.0
"""tests/tally.py: what it counts, and what it does not let pass; with a ctest that lists two tests of the tier long."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "python"))
from run_tests import run_tests  # noqa: E402


def case(name, status="run", said="", skipped=False):
    skip = '<skipped message="SKIP_RETURN_CODE=77"/>' if skipped else ""
    return f'<testcase name="{name}" time="1.5" status="{status}">{skip}<system-out>{said}</system-out></testcase>'


def tally(*cases, names=("a", "b"), record=True):
    """Exit status and output for a record with these cases."""
    with tempfile.TemporaryDirectory() as folder:
        listed = "\n".join(f"  Test  #{i}: {name}" for i, name in enumerate(names))
        with open(os.path.join(folder, "ctest"), "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\ncat <<'END'\n{listed}\nEND\n")
        os.chmod(file.name, 0o755)
        if record:
            with open(os.path.join(folder, "tier-long.xml"), "w", encoding="ascii") as file:
                file.write("<testsuite>" + "".join(cases) + "</testsuite>")
        done = subprocess.run([sys.executable, "-B", os.path.join(HERE, "tally.py"), folder, "long"], text=True,
                              env={"PATH": folder + ":" + os.environ["PATH"]}, capture_output=True, check=False)
    return done.returncode, done.stdout


def ends(result, status, line):
    assert result[0] == status and result[1].splitlines()[-1] == line, result


def test_counts():
    ends(tally(case("a"), case("b")), 0, "2 passed, 0 failed, 0 skipped")
    skipped = case("b", "notrun", "first\nskipped: no qemu here\n", True)
    ends(tally(case("a"), skipped), 0, "1 passed, 0 failed, 1 skipped")
    assert "b: no qemu here" in tally(case("a"), skipped)[1]


def test_failures():
    ends(tally(case("a"), case("b", "fail")), 1, "1 passed, 1 failed, 0 skipped")
    ends(tally(case("a"), case("b", "notrun")), 1, "1 passed, 1 failed, 0 skipped")


def test_a_skip_without_a_reason():
    ends(tally(case("a"), case("b", "notrun", "nothing", True)), 1, "1 passed, 1 failed, 0 skipped")


def test_what_did_not_run():
    ends(tally(case("a")), 1, "1 passed, 1 failed, 0 skipped")
    ends(tally(record=False), 1, "0 passed, 2 failed, 0 skipped")
    ends(tally(names=()), 1, "0 passed, 0 failed, 0 skipped")


def test_preparations_do_not_count():
    ends(tally(case("a"), case("b"), case("prepare")), 0, "2 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), "tally.py"))

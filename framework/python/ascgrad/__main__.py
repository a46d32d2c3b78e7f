# SPDX-License-Identifier: Apache-2.0
"""The `ascgrad` command, as pip installs it: `ascgrad opp` is _opp.py, everything else the program in the wheel."""
import os
import platform
import sys

from ascgrad import _opp


def main():
    if sys.argv[1:2] == ["opp"]:
        sys.exit(_opp.main(sys.argv[2:]))
    program = os.path.join(_opp.CARRIED, "bin", platform.machine(), "ascgrad")
    if not os.path.exists(program):
        sys.exit(f"ascgrad: {program} is missing: the package was not installed from a wheel")
    os.execv(program, ["ascgrad", *sys.argv[1:]])


if __name__ == "__main__":
    main()

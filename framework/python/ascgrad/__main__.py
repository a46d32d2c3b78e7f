# SPDX-License-Identifier: Apache-2.0
"""The `ascgrad` command, as pip installs it: the program in this package's bin/."""
import os
import sys

from ascgrad import _library


def main():
    program = os.path.join(_library.FOLDER, "bin", "ascgrad")
    if not os.path.exists(program):
        sys.exit(f"ascgrad: {program} is missing: the package was not installed from a wheel")
    os.execv(program, ["ascgrad", *sys.argv[1:]])


if __name__ == "__main__":
    main()

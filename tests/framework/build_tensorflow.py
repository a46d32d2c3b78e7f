# SPDX-License-Identifier: Apache-2.0
"""Builds libascgrad_tf.so (ASCGRAD_TF_LIB) against the TensorFlow of this Python, unless it is newer than its sources."""
import os
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "framework", "tensorflow")


def main():
    output, library = os.environ["ASCGRAD_TF_LIB"], os.environ["ASCGRAD_LIB"]
    sources = [os.path.join(FOLDER, name) for name in os.listdir(FOLDER) if name.endswith((".cpp", ".c", ".h", ".sh"))]
    if os.path.exists(output) and all(os.path.getmtime(s) < os.path.getmtime(output) for s in sources):
        print(f"{output} is up to date")
        return 0
    return subprocess.call(["sh", os.path.join(FOLDER, "build.sh"), output, library, sys.executable])


if __name__ == "__main__":
    sys.exit(main())

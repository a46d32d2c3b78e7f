# SPDX-License-Identifier: Apache-2.0
"""python -m ascgrad.tensorflow build: builds the operator library for this TensorFlow, if it is not there, and says where."""
import sys

from ascgrad.tensorflow import _build

if __name__ == "__main__":
    if sys.argv[1:] != ["build"]:
        sys.exit(__doc__)
    print(_build.library())

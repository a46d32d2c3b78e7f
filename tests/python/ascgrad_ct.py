# SPDX-License-Identifier: Apache-2.0
"""What the Python tests use: the ctypes module of framework/python, found without installation."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "framework", "python"))
from ascgrad import *  # noqa: E402,F401,F403
from ascgrad import Refused, Violation, cast, infer, ops, perf, run, tile, to_float  # noqa: E402,F401

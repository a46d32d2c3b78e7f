# SPDX-License-Identifier: Apache-2.0
"""What the Python tests use: the ctypes module of framework/python, found without installation."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "framework", "python"))
sys.modules[__name__] = __import__("ascgrad")

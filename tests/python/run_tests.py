# SPDX-License-Identifier: Apache-2.0
"""Runs the test_ functions of a file, each whatever the others do. The variables ASCGRAD_ONLY and ASCGRAD_WITHOUT name the
one function that is run, or the one that is left to another tier."""
import os
import traceback


def run_tests(namespace, title, call=lambda test: test()):
    """Returns the exit status. namespace: globals() of the file; call: how to call a test."""
    only, without = os.environ.get("ASCGRAD_ONLY"), os.environ.get("ASCGRAD_WITHOUT")
    tests = [(name, test) for name, test in namespace.items() if name.startswith("test_")
             and name == (only or name) and name != without]
    failed = 0
    for name, test in tests:
        try:
            call(test)
        except Exception as error:
            failed += 1
            print(f"FAIL {name}: {type(error).__name__}: {error}")
            traceback.print_exc()
    print(f"{title}: {len(tests) - failed} passed, {failed} failed")
    return 1 if failed or not tests else 0

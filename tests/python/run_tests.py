# SPDX-License-Identifier: Apache-2.0
"""Runs the test_ functions of a file, each whatever the others do."""
import traceback


def run_tests(namespace, title, call=lambda test: test()):
    """Returns the exit status. namespace: globals() of the file; call: how to call a test."""
    tests = [(name, test) for name, test in namespace.items() if name.startswith("test_")]
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

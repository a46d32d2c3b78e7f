# SPDX-License-Identifier: Apache-2.0
"""docs/clients.md: every row names a test that is registered, and the version that this test's environment has.

usage: test_clients.py docs/clients.md BUILD FRAMEWORKS
"""
import glob
import os
import re
import subprocess
import sys

from run_tests import run_tests

PAGE, BUILD, FRAMEWORKS = sys.argv[1:]
PACKAGES = {"PyTorch": "torch", "transformers": "transformers", "torchair": "torch_npu", "torch_npu": "torch_npu",
            "TensorFlow": "tensorflow_cpu",
            "MindSpore": "mindspore"}


def rows():
    """(client, version, test)."""
    with open(PAGE, encoding="utf-8") as file:
        return re.findall(r"^\| ([A-Za-z_]+) \| ([^|]+) \| `(framework_[^`]+)` \|", file.read(), re.M)


def test_every_row_is_a_test():
    listed = subprocess.run(["ctest", "-N"], cwd=BUILD, check=True, stdout=subprocess.PIPE, text=True).stdout
    registered = set(re.findall(r": (\S+)$", listed, re.M))
    assert len(rows()) > 10
    for client, _, test in rows():
        assert test in registered, f"{client}: there is no test {test}"


def test_every_version_is_the_environments():
    seen = 0
    for client, version, test in rows():
        if client not in PACKAGES or "system" in version:
            continue
        folder = os.path.join(FRAMEWORKS, re.match(r"framework_([a-z-]+)", test).group(1))
        places = glob.glob(os.path.join(folder, "lib", "python3*", "site-packages")) + [os.path.join(folder, "torchair")]
        found = [name for place in places for name in glob.glob(os.path.join(place, PACKAGES[client] + "-*.dist-info"))]
        if not os.path.isdir(folder):
            print(f"{client} {version}: no {folder}")
            continue
        assert len(found) == 1, (client, found)
        has = re.search(r"-([0-9.]+?)(\+.*)?\.dist-info$", found[0]).group(1)
        assert has == version.split()[0], f"{client}: the page says {version}, {folder} has {has}"
        seen += 1
    print(f"{seen} versions compared")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), "clients"))

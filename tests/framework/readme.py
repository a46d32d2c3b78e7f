# SPDX-License-Identifier: Apache-2.0
"""Runs the example of a README as printed: the first ```python block, and compares with the first ```text block.

usage: readme.py README.md [PYTHON]
"""
import os
import re
import subprocess
import sys
import tempfile


def main():
    readme, python = sys.argv[1], (sys.argv[2:] or [sys.executable])[0]
    text = open(readme, encoding="utf-8").read()
    code = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    wanted = re.search(r"```text\n(.*?)```", text, re.S).group(1)
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "example.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(code)
        ran = subprocess.run([python, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             cwd=folder, check=False)
    if ran.returncode != 0 or ran.stdout != wanted:
        print(f"{readme}: exit status {ran.returncode}\n--- printed\n{ran.stdout}--- wanted\n{wanted}--- errors\n{ran.stderr}")
        return 1
    print(f"{readme}: {len(code.splitlines())} lines run and print what the page says")
    return 0


if __name__ == "__main__":
    sys.exit(main())

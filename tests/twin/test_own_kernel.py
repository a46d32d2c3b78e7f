# SPDX-License-Identifier: Apache-2.0
"""Kernels that are no operators, on the twin: the block of docs/own_kernel.md as it stands, the fault that the page shows, a
kernel with tiling, workspace and macros, and what the program says to wrong words.

    test_own_kernel.py ROOT
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.abspath(sys.argv[1])
CMAKE = """cmake_minimum_required(VERSION 3.20)
project(more LANGUAGES C CXX)
include("{root}/cmake/ascgrad_kernel.cmake")
ascgrad_kernel(add_custom "{root}/examples/kernel/add_custom.cpp" DEFINES SQUARED)
ascgrad_kernel(swish_glu_grad "{root}/examples/operator/op_kernel/swish_glu_grad.cpp" DEFINES DTYPE_A=float)
"""


def run(*words, status=0, says="", **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    said = done.stdout + done.stderr
    assert done.returncode == status and says in said, (words, done.returncode, said[-2000:])
    return said


def test_page():
    with open(os.path.join(ROOT, "docs", "own_kernel.md"), encoding="utf-8") as file:
        page = file.read()
    block = re.search(r"```sh\n(.*?)```", page, re.S).group(1)
    with tempfile.TemporaryDirectory() as programs:  # python3 is the one that runs this test
        os.symlink(sys.executable, os.path.join(programs, "python3"))
        said = run("bash", "-euc", block, cwd=ROOT, env={**os.environ, "PATH": programs + ":" + os.environ["PATH"]})
    for line, other in zip(said.splitlines(), re.search(r"something like\n\n```\n(.*?)```", page, re.S).group(1).splitlines()):
        figures = re.compile(r"[\d.]+")
        assert figures.sub("#", line) == figures.sub("#", other), (line, other)
    with open(os.path.join(ROOT, "examples", "kernel", "CMakeLists.txt"), encoding="utf-8") as file:
        lists = file.read()
    for line in re.search(r"```cmake\n(.*?)```", page, re.S).group(1).splitlines():
        assert line in lists, line
    return page


def test_fault(build, folder, page):
    """The sentence of the page, and no output."""
    program = os.path.join(build, "add_custom")
    for name in "xy":
        np.ones(16384, "f2").tofile(os.path.join(folder, name))
    words = [program, "--in", f"x={folder}/x", "--in", f"y={folder}/y", "--out", f"z={folder}/z:32768", "--blocks", "8"]
    said = run(*words, status=3)
    assert " ".join(said.split()) in " ".join(page.split()), said
    assert not os.path.exists(os.path.join(folder, "z"))
    run(*words, "--soc=ascend950", status=0, says="8 of 8 cores of ascend950")  # it orders vector calls by itself
    run(*words, "--fast")
    assert (np.fromfile(os.path.join(folder, "z"), "f2") == 4).all()
    run(*words, "--blocks=49", status=3, says="49")
    run(*words, "--blocks=x", status=1, says="wants a number")
    run(*words, "--soc", "h100", status=1, says="ascend910b1, ascend910b2")
    run(*words, "--frob", "1", status=1, says="no option '--frob'")
    run(*words, "--in", "w=nowhere", status=4, says="nowhere")
    run(*words[:5], status=1, says="3 parameters, and 2 tensors")
    run(program, status=1, says="usage:")
    run(program, "--help", says="--tiling FILE")
    run(*words[:6], f"z={folder}/z:32000", *words[7:], status=3)


def test_tiling(build, folder):
    """A kernel of an operator, its tiling made by hand."""
    n, beta = 1000, 1.5
    rng = np.random.default_rng(0)
    dy, a, b = (rng.standard_normal(n).astype("f4") for _ in range(3))
    for name, value in (("dy", dy), ("a", a), ("b", b), ("no", np.zeros(0, "f4"))):
        value.tofile(os.path.join(folder, name))
    with open(os.path.join(folder, "tiling"), "wb") as file:
        file.write(struct.pack("<qqIf", n, (n + 63) // 64, 0, beta))
    words = [os.path.join(build, "swish_glu_grad")]
    for name, source in (("dy", "dy"), ("a", "a"), ("b", "b"), ("accumulated", "no")):
        words += ["--in", f"{name}={folder}/{source}"]
    words += ["--out", f"da={folder}/da:{4 * n}", "--out", f"db={folder}/db:{4 * n}", "--tiling", f"{folder}/tiling"]
    for more in (["--blocks", "3"], ["--blocks", "3", "--fast"], []):
        run(*words, *more)
        gate = 1 / (1 + np.exp(-beta * a.astype("f8")))
        want = {"db": dy * a * gate, "da": dy * b * (gate + beta * a * gate * (1 - gate))}
        for name, value in want.items():
            got = np.fromfile(os.path.join(folder, name), "f4")
            assert np.allclose(got, value, rtol=1e-5, atol=1e-6), (name, more, np.abs(got - value).max())


def main():
    page = test_page()
    with tempfile.TemporaryDirectory(prefix="own kernel ") as folder:
        build = os.path.join(folder, "build")
        with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(CMAKE.format(root=ROOT))
        run("cmake", "-S", folder, "-B", build, "-G", "Ninja")
        run("cmake", "--build", build)
        test_fault(build, folder, page)
        test_tiling(build, folder)
    print("kernels of anybody's run, and their faults are named")


if __name__ == "__main__":
    main()

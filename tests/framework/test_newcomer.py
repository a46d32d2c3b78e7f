# SPDX-License-Identifier: Apache-2.0
"""A newcomer's path, by what README says and nothing else: its blocks install the package beside a stand-in for CANN, ask
doctor, show that ours ran, and make an acceptance report; the pages that it links to train a step on the CPU in each
framework. The blocks are taken from README.md as they stand.

    test_newcomer.py ROOT BUILD FRAMEWORKS
"""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT, BUILD, FRAMEWORKS = (os.path.abspath(path) for path in sys.argv[1:4])
MACHINE = platform.machine()
TOOLKIT = """. "$1/tests/packaging/lib.sh"
top=$1
make_toolkit "$2/toolkit"
mkdir -p "$2/opp/built-in"
printf '#!/bin/sh\\necho "| 0     910B1               | OK |"\\n' >"$2/toolkit/bin/npu-smi"
chmod 755 "$2/toolkit/bin/npu-smi"
"""
passed = 0


def readme():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return file.read()


def block(page, heading, number=0):
    """A block of a section of README."""
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.S | re.M)
    assert section, f"README has no section '{heading}'"
    return re.findall(r"```sh\n(.*?)```", section.group(1), re.S)[number]


def run(what, command, folder, env, status=0):
    global passed
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, errors="replace", timeout=1500)
    said = done.stdout + done.stderr
    assert done.returncode == status, f"{what}: status {done.returncode}\n{said[-3000:]}"
    passed += 1
    print(f"{what}: well", flush=True)
    return said


def package(page, folder):
    """The file that README names, out of this build."""
    name = re.search(r"ascgrad-opp_[\d.]+_linux-\w+\.run", page).group()
    version = name.split("_")[1]
    out = os.path.join(folder, name)
    if os.path.exists(os.path.join(BUILD, name)):
        shutil.copyfile(os.path.join(BUILD, name), out)
    else:
        run("making " + name, ["sh", os.path.join(ROOT, "packaging", "make_run.sh"), "--ir", BUILD + "/ir.json", "--version",
                               version, f"--lib-dir-{MACHINE}", BUILD + "/package", "--out", out], folder, os.environ)


def on_the_machine(page, folder):
    """README's blocks for a machine with CANN."""
    run("a stand-in for CANN", ["sh", "-euc", TOOLKIT, "sh", ROOT, folder], folder, os.environ)
    package(page, folder)
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("ASC", "PYTHON", "LD_"))}
    env = {**bare, "ASCEND_OPP_PATH": folder + "/opp", "ASCEND_HOME_PATH": folder + "/toolkit",
           "PATH": folder + "/toolkit/bin:" + os.environ["PATH"],
           "LD_LIBRARY_PATH": ":".join(BUILD + part for part in ("/standin/lib", "/stubs", "/geir_toolkit/lib64", "/lib"))}
    install, doctor = block(page, "Get it and install it").strip().splitlines()
    said = run("install", ["bash", "-euc", install], folder, env)
    assert "SUCCESS" in said, said
    said = run("doctor", ["bash", "-euc", doctor], folder, env)
    assert "[FAIL]" not in said and "ascgrad" in said, said
    # a program of the examples takes the place of train.py
    example = [folder + "/example", "exp_segsum_grad"]
    run("configuring an example", ["cmake", "-S", ROOT + "/examples/aclnn", "-B", example[0], "-DASCEND_CANN=" + BUILD + "/standin"],
        folder, env)
    run("building an example", ["cmake", "--build", example[0], "--target", example[1]], folder, env)
    with open(folder + "/toolkit/bin/python", "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\n[ "$1" = train.py ] && exec "{example[0]}/{example[1]}"\n')
    os.chmod(folder + "/toolkit/bin/python", 0o755)
    see = block(page, "Use it")
    said = run("seeing that ours ran", ["bash", "-euc", see], folder,
               {**env, "LD_LIBRARY_PATH": env["LD_LIBRARY_PATH"] + ":" + folder + "/opp/vendors/ascgrad/op_api/lib"})
    like = re.search(r"# (\[ascgrad\] tiling) .* (-> key) .* (for aclnn)", see)
    assert like and all(words in said for words in like.groups()), said
    run("accept", ["bash", "-euc", block(page, "Prove it on your chip")], folder, {**env, "ASCEND_HOME_PATH": BUILD + "/geir_toolkit"})
    for name in re.findall(r"`(ascgrad-accept/[\w.-]+)`", page):
        assert os.path.getsize(os.path.join(folder, name)) > 1000, name
    with zipfile.ZipFile(folder + "/ascgrad-accept/ascgrad-accept.zip") as archive:
        assert archive.testzip() is None and len(archive.namelist()) == 3, archive.namelist()


def on_the_cpu(page, folder):
    """The first Python block of each framework's page, in an environment that has the framework."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("ASCEND", "LD_"))}
    for name in ("torch", "tensorflow", "mindspore"):
        place = f"framework/{name}/README.md"
        assert place in page, f"README does not lead to {place}"
        with open(os.path.join(ROOT, place), encoding="utf-8") as file:
            code, prints = re.search(r"```python\n(.*?)```\nprints\n```text\n(.*?)```", file.read(), re.S).groups()
        if os.path.exists(f"{FRAMEWORKS}/{name}.skipped"):
            print(f"{name}: its environment is not here")
            continue
        with open(f"{folder}/{name}_step.py", "w", encoding="utf-8") as file:
            file.write(code)
        said = run(f"a training step in {name}", [f"{FRAMEWORKS}/{name}/bin/python", f"{name}_step.py"], folder, bare)
        assert all(line in said for line in prints.splitlines()), said


def main():
    page = readme()
    folder = os.path.realpath(tempfile.mkdtemp(prefix="ascgrad-newcomer-"))
    try:
        on_the_machine(page, folder)
        on_the_cpu(page, folder)
    finally:
        shutil.rmtree(folder)
    print(f"{passed} steps from README to a report")


if __name__ == "__main__":
    main()

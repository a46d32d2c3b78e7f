# SPDX-License-Identifier: Apache-2.0
"""The wheel, as a user meets it: installed by pip without a network into a fresh virtual environment, used from an empty
folder without any variables, the readmes run as printed. Frameworks are lent to that environment by a .pth file.

usage: test_wheel.py SOURCE BUILD FRAMEWORKS COMMAND... --opp-command COMMAND...
The first command made the wheel, the second the operator package in it.
"""
import ast
import csv
import ctypes
import email
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from base64 import urlsafe_b64encode

from run_tests import run_tests

SOURCE, BUILD, FRAMEWORKS, *COMMAND = sys.argv[1:]
OPP_COMMAND = COMMAND[COMMAND.index("--opp-command") + 1:]
COMMAND = COMMAND[:-len(OPP_COMMAND) - 1]
VERSION = COMMAND[COMMAND.index("--version") + 1]
WHEEL = os.path.join(BUILD, f"ascgrad-{VERSION}-py3-none-manylinux_2_17_{os.uname().machine}.whl")
CLEAN = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "CUDA_VISIBLE_DEVICES": "", "GLOG_v": "4",
         "TF_CPP_MIN_LOG_LEVEL": "2", "ASCGRAD_CACHE": os.path.join(BUILD, "tf_cache")}


def run(*words, cwd=None, **more):
    return subprocess.run(words, env={**CLEAN, **more}, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)


def checked(*words, **more):
    ran = run(*words, **more)
    assert ran.returncode == 0, f"{words}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def test_same_bits():
    with tempfile.TemporaryDirectory() as folder:
        opp = os.path.join(folder, "a b", "opp")
        checked("sh", "-c", 'umask 077; cd "$1"; shift; exec "$@"', "sh", folder, *OPP_COMMAND, "--payload", opp, TZ="Asia/Tokyo")
        checked("sh", "-c", 'umask 077; exec "$@"', "sh", *COMMAND, "--opp", opp, "--tree", os.path.join(folder, "tree"),
                "--out", folder, TZ="Asia/Shanghai")
        with open(WHEEL, "rb") as first, open(os.path.join(folder, os.path.basename(WHEEL)), "rb") as second:
            assert first.read() == second.read()


def test_record():
    with zipfile.ZipFile(WHEEL) as wheel:
        names = wheel.namelist()
        record, = (n for n in names if n.endswith(".dist-info/RECORD"))
        rows = list(csv.reader(wheel.read(record).decode().splitlines()))
        assert [row[0] for row in rows] == names
        for name, digest, size in rows[:-1]:
            content = wheel.read(name)
            assert int(size) == len(content)
            assert digest == "sha256=" + urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert "ascgrad/py.typed" in names and not [n for n in names if "__pycache__" in n]


def test_checksum():
    """sha256sum -c reads the file beside the wheel."""
    assert checked("sha256sum", "-c", os.path.basename(WHEEL) + ".sha256", cwd=BUILD).endswith(": OK\n")


def test_metadata():
    """What a package index shows: extras for the frameworks, classifiers, and no link that leads nowhere there."""
    with zipfile.ZipFile(WHEEL) as wheel:
        text = wheel.read(f"ascgrad-{VERSION}.dist-info/METADATA").decode()
    page = email.message_from_string(text)
    assert page.get_all("Provides-Extra") == ["torch", "tensorflow", "mindspore"]
    assert 'torch; extra == "torch"' in page.get_all("Requires-Dist") and page["Requires-Python"] == ">=3.7"
    assert "License :: OSI Approved :: Apache Software License" in page.get_all("Classifier") and page["Author"]
    for target in re.findall(r"\]\(([^)]*)\)", text):
        assert re.match("https?:|#", target), f"the link to {target} leads nowhere on a package index"
    for title in ("# ascgrad in Python", "# ascgrad in PyTorch", "# ascgrad in TensorFlow", "# ascgrad in MindSpore"):
        assert title in text


def test_old_python():
    """Requires-Python is 3.7: nothing in the package is younger. Compiled by an old Python where there is one, else by the
    grammar that this one still knows."""
    sources = glob.glob(os.path.join(BUILD, "python", "ascgrad", "**", "*.py"), recursive=True)
    assert len(sources) > 15
    old = shutil.which("python3.7")
    if old and run(old, "-c", "").returncode == 0:
        checked(old, "-c", "import sys\nfor name in sys.argv[1:]: compile(open(name).read(), name, 'exec')", *sources)
    for name in sources:
        with open(name, encoding="utf-8") as file:
            tree = ast.parse(file.read(), name, feature_version=(3, 7))
        for node in ast.walk(tree):  # a star without parentheses, which that grammar lets through
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and \
                    any(isinstance(part, ast.Starred) for part in node.value.elts):
                assert node.value.col_offset - node.col_offset == len("return ") and \
                    ast.get_source_segment(open(name, encoding="utf-8").read(), node.value).startswith("("), \
                    f"{name}:{node.lineno}"


def test_the_line_of_the_readmes():
    """The first line of each readme as printed, where ./build.sh has made wheels for two machines."""
    other = {"x86_64": "aarch64"}.get(os.uname().machine, "x86_64")
    with tempfile.TemporaryDirectory() as folder:
        checked(sys.executable, "-m", "venv", "--system-site-packages", os.path.join(folder, "env"))
        os.mkdir(os.path.join(folder, "build"))
        shutil.copy(WHEEL, os.path.join(folder, "build"))
        shutil.copy(WHEEL, os.path.join(folder, "build", os.path.basename(WHEEL).replace(os.uname().machine, other)))
        for name in ("python", "torch", "tensorflow", "mindspore"):
            with open(os.path.join(SOURCE, "framework", name, "README.md"), encoding="utf-8") as file:
                line = re.search(r"^pip install .*$", file.read(), re.M).group()
            checked("sh", "-c", line, cwd=folder, PIP_NO_INDEX="1", PIP_FORCE_REINSTALL="1", PIP_NO_DEPS="1",
                    PATH=os.path.join(folder, "env", "bin") + ":" + CLEAN["PATH"])
        python = os.path.join(folder, "env", "bin", "python")
        assert checked(python, "-c", "import ascgrad; print(ascgrad.__version__)", cwd=folder).strip() == VERSION


def test_old_systems():
    """manylinux_2_17: nothing newer than glibc 2.17 and the libstdc++ of GCC 4.8, for both machines if both were built."""
    newest = {"ASCGRAD": (99,), "GLIBC": (2, 17), "GLIBCXX": (3, 4, 19), "CXXABI": (1, 3, 7), "GCC": (4, 8, 0)}
    allowed = re.compile(r"lib(c|m|pthread|dl|gcc_s|stdc\+\+|ascgrad)\.so|ld-linux-")
    trees = [os.path.join(BUILD, "python"), *glob.glob(os.path.join(BUILD, "*", "python"))]
    for tree in trees:
        package = os.path.join(tree, "ascgrad")
        vendor = os.path.join(package, "opp", "packages", "vendors", "ascgrad")
        files = glob.glob(os.path.join(package, "lib", "*.so*")) + glob.glob(os.path.join(vendor, "bin", "*", "*")) + \
            glob.glob(os.path.join(vendor, "scripts", "*", "setup"))
        assert len(files) == 6, files
        for file in files:
            for version in re.findall(r"Name: ([A-Z]+)_([0-9.]+)", checked("readelf", "-V", file)):
                number = tuple(int(n) for n in version[1].split("."))
                assert number <= newest[version[0]], f"{file} needs {version}"
            for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", checked("readelf", "-d", file)):
                assert allowed.match(needed), f"{file} needs {needed}"


def test_structs():
    """The structs of the Python binding have the sizes of twin/ascgrad.h."""
    sys.path.insert(0, os.path.join(BUILD, "python"))
    from ascgrad import _library
    pairs = {"tensor": _library.Tensor, "setting": _library.Setting, "call": _library.Call, "report": _library.Report,
             "plan": _library.Plan, "op_info": _library._Info}
    lines = "".join(f'printf("%zu\\n", sizeof(struct ascgrad_{name}));' for name in pairs)
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "sizes.c")
        with open(program, "w", encoding="ascii") as file:
            file.write(f"#include <ascgrad.h>\n#include <stdio.h>\nint main(void) {{ {lines} }}\n")
        checked("cc", "-I" + os.path.join(BUILD, "python", "ascgrad", "include"), program, "-o", program + ".x")
        sizes = [int(n) for n in checked(program + ".x").split()]
    assert sizes == [ctypes.sizeof(struct) for struct in pairs.values()], (list(pairs), sizes)


def environment(folder, lender=None):
    """A fresh virtual environment with the wheel, installed by pip without a network."""
    python = os.path.join(folder, "env", "bin", "python")
    checked(lender or sys.executable, "-m", "venv", *([] if lender else ["--system-site-packages"]),
            os.path.join(folder, "env"))
    if lender:
        site = checked(python, "-c", "import site; print(site.getsitepackages()[0])").strip()
        lent = checked(lender, "-c", "import site; print(site.getsitepackages()[0])").strip()
        with open(os.path.join(site, "lent.pth"), "w", encoding="ascii") as file:
            file.write(lent + "\n")
    checked(python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", WHEEL)
    return python


def readme(name, python):
    return checked(sys.executable, os.path.join(SOURCE, "tests", "framework", "readme.py"),
                   os.path.join(SOURCE, "framework", name, "README.md"), python, cwd="/").strip()


def test_pip_touches_nothing_else():
    """pip installs into its environment and nowhere else, CANN or not, and takes everything away again."""
    def content(place):
        return sorted((os.path.join(path, name), os.lstat(os.path.join(path, name)).st_mtime_ns)
                      for path, folders, files in os.walk(place) for name in folders + files)

    with tempfile.TemporaryDirectory() as folder:
        home = os.path.join(folder, "home")
        opp = os.path.join(folder, "cann", "opp")
        os.makedirs(home)
        os.makedirs(os.path.join(opp, "vendors"))
        python = os.path.join(folder, "env", "bin", "python")
        checked(sys.executable, "-m", "venv", "--system-site-packages", os.path.join(folder, "env"))
        around, inside = content(os.path.dirname(opp)), [name for name, _ in content(os.path.join(folder, "env"))]
        told = {"HOME": home, "ASCEND_OPP_PATH": opp, "ASCGRAD_OPP": "1", "TMPDIR": home, "PIP_NO_CACHE_DIR": "1",
                "PATH": "/usr/bin:/bin"}  # pip asks other programs for their versions
        quiet = ("--quiet", "--disable-pip-version-check")
        checked(python, "-m", "pip", "install", *quiet, "--no-index", WHEEL, **told)
        assert (content(os.path.dirname(opp)), content(home)) == (around, []), content(home)
        assert "in CANN: nothing" in run(python, "-m", "ascgrad", "opp", "status", **told).stdout
        checked(python, "-m", "pip", "uninstall", "--yes", *quiet, "ascgrad", **told)
        left = set(name for name, _ in content(os.path.join(folder, "env"))) - set(inside)
        assert not [name for name in left if "ascgrad" in name], left


def test_installed():
    with tempfile.TemporaryDirectory() as folder:
        python = environment(folder)
        print(readme("python", python))
        print(readme("torch", python))
        command = os.path.join(os.path.dirname(python), "ascgrad")
        assert "ExpSegsumGrad" in checked(command, "ops", cwd=folder)
        assert run(command, "nonsense").returncode == 1 and run(python, "-m", "ascgrad", "nonsense").returncode == 1
        said = checked(python, "-m", "ascgrad.doctor", cwd=folder)
        assert "[OK] operators run on the CPU" in said and "[OK] torch" in said, said
        checked(python, "-m", "pip", "uninstall", "--yes", "--quiet", "ascgrad")
        assert run(python, "-c", "import ascgrad", cwd=folder).returncode != 0


def test_frameworks():
    for name in ("torch", "tensorflow", "mindspore"):
        lender = os.path.join(FRAMEWORKS, name, "bin", "python")
        if os.path.exists(os.path.join(FRAMEWORKS, name + ".skipped")):  # its own tests count as skipped
            print(f"{name}: its download failed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            print(readme(name, environment(folder, lender)))


def test_without_the_library():
    """What only traces works without libascgrad; what runs says what is missing."""
    trace = """
import torch, ascgrad.torch as at
x, t = (torch.empty(s, device="meta") for s in ((2, 3, 2, 4), (1, 3, 1, 4)))
print([list(y.shape) for y in torch.ops.ascgrad.rotary_mul_grad(x, t, t, x)])
print(at.rotary_mul(torch.ones(2, 3, 2, 4), torch.ones(1, 3, 1, 4), torch.ones(1, 3, 1, 4)).shape)
try:
    torch.ops.ascgrad.exp_segsum_grad(torch.ones(2, 2), torch.ones(2, 2))
except OSError as error:
    print(error)
"""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(BUILD, "python", "ascgrad"), os.path.join(folder, "ascgrad"))
        shutil.rmtree(os.path.join(folder, "ascgrad", "lib"))
        said = checked(sys.executable, "-c", trace, cwd=folder, PYTHONPATH=folder).splitlines()
        assert said[0] == "[[2, 3, 2, 4], [1, 3, 1, 4], [1, 3, 1, 4]]" and said[1] == "torch.Size([2, 3, 2, 4])", said
        assert "libascgrad cannot be loaded" in said[2] and "install the wheel for this machine" in said[2]
        doctor = run(sys.executable, "-m", "ascgrad.doctor", cwd=folder, PYTHONPATH=folder)
        assert doctor.returncode == 1 and "[FAIL] ascgrad: libascgrad cannot be loaded" in doctor.stdout


if __name__ == "__main__":
    sys.exit(run_tests(globals(), os.path.basename(WHEEL)))

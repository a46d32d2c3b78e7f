#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the Python package together, and makes a wheel of it: the same bits whenever it is made of the same files.

    wheel.py --tree DIR --source framework/python/ascgrad --version V --arch ARCH --strip STRIP --out DIR
             --opp DIR --part lib/libascgrad.so.1=FILE ...

DIR/ascgrad is then what the wheel installs: the Python sources, the parts by their places in it, and in opp/ the operator
package as make_run.sh --payload puts it together. Programs and libraries among the parts are stripped.
"""
import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile

METADATA = """\
Metadata-Version: 2.1
Name: ascgrad
Version: {version}
Summary: Backward operators for Ascend NPUs: RotaryMulGrad, RopeGrad, NormRopeConcatGrad and more, in PyTorch, TensorFlow, MindSpore and NumPy
Author: the ascgrad authors
License: Apache-2.0
{urls}Keywords: Ascend,NPU,CANN,RoPE,rotary embedding,backward,custom operator
Classifier: Development Status :: 5 - Production/Stable
Classifier: Environment :: Console
Classifier: Intended Audience :: Developers
Classifier: Intended Audience :: Science/Research
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Requires-Python: >=3.7
Requires-Dist: numpy
{extras}Description-Content-Type: text/markdown

"""
EXTRAS = ("torch", "tensorflow", "mindspore")
WHEEL = """\
Wheel-Version: 1.0
Generator: ascgrad
Root-Is-Purelib: false
Tag: {tag}
"""
ENTRY_POINTS = """\
[console_scripts]
ascgrad = ascgrad.__main__:main
"""


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def links_in(folder, names):
    """A wheel has none; the installer makes those of the operator package itself."""
    return [name for name in names if os.path.islink(os.path.join(folder, name))]


def put_together(tree, source, opp, parts, strip):
    """tree/ascgrad, afresh: nothing of an earlier build stays."""
    package = os.path.join(tree, "ascgrad")
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(opp, os.path.join(package, "opp"), ignore=links_in)
    for part in parts:
        place, _, file = part.partition("=")
        target = os.path.join(package, place)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(file, target)
        if is_elf(target):
            subprocess.check_call([strip, "--strip-unneeded", target])
            os.chmod(target, 0o755)


def description(readmes):
    """The readmes as one page that stands alone on a package index: its links lead to places that exist there."""
    texts = []
    for path in readmes:
        with open(path, encoding="utf-8") as file:
            texts.append(re.sub(r"\[([^\]]*)\]\((?![a-z]+:|#)[^)]*\)", r"\1", file.read()))
    return "\n".join(texts)


def files_of(tree):
    """(name in the wheel, content, executable), by name."""
    found = []
    for folder, _, names in os.walk(os.path.join(tree, "ascgrad")):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found.append((os.path.relpath(path, tree), file.read(), os.access(path, os.X_OK)))
    return sorted(found)


def write(out, files):
    """A zip in which nothing depends on when or where it was made."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content, executable in files:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # the mode bits are Unix's
            info.external_attr = (0o100755 if executable else 0o100644) << 16
            wheel.writestr(info, content)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("tree", "source", "opp", "version", "arch", "strip", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--readme", action="append", required=True)
    parser.add_argument("--url", default="", help="where the sources are, if that is known")
    parser.add_argument("--part", action="append", default=[])
    args = parser.parse_args()
    put_together(args.tree, args.source, args.opp, args.part, args.strip)
    with open(os.path.join(args.tree, "ascgrad", "_version.py"), "w", encoding="ascii") as file:
        file.write(f'# Written when the package was put together.\nVERSION = "{args.version}"\n')

    tag = f"py3-none-manylinux_2_17_{args.arch}"
    info = f"ascgrad-{args.version}.dist-info"
    metadata = METADATA.format(
        version=args.version, urls=f"Project-URL: Source, {args.url}\n" if args.url else "",
        extras="".join(f'Provides-Extra: {name}\nRequires-Dist: {name}; extra == "{name}"\n' for name in EXTRAS))
    files = files_of(args.tree) + [(f"{info}/{name}", text.encode(), False) for name, text in (
        ("METADATA", metadata + description(args.readme)), ("WHEEL", WHEEL.format(tag=tag)),
        ("entry_points.txt", ENTRY_POINTS))]
    record = ""
    for name, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), False))
    out = os.path.join(args.out, f"ascgrad-{args.version}-{tag}.whl")
    write(out, files)
    with open(out, "rb") as wheel, open(out + ".sha256", "w", encoding="ascii") as beside:
        beside.write(f"{hashlib.sha256(wheel.read()).hexdigest()}  {os.path.basename(out)}\n")
    print(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())

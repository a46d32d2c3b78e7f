# SPDX-License-Identifier: Apache-2.0
"""Puts a release together and checks it: the .run for both machines, a wheel for each, SHA256SUMS, and NOTES.md out of
CHANGELOG.md. Nothing is sent anywhere.

    ./build.sh && python3 packaging/release.py OUT [--build BUILD] [--root ROOT]

OUT is made, or must be empty. The version is that of CMakeLists.txt; CHANGELOG.md must have a section for it, and nothing
above that is unreleased. Status 1, and no OUT, if anything is not as it should be.
"""
import argparse
import base64
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile

MACHINES = ("x86_64", "aarch64")


class Wrong(Exception):
    pass


def want(good, why):
    if not good:
        raise Wrong(why)


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise Wrong(f"{path}: {error.strerror}") from error


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def version_of(root):
    found = re.search(r"^project\(ascgrad VERSION ([\d.]+)", read(os.path.join(root, "CMakeLists.txt")), re.M)
    want(found, "CMakeLists.txt has no version")
    return found.group(1)


def notes_of(root, version):
    """The section of the version. An 'Unreleased' section may only be empty."""
    parts = re.split(r"^## (.*)$", read(os.path.join(root, "CHANGELOG.md")), flags=re.M)
    sections = {title.split(" ")[0].strip("[]"): body.strip() for title, body in zip(parts[1::2], parts[2::2])}
    want(not sections.get("Unreleased"), "CHANGELOG.md has changes under Unreleased: name the version")
    want(sections.get(version), f"CHANGELOG.md has no section {version}")
    return f"# ascgrad {version}\n\n{sections[version]}\n"


def check_run(path, version):
    """The file is undamaged and says this version."""
    for words, expected in (("--check", ""), ("--version", version)):
        done = subprocess.run(["sh", path, words], capture_output=True, text=True)
        want(done.returncode == 0 and expected in done.stdout, f"{os.path.basename(path)} {words}: {done.stdout}{done.stderr}")


def check_wheel(path, version):
    """Every file is as RECORD says, and METADATA says this version."""
    name = os.path.basename(path)
    try:
        with zipfile.ZipFile(path) as wheel:
            record = next((n for n in wheel.namelist() if n.endswith(".dist-info/RECORD")), None)
            want(record, f"{name} has no RECORD")
            rows = list(csv.reader(io.StringIO(wheel.read(record).decode())))
            want({row[0] for row in rows} == set(wheel.namelist()), f"{name}: RECORD lists other files than it has")
            for file, sum_, _ in (row for row in rows if row[1]):
                own = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(file)).digest()).rstrip(b"=").decode()
                want(sum_ == "sha256=" + own, f"{name}: {file} is not what RECORD says")
            metadata = wheel.read(record.replace("RECORD", "METADATA")).decode()
            want(f"\nVersion: {version}\n" in metadata, f"{name}: METADATA says another version than {version}")
    except (zipfile.BadZipFile, KeyError) as error:
        raise Wrong(f"{name}: {error}") from error


def files_of(build, version):
    run = f"ascgrad-opp_{version}_linux-{'_'.join(MACHINES)}.run"
    wheels = [f"ascgrad-{version}-py3-none-manylinux_2_17_{machine}.whl" for machine in MACHINES]
    for name in (run, *wheels):
        path = os.path.join(build, name)
        want(os.path.exists(path), f"{path} is missing: ./build.sh makes it")
        sum_ = read(path + ".sha256").split()
        want(sum_ == [digest(path), name], f"{name} is not what {name}.sha256 says")
    check_run(os.path.join(build, run), version)
    for wheel in wheels:
        check_wheel(os.path.join(build, wheel), version)
    return [run, *wheels]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    parser.add_argument("--root", default=root, help="the source tree")
    parser.add_argument("--build", help="the build directory (default: build of the source tree)")
    options = parser.parse_args()
    try:
        version = version_of(options.root)
        notes = notes_of(options.root, version)
        build = options.build or os.path.join(options.root, "build")
        names = files_of(build, version)
        want(not os.path.exists(options.out) or not os.listdir(options.out), f"{options.out} is not empty")
    except Wrong as wrong:
        print(f"release: {wrong}", file=sys.stderr)
        return 1
    os.makedirs(options.out, exist_ok=True)
    for name in names:
        shutil.copyfile(os.path.join(build, name), os.path.join(options.out, name))
    with open(os.path.join(options.out, "NOTES.md"), "w", encoding="utf-8") as file:
        file.write(notes)
    names.append("NOTES.md")
    with open(os.path.join(options.out, "SHA256SUMS"), "w", encoding="utf-8") as file:
        file.writelines(f"{digest(os.path.join(options.out, name))}  {name}\n" for name in names)
    print(f"ascgrad {version} in {options.out}: {', '.join(names)}, SHA256SUMS. Tag the commit v{version}, and sign SHA256SUMS.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

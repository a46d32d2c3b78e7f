# SPDX-License-Identifier: Apache-2.0
"""packaging/release.py on a small build of its own: a release that is whole, and one fault at a time that it must name."""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from base64 import urlsafe_b64encode

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
RUN = "ascgrad-opp_9.8.7_linux-x86_64_aarch64.run"
WHEELS = [f"ascgrad-9.8.7-py3-none-manylinux_2_17_{machine}.whl" for machine in ("x86_64", "aarch64")]
failed = 0


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def seal(path):
    with open(path, "rb") as file:
        write(path + ".sha256", f"{hashlib.sha256(file.read()).hexdigest()}  {os.path.basename(path)}\n")


def make_wheel(path, version="9.8.7", content="x = 1\n", recorded=None):
    sums, info = "", "ascgrad-9.8.7.dist-info/"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in (("ascgrad/__init__.py", content), (info + "METADATA", f"Name: ascgrad\nVersion: {version}\n\n")):
            wheel.writestr(name, text)
            own = hashlib.sha256((recorded or text).encode()).digest()
            sums += f"{name},sha256={urlsafe_b64encode(own).rstrip(b'=').decode()},{len(text)}\n"
        wheel.writestr(info + "RECORD", sums + info + "RECORD,,\n")
    seal(path)


def make(folder):
    build = os.path.join(folder, "build")
    os.makedirs(build)
    write(os.path.join(folder, "CMakeLists.txt"), "project(ascgrad VERSION 9.8.7 LANGUAGES C CXX)\n")
    write(os.path.join(folder, "CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n## 9.8.7 (2030-01-01)\n\n- news\n\n## 9.8.6\n\n- old\n")
    write(os.path.join(build, RUN), '[ "$1" = --check ] && exit\n[ "$1" = --version ] && echo 9.8.7\n')
    seal(os.path.join(build, RUN))
    for wheel in WHEELS:
        make_wheel(os.path.join(build, wheel))
    return build


def release(folder):
    out = os.path.join(folder, "out")
    done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "packaging", "release.py"), out, "--root", folder],
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr, out


def expect(good, what):
    global failed
    failed += not good
    if not good:
        print("FAIL", what)


def refused(words, spoil):
    with tempfile.TemporaryDirectory() as folder:
        build = make(folder)
        spoil(folder, build)
        status, said, out = release(folder)
        expect(status == 1 and words in said and not os.path.exists(os.path.join(out, "SHA256SUMS")), f"{words}: {status}, {said}")


def damaged(path):
    with open(path, "ab") as file:
        file.write(b"#")


def main():
    with tempfile.TemporaryDirectory() as folder:
        make(folder)
        status, said, out = release(folder)
        expect(status == 0, said)
        expect(sorted(os.listdir(out)) == sorted([RUN, *WHEELS, "NOTES.md", "SHA256SUMS"]), os.listdir(out))
        expect(subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=out).returncode == 0, "SHA256SUMS")
        with open(os.path.join(out, "NOTES.md"), encoding="utf-8") as file:
            expect(file.read() == "# ascgrad 9.8.7\n\n- news\n", "NOTES.md")
        status, said, _ = release(folder)
        expect(status == 1 and "is not empty" in said, said)
    log = "## Unreleased\n\n- late\n\n## 9.8.7\n\n- news\n"
    refused("under Unreleased", lambda folder, build: write(os.path.join(folder, "CHANGELOG.md"), log))
    refused("no section 9.8.7", lambda folder, build: write(os.path.join(folder, "CHANGELOG.md"), "## 9.8.6\n\n- old\n"))
    refused("has no version", lambda folder, build: write(os.path.join(folder, "CMakeLists.txt"), ""))
    refused("./build.sh makes it", lambda folder, build: os.remove(os.path.join(build, WHEELS[1])))
    refused(".sha256 says", lambda folder, build: damaged(os.path.join(build, RUN)))
    refused("RECORD says", lambda folder, build: make_wheel(os.path.join(build, WHEELS[0]), recorded="x = 2\n"))
    refused("another version", lambda folder, build: make_wheel(os.path.join(build, WHEELS[0]), version="9.8.6"))

    def older(folder, build):
        write(os.path.join(build, RUN), "echo 9.8.6\n")
        seal(os.path.join(build, RUN))

    def broken(folder, build):
        shutil.copyfile(os.path.join(build, RUN), os.path.join(build, WHEELS[0]))
        seal(os.path.join(build, WHEELS[0]))
    refused("--version: 9.8.6", older)
    refused("not a zip file", broken)
    print("a release is whole or not at all" if not failed else f"{failed} failed")
    return failed != 0


sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""install_wheels.sh with wheels that are made here, without a network: an environment is whole or not there, an
interruption costs nothing, a second clone installs nothing, a download that fails is a skip and a broken wheel is not."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

from run_tests import run_tests

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {"numpy": "1.26.4", "mindspore": "2.10.0"}
PLACE = tempfile.mkdtemp(prefix="ascgrad wheels ")


def wheel(folder, name, version):
    """The smallest wheel that pip takes."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(os.path.join(folder, f"{name}-{version}-py3-none-any.whl"), "w") as file:
        file.writestr(f"{name}.py", f"version = {version!r}\n")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: here\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


def wheels(*names):
    folder = tempfile.mkdtemp(dir=PLACE)
    for name in names:
        wheel(folder, name, NAMES[name])
    return folder


def environment(found):
    """pip looks for wheels in a folder and, in vain, on a port that nobody listens on."""
    return {"PATH": "/usr/bin:/bin", "PIP_FIND_LINKS": "file://" + found.replace(" ", "%20"),
            "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1", "PIP_CONFIG_FILE": os.devnull}


def command(cache, links):
    return ["sh", os.path.join(HERE, "install_wheels.sh"), "--only=mindspore", "--cache=" + cache, links]


def install(found, cache, links):
    done = subprocess.run(command(cache, links), env=environment(found), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def use(links):
    """Exit status and output of a program in the environment."""
    program = os.path.join(PLACE, "program.py")
    with open(program, "w", encoding="ascii") as file:
        file.write("import mindspore; print(mindspore.version)")
    done = subprocess.run(["sh", os.path.join(HERE, "with_wheel.sh"), os.path.join(links, "mindspore"), program], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.strip()


def test_whole_and_reused():
    cache, first, second = (os.path.join(PLACE, name) for name in ("cache", "first", "second"))
    status, text = install(wheels("numpy", "mindspore"), cache, first)
    assert status == 0 and "mindspore: done in" in text and "about" in text, text
    assert use(first) == (0, "2.10.0")
    status, text = install(wheels(), cache, second)
    assert status == 0 and "as it was" in text, text
    assert use(second) == (0, "2.10.0")
    assert not os.path.exists(os.path.join(cache, "downloads"))


def test_an_interruption():
    cache, links = os.path.join(PLACE, "cut"), os.path.join(PLACE, "cut links")
    found = wheels("numpy", "mindspore")
    running = subprocess.Popen(command(cache, links), env=environment(found), start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (os.path.isdir(cache) and any(name.startswith("mindspore") for name in os.listdir(cache))):
        time.sleep(0.01)
    time.sleep(0.3)  # while the environment is made: there is no pip in it yet
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    status, text = use(links)
    assert status == 1 and "no environment" in text, text
    status, text = install(found, cache, links)
    assert status == 0 and "mindspore: done in" in text, text
    assert use(links) == (0, "2.10.0")


def test_no_network():
    links = os.path.join(PLACE, "offline")
    status, text = install(wheels("numpy"), os.path.join(PLACE, "offline cache"), links)
    assert status == 0 and "the download failed" in text, text
    status, text = use(links)
    assert status == 77 and text.startswith("skipped: the download failed: "), (status, text)


def test_a_broken_wheel():
    found, links = wheels("numpy", "mindspore"), os.path.join(PLACE, "broken")
    with open(os.path.join(found, "mindspore-2.10.0-py3-none-any.whl"), "wb") as file:
        file.write(b"no wheel")
    status, text = install(found, os.path.join(PLACE, "broken cache"), links)
    assert status == 1 and "FAILED" in text, text
    assert use(links)[0] == 1


if __name__ == "__main__":
    try:
        sys.exit(run_tests(globals(), "install_wheels.sh"))
    finally:
        shutil.rmtree(PLACE)

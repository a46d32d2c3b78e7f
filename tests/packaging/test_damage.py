#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A damaged .run is refused before anything is written: cut short, or one bit wrong anywhere.

    test_damage.py [--all]     --all tries every bit of the part that checks the file, and one of
                               every other byte of the text in front of the data (minutes)
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

SEED = 20260101


def tree(folder):
    return sorted(os.path.join(d, n) for d, ds, fs in os.walk(folder) for n in ds + fs)


class Bench:
    """An empty world for one run: working directory, temporary directory, target."""
    def __init__(self, shell):
        self.shell = shell
        self.root = tempfile.mkdtemp(prefix="damage.", dir=os.environ["fix"])
        for name in ("cwd", "tmp", "target"):
            os.mkdir(os.path.join(self.root, name))
        os.chmod(self.root, 0o777 | 0o1000)
        if os.getuid() == 0:
            for name in ("cwd", "tmp", "target"):
                os.chown(os.path.join(self.root, name), 65534, 65534)
        self.env = {"PATH": os.environ["PATH"], "TMPDIR": os.path.join(self.root, "tmp"),
                    "HOME": "/nonexistent"}
        self.clean = None
        self.run_file = os.path.join(self.root, "x.run")

    def run(self, data, *options):
        """Exit status, and whether anything was written. A damaged script never runs as root."""
        with open(self.run_file, "wb") as f:
            f.write(data)
        os.chmod(self.run_file, 0o755)
        if self.clean is None:
            self.clean = tree(self.root)

        def drop():
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)

        null = subprocess.DEVNULL
        child = subprocess.Popen(self.shell + [self.run_file] + list(options), env=self.env,
                                 cwd=os.path.join(self.root, "cwd"), stdin=null, stdout=null,
                                 stderr=null, preexec_fn=drop, start_new_session=True)
        try:
            status = child.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            status = 0  # a hang is no refusal
        return status, tree(self.root) != self.clean


def main():
    with open(os.path.join(os.environ["fix"], "one.run"), "rb") as f:
        good = f.read()
    text = good.index(b"\n}\n\x1f\x8b") + 3  # where the data begin
    everything = "--all" in sys.argv
    rng = random.Random(SEED)
    first_look = good.index(b"set -u")
    if everything:
        flips = [(at, bit) for at in range(first_look) for bit in range(8)]
        flips += [(at, rng.randrange(8)) for at in range(first_look, text)]
    else:
        flips = [(at, rng.randrange(8)) for at in range(0, first_look, 8)]
        flips += [(rng.randrange(first_look, text), rng.randrange(8)) for _ in range(60)]
        flips += [(rng.randrange(text, len(good)), rng.randrange(8)) for _ in range(40)]
        flips += [(len(good) - 1, 0), (0, 0), (text, 0)]
    cuts = [text, text + 1, len(good) - 1, text - 1, 11]
    cuts += [rng.randrange(11, len(good)) for _ in range(20)]
    shells = [["sh"]]
    if shutil.which("bash") and not everything:
        shells.append(["bash"])
    passed = failed = 0
    for shell in shells:
        bench = Bench(shell)
        option = "--install-path=" + os.path.join(bench.root, "target/new")

        def check(data, what):
            nonlocal passed, failed
            status, wrote = bench.run(data, option)
            if status != 0 and not wrote:
                passed += 1
                return
            failed += 1
            print("FAILED: test_damage.py: %s, %s: status %d, wrote %s" %
                  (shell[0], what, status, wrote), file=sys.stderr)
            for name in ("cwd", "tmp", "target"):
                subprocess.run(["find", os.path.join(bench.root, name), "-mindepth", "1",
                                "-delete"], check=False)

        for at, bit in flips if shell == ["sh"] else flips[::4]:
            bad = bytearray(good)
            bad[at] ^= 1 << bit
            around = good[max(0, at - 8):at + 8]
            check(bytes(bad), "bit %d of byte %d in %r" % (bit, at, around))
        for size in cuts:
            check(good[:size], "cut to %d bytes" % size)
        check(good + b"\n", "one byte more")
        status, wrote = bench.run(good, "--check")
        if status != 0 or wrote:
            failed += 1
            print("FAILED: test_damage.py: the good file: %d %s" % (status, wrote), file=sys.stderr)
        status, wrote = bench.run(good, option)
        if status != 0 or not wrote:
            failed += 1
            print("FAILED: test_damage.py: the good file does not install", file=sys.stderr)
    print("test_damage.py: seed %d: %d passed, %d failed" % (SEED, passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

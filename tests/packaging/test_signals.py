#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""TERM, INT, HUP or KILL at a random moment of a .run, to it alone or to its whole process group:
message and status agree with the disk, the next run does the rest, nothing else is touched, and
only a KILL leaves a temporary directory behind.

    test_signals.py [COUNT [SEED]]     default: 30, and a seed of the day
"""
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import states

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)


def scenarios(here, fix, env):
    def run(name, *more):
        return ["sh", os.path.join(fix, name + ".run"), "--quiet"] + list(more)

    def start(name, *commands):
        root = os.path.join(here, "start", name)
        states.make_world(root)
        for command in commands:
            subprocess.run(command, check=True, env=dict(env, ASCEND_OPP_PATH=root + "/opp"),
                           stdout=subprocess.DEVNULL)
        return root

    bare, one = start("bare"), start("one", run("one", "--no-compile"))
    states.write(one, "opp/vendors/ascgrad/mine.txt", "mine\n")
    two = start("two", run("two", "--no-compile"))
    return [states.Scenario(*row) for row in (
        ("install", bare, "", "1.0.0", run("one", "--no-compile")),
        ("install with kernels", bare, "", "1.0.0", run("one", "--chip=ascend910b")),
        ("upgrade", one, "1.0.0", "2.0.0", run("two", "--no-compile")),
        ("uninstall", two, "2.0.0", "", run("two", "--uninstall")))]


class Bench:
    def __init__(self, here, env):
        self.world, self.temporary = os.path.join(here, "world"), os.path.join(here, "tmp")
        self.env = dict(env, ASCEND_OPP_PATH=self.world + "/opp", TMPDIR=self.temporary)

    def clear(self):
        shutil.rmtree(self.temporary, ignore_errors=True)
        os.mkdir(self.temporary)

    def time(self, scenario):
        """Seconds of a run that nobody disturbs."""
        self.clear()
        scenario.fresh(self.world)
        began = time.monotonic()
        status, text = scenario.run(self.world, self.env)
        seconds = time.monotonic() - began
        wrong = scenario.judge(self.world, status, text)
        if status != 0 or wrong or os.listdir(self.temporary):
            raise SystemExit("%s undisturbed: %s, status %d: %s" % (
                scenario.name, wrong, status, text))
        scenario.expect_this(self.world)
        return seconds

    def try_one(self, scenario, number, group, delay):
        """How it ended, and what is wrong with that or None."""
        self.clear()
        scenario.fresh(self.world)
        child = subprocess.Popen(scenario.command, env=self.env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 start_new_session=True)
        time.sleep(delay)
        try:
            (os.killpg if group else os.kill)(child.pid, number)
        except ProcessLookupError:
            pass
        text = child.communicate()[0].decode("utf-8", "replace")
        status = child.returncode
        killed = status == -signal.SIGKILL
        if status < 0 and not killed:
            # Before the .run has read itself it has done nothing, and need not say so.
            wrong = None if scenario.untouched(self.world) else "ended without a word"
        else:
            wrong = scenario.judge(self.world, None if killed else status, text)
        if not wrong and not killed and os.listdir(self.temporary):
            wrong = "left %s" % os.listdir(self.temporary)
        if not wrong and not scenario.untouched(self.world):
            wrong = scenario.judge_repair(self.world, *scenario.run(self.world, self.env))
        return status, wrong, text


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    rng = random.Random(seed)
    fix = os.environ["fix"]
    here = tempfile.mkdtemp(prefix="signals.", dir=fix)
    os.chmod(here, 0o755)
    # A compiler that takes its time, and leaves nothing.
    states.write(here, "bin/python3", '#!/bin/sh\necho compiled >"$4/compile.log"\nsleep 0.2\n',
                 0o755)
    env = {"PATH": here + "/bin:" + os.environ["PATH"]}
    bench = Bench(here, env)
    all_of = scenarios(here, fix, env)
    seconds = [bench.time(scenario) for scenario in all_of]
    ends, failed = collections.Counter(), 0
    for i in range(count):
        which = i % len(all_of)
        number, group = rng.choice(SIGNALS), rng.random() < 0.5
        delay = rng.uniform(0, 1.1 * seconds[which])
        status, wrong, text = bench.try_one(all_of[which], number, group, delay)
        ends["killed" if status < 0 else "status %d" % status] += 1
        if wrong:
            failed += 1
            print("FAILED: test_signals.py: %s, %s to the %s after %.4f s: %s (status %d)\n%s" % (
                all_of[which].name, number.name, "group" if group else "process", delay, wrong,
                status, text), file=sys.stderr)
    shutil.rmtree(here)
    print("test_signals.py: seed %d: %s" % (seed, ", ".join(
        "%d %s" % (n, end) for end, n in sorted(ends.items()))))
    print("test_signals.py: %d passed, %d failed" % (count - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

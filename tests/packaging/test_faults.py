#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every system call of `setup` may fail, or be the last one: whatever happens, the old or the new
version is there, whole; message and status agree with the disk; the next run does the rest; and
nothing else is touched.

    test_faults.py [--all | --sample=N]     --all: every call, every error (half an hour); else the same
                                            sample at every run (seconds), or N times that with a new seed
"""
import concurrent.futures
import errno
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import states

SEED = 20260301
WRITE = 64 if os.uname().machine == "aarch64" else 1
SHORT = {"fail": 5, "dead": 2, "kill": 3}  # of each scenario, without --all
TIMES = next((int(word.split("=")[1]) for word in sys.argv if word.startswith("--sample=")), 1)
if TIMES > 1:
    SEED = int(os.environ.setdefault("ASCGRAD_FAULT_SEED", str(int(time.time()))))


def build(here):
    """The injector, two packages, and a compiler that only writes its log."""
    inject = os.path.join(here, "inject")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inject.c")
    subprocess.run(["gcc", "-O1", source, "-o", inject], check=True)
    for version in ("1", "2"):
        states.make_package(os.path.join(here, version), version)
    states.write(here, "bin/python3", '#!/bin/sh\necho compiled >"$4/compile.log"\n', 0o755)
    return inject


def scenarios(here, setup, env):
    def install(version, *more):
        return [setup, "install", "--payload=" + os.path.join(here, version), "--no-compile",
                "--quiet"] + list(more)

    def start(name, *commands):
        root = os.path.join(here, "start", name)
        states.make_world(root)
        for command in commands:
            subprocess.run([c.replace("@", root) for c in command], check=True, env=dict(
                env, ASCEND_OPP_PATH=root + "/opp"), stdout=subprocess.DEVNULL)
        return root

    bare, one = start("bare"), start("one", install("1"))
    mine = start("mine", install("1"))
    states.write(mine, "opp/vendors/ascgrad/mine.txt", "mine\n")
    two = start("two", install("2"))
    alone = start("alone", install("1", "--install-path=@/new/deep"))
    here_dir = "--installed=@/opp/vendors/ascgrad"
    # Which ones meet the call that exchanges directories?
    return [(states.Scenario(name, begin, before, after, command, target), swaps)
            for name, begin, before, after, command, target, swaps in (
                ("install", bare, "", "1", install("1"), "opp", False),
                ("install into a new directory", bare, "", "1",
                 install("1", "--install-path=@/new/deep"), "new/deep", False),
                ("upgrade", mine, "1", "2", install("2"), "opp", True),
                ("compile", two, "2", "2",
                 [setup, "compile", here_dir, "--chip=ascend910b", "--quiet"], "opp", True),
                ("uninstall", one, "1", "", [setup, "uninstall", here_dir, "--quiet"], "opp",
                 False),
                ("uninstall around a stranger", mine, "1", "",
                 [setup, "uninstall", here_dir, "--quiet"], "opp", False),
                ("uninstall a directory of its own", alone, "1", "",
                 install("1", "--install-path=@/new/deep", "--uninstall"), "new/deep", False))]


class Bench:
    """One scenario, in a world of its own."""
    def __init__(self, here, inject, env, scenario, exchange):
        self.world = tempfile.mkdtemp(prefix="world.", dir=here) + "/x"
        self.log = self.world + ".log"
        self.inject, self.scenario, self.exchange = inject, scenario, exchange
        self.env = dict(env, ASCEND_OPP_PATH=self.world + "/opp")
        self.name = scenario.name + ("" if exchange else " without exchange")
        self.unreached = 0

    def run(self, mode, number, error):
        more = [] if self.exchange else ["--no-exchange"]
        self.scenario.fresh(self.world)
        status, text = self.scenario.run(self.world, self.env, [
            self.inject, self.log, mode, str(number), str(error)] + more)
        with open(self.log, encoding="ascii") as f:
            return status, text, [int(word) for word in f.read().split()]

    def plan(self, everything):
        """Every call may fail. What a kill leaves depends only on the calls before it that change
        files, and so does what a dying disk leaves. One more kill comes behind the last of them,
        and well before the end: the number of calls that wait for a child varies."""
        status, text, (calls, _, _, *changes) = self.run("count", 0, 0)
        wrong = self.scenario.judge(self.world, status, text)
        if status != 0 or wrong:
            raise SystemExit("%s without a fault: %s, status %d: %s" % (
                self.name, wrong, status, text))
        self.scenario.expect_this(self.world)
        plan = {"fail": [(n, errno.EIO) for n in range(1, calls + 1)] +
                        [(n, errno.ENOSPC) for n in changes],
                "dead": [(n, (errno.EROFS, errno.ENOSPC)[n % 2]) for n in changes],
                "kill": [(n, 0) for n in changes + [(changes[-1] + calls) // 2]]}
        if not everything:
            rng = random.Random("%d %s" % (SEED, self.name))
            plan = {mode: rng.sample(all_of, min(len(all_of), TIMES * SHORT[mode])) for mode, all_of in plan.items()}
        return calls, len(changes), plan

    def try_one(self, mode, number, error):
        status, text, (_, call, argument, *_) = self.run(mode, number, error)
        mute = call == WRITE and argument in (1, 2)
        killed = mode == "kill" and status == 137
        wrong = self.scenario.judge(self.world, None if killed else status, text, mute)
        if mode == "kill" and not killed:
            self.unreached += 1  # this run was over before: it waits for a child more or less often
            wrong = wrong or (call != -1 and "was not killed") or (
                self.unreached > 5 and "too many kills that come too late")
        if not wrong and not self.scenario.untouched(self.world):
            again, words = self.scenario.run(self.world, self.env)
            wrong = self.scenario.judge_repair(self.world, again, words)
        if not wrong:
            return None
        return "FAILED: test_faults.py: %s, %s at call %d (number %d), error %d: %s (status %d)\n%s" % (
            self.name, mode, number, call, error, wrong, status, text)


def work(task):
    bench = Bench(*task[1:])
    calls, changes, plan = bench.plan(task[0])
    wrong = [bench.try_one(mode, *one) for mode, all_of in plan.items() for one in all_of]
    return ("%s: %d system calls, %d of them change files; %d faults, %d dying disks, %d kills" % (
        bench.name, calls, changes, *(len(all_of) for all_of in plan.values())),
            [w for w in wrong if w], len(wrong))


def main():
    here = tempfile.mkdtemp(prefix="faults.", dir=os.environ.get("fix"))
    os.chmod(here, 0o755)
    setup = os.path.join(os.environ["ASCGRAD_BUILD"], "package/setup")
    env = {"PATH": here + "/bin:" + os.environ["PATH"]}
    inject = build(here)
    tasks = [("--all" in sys.argv, here, inject, env, scenario, exchange)
             for scenario, swaps in scenarios(here, setup, env)
             for exchange in ((True, False) if swaps else (True,))]
    tried = failed = 0
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        for line, wrong, count in pool.map(work, tasks):
            print(line, flush=True)
            for one in wrong:
                print(one, file=sys.stderr)
            tried += count
            failed += len(wrong)
    shutil.rmtree(here)
    print("test_faults.py: seed %d: %d passed, %d failed" % (SEED, tried - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

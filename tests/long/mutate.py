# SPDX-License-Identifier: Apache-2.0
"""Mutation test of infer and tiling: one small fault at a time in op_proto/*_infer.c and op_tiling/*.c; do the tests
notice? A fault is a comparison or a sign turned around, a constant off by one, && for ||, a condition that never holds.

    mutate.py --build BUILD [--count N] [--seed S] [--least PERCENT] [FILE...]

The tests: the rows of op_reference and tests/op_tiling/refusals.h; random calls of tiling (tiling_property), which look at what a
plan must be; what the plans of some calls take in the cycle model (plan_times). What none of them notices is printed.
A fault that leaves the object file as it was is no fault and is not counted.
"""
import argparse
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
FLIPS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
         "&&": ("||",), "||": ("&&",), "+": ("-",), "-": ("+",), "*": ("+",)}
# Memory that is given back is kept for the next run of the cycle model.
KEEP = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "33554432", "MALLOC_TRIM_THRESHOLD_": "1073741824"}


def blank(text):
    """Comments, strings and preprocessor lines as spaces: nothing there is a fault."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|^#[^\n]*'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S | re.M)


def faults(text):
    """(position, old, new) of every fault that this file can have."""
    code, found = blank(text), []
    for m in re.finditer(r" (<=|>=|==|!=|<|>|&&|\|\||\+|-|\*) ", code):
        found += [(m.start(1), m.group(1), new) for new in FLIPS[m.group(1)]]
    for m in re.finditer(r"(?<![\w.])(\d+)(?![\w.])", code):
        found.append((m.start(1), m.group(1), str(int(m.group(1)) + 1)))
    for m in re.finditer(r"^ *if \((.*)\) (\{|return)", code, flags=re.M):
        at, end = m.start(1), m.end(1)
        found.append((at, text[at:end], "0 && (" + text[at:end] + ")"))
    return found


def compile_commands(build):
    """File -> the command that CMake compiles it with for host_operators."""
    parts, commands = objects_of(build), {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        for entry in json.load(f):
            words = shlex.split(entry["command"])
            to = os.path.normpath(os.path.join(entry["directory"], words[words.index("-o") + 1]))
            if to in parts["host_operators"]:
                commands[entry["file"]] = words
    if len(commands) != len(parts["host_operators"]):
        sys.exit("mutate.py: the build tree does not say how its objects are compiled")
    return commands


def objects_of(build):
    """Target -> its object files, as CMake has written them down."""
    parts = {}
    with open(os.path.join(build, "mutate.txt"), encoding="utf-8") as f:
        for line in f:
            target, path = line.rstrip("\n").split(" ", 1)
            parts.setdefault(target, []).append(os.path.normpath(path))
    return parts


def sources(build):
    return sorted(compile_commands(build))


def family(file, files):
    """The longest family (FAMILY_infer.c) that the file's name begins with; what belongs to none is everybody's."""
    families = [os.path.basename(f)[:-len("infer.c")] for f in files if f.endswith("_infer.c")]
    found = [f for f in families if os.path.basename(file).startswith(f)]
    return max(found, key=len)[:-1] if found else "all"


class Bench:
    """The objects and commands of a build tree: what CMake compiles for host_operators and links into the tests."""

    def __init__(self, build, work):
        self.build, self.work = build, work
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        self.programs = objects_of(build)  # name -> its own objects, and options of the linker
        self.common = self.programs.pop("host_core")
        del self.programs["host_operators"]
        self.commands = compile_commands(build)
        self.files = sorted(self.commands)
        self.objects = {}
        for i, file in enumerate(self.files):
            self.objects[file] = self.compile(file, file, os.path.join(work, f"{i}.o"))

    def family(self, file):
        return family(file, self.files)

    def operators(self, name):
        """The types that a family of files defines a function of."""
        code = "".join(open(f).read() for f in self.files if name in ("all", self.family(f)))
        pairs = re.findall(r"ASCGRAD_OP\((\w+), (\w+)\)", open(self.build + "/generated/ascgrad_ops.inc").read())
        types = [t for t, op in pairs if re.search(rf"\bascgrad_(infer|infer_dtype|tile)_{op}\(", code)]
        if not types:
            sys.exit(f"mutate.py: no operator has its functions in the files of {name}")
        return types

    def compile(self, file, copy, to):
        """The build's own command, for a copy of the file; None if it does not compile."""
        words = [copy if w == file else w for w in self.commands[file]]
        words[words.index("-o") + 1] = to
        done = subprocess.run([*words, "-w", "-I" + os.path.dirname(file)], capture_output=True, cwd=self.build)
        return to if done.returncode == 0 else None

    def verdict(self, file, text, where):
        """killed, lives, same (no fault at all) or broken (does not compile)."""
        os.makedirs(where, exist_ok=True)
        folder = os.path.join(where, os.path.basename(os.path.dirname(file)))
        os.makedirs(folder, exist_ok=True)
        for name in ("core", "op_kernel"):
            if not os.path.exists(os.path.join(where, name)):
                os.symlink(os.path.join(ROOT, name), os.path.join(where, name))
        copy = os.path.join(folder, os.path.basename(file))
        with open(copy, "w") as f:
            f.write(text)
        mutant = self.compile(file, copy, os.path.join(where, "mutant.o"))
        if not mutant:
            return "broken"
        if self.code(mutant) == self.code(self.objects[file]):
            return "same"
        return "killed" if self.notices(file, mutant, where) else "lives"

    def notices(self, file, object_file, where):
        """Whether a test fails with this object in the place of the file's own."""
        objects = [object_file if f == file else o for f, o in self.objects.items()]
        for name, own in self.programs.items():
            program = os.path.join(where, name)
            subprocess.run(["gcc", "-o", program, *own, *objects, *self.common, "-lm"], check=True)
            runs, operators = [[]], self.operators(self.family(file))
            if name == "tiling_property":
                runs = [["--count", "30000", "--seed", "1000001", op] for op in operators]
            if name == "plan_times":
                runs = [[os.path.join(ROOT, "tests/op_tiling/plan_times.tsv"), *operators]]
            for arguments in runs:
                try:
                    if subprocess.run([program, *arguments], capture_output=True, timeout=30, env=KEEP).returncode:
                        return True
                except subprocess.TimeoutExpired:
                    return True
        return False

    @staticmethod
    def code(path):
        return subprocess.run(["objdump", "-d", "-s", "-j", ".text", "-j", ".rodata", "--no-show-raw-insn", path],
                              capture_output=True).stdout.split(b"\n", 3)[-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--count", type=int, default=60, help="faults per family of operators")
    parser.add_argument("--seed", help="default: follows from the files, so that one tree has one answer")
    parser.add_argument("--least", type=float, default=0, help="fail below this score")
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    bench = Bench(os.path.abspath(arguments.build), os.path.join(os.path.abspath(arguments.build), "mutate"))
    if not all(bench.verdict(f, open(f).read(), bench.work + "/plain") == "same" for f in bench.files):
        print("the unchanged files do not give the same objects twice")
        return 1
    seed = arguments.seed or str(zlib.crc32(b"".join(open(f, "rb").read() for f in bench.files)))
    print(f"seed {seed}")
    families, scores = {}, []
    for file in bench.files:
        if not arguments.files or any(a in file for a in arguments.files):
            families.setdefault(bench.family(file), []).append(file)
    for name, files in families.items():
        if bench.notices(files[0], bench.objects[files[0]], bench.work + "/plain"):
            print(f"{name}: its tests fail without any fault")
            return 1
        rng = random.Random(f"{seed} {name}")
        all_faults = [(f, fault) for f in files for fault in faults(open(f).read())]
        chosen = rng.sample(all_faults, min(arguments.count, len(all_faults)))

        def judge(numbered):
            number, (file, (at, old, new)) = numbered
            text = open(file).read()
            return bench.verdict(file, text[:at] + new + text[at + len(old):], f"{bench.work}/{number % 1000}")

        with ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
            verdicts = list(pool.map(judge, enumerate(chosen)))
        for (file, (at, old, new)), verdict in zip(chosen, verdicts):
            if verdict == "lives":
                line = open(file).read().count("\n", 0, at) + 1
                print(f"lives: {os.path.relpath(file, ROOT)}:{line}: {old} -> {new}")
        killed, alive = verdicts.count("killed"), verdicts.count("lives")
        scores.append((killed, alive))
        print(f"{name}: {len(all_faults)} possible faults, {killed + alive} tried, {killed} noticed, "
              f"score {100 * killed / max(1, killed + alive):.0f} %", flush=True)
    killed, alive = (sum(s[i] for s in scores) for i in (0, 1))
    score = 100 * killed / max(1, killed + alive)
    print(f"mutation score {score:.0f} % ({killed} of {killed + alive})")
    return 1 if score < arguments.least else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""What the tests of interrupted installations share: a small package, the world it is installed
into, and the judge of what a run left behind. The states are those of docs/install.md.
"""
import hashlib
import os
import shutil
import stat
import subprocess

ARCH = os.uname().machine
TBE = "op_impl/ai_core/tbe"
STORE = TBE + "/config/ascend910b/aic-ascend910b-ops-info.json"
TYPE, OTHER = "RopeGrad", "RotaryMulGrad"  # CANN has the other, too
CONFIG = "load_priority=other\n[kept]\nx=1\n"
LISTED = "load_priority=ascgrad,other\n[kept]\nx=1\n"


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def write(root, path, data, mode=0o644):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    os.chmod(path, mode)


def make_package(root, version):
    """An unpacked .run with as few files as `setup` takes for a package."""
    tree = os.path.join(root, "packages/vendors/ascgrad")
    offers = b"".join(b"ascgrad-offers:%s=1\0" % t.encode() for t in (TYPE, OTHER))
    binaries = b"".join(b"ascgrad-binaries:%s=%s" % (t.encode(), bytes(128)) for t in (TYPE, OTHER))
    records = '{"%s": {}, "%s": {}}\n' % (TYPE, OTHER)
    write(tree, "LICENSE", "license of %s\n" % version)
    write(tree, "op_proto/lib/linux/%s/libcust_opsproto_rt2.0.so" % ARCH, offers)
    write(tree, "%s/op_tiling/lib/linux/%s/libcust_opmaster_rt2.0.so" % (TBE, ARCH),
          offers + binaries)
    write(tree, "scripts/whole/" + STORE, records)
    write(tree, STORE, records)
    write(tree, "only_in_%s" % version, "x\n")
    files = sorted(os.path.relpath(os.path.join(d, n), tree)
                   for d, _, names in os.walk(tree) for n in names)
    lines = ["%s  %s" % (digest(os.path.join(tree, f)), f) for f in files]
    write(tree, "package.info", "\n".join(
        ["package=ascgrad-opp", "version=" + version, "format=2", "arch=" + ARCH,
         "soc=ascend910b", "ops=%s %s" % (TYPE, OTHER), "ir_sha256=0", "glibc=2.17",
         "kernel %s rope_grad" % TYPE, "kernel %s rotary_mul_grad" % OTHER, ""] + lines + ["end %d" % len(lines), ""]))


def make_world(root):
    """A CANN with a neighbour, and something beside it that is nobody's business."""
    write(root, "opp/vendors/other/data", "other\n", 0o600)
    write(root, "opp/vendors/config.ini", CONFIG, 0o640)
    write(root, "victim/data", "victim\n")
    write(root, "opp/built-in/" + STORE, '{"%s": {}}\n' % OTHER)


def snapshot(root, ignore=()):
    """Everything below root: kind, mode and content, by path."""
    found = {}
    for folder, dirs, files in os.walk(root):
        for name in dirs + files:
            path = os.path.join(folder, name)
            short = os.path.relpath(path, root)
            if any(short == i or short.startswith(i + "/") for i in ignore):
                continue
            info = os.lstat(path)
            content = ""
            if stat.S_ISLNK(info.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(info.st_mode):
                content = digest(path)
            found[short] = (info.st_mode, content)
    return found


def version_of(tree):
    """"" for no package, else its version; with " broken" behind it if it is not whole."""
    if not os.path.lexists(tree + "/package.info"):
        return ""
    with open(os.path.join(tree, "package.info"), encoding="utf-8") as f:
        lines = f.read().split("\n")
    version = [l[8:] for l in lines if l.startswith("version=")][0]
    whole = lines[-2].startswith("end ")
    try:
        for line in lines:
            if line[64:66] == "  ":
                whole = whole and digest(os.path.join(tree, line[66:])) == line[:64]
            if line.startswith("link "):
                _, path, target = line.split()
                whole = whole and os.readlink(os.path.join(tree, path)) == target
    except OSError:
        whole = False
    return version if whole else version + " broken"


class Scenario:
    """One command, where it starts and where it should end. Versions: "" is none."""
    def __init__(self, name, start, before, after, command, target="opp"):
        self.name, self.start, self.before, self.after = name, start, before, after
        self.command, self.target = command, target
        self.begin, self.end = snapshot(start), None
        self.mine = os.path.lexists(os.path.join(start, target, "vendors/ascgrad/mine.txt"))

    def fresh(self, world):
        shutil.rmtree(world, ignore_errors=True)
        shutil.copytree(self.start, world, symlinks=True)

    def run(self, world, env, wrapper=()):
        command = [part.replace("@", world) for part in self.command]
        done = subprocess.run(list(wrapper) + command, stdout=subprocess.PIPE, env=env,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def untouched(self, world):
        return snapshot(world) == self.begin

    def judge(self, world, status, text, mute=False):
        """What is wrong with the end of a run; None for nothing. status None: it was killed; mute:
        it could not speak."""
        vendors = os.path.join(world, self.target, "vendors")
        found = version_of(os.path.join(vendors, "ascgrad"))
        stages = [n for n in (os.listdir(vendors) if os.path.isdir(vendors) else [])
                  if n.startswith(".ascgrad")]
        aside = any(version_of(os.path.join(vendors, n, "old")) == self.before for n in stages)
        ours = [self.target + "/vendors/" + n for n in ["ascgrad", "config.ini"] + stages]
        if self.target != "opp":
            ours.append(self.target.split("/")[0])
        if snapshot(world, ours) != snapshot(self.start, ours):
            return "touched something else"
        config = self.config(world)
        if config not in (self.config(self.start), self.wanted_config()):
            return "config.ini is %r" % config
        parts = not self.after and (status is None or "removed in part" in text)
        if found not in (self.before, self.after) and not (found == "" and aside) and not (
                parts and found == self.before + " broken"):
            return "version %r is there" % found
        if found == "" and not aside and (self.before and self.after):
            return "no version is there"
        if status is None:
            return None
        return self.judge_words(world, status, text, found, aside, stages, mute)

    def judge_words(self, world, status, text, found, aside, stages, mute):
        listed = self.config(world) == self.wanted_config()
        if status == 0:
            if not self.is_done(world, found) or not listed:
                return "said it was done"
            if stages and "could not delete" not in text and not mute:
                return "left %s without a word" % stages
            return None
        if status not in (2, 3):
            return "ended with status %d" % status
        if mute:
            return None
        if status == 2 or "othing was changed" in text:
            leftover = [self.target + "/vendors/" + n for n in stages]
            if stages and "could not delete" not in text:
                return "left %s without a word" % stages
            if "cannot remove the empty directory" in text:
                leftover.append(self.target.split("/")[0])
            if snapshot(world, leftover) != snapshot(self.start, leftover):
                return "said that nothing was changed"
        elif "is not there now" in text:
            if found or not aside:
                return "said that the old version is aside"
        elif "is now version" in text:
            if found != self.after:
                return "said that the new version is in place"
        elif "removed in part" in text:
            if self.after:
                return "removed something"
        elif "cannot look at" not in text:
            return "did not say what is on the disk"
        return None

    def files(self, world):
        """What is installed. package.info says what was made this time, and whether there are
        kernels is the compiler's business."""
        found = snapshot(os.path.join(world, self.target, "vendors/ascgrad"))
        return {n: what for n, what in found.items() if n not in ("package.info", "compile.log")}

    def expect_this(self, world):
        """A run that nobody disturbed has left this."""
        self.end = self.files(world)

    def is_done(self, world, found):
        left = os.path.join(world, self.target, "vendors/ascgrad")
        if self.end is not None and self.after and self.files(world) != self.end:
            return False
        if self.mine and self.after == "":  # what is not ours stays
            return [n for _, _, names in os.walk(left) for n in names] == ["mine.txt"]
        return found == self.after and (not self.mine or os.path.isfile(left + "/mine.txt"))

    def config(self, world):
        try:
            with open(os.path.join(world, self.target, "vendors/config.ini"), "rb") as f:
                return f.read().decode()
        except FileNotFoundError:
            return None

    def wanted_config(self):
        return None if self.target != "opp" else LISTED if self.after else CONFIG

    def judge_repair(self, world, status, text):
        """After the same command again, undisturbed."""
        wrong = self.judge(world, status, text)
        if status != 0 or wrong:
            return "the next run: %s (status %d): %s" % (wrong, status, text)
        return None

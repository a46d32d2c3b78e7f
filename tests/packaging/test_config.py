#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""vendors/config.ini: our name goes in front, and comes out again without a trace. Whatever the file
was, it is the same bytes after uninstalling; --install-for-all shows nobody what he could not read
before; and uninstalling needs no room on the disk.
"""
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile

import states

SEED = 20261117
COUNT = [0, 0]
SETUP = os.path.join(os.environ["ASCGRAD_BUILD"], "package/setup")
LINES = ["load_priority=a,b", "load_priority=", "load_priority= a , b ", "load_priority=a\r",
         " load_priority = a", "# comment", "", "[x]", "y=1", "load_priority", "load_priority=b",
         "; c", "load_priority=ascgrad2,ascgrad-x", "\t", "load_priority=,a",
         "# the lines below are those from before ascgrad was installed"]
FIRST = ["", "\n", "load_priority=\n", "load_priority=a", "load_priority=a\n", "load_priority=a\r\n",
         "# c\nload_priority=a,b\n", "# c\nload_priority=a,b", "load_priority=a\n# c\nload_priority=a\n",
         "[x]\ny=1\n", " load_priority = a\n", "load_priority=a\nload_priority=b\n"]


def check(condition, what):
    COUNT[0 if condition else 1] += 1
    if not condition:
        print("FAILED: test_config.py: " + what, file=sys.stderr)


def run(root, *words, **env):
    done = subprocess.run([SETUP] + list(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, ASCEND_OPP_PATH=root + "/opp", **env), text=True,
                          check=False)
    return done.returncode, done.stdout


def install(here, root, *words):
    return run(root, "install", "--payload=" + here + "/1", "--no-compile", "--quiet", *words)


def uninstall(root):
    return run(root, "uninstall", "--installed=" + root + "/opp/vendors/ascgrad", "--quiet")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def first_line_names(data):
    """As most of CANN's readers see them: the first line, one '='."""
    parts = data.split(b"\n")[0].split(b"=")
    return parts[1].split(b",") if len(parts) == 2 else []


def engine_names(data):
    """As GE's engine sees them: the first line with load_priority that is no comment."""
    for line in data.split(b"\n"):
        line = line.strip()
        if line and not line.startswith(b"#") and b"load_priority" in line:
            return [n.strip() for n in line.split(b"=", 1)[1].split(b",")] if b"=" in line else []
    return []


def there_and_back(here, root, rng):
    config = root + "/opp/vendors/config.ini"
    contents = FIRST + ["".join(rng.choice(LINES) + rng.choice(["\n", "\n", "\r\n"])
                                for _ in range(rng.randint(1, 5))) for _ in range(60)]
    contents += [c[:-1] for c in contents[-20:]]
    for content in contents:
        data = content.encode()
        states.write(root, "opp/vendors/config.ini", data, 0o640)
        status, said = install(here, root)
        after = read(config)
        what = "%r becomes %r" % (data, after)
        check(status == 0, "%s: status %d: %s" % (what, status, said))
        check(first_line_names(after)[:1] == [b"ascgrad"], what + ": ascgrad is first")
        check(engine_names(after)[:1] == [b"ascgrad"], what + ": for GE's engine, too")
        # nobody whom GE's engine reads is lost
        check(set(engine_names(data)) - {b""} <= set(engine_names(after)), what + ": somebody is lost")
        again, _ = install(here, root)
        check(again == 0 and read(config) == after, what + ": a second installation changes it")
        status, said = uninstall(root)
        check(status == 0 and read(config) == data, "%s, and then %r (status %d: %s)" % (
            what, read(config), status, said))
    # somebody else comes after us
    states.write(root, "opp/vendors/config.ini", "# c\nload_priority=a\n")
    install(here, root)
    states.write(root, "opp/vendors/config.ini", read(config).replace(b"=ascgrad", b"=new,ascgrad"))
    uninstall(root)
    check(first_line_names(read(config)) == [b"new", b"a"], "a vendor that came later stays: %r" %
          read(config))
    os.remove(config)
    install(here, root)
    uninstall(root)
    check(not os.path.exists(config), "a file that we made goes")


def for_all(here, root):
    """Who may read what."""
    config, secret = root + "/opp/vendors/config.ini", root + "/secret"
    lines = b"load_priority=a\nroot:secret\n"

    def mode():
        return stat.S_IMODE(os.stat(config).st_mode)

    states.write(root, "secret", lines, 0o600)
    for name, link in (("a symbolic link", os.symlink), ("a hard link", os.link)):
        if os.path.lexists(config):
            os.remove(config)
        link(secret, config)
        status, said = install(here, root, "--install-for-all")
        check(status == 0 and mode() == 0o600, "%s shows its content: mode %o" % (name, mode()))
        check("link" in said, "%s is replaced without a word: %s" % (name, said))
        check(read(secret) == lines, name + ": what it leads to is as it was")
        check(not any(lines[-8:] in read(os.path.join(d, n)) for d, _, names in os.walk(
            root + "/opp/vendors/ascgrad") for n in names), name + ": no copy of it elsewhere")
        uninstall(root)
    os.remove(config)
    states.write(root, "opp/vendors/config.ini", "load_priority=a\n", 0o600)
    install(here, root, "--install-for-all")
    check(mode() == 0o644, "our own file is opened: mode %o" % mode())
    uninstall(root)
    if os.geteuid() != 0:
        return
    states.write(root, "opp/vendors/config.ini", "load_priority=a\n", 0o600)
    os.chown(config, 1234, 1234)
    status, said = install(here, root, "--install-for-all")
    check(status == 0 and mode() == 0o600 and os.stat(config).st_uid == 1234,
          "another user's file keeps its mode: %o" % mode())
    check("cannot read" in said, "and it is said: " + said)
    uninstall(root)
    os.chown(config, 0, 0)


def full_disk(here):
    """Uninstalling where not a byte and not a file is free."""
    if os.geteuid() != 0 or "--inside" not in sys.argv:
        return
    for option in ("size=%d" % (1 << 20), "nr_inodes=200"):
        disk = os.path.join(here, "disk")
        os.makedirs(disk, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", option + ",mode=755", "none", disk], check=True)
        states.make_world(disk)
        before = states.snapshot(disk)
        status, said = install(here, disk)
        check(status == 0, "installing on a small disk: %s" % said)
        try:
            for i in range(10000):
                with open("%s/fill.%d" % (disk, i), "wb") as f:
                    if option.startswith("size"):
                        while True:
                            f.write(bytes(4096))
                            f.flush()
        except OSError:
            pass
        status, said = uninstall(disk)
        fills = [n for n in os.listdir(disk) if n.startswith("fill.")]
        check(status == 0 and states.snapshot(disk, fills) == before,
              "uninstalling on a full disk (%s): status %d: %s" % (option, status, said))
        subprocess.run(["umount", disk], check=True)


def main():
    if os.geteuid() == 0 and "--inside" not in sys.argv:
        inside = subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL, check=False)
        if inside.returncode == 0:
            return subprocess.run(["unshare", "-m", sys.executable, "-B", __file__, "--inside"],
                                  check=False).returncode
    here = tempfile.mkdtemp(prefix="config-", dir=os.environ.get("fix"))
    os.chmod(here, 0o755)
    root = here + "/world"
    states.make_package(here + "/1", "1")
    states.make_world(root)
    there_and_back(here, root, random.Random(SEED))
    for_all(here, root)
    full_disk(here)
    shutil.rmtree(here)
    print("test_config.py: seed %d: %d passed, %d failed" % (SEED, *COUNT))
    return COUNT[1] != 0


if __name__ == "__main__":
    sys.exit(main())

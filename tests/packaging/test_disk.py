#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Installing, upgrading and removing on disks that are too small by any number of pages or files,
up to the first that is large enough. Needs root, for a mount that only this process sees.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import test_faults

PAGE = os.sysconf("SC_PAGE_SIZE")


def used(path):
    """Pages and files below path, as a tmpfs counts them."""
    pages = files = 1
    for folder, dirs, names in os.walk(path):
        files += len(dirs) + len(names)
        pages += sum(-(-os.lstat(os.path.join(folder, n)).st_size // PAGE) for n in names)
    return pages, files


def main():
    if os.geteuid() != 0:
        print("skipped: test_disk.py needs root, to mount small disks")
        return 77
    if "--inside" not in sys.argv:
        return subprocess.run(["unshare", "-m", sys.executable, "-B", __file__, "--inside"],
                              check=False).returncode
    here = tempfile.mkdtemp(prefix="disk.", dir=os.environ.get("fix"))
    os.chmod(here, 0o755)
    env = {"PATH": here + "/bin:" + os.environ["PATH"]}
    test_faults.build(here)
    setup = os.path.join(os.environ["ASCGRAD_BUILD"], "package/setup")
    disk = os.path.join(here, "disk")
    os.mkdir(disk)
    tried = failed = 0
    for scenario, _ in test_faults.scenarios(here, setup, env):
        pages, files = used(scenario.start)
        for option, base, unit in (("size", pages, PAGE), ("nr_inodes", files + 1, 1)):
            ends = []
            for more in range(0, 400):
                subprocess.run(["mount", "-t", "tmpfs", "-o", "%s=%d,mode=755" % (
                    option, (base + more) * unit), "none", disk], check=True)
                world = disk + "/x"
                scenario.fresh(world)
                status, text = scenario.run(world, dict(env, ASCEND_OPP_PATH=world + "/opp"))
                wrong = scenario.judge(world, status, text)
                subprocess.run(["umount", disk], check=True)
                tried += 1
                ends.append(status)
                if wrong:
                    failed += 1
                    print("FAILED: test_disk.py: %s, %s %d more: %s (status %d)\n%s" % (
                        scenario.name, option, more, wrong, status, text), file=sys.stderr)
                if status == 0:
                    break
            if ends[-1] != 0:
                failed += 1
                print("FAILED: test_disk.py: %s never fits" % scenario.name, file=sys.stderr)
            print("%s, %s: %d disks too small" % (scenario.name, option, len(ends) - 1))
    shutil.rmtree(here)
    print("test_disk.py: %d passed, %d failed" % (tried - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

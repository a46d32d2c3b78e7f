#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What libcust_opapi.so shows and asks for, and that it loads.

    test_symbols.py IR STANDIN LIBRARY...
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../op_api"))
import generate  # pylint: disable=wrong-import-position

NAMES = {"aclnnExpSegsumBackward", "aclnnNormRopeConcatBackward", "aclnnNormRopeConcatBackwardExtended",
         "aclnnRopeGrad", "aclnnRopeGradExtended", "aclnnRotaryMulGrad", "aclnnRotaryPositionEmbeddingGrad",
         "aclnnRotaryPositionEmbeddingGradExtended"}
LIBRARIES = {"libascendcl.so", "libnnopbase.so", "libdl.so.2", "libc.so.6", "ld-linux-aarch64.so.1"}
COMPILER = {"_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__gmon_start__"}


def lines(*command):
    env = dict(os.environ, LC_ALL="C")
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, env=env,
                          universal_newlines=True).stdout.splitlines()


def check_library(path, names):
    shown = {line.split()[-1] for line in lines("nm", "-D", "--defined-only", path)}
    assert shown == names | {n + "GetWorkspaceSize" for n in names}, (path, shown)
    for line in lines("nm", "-D", "--undefined-only", path):
        symbol = line.split()[-1]
        assert not symbol.startswith("_Z"), (path, symbol)
        assert re.match("acl[A-Z]|Nnopbase[A-Z]", symbol) or "@GLIBC_" in symbol or \
            symbol in COMPILER, (path, symbol)
    needed = {m.group(1) for m in map(re.compile(r"\(NEEDED\).*\[(.*)\]").search,
                                      lines("readelf", "-d", path)) if m}
    assert needed <= LIBRARIES and {"libascendcl.so", "libnnopbase.so"} <= needed, (path, needed)


def check_loads(path, standin, names):
    """With the libraries of 2026 and of 8.1, all symbols at once and each when it is called."""
    for era in ("lib", "8.1/lib"):
        for mode in ("RTLD_NOW", "RTLD_LAZY"):
            code = ("import ctypes, os\n"
                    "library = ctypes.CDLL(%r, mode=os.%s)\n"
                    "for name in %r: getattr(library, name), getattr(library, name + "
                    "'GetWorkspaceSize')\n" % (path, mode, sorted(names)))
            env = dict(os.environ, LD_LIBRARY_PATH="%s/%s:%s/lib" % (standin, era, standin))
            subprocess.run([sys.executable, "-c", code], check=True, env=env)


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        functions = [generate.Function(op) for op in json.load(f)]
    functions += [f.fewer for f in functions if f.fewer]
    names = {f.name for f in functions}
    more = {"aclnn" + f.type for f in functions if f.name not in NAMES}
    assert names == NAMES | more, names ^ (NAMES | more)
    for path in sys.argv[3:]:
        if os.path.exists(path):
            check_library(path, names)
    check_loads(os.path.abspath(sys.argv[3]), os.path.abspath(sys.argv[2]), names)
    print("symbols are as they should be")


if __name__ == "__main__":
    main()

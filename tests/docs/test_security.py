# SPDX-License-Identifier: Apache-2.0
"""SECURITY.md says which environment variables each part reads, and what the libraries that others load do not call: here
the sources and the libraries are asked.

    test_security.py LIBRARY...        those that GE and aclnn load
"""
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
# Part in SECURITY.md -> its sources.
PARTS = {
    "host libraries": ["core", "op_proto", "op_tiling", "ge", "op_api", "fusion", "framework/tf_plugin",
                       "framework/onnx_plugin"],
    "`libascgrad`": ["twin"],
    "command": ["tools"],
    "installer": ["package", "packaging/setup", "packaging/stub.sh.in", "packaging/uninstall.sh", "packaging/compile.sh",
                  "packaging/kernels.py"],
    "Python package": ["framework/python", "framework/mindspore", "framework/torch", "framework/tensorflow"],
}
NAME = r"[A-Z][A-Z0-9_]+"
# What opens, changes or starts something.
EFFECTS = re.compile(r"(f?open|creat|openat|fdopen|freopen|tmpfile|mkstemp|opendir|socket|connect|bind|system|popen|v?fork|"
                     r"exec[lv]\w*|posix_spawn\w*|unlink\w*|remove|rename\w*|mkdir\w*|rmdir|chmod|chown|symlink|link|"
                     r"setenv|putenv|unsetenv|dlopen|kill|pthread_create)(64)?")
failures = []


def files(places):
    for place in places:
        path = os.path.join(ROOT, place)
        if os.path.isfile(path):
            yield path
        for folder, _, names in os.walk(path):
            yield from (os.path.join(folder, n) for n in names if n.endswith((".c", ".h", ".cpp", ".py", ".sh")))


def variables(path, text):
    """The names that a file reads; where a name is not written in the call, every word in the file that could be one."""
    if path.endswith((".sh", ".sh.in")):
        text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
        return set(re.findall(r"\$\{?(%s)" % NAME, text)) - {"PWD"} - set(
            re.findall(r"^\s*(%s)=" % NAME, text, re.M))
    if path.endswith(".py"):
        return set(re.findall(r"os\.environ(?:\.get\(|\.pop\(|\[)\"(\w+)\"", text)) | \
            set(re.findall(r"os\.getenv\(\"(\w+)\"", text))
    named = set(re.findall(r"\bgetenv\(\"(\w+)\"\)", text))
    if len(re.findall(r"\bgetenv\(", text)) > len(re.findall(r"\bgetenv\(\"", text)):
        named |= set(re.findall(r"\"(%s)\"" % r"[A-Z][A-Z0-9_]{3,}", text))
    return named


def check_variables(page):
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([^|]*?) \|", page, re.M))
    for part, places in PARTS.items():
        read = {}
        for path in files(places):
            with open(path, encoding="utf-8") as f:
                for name in variables(path, f.read()):
                    read.setdefault(name, os.path.relpath(path, ROOT))
        said = set(re.findall(r"`(%s)`" % NAME, rows.get(part, "")))
        failures.extend("%s reads %s, and SECURITY.md does not say so" % (read[n], n) for n in sorted(set(read) - said))
        failures.extend("SECURITY.md: nothing of the %s reads %s" % (part, n) for n in sorted(said - set(read)))


def effects(library):
    out = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True, text=True).stdout
    names = {re.sub(r"@.*", "", line.split()[-1]) for line in out.splitlines()}
    return sorted(n for n in names if EFFECTS.fullmatch(n))


def check_libraries(libraries):
    for library in libraries:
        name = os.path.basename(library)
        # The graph pass looks whether its package still owns the type.
        allowed = ["fopen", "opendir"] if "fusion" in name else []
        failures.extend("%s calls %s" % (name, n) for n in effects(library) if n not in allowed)
    if not any(effects(library) for library in libraries if "fusion" in library):
        failures.append("the look at the libraries sees nothing")


def check_itself():
    """It must see what it is there for."""
    for path, text, want in [("a.c", 'x = getenv("ASCGRAD_A");', {"ASCGRAD_A"}),
                             ("a.c", 'x = getenv(name); f("ASCGRAD_A", "no");', {"ASCGRAD_A"}),
                             ("a.c", 'f("ASCGRAD_A");', set()),
                             ("a.py", 'os.environ.get("ASCGRAD_A") or os.environ["BCDE"]', {"ASCGRAD_A", "BCDE"}),
                             ("a.sh", '# $NOTE\nMINE=1\necho "${TMPDIR:-}" $MINE', {"TMPDIR"})]:
        if variables(path, text) != want:
            failures.append("%r: %s" % (text, variables(path, text)))


with open(os.path.join(ROOT, "SECURITY.md"), encoding="utf-8") as security:
    check_variables(security.read())
check_libraries(sys.argv[1:])
check_itself()
print("\n".join(failures))
print("%d parts, %d libraries, %d wrong" % (len(PARTS), len(sys.argv) - 1, len(failures)))
sys.exit(bool(failures))

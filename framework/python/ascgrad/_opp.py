# SPDX-License-Identifier: Apache-2.0
"""The operator package that the wheel carries: python -m ascgrad opp install, compile, status, remove, path.

The work is done by `setup`, the program that the .run file starts, too. It puts the operators into CANN's directory or,
with --private, into a directory of the user's that belongs to this CANN; ASCGRAD_OPP=1 makes `import ascgrad` name that
directory in ASCEND_CUSTOM_OPP_PATH. Either way setup decides which operator types are offered: one that CANN has too
only with kernel binaries that stand for all of CANN's.
"""
import hashlib
import os
import platform
import sys
import warnings

from . import _library

PAYLOAD = os.path.join(_library.FOLDER, "opp")
VENDOR = os.path.join("vendors", "ascgrad")
CARRIED = os.path.join(PAYLOAD, "packages", VENDOR)
LATE = ("torch_npu", "mindspore", "npu_device")  # who imports these has CANN running, perhaps

HELP = """\
The operators for CANN, which this wheel carries.

    python -m ascgrad opp install [--private] [options]
    python -m ascgrad opp compile [--private] [--chip=A,B]
    python -m ascgrad opp remove [--private]
    python -m ascgrad opp status
    python -m ascgrad opp path [--private]

install   puts them into $ASCEND_OPP_PATH/vendors/ascgrad (else $ASCEND_HOME_PATH/opp/vendors/ascgrad), and compiles the
          kernels where CANN's toolkit is at hand, a line for each. A type that CANN has too is ours only with every
          kernel; otherwise it is left to CANN. CANN's set_env.sh must have been sourced
compile   compiles the kernels that the installed package lacks
remove    removes what install has put there
status    says what is installed, and whose each operator type is
path      prints the directory that ASCEND_CUSTOM_OPP_PATH must name: the private one, else the one in CANN

  --private            a directory of your own instead of CANN's, one for each CANN:
                       ascgrad/ in $XDG_DATA_HOME or ~/.local/share
  --install-path=DIR   DIR/vendors/ascgrad instead
  --chip=A,B           compile kernels for these chips, too
  --no-compile         compile nothing
  --no-override        leave out the operator types that CANN already has
  --dry-run, --quiet, and all other options of the .run file: docs/install.md

With ASCGRAD_OPP=1 in the environment, `import ascgrad` puts what `path` prints first in ASCEND_CUSTOM_OPP_PATH; with
ASCGRAD_OPP=DIR, DIR/vendors/ascgrad. pip itself installs nothing outside site-packages.

Exit status: 0 done, 1 wrong usage or nothing is installed, 2 the target is refused, 3 failed and backed out, 4 done, but an
operator type that was ascgrad's is not any more.
"""


class Trouble(Exception):
    """A sentence, and the exit status."""

    def __init__(self, sentence, status=2):
        super().__init__(sentence)
        self.status = status


def cann():
    """CANN's opp directory."""
    opp, home = os.environ.get("ASCEND_OPP_PATH"), os.environ.get("ASCEND_HOME_PATH")
    if not opp and not home:
        raise Trouble("neither ASCEND_OPP_PATH nor ASCEND_HOME_PATH is set: source CANN's set_env.sh first")
    opp = opp or os.path.join(home, "opp")
    if not os.path.isdir(opp):
        raise Trouble(f"{opp}, where CANN should be, is not a directory")
    return os.path.realpath(opp)


def private():
    """The user's own directory for this CANN: what is offered there depends on what CANN has."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(home, "ascgrad", "opp-" + hashlib.sha256(os.fsencode(cann())).hexdigest()[:12])


def read(root):
    """(version, {type: (owner in graphs, owner of aclnn calls, why)}) of what is installed below root; None: nothing."""
    try:
        with open(os.path.join(root, VENDOR, "package.info"), encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n\n")[0].splitlines()
    except OSError:
        return None
    version = next((line[len("version="):] for line in lines if line.startswith("version=")), "?")
    owners = {}
    for words in (line.split(" ", 4) for line in lines if line.startswith("owner ")):
        if len(words) == 5:
            owners[words[1]] = (words[2].partition("=")[2], words[3].partition("=")[2], words[4])
    return version, owners


def installed():
    """The directory above vendors/ of what is installed here: the user's own, else CANN's."""
    found = [root for root in (private(), cann()) if read(root)]
    if not found:
        raise Trouble(f"nothing is installed in {private()} or {cann()}: python -m ascgrad opp install [--private]", 1)
    return found[0]


def _setup():
    """The installer of this machine, in the wheel."""
    program = os.path.join(CARRIED, "scripts", platform.machine(), "setup")
    if os.path.exists(program):
        return program
    if not os.path.isdir(CARRIED):
        raise Trouble(f"there is no {CARRIED}: the package was not installed from a wheel")
    carried = sorted(name for name in os.listdir(os.path.join(CARRIED, "scripts"))
                     if os.path.exists(os.path.join(CARRIED, "scripts", name, "setup")))
    raise Trouble(f"this wheel is for {', '.join(carried)}, not for {platform.machine()}")


def _run(words):
    """This process becomes setup, so that signals reach it and nothing else."""
    program = _setup()
    sys.stdout.flush()
    try:
        os.execv(program, ["setup", *words])
    except OSError as error:
        raise Trouble(f"{program} cannot be run: {error.strerror}. Is it on a file system that is mounted noexec?", 3) from None


def _place(options):
    """(the directory above vendors/ that the options name or None, the other options)."""
    root, rest = None, []
    for word in options:
        if word == "--private":
            root = private()
        elif word.startswith("--install-path="):
            root = word.partition("=")[2]
        else:
            rest.append(word)
    return root, rest


def _may_write():
    """A sentence of our own before setup's: it cannot know of --private."""
    folder = next(name for name in (os.path.join(cann(), "vendors"), cann()) if os.path.isdir(name))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Trouble(f"you may not write in {folder}: python -m ascgrad opp install --private installs for you alone")


def _install(options):
    _setup()  # refuses before anything is said
    root, rest = _place(options)
    if root is None:
        _may_write()
    if "--private" in options and "--quiet" not in rest:
        print(f"ascgrad: for you alone, and for the CANN in {cann()}; with ASCGRAD_OPP=1 in the environment programs that "
              "import ascgrad find it")
    _run(["install", *([f"--install-path={root}"] if root is not None else []), *rest, f"--payload={PAYLOAD}"])


def _compile(options):
    root, rest = _place(options)
    root = cann() if root is None else root
    if not read(root):
        raise Trouble(f"nothing is installed in {root}: python -m ascgrad opp install", 1)
    _run(["compile", f"--installed={os.path.join(root, VENDOR)}", *rest])


def _remove(options):
    root, rest = _place(options)
    _run(["uninstall", *([f"--install-path={root}"] if root is not None else []), *rest])


def _only_place(verb, options):
    root, rest = _place(options)
    if rest:
        raise Trouble(f"opp {verb}: unknown option: {rest[0]}", 1)
    return root


def _path(options):
    root = _only_place("path", options)
    if root is not None and not read(root):
        raise Trouble(f"nothing is installed in {root}", 1)
    print(os.path.join(root or installed(), VENDOR))


def _status(options):
    root = _only_place("status", options)
    _setup()
    version = read(os.path.join(PAYLOAD, "packages"))[0]
    places = {"in CANN": cann(), "private": private()} if root is None else {"there": root}
    print(f"wheel: {version} for {platform.machine()}")
    named = os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":")
    some = False
    for name, folder in places.items():
        found, vendor = read(folder), os.path.join(folder, VENDOR)
        some = some or found is not None
        if not found:
            print(f"{name}: nothing in {vendor}")
            continue
        line = f"{name}: {found[0]} in {vendor}"
        if vendor in named or name != "in CANN":  # there config.ini names it
            line += "; ASCEND_CUSTOM_OPP_PATH " + ("names it" if vendor in named else "does not name it")
        if found[0] != version:
            line += "; the wheel has another version"
        print(line)
        for op, (graphs, calls, why) in found[1].items():
            print(f"  {op}: GE graphs {graphs}, aclnn calls {calls}: {why}")
    if not some:
        raise Trouble("nothing is installed: python -m ascgrad opp install [--private]", 1)


VERBS = {"install": _install, "compile": _compile, "remove": _remove, "status": _status, "path": _path}


def main(words):
    """python -m ascgrad opp WORDS..."""
    if not words or words[0] not in VERBS or "--help" in words or "-h" in words:
        asked = bool(words) and ("--help" in words or "-h" in words)
        print(HELP, end="", file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 1
    try:
        VERBS[words[0]](words[1:])
    except Trouble as trouble:
        print(f"ascgrad: {trouble}", file=sys.stderr)
        return trouble.status
    return 0


def offer(value):
    """ASCGRAD_OPP=value: what is installed comes first in ASCEND_CUSTOM_OPP_PATH, once; a warning if that cannot be."""
    try:
        root = installed() if value == "1" else value
        if not read(root):
            raise Trouble(f"nothing is installed in {root}")
    except Trouble as trouble:
        warnings.warn(f"ascgrad: ASCGRAD_OPP={value}: {trouble}", RuntimeWarning, stacklevel=3)
        return
    folder = os.path.join(root, VENDOR)
    named = [name for name in os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":") if name]
    late = [name for name in LATE if name in sys.modules]
    if late and folder not in named:
        warnings.warn(f"ascgrad: ASCGRAD_OPP={value}: {late[0]} was imported before ascgrad, and CANN reads "
                      "ASCEND_CUSTOM_OPP_PATH once, when it starts: import ascgrad first", RuntimeWarning, stacklevel=3)
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = ":".join([folder] + [name for name in named if name != folder])

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whole operators or none: wherever the package is installed, kernel, tiling and IR of a type have one
owner, on both roads.

Every cell is an installation: {CANN has the types, has not} x {how the kernels came about} x {what was
done}. Then everything is looked up as GE and nnopbase look it up: packages in CANN's order; the kernel
by ops-info or by its key in the index of binaries; tiling and IR by asking the libraries themselves
(lookup.c); CANN's IR has other dtypes than ours and an attribute more. What would be launched is compared with what the rule says, and with `doctor --json`.

Then its life goes on, on a machine where npu-smi is not found: the graph pass is switched on and off,
compile.sh runs, the package is installed again with and without a compiler, all with --quiet. After
each step the same is looked at again; a type that changed hands must have been named, with the exit
status that says so, and no other may have been.

    test_owners.py [--all]      --all: every cell lives on; else some of each kind
"""
import concurrent.futures
import glob
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

FIX, BUILD = os.environ["fix"], os.environ["ASCGRAD_BUILD"]
HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
ARCH = platform.machine()
TBE = "op_impl/ai_core/tbe"
CHIP = "ascend910b"
GE_TYPE = {"fp16": "float16", "fp32": "float32", "bf16": "bfloat16"}
GE_NAME = {"fp16": "DT_FLOAT16", "fp32": "DT_FLOAT", "bf16": "DT_BF16"}
NUMBER = {"fp32": 0, "fp16": 1, "bf16": 27}
COUNT = [0, 0]
with open(os.environ["ir"], encoding="ascii") as ir_file:
    OPS = json.load(ir_file)
TYPES = [op["type"] for op in OPS]
PARTIAL, WIDER = TYPES[0], TYPES[1]  # one kernel of the first fails; CANN has a dtype more of the second

KERNELS = ("source only", "compiled", "some dtypes missing", "compiler fails", "wrong chip",
           "interrupted")
ACTIONS = ("install", "upgrade", "--no-override", "--graph-only", "uninstall")


def check(condition, what):
    COUNT[0 if condition else 1] += 1
    if not condition:
        print("FAILED: test_owners.py: " + what, file=sys.stderr)


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(content if isinstance(content, str) else json.dumps(content))


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def keys(op, column):
    pairs = "/".join("%d,2" % NUMBER[t["dtypes"][column]] for t in op["inputs"] + op["outputs"]
                     if t["kind"] == "required")
    return ["%s/d=%d,p=%d/%s" % (op["type"], d, p, pairs) for d in (0, 1) for p in (0, 1)]


# ---- the machine: CANN, its toolkit, an npu-smi

def compile_library(path, types, key):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-fvisibility=hidden", "-DKEY=%d" % key,
                    "-DTYPES=" + ",".join('"%s"' % t for t in types or ["Add"]),
                    os.path.join(TOP, "tests/cann/registry/tiling_library.c"), "-o", path], check=True)


# What GE's factory knows of a type, in the words of the stub of libregister.so.
CANN_IR = "input x TensorType({DT_DOUBLE}); output y TensorType({DT_DOUBLE}); attr of_cann"


def our_ir(op):
    def tensor(kind, t):
        return "%s %s TensorType({%s})" % (kind, t["name"], ", ".join(GE_NAME[d] for d in t["dtypes"]))
    return "; ".join([tensor("input" if t["kind"] == "required" else "optional", t)
                      for t in op["inputs"]] + [tensor("output", t) for t in op["outputs"]] +
                     ["attr " + a["name"] for a in op["attrs"]])


def compile_protos(path, types):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", "-fvisibility=hidden",
                    "-D_GLIBCXX_USE_CXX11_ABI=0", "-I" + os.path.join(TOP, "ge/include"),
                    "-DPROTOS=" + " ".join("PROTO(%s)" % t for t in types or ["Add"]),
                    os.path.join(HERE, "cann_proto.cpp"), "-o", path,
                    "-L" + os.path.join(BUILD, "stubs"), "-lregister"], check=True)


def make_cann(root, types):
    """A CANN with these types: ops-info, binaries with their index, tiling, IR."""
    builtin = os.path.join(root, "opp/built-in")
    whole = read(os.path.join(FIX, "one/packages/vendors/ascgrad/scripts/whole", TBE, "config", CHIP,
                              "aic-%s-ops-info.json" % CHIP))
    store = {"Add": {}}
    for t in types:
        store[t] = {k: dict(v) for k, v in whole[t].items() if re.match("(in|out)put", k)}
        if t == WIDER:
            for tensor in store[t].values():
                for field, more in (("dtype", "double"), ("format", "ND")):
                    tensor[field] += "," + more
    write(os.path.join(builtin, TBE, "config", CHIP, "aic-%s-ops-info.json" % CHIP), store)
    kernel, index = os.path.join(builtin, TBE, "kernel"), {}
    for op in OPS:
        if op["type"] not in types:
            continue
        index[op["type"]] = {"simplifiedKeyMode": 0, "binaryList": []}
        for column in range(len(op["inputs"][0]["dtypes"])):
            stem = "%s/%s/%s_%d_high_performance" % (CHIP, op["kernel"], op["type"], column)
            index[op["type"]]["binaryList"].append(
                {"coreType": 2, "simplifiedKey": keys(op, column), "binPath": stem + ".o",
                 "jsonPath": stem + ".json"})
            write(os.path.join(kernel, stem + ".o"), "CANN's kernel")
            write(os.path.join(kernel, stem + ".json"), {"binFileName": os.path.basename(stem)})
        write(os.path.join(kernel, "config", CHIP, op["kernel"] + ".json"), {"binList": [
            {"binInfo": {"jsonFilePath": b["jsonPath"]}, "simplifiedKey": b["simplifiedKey"]}
            for b in index[op["type"]]["binaryList"]]})
    write(os.path.join(kernel, "config", CHIP, "binary_info_config.json"), index)
    compile_library(os.path.join(builtin, TBE, "op_tiling/lib/linux", ARCH, "libopmaster_rt2.0.so"),
                    types, 77)
    compile_protos(os.path.join(builtin, "op_proto/lib/linux", ARCH, "libopsproto_rt2.0.so"), types)


def make_toolkit(root):
    write(os.path.join(root, "bin/opc"), "#!/bin/sh\nexec %s -B %s \"$@\"\n" %
          (sys.executable, shlex.quote(os.path.join(TOP, "tests/cann/opc/opc.py"))))
    os.chmod(os.path.join(root, "bin/opc"), 0o755)


def old_version(opp):
    """ascgrad 1.0.0: every type offered, no binaries, no guard, its package.info of format 1."""
    vendor = os.path.join(opp, "vendors/ascgrad")
    env = dict(os.environ, ASCEND_OPP_PATH=os.path.join(FIX, "owners/none/opp"))
    subprocess.run(["sh", os.path.join(FIX, "one.run"), "--quiet", "--no-compile",
                    "--install-path=" + opp], env=env, check=True)
    for path in glob.glob(os.path.join(vendor, TBE, "op_tiling/lib/linux/*/*.so")):
        os.remove(path)
        compile_library(path, TYPES, 11)
    info = os.path.join(vendor, "package.info")
    with open(info, encoding="ascii") as f:
        lines = [line for line in f if not re.match("format=|mode=|machine=|owner |end |made=", line)]
    write(info, "".join(lines))
    write(os.path.join(opp, "vendors/config.ini"), "load_priority=ascgrad\n")


# ---- looking things up

class Package:
    def __init__(self, name, folder):
        self.name, self.tbe = name, os.path.join(folder, TBE)
        self.libraries = sorted(glob.glob(os.path.join(folder, "op_proto/lib/linux", ARCH, "*.so")))
        self.libraries += sorted(glob.glob(os.path.join(self.tbe, "op_tiling/lib/linux", ARCH,
                                                        "*.so")))
        self.store, self.index = {}, {}
        for path in glob.glob(os.path.join(self.tbe, "config", CHIP, "*.json")):
            self.store.update(read(path))
        path = os.path.join(self.tbe, "kernel/config", CHIP, "binary_info_config.json")
        for op_type, entry in (read(path) if os.path.exists(path) else {}).items():
            for binary in entry["binaryList"]:
                for key in binary["simplifiedKey"]:
                    self.index.setdefault(key, binary)
        self.types = set(self.store)


def packages(opp):
    found = []
    config = os.path.join(opp, "vendors/config.ini")
    if os.path.exists(config):
        with open(config, encoding="ascii") as f:
            names = f.readline().strip().split("=")[1].split(",")
        found = [Package(n, os.path.join(opp, "vendors", n)) for n in names if n]
    return found + [Package("CANN", os.path.join(opp, "built-in"))]


def row(op, dtype):
    """A legal call of the operator, as words for lookup.c: from its first row."""
    with open(os.path.join(os.environ["ASCGRAD_BUILD"], "generated", "ascgrad_rows.h"), encoding="utf-8") as f:
        words = re.search(r'CASE\("%s", "([^"]*)"\)' % op["type"], f.read()).group(1).split()
    given = dict(word.split("=", 1) for word in words)
    command = [os.environ["ASCGRAD_BIN"], "infer", op["type"]]

    def tensor(spec):
        name, dims = re.fullmatch(r"([^\[]*)\[(.*)\]", spec).groups()
        return "%d:%s" % (NUMBER[dtype if name == "*" else name], dims)

    inputs, attrs, kinds = [], [], {"int": "i", "bool": "b", "float": "f", "listInt": "l",
                                     "listFloat": "r"}
    for t in op["inputs"]:
        inputs.append(tensor(given[t["name"]]) if t["name"] in given else "-")
        if t["name"] in given:
            command += ["--in", "%s=%s" % (t["name"], given[t["name"]].replace("*", dtype))]
    for a in op["attrs"]:
        default = a.get("default", "")
        default = ",".join(map(str, default)) if isinstance(default, list) else str(default).lower()
        value = given.get(a["name"], default)
        value = {"true": "1", "false": "0"}.get(value, value)
        attrs.append(kinds[a["type"]] + ":" + value)
        if a["name"] in given:
            command += ["--attr", "%s=%s" % (a["name"], given[a["name"]])]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    outputs = [tensor(line.split("=", 1)[1]) for line in said.split()]
    return " ".join([str(len(attrs))] + attrs + [str(len(inputs))] + inputs +
                    [str(len(outputs))] + outputs)


ROWS = {}


def look_up(opp):
    """What would be launched: a list of (road, type, key, kernel's owner, tiling's owner, refused); and
    how GE reads a graph: ("ir", type, "", None, its IR)."""
    found, asked, queries = packages(opp), [], []
    libraries = [(p, path) for p in found for path in p.libraries]
    for op in OPS:
        # columns that CANN cannot tell apart share a kernel
        kernels = list(dict.fromkeys(keys(op, c)[0] for c in range(len(op["inputs"][0]["dtypes"]))))
        for column, dtype in enumerate(op["inputs"][0]["dtypes"]):
            words = " %s %s" % (op["type"], ROWS[op["type"], dtype])
            kernel = next((p for p in found if op["type"] in p.types), None)
            if kernel:
                asked.append(("ge", op["type"], dtype, kernel.name))
                queries.append("ge" + words)
            for key in keys(op, column):
                kernel = next((p for p in found if key in p.index), None)
                if kernel:
                    asked.append(("aclnn", op["type"], key, kernel.name))
                    queries.append("plain" + words)
            # nnopbase's other route: the first package that has the operator's own file
            for p in found:
                path = os.path.join(p.tbe, "kernel/config", CHIP, op["kernel"] + ".json")
                if os.path.exists(path):
                    binary = read(path)["binList"][kernels.index(keys(op, column)[0])]["binInfo"]["jsonFilePath"]
                    name = read(os.path.join(p.tbe, "kernel", binary))["binFileName"]
                    asked.append(("composite", op["type"], dtype, p.name))
                    queries.append(name + words)
                    break
        asked.append(("ir", op["type"], "", None))
        queries.append("ir " + op["type"])
    said = subprocess.run([os.path.join(FIX, "owners/lookup")] + [path for _, path in libraries],
                          input="\n".join(queries) + "\n", check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=dict(
                              os.environ, LD_LIBRARY_PATH=os.path.join(BUILD, "stubs")))
    answers = said.stdout.splitlines()
    assert len(answers) == len(asked), said
    return [ask + ((line,) if ask[0] == "ir" else tilings(line.split(), libraries))
            for ask, line in zip(asked, answers)]


def tilings(answer, libraries):
    owner = libraries[int(answer[0])][0].name if int(answer[0]) >= 0 else None
    return owner, answer[1] != "0", answer[2]


# ---- the cells

def machine(opp, smi, toolkit):
    """The environment of a machine: is there npu-smi, a compiler?"""
    path = [os.path.join(FIX, "owners", d) for d, there in (("bin", smi), ("toolkit/bin", toolkit))
            if there]
    return dict(os.environ, ASCEND_OPP_PATH=opp, PATH=":".join(path + ["/usr/bin:/bin"]))


def install(opp, kernels, action):
    env = machine(opp, True, kernels not in ("source only", "wrong chip"))
    run = os.path.join(FIX, "owners/wrong_chip.run" if kernels == "wrong chip" else "two.run")
    env.update({"some dtypes missing": {"OPC_FAILS": PARTIAL + ":float16"},
                "compiler fails": {"OPC_FAILS": "all"},
                "interrupted": {"OPC_SLEEP": "30"}}.get(kernels, {}))
    options = [action] if action.startswith("--") else []
    child = subprocess.Popen(["sh", run] + options, env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    if kernels == "interrupted" and action != "--graph-only":
        started = os.path.join(opp, "vendors/.ascgrad.*/work/*/made")
        while child.poll() is None and not glob.glob(started):
            time.sleep(0.02)
        child.send_signal(signal.SIGTERM)
    said = child.communicate()[0]
    if action == "uninstall":
        subprocess.run(["sh", os.path.join(opp, "vendors/ascgrad/scripts/uninstall.sh")], env=env,
                       check=True, stdout=subprocess.DEVNULL)
    return child.returncode, said


def rule(has, kernels, action, op_type):
    """Who should own the type on GE's road and on aclnn's."""
    if action == "uninstall":
        return ("CANN", "CANN") if has else (None, None)
    complete = kernels == "compiled" or (kernels == "some dtypes missing" and op_type != PARTIAL)
    if has and op_type == WIDER:
        complete = False
    if action == "compiled --graph-only":  # whole types are whole; the others stay as they were
        return "ascgrad", "ascgrad" if complete else "refused" if has else None
    action = action.replace("compiled ", "")
    if action == "--graph-only":
        return "ascgrad", "refused" if has else None
    if has and (action == "--no-override" or not complete):
        return "CANN", "CANN"
    return "ascgrad", "ascgrad" if complete else None


def check_doctor(opp, seen, smi, where):
    env = dict(machine(opp, smi, False), LD_LIBRARY_PATH=os.path.join(BUILD, "stubs"))
    env.pop("ASCEND_CUSTOM_OPP_PATH", None)
    said = subprocess.run([os.environ["ASCGRAD_BIN"], "doctor", "--json"], env=env,
                          stdout=subprocess.PIPE, text=True).stdout
    told = {o["type"]: o for o in json.loads(said)["owners"] if o["chip"] == CHIP}
    check(set(told) == set(TYPES), where + ": doctor knows every type")
    for op_type in TYPES:
        for road in ("ge", "aclnn"):
            want = {(s[3], s[4]) for s in seen if s[0] == road and s[1] == op_type}
            have = told[op_type][road]
            if road == "ge":
                ir = next(s[4] for s in seen if s[:2] == ("ir", op_type))
                check(have["ir"] == {"nothing": "nobody", CANN_IR: "CANN"}.get(ir, "ascgrad"),
                      "%s: doctor, %s: IR of %s, seen '%s'" % (where, op_type, have["ir"], ir))
            if not want:
                check(have["kernel"] == "nobody", "%s: doctor, %s, %s: %r" %
                      (where, op_type, road, have))
            else:
                check(want == {(have["kernel"], have["tiling"])},
                      "%s: doctor, %s, %s: %r, seen %r" % (where, op_type, road, have, want))


def owner_lines(opp):
    with open(os.path.join(opp, "vendors/ascgrad/package.info"), encoding="ascii") as f:
        return dict(re.findall(r"^owner (\S+) (.*)$", f.read(), re.M))


def check_info(opp, has, kernels, action, where):
    """package.info says the same, and why."""
    told = owner_lines(opp)
    check(set(told) == set(TYPES), where + ": package.info knows every type")
    for op_type in TYPES:
        want = "ge=%s aclnn=%s " % tuple(o or "nobody" for o in rule(has, kernels, action, op_type))
        line = told.get(op_type, "")
        check(line.startswith(want) and len(line) > len(want), "%s: package.info, %s: %r, not %r" %
              (where, op_type, line, want))


def cell(has, kernels, action):
    where = "CANN %s, %s, %s" % ("has" if has else "has not", kernels, action)
    opp = os.path.join(FIX, "owners/cell.%s.%s.%s/opp" % (has, kernels, action)).replace(" ", "_")
    shutil.copytree(os.path.join(FIX, "owners", "all" if has else "none", "opp"), opp)
    if action == "upgrade":
        shutil.copytree(os.path.join(FIX, "owners/old/vendors"), os.path.join(opp, "vendors"))
    status, said = install(opp, kernels, action)
    # 1.0.0 had every type in GE graphs
    lost = action == "upgrade" and any(rule(has, kernels, action, t)[0] == "CANN" for t in TYPES)
    check(status == (4 if lost else 0), "%s: status %d: %s" % (where, status, said))
    if kernels in ("compiler fails", "interrupted", "some dtypes missing") and \
            action in ("install", "upgrade"):
        check("scripts/compile.sh" in said, where + ": says how to try again")
        check("compile.log" in said and os.path.exists(
            os.path.join(opp, "vendors/ascgrad/compile.log")), where + ": names the log")
    compare(opp, has, kernels, action, True, where)
    if action != "uninstall" and ((has, kernels, action) in LIVES or "--all" in sys.argv):
        live_on(opp, has, kernels, action, where)
    shutil.rmtree(os.path.dirname(opp))


def compare(opp, has, kernels, action, smi, where):
    """What would be launched, doctor and package.info with the rule."""
    seen = look_up(opp)
    for op in OPS:
        op_type = op["type"]
        ge, aclnn = rule(has, kernels, action, op_type)
        known = next(s[4] for s in seen if s[:2] == ("ir", op_type))
        check(known == {"ascgrad": our_ir(op), "CANN": CANN_IR, None: "nothing"}[ge],
              "%s: %s is %s's in GE graphs, which read it as '%s'" % (where, op_type, ge, known))
        mine = [s for s in seen if s[1] == op_type]
        want = {"ge": ge, "aclnn": aclnn, "composite": aclnn}
        for road, owner in want.items():
            launched = [s for s in mine if s[0] == road]
            check(bool(launched) == (owner is not None), "%s: %s, %s: %s" %
                  (where, op_type, road, launched or "nothing is found"))
            for _, _, key, kernel, tiling, refused, number in launched:
                if owner == "refused":
                    check(refused and kernel == "CANN", "%s: %s is not refused" % (where, key))
                else:
                    check(kernel == tiling == owner and not refused,
                          "%s: %s, %s, %s: kernel %s, tiling %s (key %s), refused %s" %
                          (where, op_type, road, key, kernel, tiling, number, refused))
    if action != "uninstall":
        check_doctor(opp, seen, smi, where)
        check_info(opp, has, kernels, action, where)


# ---- what becomes of them

# Cells that live on even without --all: each way to come by kernels, each action.
LIVES = {(True, "source only", "install"), (True, "compiled", "install"),
         (True, "some dtypes missing", "install"), (True, "compiler fails", "upgrade"),
         (True, "interrupted", "install"), (True, "wrong chip", "install"),
         (True, "source only", "--graph-only"), (True, "compiled", "--no-override"),
         (False, "source only", "install"), (False, "compiled", "upgrade")}


def roads(lines):
    return {t: line.split()[:2] for t, line in lines.items()}


def step(name, opp, command, toolkit, status, where, **env):
    """One command with --quiet, without npu-smi. Whoever changes hands is named, and nobody else."""
    before = roads(owner_lines(opp))
    done = subprocess.run(command, env=dict(machine(opp, False, toolkit), **env), check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = roads(owner_lines(opp))
    where = "%s, %s" % (where, name)
    for t in TYPES:
        named = re.search(r"(^|\W)%s( belonged to \S+ and now belongs to |: \S+ before, \S+ now: )" % t,
                          done.stdout)
        check(bool(named) == (before[t] != after[t]), "%s: %s: %s, then %s: %s" % (
            where, t, before[t], after[t], done.stdout))
    lost = any("ascgrad" in b and "ascgrad" not in a for t in TYPES
               for b, a in zip(before[t], after[t]))
    want = 4 if lost and status is None else status or 0
    check(done.returncode == want, "%s: status %d, not %d: %s" % (where, done.returncode, want,
                                                                 done.stdout))
    return where


def live_on(opp, has, kernels, action, where):
    ours = os.path.join(opp, "vendors/ascgrad")
    fusion = [os.environ["ASCGRAD_BIN"], "fusion", "--opp", opp]
    options = [action] if action.startswith("--") else []
    whole, lines = look_up(opp), owner_lines(opp)
    for switch in ("on", "off"):
        at = step("fusion " + switch, opp, fusion[:2] + [switch] + fusion[2:], False, 0, where)
        check(owner_lines(opp) == lines and look_up(opp) == whole, at + ": something else changed")
    # compile.sh is what every message names: it takes back whatever was left for want of binaries
    at = step("compile.sh", opp, ["sh", ours + "/scripts/compile.sh", "--quiet"], True, 0, where)
    now = "default" if action in ("install", "upgrade") else action
    compare(opp, has, "compiled", "compiled " + now, False, at)
    run = ["sh", os.path.join(FIX, "two.run"), "--quiet"]
    if action != "--graph-only":
        at = step("again", opp, run + options, True, 0, where)
        compare(opp, has, "compiled", action, False, at)
    at = step("again, one kernel fails", opp, run + options, True,
              0 if options else None, where, OPC_FAILS=PARTIAL + ":float16")
    compare(opp, has, "some dtypes missing", action, False, at)
    at = step("again without a compiler", opp, run + options, False, 0 if options else None, where)
    compare(opp, has, "source only", action, False, at)


def main():
    base = os.path.join(FIX, "owners")
    os.makedirs(os.path.join(base, "bin"))
    write(os.path.join(base, "bin/npu-smi"), "#!/bin/sh\necho '| 0     910B3               | OK |'\n")
    os.chmod(os.path.join(base, "bin/npu-smi"), 0o755)
    make_toolkit(os.path.join(base, "toolkit"))
    make_cann(os.path.join(base, "all"), TYPES)
    make_cann(os.path.join(base, "none"), [])
    old_version(os.path.join(base, "old"))
    subprocess.run(["gcc", "-O1", "-o", os.path.join(base, "lookup"),
                    os.path.join(HERE, "lookup.c"), os.path.join(TOP, "tests/cann/registry/fake_ge.c"),
                    "-ldl"], check=True)
    # a package whose binaries are for another chip than the machine's
    subprocess.run(["sh", os.path.join(TOP, "packaging/make_run.sh"), "--ir", os.environ["ir"],
                    "--version", "2.0.0", "--source", os.path.join(FIX, "src2"),
                    "--lib-dir-x86_64", os.path.join(FIX, "lib/x86_64"), "--lib-dir-aarch64",
                    os.path.join(FIX, "lib/aarch64"), "--compile", "ascend910_93",
                    "--out", os.path.join(base, "wrong_chip.run")], check=True,
                   stdout=subprocess.DEVNULL,
                   env=dict(os.environ, OPC=os.path.join(base, "toolkit/bin/opc")))
    for op in OPS:
        for dtype in op["inputs"][0]["dtypes"]:
            ROWS[op["type"], dtype] = row(op, dtype)

    # The test must be able to see the fault: 1.0.0 beside a CANN with the same types.
    opp = os.path.join(base, "fault/opp")
    shutil.copytree(os.path.join(base, "all/opp"), opp)
    shutil.copytree(os.path.join(base, "old/vendors"), os.path.join(opp, "vendors"))
    halves = [s for s in look_up(opp) if s[0] == "aclnn" and (s[3], s[4]) == ("CANN", "ascgrad")]
    check(len({s[1] for s in halves}) == len(TYPES), "1.0.0 is half an override of every type")

    cells = [(has, kernels, action) for has in (True, False) for kernels in KERNELS
             for action in ACTIONS]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(cell, *c) for c in cells]:
            future.result()
    lives = len(cells) * 4 // 5 if "--all" in sys.argv else len(LIVES)
    print("test_owners.py: %d cells, %d of them live on: %d passed, %d failed" % (
        len(cells), lives, COUNT[0], COUNT[1]))
    return COUNT[1] != 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernels of a package ahead of time, with the compiler of CANN's toolkit.

    kernels.py --vendor DIR [--chips A,B | --kernels A/T,B/U] [--work DIR] [--jobs N]

DIR is a vendor directory, installed or about to be: ops-info, launchers, kernel sources and
liboptiling.so are taken from it. The binaries go to its op_impl/ai_core/tbe/kernel, with the indexes
by which GE and aclnn find them; what the compiler said goes to its compile.log. The toolkit's
set_env.sh must have been sourced; OPC may name the compiler (else asc_opc or opc). --kernels names
operator types by chip, and leaves what there is of others; without it and without --chips: all for
every chip of the package that the toolkit knows. It ends when the process that started it does.

Exit status: 0 every kernel was compiled, 1 some were not, 2 wrong usage, 3 there is no compiler.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TBE = os.path.join("op_impl", "ai_core", "tbe")
EMPTY = {"int": 0, "float": 0.0, "bool": False, "str": "", "listInt": [], "listFloat": [],
         "listBool": []}
ATTR_TYPE = {"listInt": "list_int", "listFloat": "list_float", "listBool": "list_bool"}
CORE_TYPE = {"MIX": 0, "AiCore": 1, "VectorCore": 2, "MIX_AICORE": 3, "MIX_VECTOR_CORE": 4,
             "MIX_AIV": 4}
FORMAT_MODE = {"FormatDefault": "nd_agnostic", "FormatAgnostic": "static_nd_agnostic",
               "FormatFixed": "normal"}
PREFIX = "ascgrad_"  # by this our tiling knows that it is asked for a kernel of ours
PATIENCE = 3600  # seconds for one kernel


def say(text):
    print("ascgrad: " + text, flush=True)


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii", newline="\n") as f:
        f.write(json.dumps(value, indent=4) + "\n")


# ---- what the compiler is asked for

def tensors(record, side, column):
    found = []
    while "%s%d" % (side, len(found)) in record:
        t = record["%s%d" % (side, len(found))]
        found.append({"name": t["name"], "index": len(found),
                      "dtype": t["dtype"].split(",")[column],
                      "format": t["format"].split(",")[column], "paramType": t["paramType"],
                      "shape": [-2], "format_match_mode": "FormatAgnostic"})
    return found


def attributes(record):
    names = record.get("attr", {}).get("list", "")
    types = [(name, record["attr_" + name]["type"]) for name in names.split(",") if name]
    return [{"name": n, "dtype": ATTR_TYPE.get(t, t), "value": EMPTY[t]} for n, t in types]


def requests(op_type, record):
    """One request per column; columns that differ in optional tensors only share one kernel."""
    seen = set()
    for column in range(len(record["input0"]["dtype"].split(","))):
        node = {"bin_filename": "", "inputs": tensors(record, "input", column),
                "outputs": tensors(record, "output", column)}
        key = tuple((t["dtype"], t["format"]) for t in node["inputs"] + node["outputs"]
                    if t["paramType"] == "required")
        if key in seen:
            continue
        seen.add(key)
        if attributes(record):
            node["attrs"] = attributes(record)
        request = {"op_type": op_type, "op_list": [node]}
        text = json.dumps(request, indent="  ")
        digest = hashlib.md5(text.encode("ascii")).hexdigest()
        node["bin_filename"] = PREFIX + op_type + "_" + digest
        yield request


# ---- the indexes of what it made

def some(source, *names):
    return {name: source[name] for name in names if source.get(name) is not None}


def parameters(info):
    def tensor(t):
        if isinstance(t, list):
            return [tensor(t[0])]
        entry = some(t, "name", "index", "paramType")
        dtype, layout = t.get("dtype_match_mode"), t.get("format_match_mode")
        if dtype:
            entry["dtypeMode"] = "bit" if dtype == "DtypeByte" else dtype
        if layout:
            entry["formatMode"] = FORMAT_MODE.get(layout, layout)
        return entry

    found = {side: [tensor(t) for t in info.get(side) or []] for side in ("inputs", "outputs")}
    if info.get("attrs") is not None:
        found["attrs"] = [some(a, "name", "mode") for a in info["attrs"]]
    return found


def not_understood(path):
    """What index() would stumble over in a file that the compiler wrote, or None."""
    try:
        made = read_json(path)
        info = made["supportInfo"]
        parameters(info)
        if made["coreType"] not in CORE_TYPE:
            return "coreType %r" % made["coreType"]
        for text in (made["binFileName"], made["binFileSuffix"]):
            if not isinstance(text, str) or not text:
                return "a name that is %r" % text
        if not made["binFileName"].startswith(PREFIX):
            return "binFileName %s" % made["binFileName"]
        return None
    except (ValueError, LookupError, TypeError, AttributeError, OSError) as error:
        return "%s: %s" % (type(error).__name__, error)


def index(chip, kernel):
    """Writes <kernel>/config/<chip>/ from the files that the compiler wrote."""
    per_op, summary = {}, {}
    shutil.rmtree(os.path.join(kernel, "config", chip), ignore_errors=True)
    for path in sorted(glob.glob(os.path.join(glob.escape(kernel), chip, "*", "*.json"))):
        made = read_json(path)
        info = made["supportInfo"]
        op = os.path.basename(os.path.dirname(path))
        op_type = made["binFileName"][len(PREFIX):].split("_")[0]
        where = "/".join((chip, op, os.path.basename(path)))
        made["filePath"] = where
        write_json(path, made)
        entry = some(info, "implMode", "int64Mode", "simplifiedKeyMode", "simplifiedKey",
                     "dynamicParamMode")
        entry.update(staticKey=info.get("staticKey"), inputs=info.get("inputs"),
                     outputs=info.get("outputs"))
        entry.update(some(info, "attrs", "opMode", "optionalInputMode", "deterministic",
                          "optionalOutputMode"))
        entry["binInfo"] = {"jsonFilePath": where}
        per_op.setdefault(op, {"binList": []})["binList"].append(entry)
        if info.get("simplifiedKey") is None:
            continue
        if op_type not in summary:
            head = {"dynamicRankSupport": True}
            head.update(some(info, "simplifiedKeyMode", "optionalInputMode", "optionalOutputMode"))
            head.update(params=parameters(info), binaryList=[])
            summary[op_type] = head
        binary = {"coreType": CORE_TYPE[made["coreType"]], "simplifiedKey": info["simplifiedKey"]}
        if binary["coreType"] == 0 and made.get("taskRation") == "tilingKey":
            binary["multiKernelType"] = 1
        binary["binPath"] = "/".join((chip, op, made["binFileName"] + made["binFileSuffix"]))
        binary["jsonPath"] = where
        summary[op_type]["binaryList"].append(binary)
    for op, content in per_op.items():
        write_json(os.path.join(kernel, "config", chip, op + ".json"), content)
    if summary:
        write_json(os.path.join(kernel, "config", chip, "binary_info_config.json"), summary)


# ---- the toolkit

def find_compiler():
    home = os.environ.get("ASCEND_HOME_PATH", "")
    below = ["bin", "tools/bin", "compiler/bin", "python/site-packages/bin"]
    path = os.pathsep.join([os.environ.get("PATH", "")] + [os.path.join(home, b) for b in below
                                                          if home])
    given = os.environ.get("OPC")
    return shutil.which(given, path=path) if given else (
        shutil.which("asc_opc", path=path) or shutil.which("opc", path=path))


def toolkit_knows(full_name):
    """The toolkit has a file for every chip it knows. None: its files were not found."""
    home = os.environ.get("ASCEND_HOME_PATH")
    machine = "x86_64-linux" if "x86" in platform.machine() else "aarch64-linux"
    folders = [os.path.join(home, below, "platform_config") for below in
               (machine + "/data", "data", "compiler/data", "runtime/data")] if home else []
    folders = [folder for folder in folders if os.path.isdir(folder)]
    if not folders:
        return None
    return any(os.path.isfile(os.path.join(folder, full_name + ".ini")) for folder in folders)


# ---- compiling

class Job:
    def __init__(self, chip, full_name, kernel, main_func, request):
        self.chip, self.full_name, self.kernel = chip, full_name, kernel
        self.main_func, self.request = main_func, request
        self.name = request["op_list"][0]["bin_filename"]
        dtypes = dict.fromkeys(t["dtype"] for t in request["op_list"][0]["inputs"]
                               if t["paramType"] == "required")
        self.title = "%s %s for %s" % (request["op_type"], "/".join(dtypes), chip)

    def run(self, opc, tbe, work, running):
        """Compiles into tbe/kernel; returns what the compiler said, and whether it did."""
        folder = os.path.join(work, self.chip + "." + self.name)
        made = os.path.join(folder, "made")
        os.makedirs(made)
        request = os.path.join(folder, self.name + ".json")
        write_json(request, self.request)
        command = [opc, os.path.join(tbe, "ascgrad_impl", "dynamic", self.kernel + ".py"),
                   "--main_func=" + self.main_func, "--input_param=" + request,
                   "--soc_version=" + self.full_name, "--output=" + made, "--op_mode=dynamic",
                   "--impl_mode=high_performance,optional", "--simplified_key_mode=0"]
        try:
            child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except OSError as error:
            return str(error), False
        running.append(child)
        try:
            said = child.communicate(timeout=PATIENCE)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            child.kill()
            return child.communicate()[0].decode("utf-8", "replace") + "\ntimed out", False
        files = [os.path.join(made, self.name + end) for end in (".o", ".json")]
        if child.returncode != 0 or not all(os.path.isfile(f) and os.path.getsize(f)
                                            for f in files):
            return said + "\nexit status %d" % child.returncode, False
        wrong = not_understood(files[1])
        if wrong:
            return "%s\n%s is not what this script understands: %s" % (
                said, os.path.basename(files[1]), wrong), False
        target = os.path.join(tbe, "kernel", self.chip, self.kernel)
        os.makedirs(target, exist_ok=True)
        for path in glob.glob(os.path.join(glob.escape(made), self.name + "*.*")):
            shutil.move(path, os.path.join(target, os.path.basename(path)))
        return said, True


def plan(vendor, chips, wanted):
    """The jobs, and the chips that the toolkit does not know. wanted: {(chip, type)}, or empty."""
    tbe, jobs, unknown = os.path.join(vendor, TBE), [], []
    names = read_json(os.path.join(vendor, "scripts", "chips.json"))
    for chip in chips or names:
        if chip not in names:
            sys.exit("kernels: unknown chip " + chip)
        if toolkit_knows(names[chip]) is False:
            unknown.append((chip, names[chip]))
            continue
        store = read_json(os.path.join(vendor, "scripts", "whole", TBE, "config", chip,
                                       "aic-%s-ops-info.json" % chip))
        for op_type, record in store.items():
            if wanted and (chip, op_type) not in wanted:
                continue
            kernel = record["opFile"]["value"]
            shutil.rmtree(os.path.join(tbe, "kernel", chip, kernel), ignore_errors=True)
            jobs += [Job(chip, names[chip], kernel, record["opInterface"]["value"], request)
                     for request in requests(op_type, record)]
    return jobs, unknown


def compile_all(jobs, opc, vendor, work, workers):
    """Runs the jobs side by side; returns how many failed."""
    tbe, running, failed, done = os.path.join(vendor, TBE), [], 0, 0
    began = time.monotonic()

    def stop(number, _):
        for child in running:
            child.poll() is None and child.kill()
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)  # and what the compilers have started
        os._exit(128 + number)

    def watch(parent):
        while os.getppid() == parent:
            time.sleep(0.5)
        stop(signal.SIGTERM, None)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    threading.Thread(target=watch, args=(os.getppid(),), daemon=True).start()
    with open(os.path.join(vendor, "compile.log"), "w", encoding="utf-8") as log, \
            concurrent.futures.ThreadPoolExecutor(workers) as pool:
        started = {pool.submit(job.run, opc, tbe, work, running): job for job in jobs}
        for future in concurrent.futures.as_completed(started):
            job = started[future]
            said, good = future.result()
            done += 1
            failed += not good
            log.write("==== %s: %s\n%s\n" % (job.title, "compiled" if good else "FAILED", said))
            log.flush()
            say("kernel %d of %d: %s %s, %.0f s" % (done, len(jobs), job.title,
                "compiled" if good else "FAILED", time.monotonic() - began))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vendor", required=True)
    parser.add_argument("--chips", default="")
    parser.add_argument("--kernels", default="")
    parser.add_argument("--work")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    opc = find_compiler()
    if not opc:
        print("kernels: neither asc_opc nor opc found: source the toolkit's set_env.sh",
              file=sys.stderr)
        return 3
    vendor = os.path.realpath(args.vendor)
    work = args.work or tempfile.mkdtemp()
    os.makedirs(work, exist_ok=True)
    # opc runs our tiling, which it finds through this variable.
    others = os.environ.get("ASCEND_CUSTOM_OPP_PATH")
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = vendor + (":" + others if others else "")
    os.environ.setdefault("TILINGKEY_PAR_COMPILE", "1")
    os.environ.setdefault("HI_PYTHON", "python3")
    wanted = {tuple(w.split("/")) for w in args.kernels.split(",") if w}
    chips = list(dict.fromkeys(chip for chip, _ in sorted(wanted)))
    jobs, unknown = plan(vendor, chips or [c for c in args.chips.split(",") if c], wanted)
    for chip, name in unknown:
        say("left out: %s, because this toolkit does not know %s" % (chip, name))
    try:
        failed = compile_all(jobs, opc, vendor, work, max(1, args.jobs))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for chip in sorted({job.chip for job in jobs}):
        index(chip, os.path.join(vendor, TBE, "kernel"))
    if failed:  # who gave us a folder moves the log, and says where it is
        say("%d of %d kernels failed%s" % (failed, len(jobs), "" if args.work else "; see " +
                                           os.path.join(args.vendor, "compile.log")))
    return 1 if failed or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())

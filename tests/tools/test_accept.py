#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`ascgrad accept` on the stand-ins of GE and aclnn, which execute on the twin: all is well, the report
says so, and says the same the next time; then with faults planted, each of which must be found and named
while all other rows still run.

    test_accept.py BUILD INSTALLED [--long]
    test_accept.py BUILD INSTALLED --only PART...     parts of ALONE
"""
import atexit
import getpass
import glob
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zipfile

import browser

BUILD = os.path.realpath(sys.argv[1])
# By a name without spaces, which doctor would not accept: GE compiles from no such path.
PLACE = tempfile.mkdtemp(prefix="ascgrad-accept-opp-")  # nnopbase takes the first ".o" of a path for its end
INSTALLED = os.path.join(PLACE, "installed")
os.symlink(os.path.realpath(sys.argv[2]), INSTALLED)
atexit.register(shutil.rmtree, PLACE)
LONG = "--long" in sys.argv[3:]
VENDOR = "opp/vendors/ascgrad"
FILES = ("report.json", "report.html", "junit.xml")
SIZE = {"fp32": 4, "fp16": 2, "bf16": 2}
failed = 0


def check(good, what):
    global failed
    if not good:
        failed += 1
        print("FAIL: " + what, file=sys.stderr)
    return good


class Run:
    """One call of the command, and what it left behind."""

    def __init__(self, *words, at=INSTALLED, fault=None, wrap=(), libraries=(), out=None, env=None, quick=True,
                 cwd=None):
        self.out = out or tempfile.mkdtemp(dir=DIR)
        path = [*libraries, "standin/lib", "stubs", "geir_toolkit/lib64", "lib"]
        environment = dict(os.environ, ASCEND_OPP_PATH=at + "/opp", ASCEND_HOME_PATH=BUILD + "/geir_toolkit",
                           LD_LIBRARY_PATH=":".join(os.path.join(BUILD, p) for p in path))
        for name in ("ASCEND_CUSTOM_OPP_PATH", "ASCGRAD_STANDIN_FAULT"):
            environment.pop(name, None)
        if fault:
            environment["ASCGRAD_STANDIN_FAULT"] = fault
        for name, value in (env or {}).items():
            environment[name] = value(environment.get(name, "")) if callable(value) else value
        done = subprocess.run([*wrap, "%s/%s/bin/ascgrad" % (at, VENDOR), "accept", "--out", self.out,
                               *(["--quick"] if quick else []), *words], cwd=cwd, env=environment,
                              capture_output=True, text=True, errors="replace", timeout=1200, check=False)
        self.status, self.said = done.returncode, done.stdout + done.stderr
        self.json = None
        self.out = os.path.join(cwd or "", self.out)
        if os.path.exists(self.out + "/report.json"):
            try:
                with open(self.out + "/report.json", encoding="utf-8") as f:
                    self.json = json.load(f)
            except ValueError as error:
                check(False, "report.json: %s" % error)

    def read(self, name):
        with open(os.path.join(self.out, name), "rb") as f:
            return f.read()

    def failures(self, road):
        return {c["row"]: c[road]["why"] for c in self.json["cases"] if c[road]["verdict"] == "fail"}


def without_times(name, data):
    """The report without the lines that may change from run to run; the page has report.json in it."""
    changes = r" *<system-out>" if name == "junit.xml" else r' *"(date|took_s|times|calibration)":'
    return [line for line in data.decode("utf-8").split("\n") if not re.match(changes, line)]


def first_bytes(row):
    dtype, shape = re.match(r"\S+ \w+=(\w+)\[([\d,]*)\]", row).groups()
    size = SIZE[dtype]
    for n in shape.split(","):
        size *= int(n) if n else 1
    return size


def speed(run, op, large):
    """The summary's figures, which are of the large row; the stand-in's clock goes by the model."""
    told = next(o["times"] for o in run.json["operators"] if o["operator"] == op)
    model, times = large["model"], large["aclnn"]["times"]
    want = [(times["p50_us"] - model["launch_us"]) / model["copy_us"], (times["l2_p50_us"] - model["launch_us"]) / model["copy_l2_us"]]
    check(told["row"] == large["number"] and all(abs(told[key] - ratio) < 0.01 and ratio > 0.9
                                                 for key, ratio in zip(("over_copy", "l2_over_copy"), want)),
          "%s: %s, not %s" % (op, told, want))
    line = re.search(r"%s(?: +9 +0 +0)+ +([\d.]+) +([\d.]+) +-\n" % op, run.said)
    check(line and all(abs(float(text) - ratio) < 0.01 for text, ratio in zip(line.groups(), want)),
          "%s: the summary: %s" % (op, run.said))


def all_well():
    run = Run()
    check(run.status == 0, "accept: status %d: %s" % (run.status, run.said))
    check(run.json and run.json["accepted"] is True, "accepted")
    check("accepted\n" in run.said, "it says so: " + run.said)
    types = json.loads(subprocess.run([BUILD + "/bin/ascgrad", "ops", "--json"], capture_output=True,
                                      check=True).stdout)
    rows = [c["operator"] for c in run.json["cases"]]
    for op in types:
        check(rows.count(op["type"]) == 9, "%s: %d rows" % (op["type"], rows.count(op["type"])))
        large = [c for c in run.json["cases"] if c["operator"] == op["type"] and c["large"]]
        check(len(large) == 1 and large[0]["model"]["time_us"] > 2 * large[0]["model"]["launch_us"],
              "%s: a large row: %s" % (op["type"], [c["model"] for c in large]))
        speed(run, op["type"], large[0])
    for case in run.json["cases"]:
        for road in ("ge", "aclnn"):
            result = case[road]
            check(result["verdict"] == "pass", "%s: %s: %s" % (road, case["row"], result["why"]))
            in_place = road == "aclnn" and case["operator"].startswith("Ro")
            check(result["runs"] == {"repeats": 3, "other_cores": 2, "dynamic": int(road == "ge"), "in_place": int(in_place)},
                  "%s: runs %s" % (case["row"], result["runs"]))
            for o in result["outputs"]:
                check(o["differs_from_twin"] == 0 and o["contract"] <= 1 and o["vendor"], "%s: %s" % (case["row"], o))
        times = case["aclnn"]["times"]
        # The stand-in's clock goes by the model.
        if times["count"]:
            for prefix in ("", "l2_"):
                want = case["model"]["time_%sus" % prefix] + case["model"]["launch_us"]
                check(times[prefix + "count"] == 20 and abs(times[prefix + "p50_us"] - want) < 0.01 * want + 0.01,
                      "%s: %s, modelled %g" % (case["row"], times, want))
                check(times[prefix + "off"] in ("agrees", "small"), "%s: %s" % (case["row"], times))
    timed = sum(c["aclnn"]["times"]["count"] > 0 for c in run.json["cases"])
    check(timed >= 2 * len(types), "%d rows are timed" % timed)
    elements = sum(o["elements"] for c in run.json["cases"] for road in ("ge", "aclnn") for o in c[road]["outputs"])
    counted = sum(sum(run.json["error_ulp"][t]) for t in SIZE)
    check(0 < counted <= elements, "%d of %d elements in the histogram" % (counted, elements))
    return run


def files(run):
    tests = xml.etree.ElementTree.fromstring(run.read("junit.xml"))
    suites = {s.get("name"): s for s in tests}
    check(set(suites) == {"small kernels", "ge", "aclnn"}, "junit suites %s" % set(suites))
    for suite in (suites["ge"], suites["aclnn"]):
        check(len(suite) == len(run.json["cases"]) == int(suite.get("tests")), "junit has every row")
    with zipfile.ZipFile(run.out + "/ascgrad-accept.zip") as archive:
        names = archive.namelist()
        check(sorted(names) == sorted("ascgrad-accept/" + f for f in FILES), "the archive: %s" % names)
        check(archive.testzip() is None, "a checksum of the archive")
        for name in FILES:
            check(archive.read("ascgrad-accept/" + name) == run.read(name), name + " in the archive")
    for name in FILES:
        text = run.read(name).decode("utf-8")
        for secret in (BUILD, INSTALLED, socket.gethostname(), os.path.expanduser("~") + "/"):
            check(secret not in text, "%s has %s in it" % (name, secret))
        check(getpass.getuser() == "root" or not re.search(r"\b%s\b" % getpass.getuser(), text), name + ": the user")
        check("http" not in text or name != "report.html", "the page wants the network")


def again(run):
    other = Run()
    check(other.status == 0, "the second time: " + other.said)
    for name in FILES:
        check(without_times(name, run.read(name)) == without_times(name, other.read(name)),
              name + " is not the same the second time: " + run.out + " " + other.out)


def largest(run, op):
    """Of those that run without times, too."""
    return max((c["row"] for c in run.json["cases"] if c["operator"] == op and not c["large"]), key=first_bytes)


def wrong_tiling(run, op):
    """The byte of the tiling data that is wrong must be one that the kernel reads in this row."""
    words = "crashed|error|breaks the contract|other bits|misses"
    for byte in range(0, 64, 4):
        env = {"ASCGRAD_STANDIN_BYTE": str(byte)}
        fault = Run("--op", op, "--roads", "aclnn", "--no-times", "--timeout", "20", env=env,
                    fault="tiling:%s:%d" % (op, first_bytes(largest(run, op))))
        if fault.status != 0:
            planted(run, "aclnn", "tiling", words, op, env)
            return
    check(False, "%s: nobody sees a wrong byte of tiling data" % op)


def planted(run, road, kind, words, op, env=None):
    """A fault in a row of this operator; rows of the same type and size have it, too."""
    bytes_ = first_bytes(largest(run, op))
    where = "%s %s %s" % (road, kind, op)
    fault = Run("--op", op, "--roads", road, "--no-times", "--timeout", "4" if kind == "hang" else "60", env=env,
                fault="%s%s:%s:%d" % ("ge-" if road == "ge" else "", kind, op, bytes_))
    hit = {c["row"] for c in run.json["cases"] if c["operator"] == op and not c["large"] and first_bytes(c["row"]) == bytes_}
    check(fault.status == 3, "%s: status %d: %s" % (where, fault.status, fault.said))
    check(fault.json and fault.json["accepted"] is False, where + ": accepted")
    if not fault.json:
        return
    found = fault.failures(road)
    check(set(found) == hit, "%s: found in %s, not in %s" % (where, sorted(found), sorted(hit)))
    for row, why in found.items():
        check(re.search(words, why), "%s: %s says %s" % (where, row, why))
        check("FAIL %-5s %s" % (road, row) in fault.said, where + ": the row is named")
    passed = [c for c in fault.json["cases"] if c[road]["verdict"] == "pass"]
    check(len(passed) == 8 - len(hit), "%s: %d other rows passed" % (where, len(passed)))
    for name in (*FILES, "ascgrad-accept.zip"):
        check(os.path.exists(os.path.join(fault.out, name)), "%s: no %s" % (where, name))
    if kind == "hang" and road == "aclnn":
        page(fault, len(hit))


LOOK = """
const root = document.documentElement, say = (name, value) => root.setAttribute("data-" + name, value);
const bad = document.getElementById("bad"), op = document.getElementById("op");
const rows = () => [...document.querySelectorAll("tbody.case")].filter(r => r.offsetParent !== null);
root.style.width = WIDTH + "px"; /* a window of Chromium is at least 500 wide */
say("wide", document.body.scrollWidth > WIDTH);
say("rows", rows().length);
say("beside", !!document.getElementById("beside"));
say("first", [...document.querySelectorAll("section[data-op]")].every(s => {
  const bad = [...s.querySelectorAll("tbody.case")].map(r => !!r.querySelector("td.fail"));
  return bad.lastIndexOf(true) < (bad.includes(false) ? bad.indexOf(false) : bad.length); }));
say("listed", document.querySelectorAll("#failed li").length);
say("green", [...document.querySelectorAll(".pass")].filter(e => /skip|not asked|not measured|left out|^0 /.test(e.textContent)).length);
const keys = [...document.querySelectorAll("a[href], summary, select, input, [tabindex]")];
say("reached", keys.filter(k => k.checkVisibility()).every(k => { k.focus(); return document.activeElement === k; }));
say("regions", [...document.querySelectorAll(".wide")].every(w => w.tabIndex === 0 && w.getAttribute("aria-label")));
bad.focus(); bad.click();
say("failed", rows().length);
say("shown", document.getElementById("shown").textContent);
bad.click();
op.value = op.options[1].value; op.dispatchEvent(new Event("change"));
say("one", rows().length);
const summary = rows()[0].querySelector("summary");
summary.focus(); summary.click();
say("open", summary.parentElement.open);
say("small", [...document.querySelectorAll("td, p, summary")].some(e => parseFloat(getComputedStyle(e).fontSize) < 12));
"""


def page(run, bad, beside=False):
    """The page in a browser: what it shows is what report.json has, and it works with keys and on a narrow screen."""
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        print("the page was not opened: there is no Chromium here")
        return
    for fault in browser.themes(run.out + "/report.html"):
        check(False, "the page, " + fault)
    for width in (1280, 400) if LONG else (400,):
        shown = browser.show(run.out + "/report.html", "const WIDTH = %d;" % width + LOOK, width=width)
        figures = shown.having("data-key")
        check(len(figures) > 100, "%d figures on the page" % len(figures))
        for figure in figures:
            value, text = run.json, figure["text"]
            for step in figure["data-key"].split("."):
                value = value[int(step) if isinstance(value, list) else step]
            if value is True or value is False:
                same = text == ("accepted" if value else "not accepted")
            elif isinstance(value, str):
                same = text == value
            else:
                same = text == "wrong" if value is None else float(text) == float(value)
            check(same, "%s is %s on the page, %s in report.json" % (figure["data-key"], text, value))
        root, cases = shown.root, run.json["cases"]
        first = [c for c in cases if c["operator"] == cases[0]["operator"]]
        want = {"wide": "false", "rows": str(len(cases)), "beside": str(beside).lower(), "first": "true", "listed": str(bad), "green": "0",
                "reached": "true", "regions": "true", "failed": str(bad),
                "shown": "%d rows shown" % bad, "one": str(len(first)), "open": "true", "small": "false"}
        for name, value in want.items():
            check(root.get("data-" + name) == value, "page, %d pixels: %s is %s, not %s" %
                  (width, name, root.get("data-" + name), value))


def missing_binary(op):
    copy = tempfile.mkdtemp(dir=DIR)
    shutil.copytree(INSTALLED + "/opp", copy + "/opp", symlinks=True)
    kernel = os.path.join(copy, VENDOR, "op_impl/ai_core/tbe/kernel/ascend910b")
    gone = 0
    for folder, _, names in os.walk(kernel):
        for name in names:
            if name.startswith("ascgrad_%s_" % op) and name.endswith(".json"):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    first = json.load(f)["supportInfo"]["inputs"][0]
                if (first[0] if isinstance(first, list) else first)["dtype"] == "float16":
                    os.remove(os.path.join(folder, name[:-len("json")] + "o"))
                    gone += 1
    check(gone > 0, "no binary of %s was found" % op)
    fault = Run("--op", op, "--roads", "aclnn", "--no-times", at=copy)
    check(fault.status == 3 and fault.json["doctor"]["worst"] == "fail", "a missing binary: " + fault.said)
    found = fault.failures("aclnn")
    hit = {c["row"] for c in fault.json["cases"] if re.match(r"\S+ \w+=fp16", c["row"])}
    check(hit and set(found) == hit, "a missing binary: %s, not %s" % (sorted(found), sorted(hit)))
    check(all(re.search("Cannot find kernel file", why) for why in found.values()), "a missing binary: %s" % found)


def full_disk(op):
    """A disk of one page; without the right to mount, a limit of the size of files."""
    disk = tempfile.mkdtemp(dir=DIR)
    mount = "mount -t tmpfs -o size=4k none '%s' && exec \"$@\"" % disk
    can = os.geteuid() == 0 and subprocess.run(["unshare", "-m", "sh", "-c", mount, "sh", "true"], capture_output=True,
                                               check=False).returncode == 0
    wrap = ["unshare", "-m", "sh", "-c", mount, "sh"] if can else ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh"]
    run = Run("--op", op, "--roads", "aclnn", "--no-times", wrap=wrap, out=disk)
    check(run.status == 4, "a full disk: status %d: %s" % (run.status, run.said))
    check(re.search("report.json cannot be written: (No space left|File too large)", run.said), "a full disk: " + run.said)
    check(re.search(r"%s +8 +0 +0\n" % op, run.said) and "accepted" in run.said, "the rows still run: " + run.said)
    check(not os.listdir(disk), "half a report: %s" % os.listdir(disk))


def cannot_run():
    run = Run("--roads", "ge", "--op", "ExpSegsumGrad", env={"CXX": "/nonexistent/c++"})
    check(run.status == 3 and "no C++ compiler" in run.said, "no compiler: " + run.said)
    check("--ge-runner" in run.json["roads"]["ge"]["closed"], "no compiler, in the report")
    run = Run("--roads", "aclnn", "--op", "ExpSegsumGrad", "--device", "7")
    check(run.status == 3 and "aclrtSetDevice: error 107001" in run.said, "no such device: " + run.said)
    for words, said in ((["--roads", "tcp"], "takes ge, aclnn or ge,aclnn, not 'tcp'"), (["--op", "Add"], "there is no operator 'Add'"), (["--slow"], "there is no option '--slow'"),
                        (["--out"], "wants a value"), (["--timeout", "0"], "takes 1 to 86400 seconds, not '0'")):
        run = Run(*words)
        check(run.status == 1 and said in run.said, "%s: %d: %s" % (words, run.status, run.said))


def as_cann_has_it(copy, tbe, op, attrs):
    """Takes out what CANN's operator has not: attributes behind its own, and the functions that take them."""
    for path in glob.glob("%s/opp/built-in/%s/config/*/*.json" % (copy, tbe)):
        with open(path, encoding="utf-8") as f:
            records = json.load(f)
        if "attr" in records.get(op, {}):
            records[op]["attr"]["list"] = ",".join(attrs)
            with open(path, "w", encoding="utf-8") as f:
                json.dump(records, f)
    with open(os.path.join(copy, VENDOR, "op_api/lib/libcust_opapi.so"), "rb") as f:
        library = f.read()
    os.makedirs(copy + "/lib")
    with open(copy + "/lib/libopapi.so", "wb") as f:
        f.write(library.replace(b"Extended", b"Nowhere_"))


def cann_beside(op, *attrs):
    """CANN's own operator, which here is ours again, in CANN's place, with CANN's attributes."""
    copy = tempfile.mkdtemp(dir=DIR)
    shutil.copytree(INSTALLED + "/opp", copy + "/opp", symlinks=True)
    tbe = "op_impl/ai_core/tbe"
    shutil.copytree(os.path.join(copy, VENDOR, tbe), copy + "/opp/built-in/" + tbe, symlinks=True)
    lib = "%s/opp/built-in/%s/op_tiling/lib/linux/%s/" % (copy, tbe, os.uname().machine)
    os.rename(lib + "libcust_opmaster_rt2.0.so", lib + "libopmaster_rt2.0.so")
    as_cann_has_it(copy, tbe, op, attrs)
    run = Run("--op", op, "--roads", "aclnn", at=copy, libraries=[copy + "/lib"])
    beside = [c for c in run.json["cases"] if c["cann"]["verdict"] == "pass"]
    check(run.status == 0 and beside, "CANN's own: %s %s" % (run.said, run.json["cases"][0]["cann"]))
    for c in beside:
        check(c["cann"]["times"]["count"] == 20 and all(o["differs_from_twin"] == 0 for o in c["cann"]["outputs"]),
              "CANN's own: %s" % c["cann"])
    told = next(o["times"] for o in run.json["operators"] if o["operator"] == op)
    check(told["cann_row"] == max(beside, key=lambda c: c["model"]["copy_us"])["number"] and told["cann_over_ours"] == 1, "CANN's own: %s" % told)
    page(run, 0, beside=True)


def whole(op):
    """Not quick: forty rows, and the large ones."""
    run = Run("--op", op, "--roads", "aclnn", "--no-cann", quick=False)
    cases = run.json["cases"]
    check(run.status == 0 and sum(not c["large"] for c in cases) >= 35 and sum(c["large"] for c in cases) >= 2,
          "the whole of %s: %s" % (op, run.said))
    timed = [c for c in cases if c["aclnn"]["times"]["count"] == 20]
    check(len(timed) > 30 and all(c in timed for c in cases if c["large"]), "%d rows are timed" % len(timed))


def interrupted(well):
    """A signal while a row hangs: the report is of what was done, and not a pass."""
    op = well.json["cases"][0]["operator"]
    run = Run("--roads", "aclnn", "--no-times", "--timeout", "8", wrap=["timeout", "--foreground", "--preserve-status", "-s", "INT", "6"],
              fault="hang:%s:%d" % (op, first_bytes(largest(well, op))))
    check(run.status == 3 and run.json and run.json["accepted"] is False, "interrupted: " + run.said)
    whys = [c["aclnn"]["why"] for c in run.json["cases"]] if run.json else []
    check(whys.count("interrupted before this row") > 0, "interrupted: %s" % whys)


def calibrate():
    """The stand-in's chip differs from the model in one constant: that one is found; those of memory and L2 by the
    small kernels."""
    for name, value, words in (("TWIN_SCALAR_CYCLES", 0.6, ()), ("TWIN_SYNC_ALL", 5000.0, ()), ("l2_bytes_per_cycle", 1800, ONE[:2]),
                               ("TWIN_HBM_MIXED_2201", 0.3, ONE[:2]), ("TWIN_MODE_DRAIN", 30, ONE[:2])):
        run = Run("--roads", "aclnn", "--no-cann", "--calibrate", *words,
                  env=dict(OPC if words else {}, ASCGRAD_STANDIN_CONSTANT="%s=%g" % (name, value)))
        fit = run.json["calibration"]
        changed = {c["name"]: c["proposed"] for c in fit["constants"] if c["proposed"] != c["value"]}
        check(run.status == 0 and set(changed) == {name} and abs(changed[name] / value - 1) < 0.05,
              "calibrate %s=%g: %s\n%s" % (name, value, changed, run.said))
        check(fit["rms_before"] > 0.02 > fit["rms_after"], "calibrate: %s" % fit)
    run = Run("--roads", "aclnn", "--no-cann", "--calibrate", "--op", "ExpSegsumGrad")
    fit = run.json["calibration"]
    check(all(c["proposed"] == c["value"] for c in fit["constants"]) and fit["rms_before"] < 0.001,
          "calibrate what agrees: %s" % fit)


def write(path, text, mode=0o755):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)


def working_directory():
    """Programs, modules and libraries that lie in the working directory, with every list of folders asking
    for them there: none is run, and nothing is left behind."""
    for trial in ("relative", "absolute"):
        place = tempfile.mkdtemp(dir=DIR)
        ran = os.path.join(DIR, "ran." + trial)
        for name in ("platform", "csv", "email", "zipfile", "sitecustomize", "usercustomize"):
            write("%s/%s.py" % (place, name), "open(%r, 'a').write('%s.py ')\n" % (ran, name))
        for name in ("sh", "python3", "c++", "gcc", "cc1plus", "as", "ld", "npu-smi", "getent", "dirname", "bisheng"):
            write("%s/%s" % (place, name), "#!/bin/sh\necho '%s' >>%s\n" % (name, ran))
        for name in ("libascendcl.so", "libacl_rt.so", "libnnopbase.so", "libge_runner.so"):
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", os.path.join(place, name)], check=True, text=True,
                           input='#include <stdio.h>\n__attribute__((constructor)) static void run(void) {'
                           'FILE *f = fopen("%s", "a"); if (f) fputs("%s ", f), fclose(f); }' % (ran, name))
        write(place + "/graph/graph.h", '#error "a header of the working directory"\n', 0o644)
        before = sorted(os.listdir(place))
        first = ".:" if trial == "relative" else ":"
        run = Run("--op", "ExpSegsumGrad", "--no-times", cwd=place, out="the report", env={
            "PATH": lambda old: first + old, "LD_LIBRARY_PATH": lambda old: first + old, "PYTHONPATH": first,
            "CPATH": first, "LIBRARY_PATH": first, "COMPILER_PATH": first})
        check(run.status == 0, "strange things in the working directory (%s): %s" % (trial, run.said))
        if os.path.exists(ran):
            with open(ran, encoding="utf-8") as f:
                check(False, "of the working directory (%s) was run: %s" % (trial, " ".join(sorted(set(f.read().split())))))
        left = sorted(os.listdir(place))
        check(left == sorted(before + ["the report"]), "left in the working directory: %s" % (set(left) - set(before)))
        check(os.path.exists(place + "/the report/report.json"), "the report is where it was asked for")


MARK = "plnt"  # in every word that is private, so that no part of any may be seen
RUNNER = """#!/usr/bin/python3
import os, struct, sys
place, texts = %r, eval(open(%r).read())
def answer(status, text):
    os.write(1, struct.pack("<Ii1024s2I20fI20f2I", 0x33636361, status, text, 0, 0, *[0.0] * 20, 0, *[0.0] * 20, 0, 0))
while True:
    head = os.read(0, 7760)
    if not head:
        break
    if struct.unpack("<I", head[4:8])[0] == 0:
        answer(0, texts["hello"])
        continue
    number = int(open(place).read())
    with open(place, "w") as f:
        f.write(str(number + 1))
    mode, text = number %% 3, texts["list"][number // 3 %% len(texts["list"])]
    if mode == 0:
        answer(1, text)
        sys.exit(0)
    os.write(2, b"x" * (3000 * (mode == 2)) + text + b"\\n" + text)
    sys.exit(1)
"""


def is_clean(run, what):
    """Whole files of the right kind, and nothing private in any."""
    for name in (*FILES, "ascgrad-accept.zip"):
        data = run.read(name)
        found = [data[max(0, m.start() - 60):m.end() + 40] for m in re.finditer(MARK.encode(), data, re.I)]
        check(not found, "%s, %s: %d private words: %s" % (what, name, len(found), found[:3]))
        if name not in FILES:  # stored entries: their bytes are in the archive as they are
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            check(False, "%s, %s: %s" % (what, name, error))
            continue
        odd = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]", text)
        check(not odd, "%s, %s: characters %r" % (what, name, odd[:5]))
    try:
        json.loads(run.read("report.json"))
        xml.etree.ElementTree.fromstring(run.read("junit.xml"))
    except (ValueError, xml.etree.ElementTree.ParseError) as error:
        check(False, "%s: %s" % (what, error))
    page_text = run.read("report.html").decode("utf-8", "replace").lower()
    check(page_text.count("<script") == 1 == page_text.count("</script"), what + ": a script of somebody else's")


def plant(place):
    """Folders with names that give somebody away, all of them with a blank and more; and the environment."""
    deep = os.path.join(place, "%s home" % MARK, "o'%s & %s-so" % (MARK, MARK))
    vendor = os.path.join(deep, "my %s vendors" % MARK, "%s grad" % MARK)
    shutil.copytree(os.path.join(INSTALLED, VENDOR), vendor, symlinks=True)
    with open(vendor + "/package.info", encoding="utf-8") as f:
        head, files_ = f.read().split("\n\n", 1)
    sum_ = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  "
    odd = ['lib"quote\\.so', "lib<b>.so", "%suser.so" % MARK, "\u00e4\x1b.so"]
    for name in odd:
        write(os.path.join(vendor, name), "", 0o644)
    files_ = re.sub(r"end (\d+)", lambda m: "end %d" % (int(m.group(1)) + len(odd)), files_)
    with open(vendor + "/package.info", "w", encoding="utf-8") as f:
        f.write(head + "\n\n" + "".join(sum_ + name + "\n" for name in odd) + files_)
    home = os.path.join(deep, "toolkit %s" % MARK)
    shutil.copytree(BUILD + "/geir_toolkit", home, symlinks=True)
    write(home + "/version.info", "version=9.9 of %suser at %sbox, /opt/%s x/y\n" % (MARK, MARK, MARK), 0o644)
    bin_ = os.path.join(place, "bin")
    write(bin_ + "/python3", "#!/bin/sh\necho \"python 3 of %suser, '$HOME/%s venv/lib', $PWD\"\n" % (MARK, MARK))
    write(bin_ + "/getent", "#!/bin/sh\ncat <<'END'\n%suid:x:%d:0:Anna %sfull,room 1:%s:/bin/sh\nEND\n" %
          (MARK, os.getuid(), MARK, deep + "/passwd home"))
    write(bin_ + "/c++", "#!/bin/sh\necho \"error: '$HOME/x y/%s.h' of %suid@%sbox: no such file\"\nexit 1\n" %
          (MARK, MARK, MARK))
    env = {"HOME": deep, "USER": MARK + "user", "LOGNAME": MARK + "login", "HOSTNAME": "%sbox.%s.example" % (MARK, MARK),
           "TMPDIR": deep, "ASCEND_CUSTOM_OPP_PATH": "%s:%s/no such %s/%s x" % (vendor, place, MARK, MARK),
           "ASCEND_HOME_PATH": home, "MY_PROJECT": "/srv/%s one/%s two/%s three" % (MARK, MARK, MARK),
           "PATH": lambda old: bin_ + ":" + old}
    return deep, env


def texts_for(deep, env):
    """What programs of CANN may say of such a machine, with bytes that are no text at all."""
    word = env["MY_PROJECT"]
    paths = [deep, deep + "/a file", word, word + "/x.o", os.path.dirname(word), env["ASCEND_HOME_PATH"] + "/lib64/x.so",
             "/home/%s/x" % MARK, "/home/%s b/%s" % (MARK, MARK), "/%s" % MARK, deep.replace("'", "'\\''")]
    ways = ["%s", "cannot open %s: no such file", "'%s' is missing", '"%s"', "-I%s -L%s", "at %s.", "(%s)", "%s:12:3: error",
            "file://%s", "path=%s,next", "x%s", "<%s>", "%s and more"]
    names = [MARK + "user", MARK + "login", MARK + "uid", "Anna %sfull" % MARK, MARK + "box", MARK.upper() + "BOX",
             "%sbox.%s.example" % (MARK, MARK), "%suser@%sbox" % (MARK, MARK), "log_of_%suser_1.txt" % MARK, "root@%sbox:~" % MARK]
    said = [way.replace("%s", path) for way in ways for path in paths if way != "x%s" or path.count("/") > 1]
    said += names + ["user %s here" % n for n in names]
    if not LONG:  # every path, every way, every name
        said = [way.replace("%s", paths[i % len(paths)]) for i, way in enumerate(ways)] + [", ".join(names)]
    said = [s.encode() for s in said]
    noise = random.Random(5)
    said += [bytes(noise.randrange(1, 256) for _ in range(900)) for _ in range(20 if LONG else 5)]
    said += [b"<script>alert(1)</script>&amp;\"']]>", b"\xff\xfe\x01\x1b[31m\xef\xbf\xbe\xed\xa0\x80\xf4\x90\x80\x80\xc2\x85 " * 9,
             ("\u00e4" * 2000).encode(), b"a " * 480 + deep.encode() + b"/" + b"y" * 60, b"z" * 990 + b" %suser of %sbox" %
             (MARK.encode(), MARK.encode())]
    return said


def private():
    """Names of host, user and folders in every place that a report is written from."""
    place = tempfile.mkdtemp(dir=DIR)
    deep, env = plant(place)
    box = ["unshare", "-u", "sh", "-c", 'hostname "$0" && exec "$@"', "%sbox.%s.example" % (MARK, MARK)]
    wrap = box if subprocess.run([*box, "true"], capture_output=True, check=False).returncode == 0 else []
    cwd = os.path.join(deep, "work %s" % MARK)
    os.mkdir(cwd)
    run = Run(env=env, wrap=wrap, cwd=cwd, out="r")
    is_clean(run, "planted names")
    told = json.loads(run.read("report.json"))
    check('lib"quote\\.so' in told["environment"] and "<package>" in json.dumps(told["doctor"]) and "<path>" in told["environment"]["frameworks"],
          "what is no secret is told: %s" % told["environment"])
    check("no such file" in told["roads"]["ge"]["closed"], "what the compiler said: " + told["roads"]["ge"]["closed"])
    said = texts_for(deep, env)
    count, list_ = os.path.join(DIR, "count"), os.path.join(DIR, "texts")
    write(count, "0", 0o644)
    write(list_, repr({"hello": b'soc=Ascend910B1 %suser\ncores=var"ied\\\nl2=<b>\xff%sbox\n' % (MARK.encode(), MARK.encode()),
                       "list": said}), 0o644)
    runner = os.path.join(cwd, "runner")
    write(runner, RUNNER % (count, list_))
    asked = 0
    while asked < 3 * len(said):
        run = Run("--roads", "ge", "--no-times", "--ge-runner", "./runner", env=env, wrap=wrap, cwd=cwd, out="r")
        with open(count, encoding="utf-8") as f:
            now = int(f.read())
        if not check(now > asked, "the runner was asked: " + run.said):
            break
        asked = now
        is_clean(run, "a runner that tells")
    print("private: %d texts told in %d ways, %s" % (len(said), asked, "host renamed" if wrap else "host not renamed"))


OPC = {"OPC": os.path.join(INSTALLED, "toolkit", "bin", "opc")}
ONE = ("--op", "ExpSegsumGrad", "--roads", "aclnn", "--no-cann")


def asked(run, what):
    """The answers by name; however they are, the package is accepted."""
    check(run.status == 0 and run.json["accepted"] is True, "%s: %d %s" % (what, run.status, run.said))
    return {q["name"]: q for q in run.json["questions"]}


def questions():
    """What only a chip can answer: the twin is the chip here, so that all answers agree; then one differs, stops
    the chip, hangs, crashes; then there is nothing to ask with."""
    listed = subprocess.run([BUILD + "/bin/ascgrad", "accept", "--list-questions"], capture_output=True, text=True,
                            check=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "twin.md"), encoding="utf-8") as f:
        table = f.read().split("## Questions that only a chip can answer")[1].split("\n## ")[0]
    shown = re.findall(r"^\| `([a-z0-9-]+)` \|", table, re.M)
    check(shown == names, "docs/twin.md asks %s, the command %s" % (set(shown) - set(names), set(names) - set(shown)))
    never = {"A2": {"cast-none-910", "order-on-950", "sync-sees-stores", "ub-end"},
             "950": {"cast-none-910", "zero-repeats", "sync-sees-stores", "ub-end"}}
    for chip, soc in (("A2", "Ascend910B1"), ("950", "Ascend950PR_9599")):
        run = Run(*ONE, "--no-times", env=dict(OPC, ASCGRAD_STANDIN_SOC=soc))
        if chip == "950":  # the package here has no kernels for it
            run.status, run.json["accepted"] = 0, True
        answers = asked(run, chip)
        check(list(answers) == names, "%s: %s are in the report, %s in the list" % (chip, list(answers), names))
        unlike = {n: q for n, q in answers.items() if (q["verdict"] == "not asked") != (n in never[chip]) or q["verdict"] == "differs"}
        check(not unlike, "%s: %s" % (chip, unlike))
        check(all(q["why"] for n, q in answers.items() if n in never[chip]), "%s: each has its reason" % chip)
        check("%d agree with the twin, 0 differ, %d not asked" % (len(names) - len(never[chip]), len(never[chip])) in run.said,
              "%s: %s" % (chip, run.said))
    for kind, words in (("differ", "answers a5a5a5a5|answers 12[67]|answers 2 0|answers"), ("stop", "error 507035.*exception 1"),
                        ("crash", "crashed: Segmentation fault"), ("hang", "hangs, and was killed")):
        for number in (4, 13) if LONG or kind == "differ" else (4,):  # zero-in-pair-sum, gatherb-end
            run = Run(*ONE, "--no-times", "--timeout", "5", env=dict(OPC, ASCGRAD_STANDIN_PROBE="%s:%d" % (kind, number)))
            answers = asked(run, kind)
            found = [n for n, q in answers.items() if q["verdict"] == "differs"]
            check(found == [names[number]], "%s:%d is seen in %s" % (kind, number, found))
            check(re.search("DIFFERS %s: the twin assumes .*(%s)" % (names[number], words), run.said), "%s: %s" % (kind, run.said))
            q = answers[names[number]]
            check(q["answer"] != q["expected"] and (kind == "differ" or re.search(words, q["why"])), "%s: %s" % (kind, q))
    for env, words, why in (({}, (), "no kernel compiler, asc_opc or opc"), (OPC, ("--no-questions",), "not wanted"),
                            (dict(OPC, OPC_FAILS="AscgradProbe"), (), "compiler failed: error: no such luck"),
                            (dict(OPC, ASCGRAD_STANDIN_PROBE="stop:0"), (), "error 507035"),
                            (dict(OPC, ASCGRAD_STANDIN_PROBE="crash:0"), (), "crashed")):
        run = Run(*ONE, "--no-times", *words, env=env)
        answers = asked(run, why)
        check({q["verdict"] for q in answers.values()} == {"not asked"} and all(why in q["why"] for q in answers.values()),
              "%s: %s" % (why, run.json["questions"][:2]))
        check("%d not asked: " % len(names) in run.said and why in run.said, "%s: %s" % (why, run.said))


KERNELS = ["launch", "vector", "copy", "add", "add-past", "add-large", "add-large-past"]


def small_kernels():
    """What a chip should reproduce first: the stand-in's clock is the model's, so that all agree, with public rows beside
    them; then a chip that is slower or faster in one of them, one on which the rule of reading past the L2 is wrong, an
    operator that is slow by itself or because memory is."""
    run = Run(*ONE, env=OPC)
    check(run.status == 0, "small kernels: " + run.said)
    found = {k["name"]: k for k in run.json["small_kernels"]}
    check(list(found) == KERNELS, "small kernels: %s" % list(found))
    for name, k in found.items():
        for prefix in ("", "l2_"):
            check(k["times"][prefix + "verdict"] == "agrees" and abs(k["times"][prefix + "p50_us"] / k[prefix + "model_us"] - 1) < 0.01,
                  "%s: %s" % (name, k))
    for name, prefix in (("vector", ""), ("copy", ""), ("copy", "l2_"), ("add-large", "l2_"), ("add-large-past", "l2_")):
        k = found[name]
        check(0.9 < k[prefix + "model_us"] / k[prefix + "public_us"] < 1.1 and "910B3" in k[prefix + "public"] or "asc-devkit" in
              k[prefix + "public"], "%s beside what was measured in public: %s" % (name, k))
    check(run.json["l2_rule"]["times"]["holds"] is True and "l2.h holds" in run.said, "the rule: %s" % run.json["l2_rule"])
    suites = {t.get("name"): t for t in xml.etree.ElementTree.fromstring(run.read("junit.xml"))}
    check([t.get("name") for t in suites["small kernels"]] == KERNELS and "in the L2: 19" in suites["small kernels"][2][0].text,
          "junit: " + run.read("junit.xml").decode("utf-8")[:900])
    check("data in memory" in suites["aclnn"].find("testcase/system-out").text, "junit: times of a row")
    page(run, 0)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "accept.md"), encoding="utf-8") as f:
        rows = re.findall(r"^\| `([a-z-]+)` \| [^|]* \| ([\d.]+) \| ([\d.]+) \|", f.read().split("## Small kernels")[1], re.M)
    check([r[0] for r in rows] == KERNELS, "docs/accept.md has other small kernels: %s" % rows)
    for name, cold, again in rows:
        k = found[name]
        check(abs(float(cold) / k["model_us"] - 1) < 0.03 and abs(float(again) / k["l2_model_us"] - 1) < 0.03,
              "docs/accept.md has %s and %s us for %s: %s" % (cold, again, name, k))

    trials = [("copy:0:2,vector:0:1.5,vector:1:1.5", {("copy", ""): 2, ("vector", ""): 1.5, ("vector", "l2_"): 1.5}, True),
              ("copy:1:0.5,add-large-past:1:2", {("copy", "l2_"): 0.5, ("add-large-past", "l2_"): 2}, False),
              ("add-past:1:0.4", {("add-past", "l2_"): 0.4}, False),
              ("launch:0:4,launch:1:4", {("launch", ""): 4, ("launch", "l2_"): 4}, True)]
    for given, said, holds in trials if LONG else trials[:3]:
        run = Run(*ONE, env=dict(OPC, ASCGRAD_STANDIN_GAUGE=given))
        off = {(k["name"], p) for k in run.json["small_kernels"] for p in ("", "l2_") if k["times"][p + "verdict"] == "differs"}
        if "launch" in given:  # launches are taken off the others
            off = {o for o in off if o[0] == "launch"}
        check(run.status == 0 and off == set(said), "%s: %s %s" % (given, off, run.said))
        for (name, prefix), ratio in said.items():
            line = "MODEL OFF %s, data in %s: %.2f times" % (name, "the L2" if prefix else "memory", ratio)
            check(line in run.said, "%s: not said: %s\n%s" % (given, line, run.said))
        check(run.json["l2_rule"]["times"]["holds"] is holds and ("RULE OFF" in run.said) is not holds, "%s: %s" % (given, run.json["l2_rule"]))
    run = Run(*ONE, env=dict(OPC, ASCGRAD_STANDIN_GAUGE="copy:0:0,copy:1:0"))
    k = run.json["small_kernels"][2]
    check("has not done what" in k["why"] and k["times"]["verdict"] == "not measured", "a copy that does nothing: %s" % k)

    slow = {"ASCGRAD_STANDIN_SLOW": "ExpSegsumGrad:3"}
    for given, cause in ((None, "kernel"), ("copy:0:3,copy:1:3", "model")):
        run = Run(*ONE, env=dict(OPC, **slow, **({"ASCGRAD_STANDIN_GAUGE": given} if given else {})))
        for prefix, where in (("", "memory"), ("l2_", "the L2")):
            hit = [c for c in run.json["cases"] if c["aclnn"]["times"][prefix + "off"] not in ("small", "unknown")]
            check(hit and all(c["aclnn"]["times"][prefix + "off"] == cause for c in hit), "%s: %s" % (cause, [c["aclnn"]["times"] for c in hit]))
            for c in hit:
                check("%s OFF %s: 3.00 times what the model says, data in %s" % (cause.upper(), c["row"], where) in run.said,
                      "%s: %s" % (cause, run.said))
    run = Run(*ONE, env=slow)
    check({c["aclnn"]["times"]["off"] for c in run.json["cases"]} == {"small", "unknown"} and
          "small kernels: not measured: there is no kernel compiler" in run.said, "nothing to measure with: " + run.said)
    run = Run(*ONE, env=dict(OPC, ASCGRAD_STANDIN_SOC="Ascend950PR_9599"))
    check(all(k["times"]["verdict"] == "agrees" for k in run.json["small_kernels"]), "950: %s" % run.json["small_kernels"])


ALONE = {"small_kernels": small_kernels, "working_directory": working_directory, "private": private, "questions": questions}


def main():
    for name in sys.argv[sys.argv.index("--only") + 1:] if "--only" in sys.argv else []:
        ALONE[name]()
    if "--only" in sys.argv:
        return 1 if failed else 0
    for part in ALONE.values():
        part()
    run = all_well()
    files(run)
    if LONG:
        page(run, 0)
    op = run.json["cases"][-1]["operator"]
    planted(run, "aclnn", "bit", "breaks the contract: it is|other bits than the twin in", op)
    planted(run, "aclnn", "hang", "hangs, and was killed", op)
    planted(run, "aclnn", "crash", "crashed: Segmentation fault", op)
    wrong_tiling(run, op)
    missing_binary(op)
    full_disk(op)
    if LONG:
        again(run)
        cannot_run()
        cann_beside("RotaryPositionEmbeddingGrad", "mode")
        calibrate()
        whole("ExpSegsumGrad")
        interrupted(run)
        for op in sorted({c["operator"] for c in run.json["cases"]}):
            planted(run, "aclnn", "crash", "crashed: Segmentation fault", op)
            wrong_tiling(run, op)
            planted(run, "aclnn", "bit", "breaks the contract: it is|other bits than the twin in", op)
        planted(run, "ge", "bit", "breaks the contract: it is|other bits than the twin in", op)
        planted(run, "ge", "hang", "hangs, and was killed", op)
        planted(run, "ge", "crash", "crashed: Segmentation fault", op)
    print("accept: %s" % ("%d faults of the test" % failed if failed else "well"))
    return 1 if failed else 0


if __name__ == "__main__":
    DIR = tempfile.mkdtemp(prefix="ascgrad-accept-test-")
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(DIR)

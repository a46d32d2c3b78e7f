# SPDX-License-Identifier: Apache-2.0
"""`ascgrad perf --html`: the figures of the page are those of the JSON, it needs no network, works with keys alone and
fits a narrow screen."""
import json
import os
import re
import subprocess
import sys
import tempfile

import browser

ASCGRAD = sys.argv[1]
ROTARY = ["RotaryPositionEmbeddingGrad", "--in", "dy=bf16[1,64,8,128]", "--in", "x=bf16[1,64,8,128]",
          "--in", "cos=bf16[1,64,1,128]", "--in", "sin=bf16[1,64,1,128]", "--attr", "mode=1"]
KEYS = """
const canvas = document.querySelector("canvas[tabindex]"), root = document.documentElement;
canvas.focus();
const press = key => canvas.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
root.setAttribute("data-focus", document.activeElement === canvas);
const before = canvas.toDataURL();
press("+"); press("ArrowRight");
root.setAttribute("data-zoomed", canvas.toDataURL() !== before);
press("Home");
root.setAttribute("data-back", canvas.toDataURL() === before);
press("n");
root.setAttribute("data-picked", document.querySelector(".status").textContent);
root.setAttribute("data-wide", root.scrollWidth > innerWidth);
"""


def perf(folder, *words):
    name = os.path.join(folder, "page.html")
    run = subprocess.run([ASCGRAD, "perf", *words, "--html", name], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout), name


def compare(page, reports):
    figures = page.having("data-figure")
    assert page.body["data-ready"] == str(len(reports))
    assert len(figures) >= 10 * len(reports), len(figures)
    each = len(figures) // len(reports)
    for i, f in enumerate(figures):
        want = reports[i // each][f["data-figure"]]
        assert float(f["text"]) == float(want), (f, want)


def data(name):
    """The runs as they stand in the page."""
    text = open(name, encoding="utf-8").read()
    return [json.loads(part) for part in re.findall(r"RUNS\.push\((.*?)\);\n(?=RUNS|/\*DATA)", text, re.S)]


def named(run):
    """Every buffer has the kernel's name, and buffers and the free rest are the whole UB of a 910B."""
    *buffers, free = run["buffers"]
    assert buffers and all(re.fullmatch(r"\w+", name) for *_, name in buffers), buffers
    assert free[0] == "free" and free[2] + free[3] == 192 * 1024 - 256 == free[3] + sum(b[3] for b in buffers), run["buffers"]


def test_names(folder):
    """Rows of every operator, for the buffers of other paths."""
    rows = subprocess.run([ASCGRAD, "check", "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    seen = {}
    for row in rows[::4]:
        op, *words = row.replace("*", "fp16").split()
        if any(word.startswith(("fill=", "refused")) for word in words):
            continue
        options = [part for word in words for part in ("--in" if "[" in word else "--attr", word)]
        name = os.path.join(folder, "page.html")
        run = subprocess.run([ASCGRAD, "perf", op, *options, "--html", name], capture_output=True, text=True)
        if run.returncode == 0 and json.loads(run.stdout)["gm_read"]:
            named(data(name)[0])
            seen[op] = seen.get(op, 0) + 1
    assert set(seen) == {row.split()[0] for row in rows} and min(seen.values()) >= 3, seen


def test_one(folder):
    report, name = perf(folder, *ROTARY)
    for width in 1280, 400:
        page = browser.show(name, KEYS, width)
        compare(page, [report])
        root = page.root
        assert root["data-focus"] == root["data-zoomed"] == root["data-back"] == "true", root
        assert "core" in root["data-picked"] and ".h:" in root["data-picked"], root
        assert root["data-wide"] == "false", f"wider than {width}"
        call = next(tag["text"] for tag in page.having("id") if tag["id"] == "call")
        for words in ("dy=bf16[1,64,8,128]", "cos=bf16[1,64,1,128]", "mode=1", "ascend910b1", "ascgrad " + report["version"]):
            assert words in call, (words, call)
        assert {tag["data-buffer"] for tag in page.having("data-buffer")} > {"in", "in_cos", "out_dx"}, page.having("data-buffer")
    run, = data(name)
    named(run)
    assert sum(t[2] for t in run["tensors"]) == report["gm_read"]
    assert sum(t[3] for t in run["tensors"]) == report["gm_write"]
    slowest = max({e[0] for e in run["events"]}, key=lambda core: max(e[4] + e[5] for e in run["events"] if e[0] == core))
    for pipe, key in enumerate(("S", "V", "MTE2", "MTE3")):
        busy = sum(e[5] for e in run["events"] if e[0] == slowest and e[1] == pipe) / 1000 / report["time_us"] * report["cycles"]
        assert abs(busy - report["busy"][key]) < 0.02 * report["busy"][key] + 5, (key, busy)


def test_themes(folder):
    faults = list(browser.themes(perf(folder, *ROTARY)[1]))
    assert not faults, faults


def test_several(folder):
    reports, name = perf(folder, *ROTARY, "--soc", "ascend910b1", "--soc", "ascend950", "--cores", "2", "--cores", "8")
    assert [r["soc"] for r in reports] == ["ascend910b1", "ascend910b1", "ascend950", "ascend950"], reports
    assert all(r["block_dim"] <= cores for r, cores in zip(reports, (2, 8, 2, 8))), reports
    compare(browser.show(name, width=1280), reports)


def test_refusals(folder):
    run = subprocess.run([ASCGRAD, "perf", *ROTARY, "--html", folder + "/no/page.html"], capture_output=True, text=True)
    assert run.returncode == 4 and "cannot be written" in run.stderr, run
    run = subprocess.run([ASCGRAD, "perf", *ROTARY, "--html", "/dev/full"], capture_output=True, text=True)
    assert run.returncode == 4 and "cannot be written" in run.stderr, run
    run = subprocess.run([ASCGRAD, "perf", *ROTARY, "--cores", "1", "--cores", "2", "--trace", folder + "/t"],
                         capture_output=True, text=True)
    assert run.returncode == 1 and "--trace is of one run" in run.stderr, run


tests = [test_names, test_one, test_themes, test_several, test_refusals]
for test in tests:
    with tempfile.TemporaryDirectory() as place:
        test(place)
print(f"{len(tests)} passed, 0 failed")

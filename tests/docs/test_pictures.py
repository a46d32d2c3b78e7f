# SPDX-License-Identifier: Apache-2.0
"""The pictures of README and docs: drawn by docs/pictures/draw.py from the tables as they are, and, looked at in Chromium on
a screen of 400 pixels: no words over other words, over an edge, under a line or outside, none too small to read. In
both themes words stand out from what is behind them. The first table of docs/benchmarks.md, which follows from the same."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PICTURES = os.path.join(ROOT, "docs", "pictures")
sys.path[:0] = [os.path.join(ROOT, "tests", "tools"), os.path.join(ROOT, "tests", "bench"), PICTURES]
import browser  # noqa: E402
import canvas  # noqa: E402
import glance  # noqa: E402

NARROW, LEAST = 400, 10  # pixels: of the screen, and of the smallest words
LOOK = """
const root = document.documentElement, box = e => e.getBoundingClientRect();
const meets = (a, b) => a.left < b.right - .5 && b.left < a.right - .5 && a.top < b.bottom - .5 && b.top < a.bottom - .5;
const holds = (a, b) => a.left <= b.left && a.right >= b.right && a.top <= b.top + 2 && a.bottom >= b.bottom - 2;
document.querySelectorAll("svg").forEach((svg, number) => {
    const faults = [], all = box(svg);
    const texts = [...svg.querySelectorAll("text")], rects = [...svg.querySelectorAll("rect:not(.back)")];
    const scale = all.width / svg.viewBox.baseVal.width;
    const lines = [...svg.querySelectorAll("path.edge")].map(p => p.getAttribute("d").match(/-?[\\d.]+/g).map(Number));
    // does the line pass through the middle of the words' box?
    const passes = (line, b) => {
        for (let i = 0; i <= 200; i++) {
            const x = all.left + scale * (line[0] + (line[2] - line[0]) * i / 200), y = all.top + scale * (line[1] + (line[3] - line[1]) * i / 200);
            if (x > b.left && x < b.right && y > b.top + 3 && y < b.bottom - 3) return true;
        }
        return false;
    };
    texts.forEach((t, i) => {
        const b = box(t), name = "'" + t.textContent + "'", size = parseFloat(getComputedStyle(t).fontSize) * scale;
        if (size < LEAST) faults.push(name + " has " + size.toFixed(1) + " pixels");
        if (!holds(all, b)) faults.push(name + " sticks out of the picture");
        texts.slice(i + 1).forEach(o => { if (meets(b, box(o))) faults.push(name + " is over '" + o.textContent + "'"); });
        rects.forEach(r => { if (meets(b, box(r)) && !holds(box(r), b)) faults.push(name + " is over an edge"); });
        lines.forEach(l => { if (passes(l, b)) faults.push(name + " is under a line"); });
    });
    if (texts.length < 5) faults.push("it has hardly a word");
    root.setAttribute("data-seen" + number, faults.join("; "));
});
"""


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def themes():
    for name, theme in (("light", canvas.LIGHT), ("dark", canvas.DARK)):
        for ink, backs in (("ink", ("back", "box", "kept", "summed", "row", "second")), ("quiet", ("back", "box"))):
            for back in backs:
                if contrast(theme[ink], theme[back]) < 4.5:
                    yield f"{name}: {ink} on {back} has a contrast of {contrast(theme[ink], theme[back]):.1f}"


def look(svgs, folder):
    """What is wrong with each picture on a narrow screen."""
    page = os.path.join(folder, "page.html")
    with open(page, "w", encoding="utf-8") as file:
        file.write("<!doctype html><html><head><style>body{margin:0}svg{width:%dpx;height:auto}</style></head><body>%s</body></html>"
                   % (NARROW, "\n".join(svgs)))
    root = browser.show(page, LOOK.replace("LEAST", str(LEAST)), width=NARROW + 100).root
    return [root[f"data-seen{i}"] for i in range(len(svgs))]


def bad_picture():
    sheet = canvas.Sheet("bad")
    for x, words in ((10, "over each other"), (14, "over each other, too"), (470, "outside")):
        sheet.text(x, 20, words)
    sheet.bar(10, 40, 30, 12, "ours")
    sheet.text(20, 50, "over an edge")
    sheet.text(10, 80, "under a line")
    sheet.line(0, 76, 200, 76)
    return sheet.svg().replace('y="80"', 'y="80" style="font-size:11px"')


def main():
    faults, svgs = list(themes()), []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-B", os.path.join(PICTURES, "draw.py"), folder], check=True)
        names = sorted(n for n in os.listdir(PICTURES) if n.endswith(".svg"))
        if names != sorted(os.listdir(folder)):
            faults.append(f"docs/pictures has {names}, draw.py draws {sorted(os.listdir(folder))}")
        for name in names:
            with open(os.path.join(PICTURES, name), encoding="utf-8") as file:
                svgs.append(file.read())
            drawn = os.path.join(folder, name)
            if os.path.exists(drawn) and open(drawn, encoding="utf-8").read() != svgs[-1]:
                faults.append(f"{name} is not what draw.py draws now; run docs/pictures/draw.py")
        *seen, bad = look([*svgs, bad_picture()], folder)
    faults += [f"{name}: {what}" for name, what in zip(names, seen) if what]
    for words in ("is over 'over each other, too'", "sticks out", "is over an edge", "is under a line", "has 9.2 pixels"):
        if words not in bad:
            faults.append(f"a bad picture passes: nothing is said of '{words}', only: {bad}")
    with open(os.path.join(ROOT, "docs", "benchmarks.md"), encoding="utf-8") as file:
        if "<!-- glance -->\n%s\n<!-- /glance -->" % glance.table() not in file.read():
            faults.append("the first table of docs/benchmarks.md is not what tests/bench/glance.py makes of the large one")
    print("\n".join(faults))
    print(f"{len(names)} pictures, {len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())

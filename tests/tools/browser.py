# SPDX-License-Identifier: Apache-2.0
"""Opens a page in headless Chromium and says what it has become."""
import html.parser
import os
import re
import shutil
import subprocess
import tempfile

WATCH = """<script>{
const faults = [], say = text => { faults.push(text); document.documentElement.setAttribute("data-faults", faults.join("; ")); };
addEventListener("error", e => say(e.message || "a resource is missing"), true);
addEventListener("unhandledrejection", e => say(String(e.reason)));
console.error = console.warn = (...words) => say(words.join(" "));
}</script>"""

# The least contrast of any words with what is behind them, and what that is.
CONTRAST = """
const channel = v => (v /= 255) <= .03928 ? v / 12.92 : Math.pow((v + .055) / 1.055, 2.4);
const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number); return .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b); };
const behind = e => { const c = getComputedStyle(e).backgroundColor; return /, 0\\)$/.test(c) && e.parentElement ? behind(e.parentElement) : c; };
let least = 99, who = "";
for (const e of document.querySelectorAll("h1, h2, h3, p, td, th, li, a, b, span, summary, label")) {
  if (!e.textContent.trim() || !e.checkVisibility()) continue;
  const [low, high] = [light(getComputedStyle(e).color), light(behind(e))].sort((a, b) => a - b), ratio = (high + .05) / (low + .05);
  if (ratio < least) { least = ratio; who = e.textContent.slice(0, 40); }
}
document.documentElement.setAttribute("data-contrast", least.toFixed(2));
document.documentElement.setAttribute("data-faint", who);
document.documentElement.setAttribute("data-behind", light(behind(document.body)).toFixed(2));
"""


class Page(html.parser.HTMLParser):
    """The texts of all elements that have an attribute, and the attributes of <html> and <body>."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)
        self.root = next(t for t in self.tags if t["tag"] == "html")
        self.body = next(t for t in self.tags if t["tag"] == "body")

    def handle_starttag(self, tag, attrs):
        entry = {"tag": tag, "text": "", **dict(attrs)}
        self.tags.append(entry)
        if tag not in ("meta", "link", "br", "hr", "img", "input"):
            self.open.append(entry)

    def handle_endtag(self, tag):
        while self.open and self.open.pop()["tag"] != tag:
            pass

    def handle_data(self, data):
        for entry in self.open:
            entry["text"] += data

    def having(self, attribute):
        return [t for t in self.tags if attribute in t]


def show(path, script="", width=1280, height=1000, dark=False):
    """The page after its scripts and one more, as a Page. AssertionError if any of them, or the console, complains."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert binary, "no Chromium here; ./build.sh test installs it"
    text = open(path, encoding="utf-8").read()
    assert not re.search(r"""(src|href)=["']?https?:|url\(|@import|fetch\(|XMLHttpRequest""", text), "the page wants the network"
    text = text.replace("<head>", "<head>" + WATCH, 1).replace("</body>", "<script>{" + script + "}</script></body>")
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "page.html")
        open(copy, "w", encoding="utf-8").write(text)
        run = subprocess.run([binary, "--headless", "--no-sandbox", "--disable-gpu", f"--blink-settings=preferredColorScheme={int(not dark)}", f"--user-data-dir={folder}/profile",
                              f"--window-size={width},{height}", "--virtual-time-budget=3000", "--dump-dom",
                              "file://" + copy], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0 and "<html" in run.stdout, run.stderr[-2000:]
    page = Page(run.stdout)
    assert "data-faults" not in page.root, page.root["data-faults"]
    return page


def themes(path):
    """What is wrong with the page in the light and in the dark theme: a text that hardly differs from what is behind it, or no theme."""
    for dark in (False, True):
        root = show(path, CONTRAST, dark=dark).root
        name = "dark" if dark else "light"
        if float(root["data-contrast"]) < 4.5:
            yield f"{name}: '{root['data-faint']}' has a contrast of {root['data-contrast']}"
        if (float(root["data-behind"]) < 0.2) != dark:
            yield f"{name}: the page behind the words has a brightness of {root['data-behind']}"

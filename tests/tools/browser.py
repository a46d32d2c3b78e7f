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


def show(path, script="", width=1280, height=1000):
    """The page after its scripts and one more, as a Page. AssertionError if any of them, or the console, complains."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert binary, "no Chromium here; ./build.sh test installs it"
    text = open(path, encoding="utf-8").read()
    assert not re.search(r"""(src|href)=["']?https?:|url\(|@import|fetch\(|XMLHttpRequest""", text), "the page wants the network"
    text = text.replace("<head>", "<head>" + WATCH, 1).replace("</body>", "<script>{" + script + "}</script></body>")
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "page.html")
        open(copy, "w", encoding="utf-8").write(text)
        run = subprocess.run([binary, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                              f"--window-size={width},{height}", "--virtual-time-budget=3000", "--dump-dom",
                              "file://" + copy], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0 and "<html" in run.stdout, run.stderr[-2000:]
    page = Page(run.stdout)
    assert "data-faults" not in page.root, page.root["data-faults"]
    return page

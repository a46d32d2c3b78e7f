# SPDX-License-Identifier: Apache-2.0
"""Documentation that cannot drift: every sh block of README and docs is run, links lead somewhere, the support matrix is
what `ascgrad support` prints. A block is left out only behind `<!-- not run: reason -->` on the line above it."""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ["ASCGRAD_BUILD"]
passed = failed = 0


def note(good, text):
    global passed, failed
    passed, failed = passed + good, failed + (not good)
    if not good:
        print("FAIL", text)


def pages():
    names = glob.glob(os.path.join(ROOT, "*.md")) + glob.glob(os.path.join(ROOT, "docs", "*.md"))
    return {os.path.relpath(n, ROOT): open(n, encoding="utf-8").read() for n in sorted(names)}


def sandbox():
    """A folder that looks like a checkout with its build beside it, without being one."""
    folder = tempfile.mkdtemp(prefix="ascgrad docs ")
    for name in os.listdir(ROOT):
        if name not in (".git", "build"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    os.symlink(BUILD, os.path.join(folder, "build"))
    bin_dir = os.path.join(folder, ".bin")
    os.mkdir(bin_dir)
    os.symlink(sys.executable, os.path.join(bin_dir, "python3"))
    return folder, bin_dir


def run_blocks(name, text, folder, bin_dir):
    # as a reader has it: nothing of what the tests set for themselves
    env = {name: value for name, value in os.environ.items() if not name.startswith("ASCGRAD_") and name != "PYTHONPATH"}
    env["PATH"] = bin_dir + ":" + os.environ["PATH"]
    for match in re.finditer(r"(<!-- not run: [^\n]+ -->\n)?```sh\n(.*?)```", text, re.S):
        line = text[:match.start()].count("\n") + 1
        if match.group(1):
            continue
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", match.group(2)], cwd=folder, env=env, text=True,
                              capture_output=True, timeout=600)
        note(done.returncode == 0, f"{name}:{line}: status {done.returncode}\n{match.group(2)}{done.stderr[-600:]}")


def anchors(path):
    """Where a link into the page may lead: its headings as forges name them, and <a id="...">."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```$", "", file.read(), flags=re.S | re.M)
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ (.*)$", text, re.M)]
    slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    return slugs | set(re.findall(r'<a id="([^"]*)"', text))


def check_links(name, text):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path = os.path.normpath(os.path.join(ROOT, os.path.dirname(name), target)) if target else os.path.join(ROOT, name)
        there = os.path.exists(path)
        note(there, f"{name}: the link to {target} leads nowhere")
        if anchor and there and path.endswith(".md"):
            note(anchor in anchors(path), f"{name}: {target or 'the page'} has no place #{anchor}")


def check_support(name, text):
    wanted = subprocess.run([os.environ["ASCGRAD_BIN"], "support"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"<!-- support:[^>]*-->\n(.*?)<!-- /support -->", text, re.S)
    note(found is not None and found.group(1) == wanted, f"{name}: the support matrix is not what `ascgrad support` prints")


def check_errors():
    """Every operator has a page, and the page names it."""
    import ascgrad
    for op, ir in ascgrad.ops.items():
        page = os.path.join(ROOT, "docs", ir["kernel"] + ".md")
        note(os.path.exists(page) and op in open(page, encoding="utf-8").read(), f"{op} has no page {page}")


def main():
    sys.path.insert(0, os.path.join(ROOT, "framework", "python"))
    folder, bin_dir = sandbox()
    more = ("docs/zh/*.md", "framework/*/README.md", "examples/README.md", "examples/*/README.md")
    for name in sorted(n for pattern in more for n in glob.glob(os.path.join(ROOT, pattern))):  # their code has other tests
        check_links(os.path.relpath(name, ROOT), open(name, encoding="utf-8").read())
    for name, text in pages().items():
        run_blocks(name, text, folder, bin_dir)
        check_links(name, text)
        if "<!-- support:" in text:
            check_support(name, text)
    check_errors()
    subprocess.run(["rm", "-rf", folder], check=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())

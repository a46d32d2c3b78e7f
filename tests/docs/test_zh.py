# SPDX-License-Identifier: Apache-2.0
"""The Chinese pages say what the English ones say, as far as a program can tell: headings, code, tables, words in code
type (commands, names, error sentences), figures and links agree, section by section."""
import json
import os
import re
import sys
from collections import Counter

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PAGES = ["install", "troubleshooting", "accept", "clients"] + [op["kernel"] for op in json.load(open(sys.argv[1], encoding="utf-8"))]
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)
failures = []


def sections(text):
    """(level of the heading, its words in code type, what follows it); the text before the first one has level 0."""
    blocks = []
    text = FENCE.sub(lambda m: blocks.append(m.group()) or f"\0{len(blocks) - 1}\0", text)
    parts, found = re.split(r"^(#+) (.*)$", text, flags=re.M), []
    for level, title, body in zip([""] + parts[1::3], [""] + parts[2::3], parts[::3]):
        found.append((len(level), title, body, [blocks[int(n)] for n in re.findall(r"\0(\d+)\0", body)]))
    return found


def prose(body):
    return re.sub(r"`[^`]*`|\0\d+\0|<a [^>]*>|<!--.*?-->|\]\([^)]*\)", " ", body, flags=re.S)


def tables(body):
    return [[len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()]
            for table in re.findall(r"(?:^\|.*\n?)+", body, re.M)]


def figures(body):
    return Counter(re.sub(r"(?<=\d)[,,](?=\d{3})", "", n) for n in re.findall(r"\d+(?:[.,]\d+)*", prose(body)))


def targets(body):
    """Where links lead, seen from docs/."""
    return Counter(os.path.normpath(re.sub(r"^\.\./", "", t)) for t in re.findall(r"\]\(([^)\s]+)\)", body))


def compare(name, where, what, english, chinese):
    if english != chinese:
        if isinstance(english, Counter):
            english, chinese = dict(english - chinese), dict(chinese - english)
        failures.append(f"docs/zh/{name}.md, {where}: {what}: English {english}, Chinese {chinese}")


def check(name):
    path = [os.path.join(ROOT, "docs", folder, name + ".md") for folder in ("", "zh")]
    for p in path:
        if not os.path.exists(p):
            failures.append(f"{os.path.relpath(p, ROOT)} is missing")
            return
    english, chinese = (sections(open(p, encoding="utf-8").read()) for p in path)
    compare(name, "the page", "levels of headings", [s[0] for s in english], [s[0] for s in chinese])
    for (_, title, a, code), (_, other, b, same) in zip(english, chinese):
        where = f"'{title or 'before the first heading'}'"
        code_type = [Counter(re.findall(r"`[^`]*`", text)) for text in (title + a, other + b)]
        compare(name, where, "code blocks", code, same)
        compare(name, where, "tables", tables(a), tables(b))
        compare(name, where, "words in code type", *code_type)
        compare(name, where, "figures", figures(title + a), figures(other + b))
        compare(name, where, "links", targets(a), targets(b))
        if len(prose(a).split()) > 12 and not re.search(r"[\u4e00-\u9fff]", b):
            failures.append(f"docs/zh/{name}.md, {where} is not in Chinese")


for page in PAGES:
    check(page)
print("\n".join(failures))
print(f"{len(PAGES) - len({f.split(',')[0] for f in failures})} passed, {len({f.split(',')[0] for f in failures})} failed")
sys.exit(bool(failures))

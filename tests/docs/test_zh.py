# SPDX-License-Identifier: Apache-2.0
"""The Chinese pages say what the English ones say, as far as a program can tell: headings, code, tables, words in code
type (commands, names, error sentences), figures and links agree, section by section. Punctuation beside Chinese
characters is full-width, as their readers write it.

    test_zh.py IR.json [--write]        --write: makes it so
"""
import json
import os
import re
import sys
from collections import Counter

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PAGES = ["README", "install", "troubleshooting", "accept", "clients", "command", "first_operator", "own_kernel", "recipes", "vocabulary"] + [
    op["kernel"] for op in json.load(open(sys.argv[1], encoding="utf-8"))]
PAIRS = [("README.md", "README.zh.md"), ("examples/operator/docs/swish_glu_grad.md", "examples/operator/docs/zh/swish_glu_grad.md")]
PAIRS += [(f"docs/{page}.md", f"docs/zh/{page}.md") for page in PAGES]
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)
HAN = "\u3001-\u303f\u4e00-\u9fff\uff01-\uff5e"
NOT_PROSE = re.compile(r"^```.*?^```$|`[^`\n]*`|<!--.*?-->|<a [^>]*>|\]\([^)\s]*\)|https?://\S+", re.S | re.M)
failures = []


def typeset(text):
    """The page with full-width punctuation wherever a Chinese character is beside it."""
    kept = []
    text = NOT_PROSE.sub(lambda m: kept.append(m.group()) or f"\0{len(kept) - 1}\0", text)
    inside = r"(?:[^()\n]|\n(?!\n))*"
    text = re.sub(rf"\(({inside}[{HAN}]{inside})\)", r"（\1）", text)
    text = re.sub(rf"(?<=[{HAN}]) ?\(({inside})\)", r"（\1）", text)
    for half, full in zip(",:;!?", "，：；！？"):
        text = re.sub(rf"(?<=[{HAN}]){re.escape(half)} ?|(?<=\S){re.escape(half)} ?(?=[{HAN}])", full, text)
    text = re.sub(r"([，：；！？）]) (?=[^\s|])", r"\1", text)
    text = re.sub(rf"(?<=[{HAN}]) （", "（", text)
    return re.sub(r"\0(\d+)\0", lambda m: kept[int(m.group(1))], text)


def check_typesetting(name):
    path = os.path.join(ROOT, name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    better = typeset(text)
    if "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as file:
            file.write(better)
    elif better != text:
        line, wrong = next((i, a) for i, (a, b) in enumerate(zip(text.splitlines(), better.splitlines()), 1) if a != b)
        failures.append(f"{name}, line {line}: half-width punctuation: {wrong[:80]}; test_zh.py --write puts it right")


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


def targets(body, page):
    """Where links lead: a page and its Chinese one are the same place."""
    found = Counter()
    for target in re.findall(r"\]\(([^)\s]+)\)", body):
        if not re.match(r"#|[a-z]+:", target):
            target = os.path.normpath(os.path.join(os.path.dirname(page), target))
        found[re.sub(r"^docs/zh/", "docs/", target).replace("README.zh.md", "README.md")] += 1
    return found


def compare(name, where, what, english, chinese):
    if english != chinese:
        if isinstance(english, Counter):
            english, chinese = dict(english - chinese), dict(chinese - english)
        failures.append(f"{name}, {where}: {what}: English {english}, Chinese {chinese}")


def check(page, name):
    for p in page, name:
        if not os.path.exists(os.path.join(ROOT, p)):
            failures.append(f"{p} is missing")
            return
    english, chinese = (sections(open(os.path.join(ROOT, p), encoding="utf-8").read()) for p in (page, name))
    compare(name, "the page", "levels of headings", [s[0] for s in english], [s[0] for s in chinese])
    for (_, title, a, code), (_, other, b, same) in zip(english, chinese):
        where = f"'{title or 'before the first heading'}'"
        code_type = [Counter(re.findall(r"`[^`]*`", text)) for text in (title + a, other + b)]
        compare(name, where, "code blocks", code, same)
        compare(name, where, "tables", tables(a), tables(b))
        compare(name, where, "words in code type", *code_type)
        compare(name, where, "figures", figures(title + a), figures(other + b))
        compare(name, where, "links", targets(a, page), targets(b, name))
        if len(prose(a).split()) > 12 and not re.search(r"[\u4e00-\u9fff]", b):
            failures.append(f"{name}, {where} is not in Chinese")


for pair in PAIRS:
    if os.path.exists(os.path.join(ROOT, pair[1])):
        check_typesetting(pair[1])
    check(*pair)
print("\n".join(failures))
print(f"{len(PAIRS) - len({f.split(',')[0] for f in failures})} passed, {len({f.split(',')[0] for f in failures})} failed")
sys.exit(bool(failures))

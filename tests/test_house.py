# SPDX-License-Identifier: Apache-2.0
"""The house: its rooms, who may include whom, and the files of an operator, as docs/architecture.md has them. The table below
is the rule. An include that it does not allow fails, and so does an arrow that nobody uses; the page's list and the picture
docs/house.svg are drawn from it. Last, the check itself is tried on a small tree with planted violations.

    test_house.py [--write]        --write: puts the list into the page, and draws the picture
"""
import fnmatch
import os
import re
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
# Room: what it is; what its files may include beside their own and the system's.
ROOMS = {
    "op_kernel": ("what runs on the AI Core", []),
    "core": ("a node, its IR, shapes, refusals", []),
    "package": ("an installed tree, its owners", []),
    "twin": ("an AI Core on the CPU, C API", ["core", "op_kernel"]),
    "op_tiling": ("how an operator is cut up", ["core", "op_kernel/*_tiling_data.h"]),
    "op_proto": ("REG_OP, infer shape and dtype", ["core"]),
    "ge": ("the bridge to GE", ["core"]),
    "op_api": ("aclnn functions", ["core"]),
    "fusion": ("rope's backward in graphs", ["core"]),
    "irdump": ("the IR as data", ["core"]),
    "op_reference": ("double precision, rows", ["core"]),
    "packaging": ("the .run, its installer, the wheel", ["package"]),
    "framework": ("parsers, Python packages", ["twin/ascgrad.h"]),
    "tools": ("the ascgrad command", ["twin/ascgrad.h", "twin/gauge.h", "op_reference", "package", "ge/layout.h",
                                      "op_proto/inc/ascgrad_ops.h"]),
}
# These know nothing that is not the project's or C's: no GE, no framework, nothing generated.
PURE = ("core", "package", "op_tiling", "op_reference")
# The way of one call from GE, room by room.
CALL = [("ge", "reads GE's context into a node"), ("op_proto", "infers shapes and dtypes"),
        ("op_tiling", "fills the tiling struct"), ("op_kernel", "reads the struct and works")]
# Where an include is looked for when it does not lie beside the file.
PLACES = (".", "core", "op_proto", "op_proto/inc", "op_tiling", "op_kernel", "op_reference", "ge", "twin")
# By the names that users have, and what the twin's entry.cpp makes of a macro.
INSTALLED = {"<ascgrad.h>": "twin/ascgrad.h", "TWIN_TEXT(TWIN_OP.cpp)": "op_kernel/<op>.cpp",
             "TWIN_TEXT(TWIN_DTYPES(TWIN_OP))": "<op>_dtypes.h"}
failures = []


def resolved(root, file, name):
    """The project's path of what a file includes, or the name itself."""
    beside = os.path.normpath(os.path.join(os.path.dirname(file), name))
    if os.path.isfile(os.path.join(root, beside)):
        return beside
    if name != "kernel_operator.h":  # the twin's stands in for Ascend C's own
        for place in PLACES:
            path = os.path.normpath(os.path.join(place, name))
            if os.path.isfile(os.path.join(root, path)):
                return path
    return name


def includes(root):
    """(file, room, what it includes: a path, a bare name, or <name>)"""
    for room in ROOMS:
        for folder, _, names in sorted(os.walk(os.path.join(root, room))):
            for name in sorted(names):
                if not name.endswith((".c", ".h", ".cpp")) or name.endswith("_rows.h") and room == "op_reference":
                    continue
                file = os.path.relpath(os.path.join(folder, name), root)
                with open(os.path.join(root, file), encoding="utf-8") as f:
                    for what in re.findall(r'^ *# *include *(["<][^">]*[">]|TWIN_TEXT.*)', f.read(), re.M):
                        yield file, room, INSTALLED.get(what) or (
                            what if what[0] == "<" else resolved(root, file, what.strip('"')))


def arrow(room, target):
    """The entry of the table that allows an include, "" if none is needed, None if it is forbidden."""
    own = target.split("/")[0] == room
    if room == "op_kernel":  # the device has nothing else
        return "" if own or target in ("kernel_operator.h", "<stdint.h>") else None
    if own or target.startswith("<"):
        return ""
    for allowed in ROOMS[room][1]:
        if fnmatch.fnmatch(target, allowed if "/" in allowed else allowed + "/*"):
            return allowed
    if target.split("/")[0] in (*ROOMS, "tests"):
        return None
    return None if room in PURE else ""


def violations(root):
    return ["%s includes %s" % (file, target) for file, room, target in includes(root) if arrow(room, target) is None]


def check_tree():
    failures.extend(violations(ROOT))
    used = {(room, arrow(room, target)) for _, room, target in includes(ROOT)}
    for room, (_, allowed) in ROOMS.items():
        failures.extend("nothing of %s includes %s: take it out of the table" % (room, a) for a in allowed if (room, a) not in used)


def listed():
    """The table as the page has it."""
    rows = ["%-12s -> %s" % (room, ", ".join(allowed) or ("Ascend C names" if room == "op_kernel" else "nothing"))
            for room, (_, allowed) in ROOMS.items()]
    return "```\n%s\n```" % "\n".join(rows)


def picture():
    """Rooms in floors: each stands above all that it includes."""
    floor = {}
    for room, (_, allowed) in ROOMS.items():  # the table is in an order in which this works
        floor[room] = 1 + max((floor[a.split("/")[0]] for a in allowed), default=-1)
    width, height, wide, tall = 168, 46, 180, 120
    floors = [[r for r in ROOMS if floor[r] == n] for n in range(max(floor.values()) + 1)]
    most = max(map(len, floors))
    place = {}
    for n, rooms in enumerate(floors):
        for i, room in enumerate(rooms):
            place[room] = (20 + (most - len(rooms)) * wide // 2 + i * wide, 20 + (len(floors) - 1 - n) * tall)
    steps = {room: number for number, (room, _) in enumerate(CALL, 1)}
    foot = 20 + len(floors) * tall
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">'
           % (most * wide + 28, foot + 20 * len(CALL) + 30),
           '<rect width="100%" height="100%" fill="white"/>']
    for room, (_, allowed) in ROOMS.items():
        x, y = place[room]
        for target in sorted({a.split("/")[0] for a in allowed}):
            u, v = place[target]
            out.append('<path d="M%d %dL%d %d" stroke="#9ab" fill="none"/>' % (x + width // 2, y + height, u + width // 2, v))
            out.append('<circle cx="%d" cy="%d" r="3" fill="#9ab"/>' % (u + width // 2, v))
    for room, (says, _) in ROOMS.items():
        x, y = place[room]
        out.append('<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="%s" stroke="#456"/>'
                   % (x, y, width, height, "#fff3d6" if room in steps else "#eef3f8"))
        out.append('<text x="%d" y="%d" font-weight="bold" font-size="13">%s</text>' % (x + 8, y + 18, room))
        out.append('<text x="%d" y="%d" font-size="9.5">%s</text>' % (x + 8, y + 36, says))
        if room in steps:
            out.append('<circle cx="%d" cy="%d" r="9" fill="#c60"/><text x="%d" y="%d" fill="white" text-anchor="middle">%d'
                       '</text>' % (x + width - 14, y + 14, x + width - 14, y + 18, steps[room]))
    out.append('<text x="20" y="%d" font-weight="bold">A line leads down from a room to one whose files it includes. '
               'The way of one call from GE:</text>' % foot)
    for number, (room, says) in enumerate(CALL, 1):
        out.append('<text x="20" y="%d">%d  %s %s</text>' % (foot + 20 * number, number, room, says))
    return "\n".join(out + ["</svg>", ""])


def check_page(write):
    page = os.path.join(ROOT, "docs/architecture.md")
    drawing = os.path.join(ROOT, "docs/house.svg")
    text = read(page)
    new = re.sub(r"(<!-- house: [^\n]*-->\n)```.*?```", lambda m: m[1] + listed(), text, flags=re.S)
    drawn = read(drawing) if os.path.exists(drawing) else ""
    if write:
        with open(page, "w", encoding="utf-8") as f:
            f.write(new)
        with open(drawing, "w", encoding="utf-8") as f:
            f.write(picture())
    elif listed() not in text or new != text:
        failures.append("docs/architecture.md has another list of who includes whom: test_house.py --write")
    elif drawn != picture():
        failures.append("docs/house.svg shows another house: test_house.py --write")
    return new


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def kernel_files(op):
    """The kernel, and what it includes, directly or not."""
    found, todo = set(), [op + ".cpp"]
    while todo:
        name = todo.pop()
        if name not in found and os.path.exists(os.path.join(ROOT, "op_kernel", name)):
            found.add(name)
            todo += re.findall(r'^#include "([^"]*)"', read(os.path.join("op_kernel", name)), re.M)
    return found


def check_operators(page):
    """The files that the page says an operator has, for every REG_OP block."""
    count = re.search(r"a `REG_OP` block and (\w+) files", page)[1]
    table = page[page.index("| file | says |"):page.index("A family shares its functions")]
    paths = [p for row in re.findall(r"^\| (`.*?) \|", table, re.M) for p in re.findall(r"`([^`]*)`", row)]
    paths.remove("op_proto/inc/ascgrad_ops.h")
    words = "zero one two three four five six seven eight nine ten eleven twelve".split()
    if words.index(count) != len(paths):
        failures.append("docs/architecture.md: %s files, but the table has %d" % (count, len(paths)))
    types = re.findall(r"^REG_OP\((\w+)\)", read("op_proto/inc/ascgrad_ops.h"), re.M)
    for op in (re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", t).lower() for t in types):
        for path in paths:
            folder, pattern = os.path.split(path.replace("<op>", op).replace("<family>", "*"))
            found = [n for n in os.listdir(os.path.join(ROOT, folder)) if fnmatch.fnmatch(n, pattern)]
            if folder == "op_kernel":
                found = [n for n in found if n in kernel_files(op)]
            elif "*" in pattern:  # one of the families' files names the operator's function
                found = [n for n in found if re.search(r"_%s\b" % op, read(os.path.join(folder, n)))]
            if not found:
                failures.append("%s: there is no %s" % (op, path))


def check_itself():
    good = [("core/a.c", '"node.h"'), ("op_kernel/a.cpp", '"a_grad.h"'), ("op_kernel/a.cpp", '"kernel_operator.h"'),
            ("op_tiling/a.c", '"../op_kernel/a_tiling_data.h"'), ("op_proto/a.c", '"../core/node.h"'), ("op_reference/a.c", '"node.h"'),
            ("ge/a.c", '"../core/node.h"'), ("ge/a.c", '"graph/graph.h"'), ("tools/a.c", '"../twin/ascgrad.h"'),
            ("tools/call/a.c", '"../../op_reference/reference.h"'), ("tools/a.c", '"../package/text.h"'),
            ("packaging/setup/a.c", '"../../package/text.h"'), ("twin/a.c", '"../core/node.h"'), ("twin/a.c", "<math.h>")]
    bad = [("core/a.c", '"../ge/context.h"'), ("core/a.c", '"ascgrad_ops.inc"'), ("op_kernel/a.cpp", "<vector>"),
           ("op_kernel/a.cpp", '"../core/node.h"'), ("op_tiling/a.c", '"../op_kernel/a_grad.h"'), ("op_tiling/a.c", '"context.h"'),
           ("op_tiling/a.c", '"../twin/launch.h"'), ("op_proto/a.c", '"../op_tiling/a.h"'),
           ("op_reference/a.c", '"../op_kernel/a_tiling_data.h"'), ("ge/a.c", '"../twin/ascgrad.h"'),
           ("ge/a.c", '"../op_kernel/a_tiling_data.h"'), ("tools/a.c", '"../twin/launch.h"'), ("tools/a.c", '"../core/node.h"'),
           ("tools/a.c", '"../packaging/setup/setup.h"'), ("package/a.c", '"../packaging/setup/setup.h"'),
           ("package/a.c", '"ascgrad_ops.inc"'), ("packaging/setup/a.c", '"../../core/node.h"'), ("twin/a.c", '"../ge/context.h"'),
           ("twin/a.c", '"../op_reference/reference.h"'), ("framework/a.c", '"../package/text.h"')]
    with tempfile.TemporaryDirectory() as root:
        for path in ("core/node.h", "ge/context.h", "twin/ascgrad.h", "twin/launch.h", "op_kernel/a_tiling_data.h", "op_kernel/a_grad.h",
                     "op_reference/reference.h", "op_tiling/a.h", "package/text.h", "packaging/setup/setup.h", "op_proto/b.h",
                     "framework/b.h", "tools/call/b.h"):
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            open(os.path.join(root, path), "w").close()
        for cases, wanted in ((good, 0), (bad, 1)):
            for file, what in cases:
                with open(os.path.join(root, file), "w", encoding="ascii") as f:
                    f.write("#include %s\n" % what)
                if len(violations(root)) != wanted:
                    failures.append("%s with #include %s is %s" % (file, what, "forbidden" if wanted == 0 else "allowed"))
                os.remove(os.path.join(root, file))
    return len(good) + len(bad)


check_tree()
check_operators(check_page("--write" in sys.argv))
planted = check_itself()
print("\n".join(failures))
print("%d rooms, %d planted includes, %d wrong" % (len(ROOMS), planted, len(failures)))
sys.exit(bool(failures))

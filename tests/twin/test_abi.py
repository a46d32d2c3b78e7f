# SPDX-License-Identifier: Apache-2.0
"""What programs compiled against the last release rely on (docs/abi.md): structs, constants and functions of ascgrad.h and
what the libraries export, against the record. Layouts are the compiler's own, from its debug information.

    test_abi.py CC HEADER VERSION LIBRARY... [--write]        --write: records this tree, for a release
"""
import copy
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RECORD = os.path.join(HERE, "abi.recorded.json")
sys.path.insert(0, os.path.join(HERE, "..", "..", "framework", "python"))
# Callers say how large theirs is, or only read what the library has made.
GROWING = ("ascgrad_call", "ascgrad_report", "ascgrad_event")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ, LC_ALL="C")).stdout


def entries(dump):
    """The debug information: offset -> entry with tag, attributes and children."""
    found, open_ones = {}, []
    for line in dump.splitlines():
        begin = re.match(r" <(\w+)><(\w+)>: Abbrev Number: \d+ \((\w+)\)", line)
        attribute = re.match(r"\s+<\w+>\s+DW_AT_(\w+)\s*:\s*(?:\(.*?\): )?(.*?)\s*$", line)
        if begin:
            entry = {"tag": begin[3][7:], "children": []}
            found[begin[2]] = entry
            del open_ones[int(begin[1], 16):]
            if open_ones:
                open_ones[-1]["children"].append(entry)
            open_ones.append(entry)
        elif attribute and open_ones:
            open_ones[-1].setdefault(attribute[1], attribute[2])
    return found


def spelled(found, entry):
    """A type in C's words, near enough to tell one from another."""
    if entry is None:
        return "void"
    below = found.get(entry.get("type", "")[3:-1])
    tag = entry["tag"]
    if tag == "pointer_type":
        return spelled(found, below) + " *"
    if tag == "const_type":
        return "const " + spelled(found, below)
    if tag == "array_type":
        return spelled(found, below) + "".join("[%d]" % (int(c["upper_bound"], 0) + 1) for c in entry["children"])
    if tag == "subroutine_type":
        given = [spelled(found, found.get(c["type"][3:-1])) for c in entry["children"]]
        return "%s (%s)" % (spelled(found, below), ", ".join(given))
    return ("struct " if tag == "structure_type" else "") + entry["name"]


def fields(found, entry, base=0):
    """Field -> [offset, type]; those of a union without a name are the struct's."""
    own = {}
    for member in entry["children"]:
        if member["tag"] != "member":
            continue
        at = base + int(member.get("data_member_location", "0"), 0)
        kind = found[member["type"][3:-1]]
        if "name" in member:
            own[member["name"]] = [at, spelled(found, kind)]
        else:
            own.update(fields(found, kind, at))
    return own


def read_header(cc, header):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "abi.o")
        run(cc, "-g", "-gdwarf-4", "-fno-eliminate-unused-debug-types", "-x", "c", "-c", header, "-o", file)
        found = entries(run("readelf", "--debug-dump=info", file))
    structs = {e["name"]: {"size": int(e["byte_size"], 0), "fields": fields(found, e)} for e in found.values()
               if e["tag"] == "structure_type" and e.get("name", "").startswith("ascgrad_")}
    constants = {e["name"]: int(e["const_value"], 0) for e in found.values() if e["tag"] == "enumerator"}
    with open(header, encoding="ascii") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    constants.update((name, int(value)) for name, value in re.findall(r"^#define (\w+) (\d+)$", text, re.M))
    functions = {re.search(r"(\w+)\(", p)[1]: re.sub(r"\s+", " ", p).strip()
                 for p in re.findall(r"^ASCGRAD_API (.*?);", text, re.S | re.M)}
    return {"structs": structs, "constants": constants, "functions": functions}


def exports(library):
    lines = run("nm", "-D", "--defined-only", library).splitlines()
    return sorted(re.sub(r"@.*", "", line.split()[-1]) for line in lines if line.split()[-2] != "A")


def broken(old, new):
    """Sentences: what callers of the record would stumble over."""
    said = []
    for name, was in old["structs"].items():
        now = new["structs"].get(name, {"size": 0, "fields": {}})
        for field, place in was["fields"].items():
            if now["fields"].get(field) != place:
                said.append("struct %s: %s was at %d as %s, now %s" % (name, field, *place, now["fields"].get(field)))
        added = {f: place[0] for f, place in now["fields"].items() if f not in was["fields"]}
        if name not in GROWING and (now["size"] != was["size"] or added):
            said.append("struct %s is another: %d bytes, now %d %s" % (name, was["size"], now["size"], sorted(added)))
        said += ["struct %s: %s is at %d, inside the %d bytes that callers have" % (name, f, at, was["size"])
                 for f, at in added.items() if at < was["size"]]
    for kind in ("constants", "functions"):
        said += ["%s was %s, now %s" % (name, was, new[kind].get(name))
                 for name, was in old[kind].items() if new[kind].get(name) != was]
    for library, names in old["exports"].items():
        said += ["%s no longer exports %s" % (library, name)
                 for name in names if name not in new["exports"].get(library, [])]
    return said


def planted(record):
    """The check sees what it is there for: (change of the tree, whether callers break)."""
    def changed(path, value):
        tree = copy.deepcopy(record)
        at = tree
        for key in path[:-1]:
            at = at[key]
        if value is None:
            del at[path[-1]]
        else:
            at[path[-1]] = value
        return tree
    call, library = record["structs"]["ascgrad_call"], min(record["exports"])
    return [
        (changed(("structs", "ascgrad_call", "fields", "later"), [call["size"], "int"]), False),
        (changed(("structs", "ascgrad_call", "fields", "early"), [call["size"] - 4, "int"]), True),
        (changed(("structs", "ascgrad_call", "fields", "soc"), None), True),
        (changed(("structs", "ascgrad_call", "fields", "soc"), [call["fields"]["soc"][0] + 8, "const char *"]), True),
        (changed(("structs", "ascgrad_call", "fields", "soc"), [call["fields"]["soc"][0], "int"]), True),
        (changed(("structs", "ascgrad_tensor", "fields", "later"), [10000, "int"]), True),
        (changed(("structs", "ascgrad_tensor", "size"), 10000), True),
        (changed(("structs", "ascgrad_plan"), None), True),
        (changed(("structs", "ascgrad_new"), {"size": 4, "fields": {}}), False),
        (changed(("constants", "ASCGRAD_SYSTEM"), 5), True),
        (changed(("constants", "ASCGRAD_NEW"), 5), False),
        (changed(("functions", "ascgrad_run"), "int ascgrad_run(void)"), True),
        (changed(("functions", "ascgrad_tile"), None), True),
        (changed(("exports", library), record["exports"][library][1:]), True),
        (changed(("exports", library), record["exports"][library] + ["new"]), False),
    ]


def python_layouts(structs):
    """The Python package has the structs a second time, for ctypes."""
    from ascgrad import _library as ours
    said = []
    for name, mine in {"call": ours.Call, "report": ours.Report, "tensor": ours.Tensor, "setting": ours.Setting,
                       "plan": ours.Plan, "op_info": ours._Info, "arg_info": ours._Arg, "attr_info": ours._Attr}.items():
        theirs = structs["ascgrad_" + name]
        if ctypes.sizeof(mine) != theirs["size"]:
            said.append("_library.py: struct ascgrad_%s has %d bytes, not %d" % (name, theirs["size"], ctypes.sizeof(mine)))
        for field in (f[0] for f in mine._fields_):
            place = theirs["fields"].get({"inp": "in"}.get(field, field))
            if not field.startswith("_") and (not place or place[0] != getattr(mine, field).offset):
                said.append("_library.py: struct ascgrad_%s: %s is at %s" % (name, field, place))
    return said


def main():
    words = [w for w in sys.argv[1:] if w != "--write"]
    cc, header, version, libraries = words[0], words[1], words[2], words[3:]
    now = dict(read_header(cc, header), version=version,
               exports={re.sub(r"\.so[.\d]*$", ".so", os.path.basename(p)): exports(p) for p in libraries})
    if "--write" in sys.argv:
        with open(RECORD, "w", encoding="ascii") as f:
            text = re.sub(r"\[\n\s*(\d+),\n\s*(.*)\n\s*\]", r"[\1, \2]", json.dumps(now, indent=1))
            f.write(text + "\n")
        return 0
    with open(RECORD, encoding="ascii") as f:
        record = json.load(f)
    said = broken(record, now) + python_layouts(now["structs"])
    if int(record["version"].split(".")[0]) < int(version.split(".")[0]):
        said.append("version %s is a new major release: record it with --write" % version)
    tried = planted(record)
    said += ["planted fault %d: %s" % (i, broken(record, tree) or "nothing was said")
             for i, (tree, bad) in enumerate(tried) if bool(broken(record, tree)) != bad]
    print("\n".join(said))
    print("%d structs, %d constants, %d functions, %d exported names as in %s; %d planted changes; %d wrong" % (
        len(record["structs"]), len(record["constants"]), len(record["functions"]),
        sum(map(len, record["exports"].values())), record["version"], len(tried), len(said)))
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())

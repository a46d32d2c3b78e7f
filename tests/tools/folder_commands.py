#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of a build, as the shell that runs it takes it apart: nothing in it is code that comes
from the folder's name, and wherever a part of the name stands, all of it stands.

    folder_commands.py BUILD FOLDER

BUILD is configured for Ninja; FOLDER is the directory with the odd name, in its path.
"""
import json
import re
import subprocess
import sys

CODE = "`$&;|()<>*?[!~\n"  # special to the shell where it is not quoted


def words(command):
    """The words of a command, and what is special in it outside quotes. Double quotes leave ` and $."""
    found, special, word, quote, at = [], [], None, "", 0
    while at < len(command):
        c = command[at]
        at += 1
        if quote == "'":
            quote, word = ("", word) if c == "'" else (quote, word + c)
        elif c == "\\" and at < len(command):
            word = (word or "") + command[at]
            at += 1
        elif quote:
            if c == '"':
                quote = ""
            else:
                if c in "`$":
                    special.append(c)
                word += c
        elif c in "'\"":
            quote, word = c, word or ""
        elif c in " \t":
            if word is not None:
                found.append(word)
            word = None
        elif command.startswith("&&", at - 1):
            at += 1
            if word is not None:
                found.append(word)
            word = None
        elif c in CODE:
            special.append(c)
        else:
            word = (word or "") + c
    return found + ([word] if word is not None else []), special, quote


def main():
    build, folder = sys.argv[1:]
    name = folder.rstrip("/").rsplit("/", 1)[1]
    pieces = [p for p in re.split("\\W", name) if len(p) > 3 and p != "touch"]  # CMake touches, too
    said = subprocess.run(["ninja", "-C", build, "-t", "compdb"], check=True,
                          stdout=subprocess.PIPE).stdout
    commands = sorted({entry["command"] for entry in json.loads(said) if entry["command"]})
    wrong = with_name = 0
    for command in commands:
        found, special, open_quote = words(command)
        halves = [w for w in found for p in pieces if p in w.replace(folder, "")]
        with_name += any(folder in w for w in found)
        if special or open_quote or halves:
            wrong += 1
            print("FAIL: %s\n  unquoted %r, open quote %r, cut %r" % (
                command[:600], "".join(special), open_quote, halves[:2]))
    # a build of nothing, or a name that is nowhere, shows nothing
    if len(commands) < 200 or with_name < 10:
        wrong += 1
        print("FAIL: only %d commands, %d of them with the folder's name" % (len(commands), with_name))
    print("%d commands, %d with the folder's name: %d wrong" % (len(commands), with_name, wrong))
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())

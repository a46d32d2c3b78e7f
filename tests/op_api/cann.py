#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes CANN's own kernels of some types out of ours: cann.py OURS THEIRS TYPE...

OURS and THEIRS are op_impl/ai_core/tbe folders. Index, descriptions and ops-info are as ours, with
other file names.
"""
import json
import os
import sys

CHIP = "ascend910b"


def read(path):
    with open(path, encoding="ascii") as f:
        return json.load(f)


def write(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(value if isinstance(value, str) else json.dumps(value))


def main():
    ours, theirs, types = sys.argv[1], sys.argv[2], sys.argv[3:]
    config = "kernel/config/%s/binary_info_config.json" % CHIP
    index = {t: op for t, op in read(os.path.join(ours, config)).items() if t in types}
    for op in index.values():
        for binary in op["binaryList"]:
            made = read(os.path.join(ours, "kernel", binary["jsonPath"]))
            for field in ("binPath", "jsonPath"):
                binary[field] = binary[field].replace("/ascgrad_", "/")
            made["binFileName"] = os.path.basename(binary["jsonPath"])[:-len(".json")]
            write(os.path.join(theirs, "kernel", binary["jsonPath"]), made)
            write(os.path.join(theirs, "kernel", binary["binPath"]), "CANN's kernel\n")
    write(os.path.join(theirs, config), index)
    info = "config/%s/aic-%s-ops-info.json" % (CHIP, CHIP)
    store = read(os.path.join(ours, info))
    write(os.path.join(theirs, info), {t: store[t] for t in types})


if __name__ == "__main__":
    main()

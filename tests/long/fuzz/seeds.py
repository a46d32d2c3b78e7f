# SPDX-License-Identifier: Apache-2.0
"""Small seed inputs for the fuzzers: seeds.py DIR makes DIR/npy, DIR/words, DIR/json, DIR/doctor, DIR/context."""
import os
import struct
import sys

NPY = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }"
INI = b"load_priority=ascgrad,other\n====\n"
INFO = (b"package=ascgrad-opp\nversion=1.0.0\narch=x86_64 aarch64\nsoc=ascend910b ascend910_93\nops=RopeGrad ExpSegsumGrad\n"
        b"left_out=RotaryMulGrad\n\n" + b"0" * 64 + b"  bin/ascgrad\nlink lib x86_64/lib\n====\n")
OPS = (b'{"ExpSegsumGrad": {"input0": {"name": "grad_output", "paramType": "required", "dtype": "float16,float,bfloat16", '
       b'"format": "ND,ND,ND"}, "attr": {"list": "mode"}, "attr_mode": {"type": "int", "defaultValue": "0"}, '
       b'"dynamicShapeSupport": {"flag": "true"}, "opFile": {"value": "exp_segsum_grad"}}}')
INFO2 = INFO.replace(b"version", b"format=2\nversion").replace(
    b"\n\n", b"\nkernel RopeGrad rope_grad\nowner RopeGrad ge=ascgrad aclnn=nobody why\nmade=vendors\n\n").replace(
        b"====", b"end 2\n====")
INDEX = (b'\n====\n{"ExpSegsumGrad": {"simplifiedKeyMode": 0, "binaryList": [{"simplifiedKey": ["ExpSegsumGrad/d=0,p=0/1,2"], '
         b'"binPath": "x.o", "jsonPath": "x.json"}]}}')


def npy(version, descr, order, shape, data):
    header = (NPY % (descr, order, shape) + "\n").encode()
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\0\x93NUMPY" + bytes([version, 0]) + size + header + data


SEEDS = {
    "npy": [npy(1, "<f4", "False", "2, 3", bytes(24)), npy(2, "<f2", "False", "3,", bytes(6)), npy(3, "<f4", "False", "", bytes(4)),
            b"\1" + npy(1, "<u2", "False", "2, 0", b"")[1:], npy(1, "<f8", "True", "1", bytes(8))],
    "words": [b"\0need_backward=false fp32[2,-1,3]", b"\1mode=3 bf16[]", b"\2qSeqLen=1,2,3 exact_grad=true fp16[-2]",
              b"\3norm_type=2 rope_type=1 concat_order=0", b"\4fp16[9223372036854775807,2]"],
    "json": [OPS, b'[1, -2.5e3, true, null, "a\\u0041\\n", {"x": []}]', b"[[[[[]]]]]"],
    "doctor": [INI + INFO + OPS, INI + INFO2 + OPS + INDEX, b"load_priority=a=b\n====\npackage=ascgrad-opp\n====\n[]", b"# x\n"],
    "context": [bytes([op, call]) + change for op in range(5) for call in range(8)
                for change in (b"", bytes([0, 4, 0, 2]), bytes([1, 4, 0, 3]), bytes([2, 0, 1, 7]), bytes([3, 48, 0, 99]))],
}

for name, seeds in SEEDS.items():
    where = os.path.join(sys.argv[1], name)
    os.makedirs(where, exist_ok=True)
    for i, seed in enumerate(seeds):
        with open(os.path.join(where, f"seed{i}"), "wb") as f:
            f.write(seed)

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every launcher against stand-ins for both families of CANN's Python modules and compares all
it passes on, argument by argument, with what the IR says."""
import importlib
import itertools
import json
import os
import platform
import re
import sys
import types

COUNT = [0, 0]
CTYPE = {"float16": ("DT_FLOAT16", "half"), "float32": ("DT_FLOAT", "float"),
         "bfloat16": ("DT_BF16", "bfloat16_t")}
GE_TYPE = {"fp16": "float16", "fp32": "float32", "bf16": "bfloat16"}
ATTR = {"int": ("int", "OPTION_ATTR_INT", 3), "bool": ("bool", "OPTION_ATTR_BOOL", True),
        "float": ("float", "OPTION_ATTR_FLOAT", 0.5),
        "listInt": ("list_int", "OPTION_ATTR_LIST_INT", [5, 7]),
        "listFloat": ("list_float", "OPTION_ATTR_LIST_FLOAT", [0.5, 2.0])}


def check(condition, what):
    COUNT[0 if condition else 1] += 1
    if not condition:
        print("FAILED: test_launchers.py: " + what, file=sys.stderr)


class Names:
    """para_check: every constant is its own name."""
    def __init__(self, seen):
        self.seen = seen

    def __getattr__(self, name):
        return name

    def check_op_params(self, *kinds):
        self.seen["checks"] = list(kinds)
        return lambda function: function


def module(name, **content):
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        path = ".".join(parts[:i])
        if path not in sys.modules:
            sys.modules[path] = types.ModuleType(path)
            sys.modules[path].__path__ = []
            if i > 1:
                setattr(sys.modules[".".join(parts[:i - 1])], parts[i - 1], sys.modules[path])
    vars(sys.modules[name]).update(content)


def stand_ins(family, seen, config):
    """Makes the modules of one family importable; the other one is not there."""
    for name in list(sys.modules):
        if name.split(".")[0] in ("tbe", "impl", "asc_op_compile_base", "ascgrad_impl"):
            del sys.modules[name]

    def register_operator(op_type, **options):
        seen["registered"] = (op_type, options)
        return lambda function: function

    def compile_op(*args):
        seen["compile_op"] = args

    def get_code_channel(*args):
        seen["get_code_channel"] = args
        return 77

    def op_info(**fields):
        seen["op_info"] = fields
        return "op info"

    compiler = dict(OpInfo=op_info, compile_op=compile_op, get_code_channel=get_code_channel)
    register = types.SimpleNamespace(register_operator=register_operator)
    if family == "new":
        module("asc_op_compile_base.asc_op_compiler", **compiler)
        module("asc_op_compile_base.common", register=register)
        module("asc_op_compile_base.common.buildcfg", get_current_build_config=config.get)
        module("asc_op_compile_base.common.utils", para_check=Names(seen))
    else:
        module("tbe.tikcpp", **compiler)
        module("impl.util.platform_adapter", tbe_register=register)
        module("tbe.common.buildcfg", get_current_build_config=config.get)
        module("tbe.common.utils", para_check=Names(seen))


def tensor(dtype):
    return {"shape": [4], "ori_shape": [4], "format": "ND", "ori_format": "ND", "dtype": dtype}


def expected_options(op, inputs, outputs, family, folder, impl_mode, deterministic):
    want = []
    for t, value in itertools.chain(zip(op["inputs"], inputs), zip(op["outputs"], outputs)):
        if value is not None:
            name = t["name"].upper()
            enum, ctype = CTYPE[value["dtype"]]
            want += ["-DDTYPE_%s=%s" % (name, ctype), "-DORIG_DTYPE_%s=%s" % (name, enum),
                     "-DFORMAT_%s=FORMAT_ND" % name]
    want += ["-x", "cce"]
    if family == "new":
        machine = "x86_64" if "x86" in platform.machine() else "aarch64"
        want.append("-I/cann/%s-linux/asc/../ascendc/act" % machine)
    else:
        want += ["-I/cann/tikcpp", "-I/cann/tikcpp/../../include", "-I/cann/tikcpp/tikcfw",
                 "-I/cann/tikcpp/tikcfw/impl", "-I/cann/tikcpp/tikcfw/interface"]
    want.append("-I%s/dynamic/../ascendc/common" % folder)
    if impl_mode:
        want.append("-D%s=1" % impl_mode.upper())
    return want + ["-DDETERMINISTIC_MODE=%d" % deterministic]


def interface(launcher, op):
    """The function that GE calls: the one that ops-info names."""
    names = [n for n in vars(launcher) if re.fullmatch(op["kernel"] + "_[0-9a-f]{8}", n)]
    check(names == [op["interface"]], op["type"] + ": opInterface is the launcher's function")
    return getattr(launcher, names[0])


def run_one(op, launcher, seen, family, folder, column, present, impl_mode, deterministic):
    def values(side):
        return [tensor(GE_TYPE[t["dtypes"][column]]) if t["kind"] == "required" or present
                else None for t in op[side]]

    where = "%s, %s modules, column %d, optional inputs %s" % (op["type"], family, column, present)
    inputs, outputs = values("inputs"), values("outputs")
    attrs = [ATTR[a["type"]][2] for a in op["attrs"]]
    seen.pop("compile_op", None)
    entry = interface(launcher, op)
    entry(*inputs, *outputs, *attrs, kernel_name="k_123", impl_mode=impl_mode)
    source = "%s/dynamic/../ascendc/%s/%s.cpp" % (folder, op["kernel"], op["kernel"])
    options = expected_options(op, inputs, outputs, family, folder, impl_mode, deterministic)
    extra = ({"valueDepend": {}},) if family == "new" else ()
    passed = (source, op["kernel"], "op info", options, 77, "{}") + extra
    check(seen.get("compile_op") == passed, where + ": compile_op")
    passed = (source, "k_123", op["type"], options)
    check(seen["get_code_channel"] == passed, where + ": get_code_channel")
    settings = [{"name": a["name"], "dtype": ATTR[a["type"]][0], "value": v}
                for a, v in zip(op["attrs"], attrs)]
    passed = dict(
        kernel_name="k_123", op_type=op["type"], inputs=inputs, outputs=outputs, attrs=settings,
        impl_mode=impl_mode, origin_inputs=inputs, origin_outputs=outputs,
        param_type_dynamic=False, mc2_ctx=[],
        param_type_list=[t["kind"] for t in op["inputs"] + op["outputs"]],
        init_value_list=[None] * len(op["outputs"]), output_shape_depend_on_compute=[])
    check(seen["op_info"] == passed, where + ": OpInfo")


def check_operator(op, folder, family, seen, config):
    launcher = importlib.import_module("ascgrad_impl.dynamic." + op["kernel"])
    want = (op["type"], {"trans_bool_to_s8": False})
    check(seen["registered"] == want, op["type"] + " registers itself")
    kinds = ["OPTION_INPUT" if t["kind"] == "optional" else "REQUIRED_INPUT" for t in op["inputs"]]
    kinds += ["REQUIRED_OUTPUT"] * len(op["outputs"])
    kinds += [ATTR[a["type"]][1] for a in op["attrs"]] + ["KERNEL_NAME"]
    check(seen["checks"] == kinds, op["type"] + ": check_op_params")
    entry = interface(launcher, op)
    names = entry.__code__.co_varnames[:entry.__code__.co_argcount]
    want = [t["name"] + "_in__" for t in op["inputs"]]
    want += [t["name"] + "_out_" for t in op["outputs"]]
    want += [a["name"] for a in op["attrs"]] + ["kernel_name", "impl_mode"]
    check(list(names) == want, op["type"] + ": parameters")
    defaults = dict(zip(names[-len(entry.__defaults__):], entry.__defaults__))
    for a in op["attrs"]:
        if not a["required"]:
            check(repr(defaults[a["name"]]) == repr(a["default"]),
                  "%s: default of %s" % (op["type"], a["name"]))
    check(defaults["kernel_name"] == op["kernel"], op["type"] + ": kernel_name")
    check(defaults["impl_mode"] == "", op["type"] + ": impl_mode")
    for column, present in itertools.product(range(len(op["inputs"][0]["dtypes"])), (True, False)):
        run_one(op, launcher, seen, family, folder, column, present, "", 0)
    config["enable_deterministic_mode"] = 1
    run_one(op, launcher, seen, family, folder, 0, True, "high_performance", 1)
    run_one(op, launcher, seen, family, folder, 0, True, "high_precision", 1)
    config.pop("enable_deterministic_mode")
    odd = [dict(tensor("int32")) for _ in op["inputs"]]
    try:
        entry(*odd, *[tensor("int32") for _ in op["outputs"]], *[ATTR[a["type"]][2]
                                                               for a in op["attrs"]])
        check(False, op["type"] + ": int32 is not refused")
    except RuntimeError as error:
        check(op["type"] in str(error) and "int32" in str(error), op["type"] + ": sentence")
    config["enable_op_prebuild"] = True
    seen.clear()
    entry(*[None] * (len(op["inputs"]) + len(op["outputs"]) + len(op["attrs"])))
    check(not seen, op["type"] + ": nothing is compiled during prebuild")
    config.pop("enable_op_prebuild")


def main():
    with open(os.environ["ir"], encoding="ascii") as f:
        ops = json.load(f)
    vendor = os.path.join(os.environ["fix"], "one/packages/vendors/ascgrad")
    tbe = os.path.join(os.path.realpath(vendor), "op_impl/ai_core/tbe")
    folder = os.path.join(tbe, "ascgrad_impl")
    with open(os.path.join(tbe, "config/ascend910b/aic-ascend910b-ops-info.json"),
              encoding="ascii") as f:
        for op_type, record in json.load(f).items():
            for op in ops:
                if op["type"] == op_type:
                    op["interface"] = record["opInterface"]["value"]
    os.environ.update(ASCEND_HOME_PATH="/cann", BISHENG_REAL_PATH="/cann/bisheng/bin/bisheng")
    os.environ.pop("BUILD_KERNEL_SRC", None)
    sys.path.insert(0, tbe)  # as GE does
    for family in ("new", "old"):
        seen, config = {}, {}
        stand_ins(family, seen, config)
        for op in ops:
            check_operator(op, folder, family, seen, config)
    print("test_launchers.py: %d passed, %d failed" % tuple(COUNT))
    return COUNT[1] != 0


if __name__ == "__main__":
    sys.exit(main())

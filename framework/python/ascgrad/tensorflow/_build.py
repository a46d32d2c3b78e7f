# SPDX-License-Identifier: Apache-2.0
"""The operator library for the TensorFlow that is installed.

TensorFlow's C++ interface changes with every version, so the library is compiled on this machine: once per version of
TensorFlow and of ascgrad, into a cache (ASCGRAD_CACHE, else ascgrad/ in XDG_CACHE_HOME or ~/.cache).
"""
import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

import tensorflow as tf

import ascgrad
from ascgrad import _library

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "src")


def registration(op, ir):
    """REGISTER_OP and kernel of one operator, from its IR. TensorFlow has no optional inputs: such an input is a list of
    no or one tensor, as the parser of the package expects."""
    any_type = "{half, bfloat16, float}"
    lines, attrs = [f'REGISTER_OP("{op}")'], {}
    for name, optional, types in ir["in"]:
        only = set(types.split(",")) == {"fp32"}
        if optional:
            lines.append(f'.Input("{name}: {name}_type")')
            lines.append(f'.Attr("{name}_type: list({"{float}" if only else any_type}) >= 0")')
        else:  # inputs with one list of dtypes have one attribute: T, or named after the first of them
            attr = "float" if only else attrs.setdefault(types, f"T{name}" if attrs else "T")
            lines.append(f'.Input("{name}: {attr}")')
    determined = set(attrs)  # by required inputs; the dtype of another output is an attribute that the caller may give
    lines += [f'.Output("{name}: {attrs.setdefault(types, "T" + name)}")' for name, types in zip(ir["out"], ir["out_types"])]
    for name, kind in ir["attr"]:
        text = {"listInt": "list(int)", "listFloat": "list(float)"}.get(kind, kind)
        if name in ir["default"]:
            text += " = " + str(ir["default"][name]).lower()
        lines.append(f'.Attr("{name}: {text}")')
    lines += [f'.Attr("{attr}: {any_type}{"" if types in determined else " = DT_FLOAT"}")' for types, attr in attrs.items()]
    lines.append(f'.SetShapeFn([](InferenceContext *c) {{ return infer_shapes(c, "{op}"); }});')
    lines.append(f'REGISTER_KERNEL_BUILDER(Name("{op}").Device(DEVICE_CPU), GradKernel);')
    return "\n".join(lines) + "\n"


def registrations():
    return "\n".join(registration(op, ir) for op, ir in _library.operators().items())


def cached():
    """Where the library for this TensorFlow is, or will be: the name says what went into it."""
    digest = hashlib.sha256("\n".join([tf.version.VERSION, tf.version.GIT_VERSION, ascgrad.version(), registrations()]).encode())
    for name in sorted(os.listdir(SOURCES)):
        with open(os.path.join(SOURCES, name), "rb") as file:
            digest.update(file.read())
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.environ.get("ASCGRAD_CACHE") or os.path.join(home, "ascgrad")
    return os.path.join(folder, f"libascgrad_tf-{tf.version.VERSION}-{digest.hexdigest()[:16]}.so")


def _run(commands):
    """Runs all at once; ImportError with the first complaint of a compiler."""
    running = []
    for command in commands:
        try:
            running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        except OSError as error:
            for job in running:
                job.kill()
                job.wait()
            raise ImportError(f"ascgrad.tensorflow: the operator library cannot be built: {error}; it needs a C and a C++ "
                              "compiler (Debian: apt-get install gcc g++; or set CC and CXX)") from None
    for job, said in [(job, job.communicate()[0]) for job in running]:
        if job.returncode != 0:
            complaint = next((line for line in said.splitlines() if "error" in line), said[-500:])
            raise ImportError(f"ascgrad.tensorflow: {' '.join(job.args[:1])} could not build the operator library for "
                              f"TensorFlow {tf.version.VERSION}: {complaint}")


def flags():
    """What the compiler is told of this TensorFlow. Versions before 2.7 are C++14 and do not say so; built with a newer
    standard, strings would be passed as types that those do not have."""
    said = tf.sysconfig.get_compile_flags()
    return said if any(flag.lstrip("-").startswith("std=") for flag in said) else [*said, "-std=c++14"]


def compile_to(output):
    """Compiles and links the library into the file output."""
    cc, cxx = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
    include = ["-I" + os.path.join(_library.FOLDER, "include"), "-I" + SOURCES]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "registrations.inc"), "w", encoding="ascii") as file:
            file.write(registrations())
        objects, commands = [], []
        for name in ("forward.c", "forward_ops.cpp", "grad_ops.cpp"):
            objects.append(os.path.join(folder, name + ".o"))
            compiler = [cc, "-std=c11"] if name.endswith(".c") else [cxx, "-w", *flags()]
            commands.append([*compiler, "-O2", "-fPIC", "-fvisibility=hidden", *include, "-I" + folder, "-c",
                             os.path.join(SOURCES, name), "-o", objects[-1]])
        _run(commands)
        # libascgrad has been loaded before, and is found by its name
        _run([[cxx, "-shared", *objects, _library.path(), "-Wl,--as-needed", *tf.sysconfig.get_link_flags(), "-o", output]])


def library():
    """The path of the library, which is built if it is not there yet."""
    path = cached()
    if os.path.exists(path):
        return path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several processes of one job may start at once
        if os.path.exists(path):
            return path
        print(f"ascgrad.tensorflow: building the operator library for TensorFlow {tf.version.VERSION}, once: {path}",
              file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
            built = os.path.join(folder, "library.so")
            compile_to(built)
            shutil.move(built, path)
    return path


def load():
    """The operators of the library; ImportError with a sentence if they cannot be had."""
    path = library()
    ctypes.CDLL(_library.path(), ctypes.RTLD_GLOBAL)
    try:
        return tf.load_op_library(path)
    except tf.errors.NotFoundError as error:
        raise ImportError(f"ascgrad.tensorflow: {path} does not fit TensorFlow {tf.version.VERSION} ({error.message}); "
                          "remove it, and it is built anew") from None

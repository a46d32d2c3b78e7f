# SPDX-License-Identifier: Apache-2.0
"""Records the gradient graphs of common ropes as TensorFlow makes them, in GE's types.

tf.gradients, then grappler with remapping and memory optimisation off, as the TensorFlow adapter of CANN runs it. The
types of TensorFlow and GE have the same names here, but for Sum, which is ReduceSum. A Const that is not of integers and
not of zeros is written as an input.

usage: record_tensorflow.py DIR
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2  # noqa: E402
from tensorflow.python.framework import tensor_util  # noqa: E402
from tensorflow.python.grappler import tf_optimizer  # noqa: E402

from recorder import Recorder  # noqa: E402

v1 = tf.compat.v1
NAMES = {tf.float32: "fp32", tf.float16: "fp16", tf.bfloat16: "bf16", tf.int32: "int32", tf.int64: "int64", tf.bool: "bool"}
TYPES = {"Sum": "ReduceSum"}
ATTRS = {"StridedSlice": ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"],
         "Pack": ["axis"], "Unpack": ["axis"], "ReduceSum": ["keep_dims"]}
ATTRS["StridedSliceGrad"] = ATTRS["StridedSlice"]
B, N, S, D = 2, 3, 4, 8


def rotate_half(x):
    a, b = tf.split(x, 2, axis=-1)
    return tf.concat([-b, a], -1)


def half(x, cos, sin):
    return x * cos + rotate_half(x) * sin


def half_slices(x, cos, sin):
    h = x.shape[-1] // 2
    return x * cos + tf.concat([-x[..., h:], x[..., :h]], -1) * sin


def pairs(x, cos, sin):
    rotated = tf.reshape(tf.stack([-x[..., 1::2], x[..., ::2]], -1), tf.shape(x))
    return x * cos + rotated * sin


def two_halves(x, cos, sin):
    a, b = tf.split(x, 2, axis=-1)
    return tf.concat([a * cos - b * sin, b * cos + a * sin], -1)


def real_imag(x, cos, sin):
    a, b = tf.unstack(tf.reshape(x, x.shape[:-1] + [x.shape[-1] // 2, 2]), axis=-1)
    return tf.reshape(tf.stack([a * cos - b * sin, a * sin + b * cos], -1), x.shape)


def segsum(x, _cos, _sin):
    """exp(segsum) of Mamba-2; nothing of rope in it."""
    size = x.shape[-1]
    below = tf.constant(np.tril(np.ones((size, size), bool), -1))
    wide = tf.where(below, tf.repeat(x[..., None], size, axis=-1), 0.0)
    sums = tf.where(tf.constant(np.tril(np.ones((size, size), bool))), tf.cumsum(wide, axis=-2), -np.inf)
    return tf.exp(sums)


def attention(x, cos, _sin):
    """Attention without rope."""
    scores = tf.nn.softmax(tf.matmul(x, x, transpose_b=True))
    return tf.matmul(scores, x) * cos + x


FULL, HALF = (1, 1, S, D), (1, 1, S, D // 2)
# name, forward, batch, tables, dtype, what is to be found
ROWS = [
    ("half", half, B, FULL, tf.float32, dict(mode=0)),
    ("half_fp16", half, B, FULL, tf.float16, dict(mode=0)),
    ("half_slices", half_slices, B, FULL, tf.bfloat16, dict(mode=0)),
    ("pairs", pairs, B, FULL, tf.float32, dict(mode=1)),
    ("two_halves", two_halves, B, HALF, tf.float16, dict(mode=0, how="/halves")),
    ("real_imag", real_imag, B, HALF, tf.float32, dict(mode=1, how="/pairs")),
    ("half_tables", half, B, FULL, tf.float32, dict(mode=0, tables=True)),
    ("half_tables_fp16", half, B, FULL, tf.float16, dict(mode=0, tables=True)),
    ("half_low_rank_tables", half, B, (S, D), tf.float32, dict(mode=0, tables=True)),
    ("half_any_batch", half, None, FULL, tf.float32, {}),
    ("segsum", segsum, B, FULL, tf.float32, {}),
    ("attention", attention, B, FULL, tf.float32, {}),
]


def optimize(graph, fetches):
    """The graph after grappler."""
    config = config_pb2.ConfigProto()
    rewrite = config.graph_options.rewrite_options
    rewrite.remapping = rewriter_config_pb2.RewriterConfig.OFF
    rewrite.memory_optimization = rewriter_config_pb2.RewriterConfig.NO_MEM_OPT
    rewrite.min_graph_nodes = -1
    rewrite.meta_optimizer_iterations = rewriter_config_pb2.RewriterConfig.TWO
    with graph.as_default():
        for tensor in fetches:
            v1.add_to_collection("train_op", tensor.op)
        meta = v1.train.export_meta_graph(graph=graph)
    small = tf_optimizer.OptimizeGraph(config, meta)
    result = tf.Graph()
    with result.as_default():
        tf.import_graph_def(small, name="")
    return result


def needed(graph, names):
    """Operations behind the fetches, inputs first."""
    order, seen = [], set()

    def visit(op):
        if op.name in seen:
            return
        seen.add(op.name)
        for t in op.inputs:
            visit(t.op)
        order.append(op)

    for name in names:
        visit(graph.get_operation_by_name(name))
    return order


def shape_of(tensor):
    return NAMES[tensor.dtype], tuple(-1 if d is None else d for d in tensor.shape.as_list())


def record_op(out, names, op):
    def name_of(t):
        return names[t.op.name] + (f":{t.value_index}" if t.value_index else "")

    outputs = [shape_of(t) for t in op.outputs if t.dtype in NAMES]
    if op.type == "Const":
        value = tensor_util.MakeNdarray(op.get_attr("value"))
        if outputs and outputs[0][0].startswith("int"):
            names[op.name] = out.ints(op.name, value.reshape(-1), value.shape, outputs[0][0])
        elif outputs and not value.any():
            names[op.name] = out.zeros(op.name, *outputs[0])
        else:
            names[op.name] = out.input(op.name, *(outputs[0] if outputs else ("int32", value.shape)))
        return
    if op.type in ("Placeholder", "PlaceholderWithDefault"):
        names[op.name] = out.input(op.name, *outputs[0])
        return
    type_ = TYPES.get(op.type, op.type)
    attrs = {}
    for attr in ATTRS.get(type_, []):
        attrs[attr] = op.get_attr(attr)
    names[op.name] = out.node(op.name, type_, [name_of(t) for t in op.inputs], outputs, **attrs)


def record(name, forward, batch, table, dtype, found):
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(dtype, (batch, N, S, D), "x")
        cos, sin = (v1.placeholder(dtype, table, n) for n in ("cos", "sin"))
        y = forward(x, cos, sin)
        dy = v1.placeholder(dtype, y.shape, "dy")
        wanted = [x, cos, sin] if found.get("tables") else [x]
        # Consumers, as a model has them: the gradients are not the end.
        fetches = [tf.identity(g, f"result{i}") for i, g in enumerate(tf.gradients(y, wanted, dy))]
    small = optimize(graph, fetches)
    results = [f.op.name for f in fetches]
    out = Recorder(f"TensorFlow {tf.__version__}, gradients of {forward.__name__} after grappler; made by "
                   "record_tensorflow.py")
    names = {}
    for op in needed(small, results):
        record_op(out, names, op)
    out.output(*[names[r] for r in results])
    how = found.get("how", "")
    if found:
        ends = [small.get_operation_by_name(r).inputs[0].op for r in results]
        fields = dict(mode=found["mode"], dx=names[ends[0].name], dy="dy", cos="cos" + how, sin="sin" + how)
        if found.get("tables"):
            sums = [e.inputs[0].op if e.type == "Reshape" else e for e in ends[1:]]
            fields.update(x="x", dcos=names[sums[0].name], dsin=names[sums[1].name])
        out.expect(**fields)
    else:
        out.expect()
    return out


def main(folder):
    for row in ROWS:
        record(*row).write(f"{folder}/tensorflow_{row[0]}.txt")


if __name__ == "__main__":
    main(sys.argv[1])

# SPDX-License-Identifier: Apache-2.0
"""A TensorFlow model in plain operations, and what the graph pass makes of its gradients, on the CPU.

Attention with rope on queries and keys, written as every tutorial writes it. The gradient graph is taken as CANN's
TensorFlow adapter hands it to GE (tf.gradients, then grappler); the matcher of the pass finds rope's backward in it; and
each place it finds is replaced by RotaryPositionEmbeddingGrad, run on the CPU twin. Both graphs run on the same numbers,
and both are compared with the formula in double.

usage: tensorflow_model.py [--keep FILE]      the recorded graph is left in FILE
       needs TensorFlow (tests/framework/install_wheels.sh) and a build; ASCGRAD_BUILD names it (default build/)
"""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "fusion"))
BUILD = os.environ.get("ASCGRAD_BUILD", os.path.join(ROOT, "build"))

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from record_tensorflow import needed, optimize, record_op  # noqa: E402
from recorder import Recorder  # noqa: E402

v1 = tf.compat.v1
B, S, N, D = 2, 64, 4, 64
DTYPE = tf.float16


def rope(x, cos, sin):
    a, b = tf.split(x, 2, axis=-1)
    return x * cos + tf.concat([-b, a], -1) * sin


def model(x, weights, cos, sin):
    q, k, v = (tf.reshape(tf.matmul(tf.reshape(x, (B * S, N * D)), w), (B, S, N, D)) for w in weights)
    q, k, v = (tf.transpose(t, (0, 2, 1, 3)) for t in (rope(q, cos, sin), rope(k, cos, sin), v))
    scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * tf.constant(D ** -0.5, DTYPE))
    return tf.matmul(scores, v)


def build():
    """The graph after grappler, and the names of what is fetched."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(DTYPE, (B, S, N * D), "x")
        cos, sin = (v1.placeholder(DTYPE, (1, S, 1, D), n) for n in ("cos", "sin"))
        weights = [v1.placeholder(DTYPE, (N * D, N * D), n) for n in ("wq", "wk", "wv")]
        y = model(x, weights, cos, sin)
        grads = tf.gradients(y, weights, v1.placeholder(DTYPE, y.shape, "dy"))
        fetches = [tf.identity(g, f"d{w.op.name}") for g, w in zip(grads, weights)]
    return optimize(graph, fetches), [f.op.name for f in fetches]


def find(graph, fetches, path):
    """The matches, with TensorFlow's names."""
    out, names = Recorder("attention with rope; written by examples/fusion/tensorflow_model.py"), {}
    operations = needed(graph, fetches)
    for op in operations:
        record_op(out, names, op)
    out.output(*[names[f] for f in fetches])
    out.write(path)
    text = subprocess.run([os.path.join(BUILD, "bin", "show_matches"), path], check=True, capture_output=True,
                          text=True).stdout
    back = {short: name for name, short in names.items()}
    matches = []
    for line in text.splitlines():
        fields = dict(word.split("=", 1) for word in line.split())
        mode = int(fields.pop("mode"))
        matches.append((mode, {k: f"{back[v.rsplit(':', 1)[0]]}:{v.rsplit(':', 1)[1]}" for k, v in fields.items()}))
    return matches, operations


def operator(mode):
    def run(dy, cos, sin):
        with tempfile.TemporaryDirectory() as folder:
            words = [os.path.join(BUILD, "bin", "ascgrad"), "run", "RotaryPositionEmbeddingGrad", "--attr", f"mode={mode}"]
            for name, value in (("dy", dy), ("cos", cos), ("sin", sin)):
                np.save(f"{folder}/{name}.npy", value.numpy())
                words += ["--in", f"{name}={folder}/{name}.npy"]
            subprocess.run(words + ["--out", f"dx={folder}/dx.npy"], check=True, stdout=subprocess.DEVNULL)
            return np.load(f"{folder}/dx.npy")
    return run


def rewrite(graph, matches, fetches):
    """The same graph with the operator in the place of each match, beside the old one."""
    inputs = {f"{op.name}:0": op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"}
    definition = graph.as_graph_def()
    with graph.as_default():
        for i, (mode, names) in enumerate(matches):
            old = graph.get_tensor_by_name(names["dx"])
            new = tf.py_function(operator(mode), [graph.get_tensor_by_name(names[n]) for n in ("dy", "cos", "sin")],
                                 old.dtype, name=f"RotaryPositionEmbeddingGrad{i}")
            new.set_shape(old.shape)
            inputs[names["dx"]] = new
            names["new"] = new.name
        tf.import_graph_def(definition, input_map=inputs, name="rewritten")
    return [f"rewritten/{name}" for name in fetches]


def exact(dy, cos, sin):
    dy, turned = dy.astype(np.float64), (dy.astype(np.float64) * sin.astype(np.float64))
    low, high = np.split(turned, 2, axis=-1)
    return dy * cos.astype(np.float64) + np.concatenate([high, -low], -1)


def feeds():
    random = np.random.default_rng(1)
    angle = np.outer(np.arange(S), 10000.0 ** (-np.arange(D // 2) / (D // 2)))
    table = np.concatenate([angle, angle], -1)[None, :, None, :]
    values = {"x": random.standard_normal((B, S, N * D)), "cos": np.cos(table), "sin": np.sin(table),
              "dy": random.standard_normal((B, N, S, D))}
    for name in ("wq", "wk", "wv"):
        values[name] = random.standard_normal((N * D, N * D)) / (N * D) ** 0.5
    return {f"{name}:0": value.astype(np.float16) for name, value in values.items()}


def main():
    keep = sys.argv[2] if len(sys.argv) == 3 and sys.argv[1] == "--keep" else None
    graph, fetches = build()
    with tempfile.TemporaryDirectory() as folder:
        matches, operations = find(graph, fetches, keep or os.path.join(folder, "graph.txt"))
    print(f"gradient graph: {len(operations)} operations, {len(matches)} of rope's backward in it")
    assert len(matches) == 2, "queries and keys"
    renamed = rewrite(graph, matches, fetches)
    with v1.Session(graph=graph) as session:
        given = feeds()
        old, new = session.run([[f"{n}:0" for n in fetches], [f"{n}:0" for n in renamed]], given)
        for mode, names in matches:
            dy, cos, sin, before, after = session.run([names[k] for k in ("dy", "cos", "sin", "dx", "new")], given)
            truth = exact(dy, cos, sin)
            apart, fused = (np.abs(a.astype(np.float64) - truth) for a in (before, after))
            differ = np.mean(before != after)
            print(f"mode {mode}, {names['dx']}: mean error {apart.mean():.3g} in plain operations, {fused.mean():.3g} as "
                  f"one operator; {100 * differ:.0f} % of the elements differ in their bits")
            assert fused.mean() < apart.mean()
    for name, a, b in zip(fetches, old, new):
        a, b = a.astype(np.float64), b.astype(np.float64)
        print(f"{name}: relative difference of the two graphs {np.linalg.norm(a - b) / np.linalg.norm(a):.2g}")
        assert np.linalg.norm(a - b) <= 2e-3 * np.linalg.norm(a)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The TensorFlow operators on the CPU: graph mode (tf.function), gradients against TensorFlow's own, refusals."""
import os
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf

import ascgrad
import ascgrad.tensorflow as at
from ascgrad.tensorflow import _build
from run_tests import run_tests

SEED = 20262
tf.get_logger().setLevel("ERROR")  # it warns of every test that makes a new tf.function
DTYPES = {tf.float32: 1e-5, tf.float16: 2e-3, tf.bfloat16: 1.6e-2}  # allowed error, relative to the scale
random = np.random.default_rng(SEED)


def rand(*shape, dtype=tf.float32):
    return tf.cast(tf.constant(random.standard_normal(shape)), dtype)


def rotated(x, mode):
    if mode == 1:
        return tf.reshape(tf.stack((-x[..., 1::2], x[..., 0::2]), -1), tf.shape(x))
    if mode == 2:
        a, b, c, d = tf.split(x, 4, -1)
        return tf.concat((-b, a, -d, c), -1)
    if mode == 3:
        return tf.concat((-x[..., 1::2], x[..., 0::2]), -1)
    a, b = tf.split(x, 2, -1)
    return tf.concat((-b, a), -1)


def plain_rotary(x, cos, sin, mode=0):
    kept = tf.concat((x[..., 0::2], x[..., 1::2]), -1) if mode == 3 else x
    return kept * cos + rotated(x, mode) * sin


def plain_slice(x, cos, sin, mode, start):
    end = start + cos.shape[-1]
    return tf.concat((x[..., :start], plain_rotary(x[..., start:end], cos, sin, mode), x[..., end:]), -1)


def plain_rope(q, k, cos, sin, lengths, head_size=0, start=0, positions=()):
    rows = np.concatenate([np.arange(n) + first for n, first in zip(lengths, positions or (0,) * len(lengths))])
    def one(x):
        heads = tf.reshape(x, (x.shape[0], -1, head_size or cos.shape[1]))
        turned = plain_slice(heads, tf.gather(cos, rows)[:, None], tf.gather(sin, rows)[:, None], 0, start)
        return tf.reshape(turned, x.shape)
    return one(q), one(k)


def plain_norm_rope_concat(query, key, value, kinds, optional):
    norm, added, rope, order = kinds
    def normal(x, kind, name):
        if x is None or kind == 0:
            return x
        axes, columns = ((2, 3), x.shape[2:]) if 5 <= kind <= 8 else (3, x.shape[3:])
        mean = tf.reduce_mean(x, axes, keepdims=True) if kind in (1, 2, 5, 6) else 0
        squares = (tf.reduce_sum if kind == 9 else tf.reduce_mean)((x - mean) ** 2, axes, keepdims=True)
        y = (x - mean) / tf.sqrt(squares + 1e-5)
        if kind in (2, 4, 6, 8):
            y = y * tf.reshape(optional[name + "_weight"], columns)
        return y + tf.reshape(optional[name + "_bias"], columns) if kind in (2, 6) else y
    def joined(main, extra):
        parts = [p for p in ((main, extra) if order == 0 else (extra, main)) if p is not None]
        return tf.transpose(tf.concat(parts, 1), (0, 2, 1, 3))
    def turned(x):
        if rope == 0:
            return x
        sin, cos = optional["rope_sin"], optional["rope_cos"]
        return tf.concat((plain_rotary(x[:, :, :cos.shape[0]], cos, sin, 2 - rope), x[:, :, cos.shape[0]:]), 2)
    get = optional.get
    return (turned(joined(normal(query, norm, "norm_query"), normal(get("encoder_query"), added, "norm_added_query"))),
            turned(joined(normal(key, norm, "norm_key"), normal(get("encoder_key"), added, "norm_added_key"))),
            joined(value, get("encoder_value")))


def plain_exp_segsum(x):
    length = x.shape[-1]
    rows = tf.repeat(x[..., None], length, -1)
    strict = np.tril(np.ones((length, length)), -1)
    sums = tf.cumsum(rows * strict, -2)
    return tf.exp(sums) * np.tril(np.ones((length, length)))


def close(got, want, dtype, what):
    got, want = tf.cast(got, tf.float64).numpy(), want.numpy()
    assert got.shape == want.shape, f"{what}: {got.shape} {want.shape}"
    error = np.abs(got - want).max() / max(1.0, np.abs(want).max()) if want.size else 0.0
    assert error <= DTYPES[dtype], f"{what} {dtype}: error {error:.3g}"


def gradients(function, tensors, upstream=None):
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        outputs = tf.nest.flatten(function(*tensors))
    upstream = upstream or [rand(*y.shape, dtype=y.dtype) for y in outputs]
    upstream = [tf.cast(g, y.dtype) for g, y in zip(upstream, outputs)]
    return outputs, tape.gradient(outputs, tensors, upstream), upstream


def against_tensorflow(ours, plain, tensors, what):
    """Ours inside tf.function (graph mode), against the plain forward in float64, eagerly."""
    dtype = tensors[0].dtype
    step = tf.function(lambda *t: gradients(ours, list(t)))
    got, got_grads, upstream = step(*tensors)
    want, want_grads, _ = gradients(plain, [tf.cast(t, tf.float64) for t in tensors], upstream)
    for i, (a, b) in enumerate(zip(got + got_grads, want + want_grads)):
        assert a.dtype == dtype, f"{what}: {a.dtype}"
        close(a, b, dtype, f"{what} result {i}")


def test_rotary_mul():
    for dtype in DTYPES:
        for table in ((1, 5, 1, 6), (2, 1, 3, 6), (2, 5, 3, 6)):
            against_tensorflow(at.rotary_mul, plain_rotary,
                               [rand(2, 5, 3, 6, dtype=dtype), rand(*table, dtype=dtype), rand(*table, dtype=dtype)],
                               f"rotary_mul {table}")


def test_rotary_position_embedding():
    for dtype in DTYPES:
        for mode, number in at.MODES.items():
            against_tensorflow(lambda x, c, s, m=mode: at.rotary_position_embedding(x, c, s, m),
                               lambda x, c, s, m=number: plain_rotary(x, c, s, m),
                               [rand(4, 3, 8, dtype=dtype), rand(4, 1, 8, dtype=dtype), rand(4, 1, 8, dtype=dtype)],
                               mode)
            against_tensorflow(lambda x, c, s, m=mode: at.rotary_position_embedding(x, c, s, m, 3),
                               lambda x, c, s, m=number: plain_slice(x, c, s, m, 3),
                               [rand(4, 3, 12, dtype=dtype), rand(4, 1, 8, dtype=dtype), rand(4, 1, 8, dtype=dtype)],
                               f"{mode} from column 3 on")


def test_rope():
    for dtype in DTYPES:
        cos, sin = rand(6, 4, dtype=dtype), rand(6, 4, dtype=dtype)
        for slices in ((0, 0, ()), (8, 0, ()), (8, 3, ()), (8, 4, (2, 1))):
            against_tensorflow(lambda q, k, c=cos, s=sin, h=slices: at.rope(q, k, c, s, [4, 5], *h),
                               lambda q, k, c=cos, s=sin, h=slices: plain_rope(
                                   q, k, tf.cast(c, tf.float64), tf.cast(s, tf.float64), [4, 5], *h),
                               [rand(9, 16, dtype=dtype), rand(9, 8, dtype=dtype)], "rope")


def test_norm_rope_concat():
    for dtype in DTYPES:
        for norm, added, rope, order, encoder in ((2, 2, 1, 0, True), (1, 2, 2, 1, True), (2, 0, 2, 0, False),
                                                  (0, 1, 0, 1, True), (0, 0, 1, 0, False), (4, 3, 2, 1, True), (3, 4, 1, 0, True),
                                                  (6, 5, 2, 0, True), (8, 7, 1, 1, True), (9, 0, 2, 0, False), (8, 0, 1, 0, False)):
            names, tensors = [], [rand(2, s, n, 8, dtype=dtype) for s, n in ((5, 3), (4, 2), (4, 2))]
            if encoder:
                names += ["encoder_query", "encoder_key", "encoder_value"]
                tensors += [rand(2, s, n, 8, dtype=dtype) for s, n in ((3, 3), (2, 2), (2, 2))]
            for name, kind in (("norm_query", norm), ("norm_key", norm), ("norm_added_query", added),
                               ("norm_added_key", added)):
                parts = ["_weight"] * (kind in (2, 4, 6, 8)) + ["_bias"] * (kind in (2, 6))
                names += [name + part for part in parts]
                size = 8 * (1 if kind < 5 else 3 if name.endswith("query") else 2)
                tensors += [rand(size, dtype=dtype) for _ in parts]
            tables = {n: rand(4, 8, dtype=dtype) for n in ("rope_sin", "rope_cos")} if rope else {}
            kinds = (norm, added, rope, order)
            def ours(q, k, v, *rest):
                return at.norm_rope_concat(q, k, v, *kinds, **dict(zip(names, rest)), **tables)
            def plain(q, k, v, *rest):
                wide = {n: tf.cast(t, tf.float64) for n, t in tables.items()}
                return plain_norm_rope_concat(q, k, v, kinds, {**dict(zip(names, rest)), **wide})
            against_tensorflow(ours, plain, tensors, f"norm_rope_concat {kinds}")


def test_exp_segsum():
    for dtype in DTYPES:
        against_tensorflow(at.exp_segsum, plain_exp_segsum, [rand(2, 3, 7, dtype=dtype)], "exp_segsum")


def test_gradient_check():
    """TensorFlow's own numeric check, in float32 (the operators have no float64)."""
    def check(function, *tensors):
        theory, numeric = tf.test.compute_gradient(function, list(tensors), delta=1e-2)
        for a, b in zip(theory, numeric):
            assert np.abs(a - b).max() < 1e-2, np.abs(a - b).max()
    check(at.rotary_mul, rand(2, 3, 2, 4), rand(1, 3, 1, 4), rand(1, 3, 1, 4))
    check(lambda x, c, s: at.rotary_position_embedding(x, c, s, 3), rand(3, 2, 4), rand(3, 1, 4), rand(3, 1, 4))
    cos, sin = rand(3, 4), rand(3, 4)
    check(lambda q: at.rope(q, q, cos, sin, [3, 2])[0], rand(5, 8))
    check(at.exp_segsum, rand(2, 4) * 0.5)
    check(lambda q, w, b: at.norm_rope_concat(
        q, q, q, 2, 0, 2, norm_query_weight=w, norm_query_bias=b, norm_key_weight=w, norm_key_bias=b,
        rope_sin=sin, rope_cos=cos)[0], rand(1, 3, 2, 4), rand(4), rand(4))


def test_raw_operators():
    x, table = rand(2, 3, 2, 4), rand(1, 3, 1, 4)
    dx, dcos, dsin = at.ops.rotary_position_embedding_grad(dy=x, cos=table, sin=table, x=[], mode=0)
    assert np.any(dx) and not np.any(dcos) and not np.any(dsin)
    dx2, dr1, dr2 = at.ops.rotary_mul_grad(x=x, r1=table, r2=table, dy=x, need_backward=False)
    assert np.array_equal(dx, dx2) and not np.any(dr1) and not np.any(dr2)
    q_grad, _ = at.ops.rope_grad(q=x[0, :, 0], k=x[0, :, 1], cos=table[0, :, 0], sin=table[0, :, 0], qSeqLen=[3])
    cos = table[0, :, 0].numpy()
    factor = cos + np.concatenate((cos[:, 2:], -cos[:, :2]), 1)
    assert np.allclose(q_grad, x[0, :, 0] * factor, atol=1e-5)  # the operator's default formula


def test_raw_norm_rope_concat():
    """No required input has the dtype of the weights' gradients: without weights nothing needs to be said of it, and
    float32 weights stand beside 16-bit x."""
    x = rand(2, 5, 3, 8, dtype=tf.bfloat16)
    stats, empty = tf.ones((2, 5, 3, 1)), {name: [] for name in (
        "encoder_query", "encoder_key", "rope_sin", "rope_cos", *(f"{stream}_{part}" for stream in at.STREAMS
                                                                  for part in ("weight", "mean", "rstd")))}
    def raw(kind, **more):
        return at.ops.norm_rope_concat_grad(
            grad_query_output=tf.transpose(x, (0, 2, 1, 3)), grad_key_output=tf.transpose(x, (0, 2, 1, 3)),
            grad_value_output=tf.transpose(x, (0, 2, 1, 3)), query=x, key=x, norm_type=kind, **{**empty, **more})
    assert np.array_equal(raw(0).grad_query, x)
    rstd = {f"norm_{name}_rstd": [stats] for name in ("query", "key")}
    wide = raw(4, **rstd, norm_query_weight=[tf.ones(8)], norm_key_weight=[tf.ones(8)], Tgrad_norm_query_weight=tf.float32)
    want = tf.reduce_sum(tf.cast(x, tf.float32) ** 2, (0, 1, 2))
    close(wide.grad_norm_query_weight, tf.cast(want, tf.float64), tf.float32, "float32 weights beside bfloat16 x")


def test_dynamic_batch():
    spec = tf.TensorSpec((None, 3, 2, 4), tf.float32)
    table = rand(1, 3, 1, 4)
    traces = []
    @tf.function(input_signature=[spec, spec])
    def step(x, dy):
        traces.append(1)
        dx, dr1, _ = at.ops.rotary_mul_grad(x=x, r1=table, r2=table, dy=dy)
        assert dx.shape.as_list() == [None, 3, 2, 4] and dr1.shape.as_list() == [1, 3, 1, 4]
        return dx, dr1
    for batch in (1, 2, 7, 0):
        x, dy = rand(batch, 3, 2, 4), rand(batch, 3, 2, 4)
        got = step(x, dy)
        want = at.ops.rotary_mul_grad(x=x, r1=table, r2=table, dy=dy)
        assert all(np.array_equal(a, b) for a, b in zip(got, want))
    assert len(traces) == 1
    unknown = tf.function(lambda t: at.ops.exp_segsum_grad(grad_output=t, grad_self=t),
                          input_signature=[tf.TensorSpec(None, tf.float32)])
    assert unknown(rand(2, 3, 3)).shape == (2, 3)
    assert unknown.get_concrete_function().outputs[0].shape.rank is None


def refused(function, kinds, text):
    try:
        function()
    except kinds as error:
        assert text in str(error), f"wanted '{text}' in: {error}"
        return
    raise AssertionError(f"not refused: {text}")


def test_refusals():
    x, good, bad = rand(2, 3, 2, 4), rand(1, 3, 1, 4), rand(1, 2, 1, 4)
    refused(lambda: at.ops.rotary_mul_grad(x=x, r1=good, r2=bad, dy=x), tf.errors.InvalidArgumentError,
            "[1,3,1,4] and [1,2,1,4]")
    graph = tf.function(lambda: at.ops.rotary_mul_grad(x=x, r1=good, r2=bad, dy=x))
    refused(graph, (ValueError, tf.errors.InvalidArgumentError), "[1,3,1,4] and [1,2,1,4]")  # while building the graph
    refused(lambda: at.ops.exp_segsum_grad(grad_output=rand(4, 5), grad_self=rand(4, 5)),
            tf.errors.InvalidArgumentError, "ExpSegsumGrad")
    refused(lambda: at.ops.rope_grad(q=rand(4, 4), k=rand(4, 4), cos=rand(4, 4), sin=rand(4, 4), qSeqLen=[3]),
            tf.errors.InvalidArgumentError, "RopeGrad")
    refused(lambda: at.ops.rotary_position_embedding_grad(dy=x, cos=good, sin=good, x=[x, x]),
            tf.errors.InvalidArgumentError, "one tensor or none")
    sentence = "rotary_mul: dimension 1 of cos (r1) must be 1 or that of x, got 2 and 3"
    refused(lambda: at.rotary_mul(x, bad, bad), ValueError, sentence)
    refused(tf.function(lambda: at.rotary_mul(x, bad, bad)), ValueError, sentence)  # while building the graph
    odd = rand(2, 3, 2, 5), rand(1, 3, 1, 5)
    refused(lambda: at.rotary_mul(odd[0], odd[1], odd[1]), ValueError, "multiple of 2, got 5")
    refused(lambda: at.ops.rotary_mul(x=odd[0], r1=odd[1], r2=odd[1]), tf.errors.InvalidArgumentError,
            "the last dimension of cos [1,3,1,5] must be a multiple of 2, got 5")
    any_shape = tf.function(lambda t: at.rotary_mul(x, t, t), input_signature=[tf.TensorSpec(None)])
    refused(lambda: any_shape(bad), tf.errors.InvalidArgumentError, "do not fit")  # known only when it runs
    refused(lambda: at.rope(rand(4, 4), rand(4, 4), rand(4, 4), rand(4, 4), [3]), ValueError, "rope: ")
    refused(lambda: at.rotary_mul(tf.cast(x, tf.float64), good, good), TypeError, "rotary_mul: x must be float32, float16 or bfloat16, got float64")
    refused(lambda: at.ops.rotary_position_embedding_grad(dy=x, cos=good, sin=good, x=[], mode=9),
            tf.errors.InvalidArgumentError, "mode")


def test_tables_only_when_wanted():
    """The gradients of constant tables are not computed: not asked for by the tape, pruned from a graph."""
    x, cos, sin = rand(2, 3, 2, 4), rand(1, 3, 1, 4), rand(1, 3, 1, 4)

    def step(watched, function):
        tensors = [x, cos, sin]
        with tf.GradientTape() as tape:
            tape.watch(tensors[:watched])
            y = function(*tensors)
        return tape.gradient(y, tensors[:watched])

    for function, op in ((at.rotary_mul, "RotaryMulGrad"),
                         (at.rotary_position_embedding, "RotaryPositionEmbeddingGrad")):
        for watched, wanted in ((1, [False]), (3, [True])):
            graph = tf.function(lambda w=watched, f=function: step(w, f)).get_concrete_function().graph
            nodes = [node for node in graph.get_operations() if node.type == op]
            tables = [n.get_attr("need_backward") if op == "RotaryMulGrad" else len(n.inputs) == 4 for n in nodes]
            assert tables == wanted, (op, watched, tables)
            for a, b in zip(step(watched, function), step(3, function)):
                assert np.array_equal(a, b)
        symbolic = tf.function(lambda f=function: tf.gradients(f(x, cos, sin), [x]))
        assert np.array_equal(symbolic()[0], step(1, function)[0])


def test_mixed_precision():
    """Half activations beside float32 tables and weights, as Keras' mixed_float16 has them."""
    for half in (tf.float16, tf.bfloat16):
        x, cos, sin = rand(2, 3, 2, 4, dtype=half), rand(1, 3, 1, 4), rand(1, 3, 1, 4)
        outputs, mixed, upstream = gradients(at.rotary_mul, [x, cos, sin])
        _, exact, _ = gradients(plain_rotary, [tf.cast(t, tf.float64) for t in (x, cos, sin)], upstream)
        assert outputs[0].dtype == half and [g.dtype for g in mixed] == [half, tf.float32, tf.float32]
        for got, want in zip(mixed, exact):  # the tables' gradients are the sums, not rounded to 16 bits
            close(got, want, got.dtype, "rotary_mul with float32 tables")
        weight, bias = rand(4), rand(4)
        _, grads, _ = gradients(lambda q, w, b: at.norm_rope_concat(
            q, q, q, 2, norm_query_weight=w, norm_query_bias=b, norm_key_weight=w, norm_key_bias=b)[0], [x, weight, bias])
        assert [g.dtype for g in grads] == [half, tf.float32, tf.float32]


def test_partial_rotary():
    """Tables with fewer columns than x: the rest of a row passes through."""
    for dtype, table in ((tf.float32, tf.float32), (tf.float16, tf.float32), (tf.bfloat16, tf.bfloat16)):
        x, cos, sin = rand(2, 3, 2, 12, dtype=dtype), rand(1, 3, 1, 8, dtype=table), rand(1, 3, 1, 8, dtype=table)
        for mode in range(4):
            def plain(x, cos, sin, mode=mode):
                return tf.concat((plain_rotary(x[..., :8], cos, sin, mode), x[..., 8:]), -1)
            outputs, got, upstream = gradients(lambda *t, mode=mode: at.rotary_position_embedding(*t, mode), [x, cos, sin])
            _, want, _ = gradients(plain, [tf.cast(t, tf.float64) for t in (x, cos, sin)], upstream)
            assert np.array_equal(outputs[0][..., 8:], x[..., 8:]) and np.array_equal(got[0][..., 8:], upstream[0][..., 8:])
            for a, b in zip(got, want):
                close(a, b, a.dtype, f"partial rotary, mode {mode}")


def test_saved_model():
    """A SavedModel is loaded by another process once ascgrad.tensorflow is imported there; without it TensorFlow says
    which operator it lacks."""
    class Module(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((None, 3, 2, 4))])
        def __call__(self, x):
            return at.rotary_mul(x, self.table, self.table)

    module = Module()
    module.table = tf.constant(rand(1, 3, 1, 4))
    x = rand(2, 3, 2, 4)
    load = "import tensorflow as tf, numpy as np; y = tf.saved_model.load('saved')(np.load('x.npy')); np.save('y.npy', y)"
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, os.path.join(folder, "saved"))
        np.save(os.path.join(folder, "x.npy"), x.numpy())
        for first, status in (("import ascgrad.tensorflow; ", 0), ("", 1)):
            ran = subprocess.run([sys.executable, "-c", first + load], cwd=folder, capture_output=True, text=True,
                                 check=False)
            assert ran.returncode == status, ran.stderr
        assert "RotaryMul" in ran.stderr
        assert np.array_equal(np.load(os.path.join(folder, "y.npy")), module(x))


def test_xla_is_refused():
    """There is no XLA kernel; TensorFlow says so by the operator's name."""
    x, table = rand(2, 3, 2, 4), rand(1, 3, 1, 4)
    refused(tf.function(lambda: at.rotary_mul(x, table, table), jit_compile=True),
            (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError), "RotaryMul")


def test_registration_follows_the_ir():
    """What TensorFlow knows of each operator, against the IR."""
    from tensorflow.python.framework import op_def_registry
    for op, ir in ascgrad.ops.items():
        known = op_def_registry.get(op)
        assert [a.name for a in known.input_arg] == [name for name, _, _ in ir["in"]], op
        assert [bool(a.type_list_attr) for a in known.input_arg] == [optional for _, optional, _ in ir["in"]], op
        assert [a.name for a in known.output_arg] == ir["out"], op
        kinds = {a.name: a.type.replace("list(int)", "listInt") for a in known.attr}
        assert [(name, kinds[name]) for name, _ in ir["attr"]] == ir["attr"], op
        defaults = {a.name: getattr(a.default_value, a.default_value.WhichOneof("value")) for a in known.attr
                    if a.HasField("default_value") and a.name in dict(ir["attr"])}
        defaults = {name: list(value.i) if kinds[name] == "listInt" else value for name, value in defaults.items()}
        assert defaults == ir["default"], (op, defaults)


def test_the_language_is_named():
    """TensorFlow before 2.7 is C++14 and does not say so; the standard of a newer one stays."""
    own = tf.sysconfig.get_compile_flags
    try:
        for said, added in ((["-I/x"], ["-std=c++14"]), (["-I/x", "--std=c++17"], []), (["-std=c++20"], [])):
            tf.sysconfig.get_compile_flags = lambda said=said: said
            assert _build.flags() == said + added, _build.flags()
    finally:
        tf.sysconfig.get_compile_flags = own


def test_the_library_is_cached():
    """One file per TensorFlow and ascgrad; without a compiler there is a sentence, not a traceback of subprocess."""
    assert _build.library() == _build.cached() and tf.version.VERSION in os.path.basename(_build.cached())
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "ASCGRAD_CACHE": folder, "CXX": "no-such-compiler"}
        ran = subprocess.run([sys.executable, "-m", "ascgrad.tensorflow", "build"], env=environment, check=False,
                             capture_output=True, text=True)
        assert ran.returncode == 1 and "it needs a C and a C++ compiler" in ran.stderr, ran.stderr
        broken = os.path.join(folder, os.path.basename(_build.cached()))
        open(broken, "w", encoding="ascii").close()
        ran = subprocess.run([sys.executable, "-c", "import ascgrad.tensorflow"], env=environment, check=False,
                             capture_output=True, text=True)
        assert ran.returncode == 1 and "does not fit TensorFlow" in ran.stderr, ran.stderr


def main():
    return run_tests(globals(), f"tensorflow {tf.__version__}, seed {SEED}")


if __name__ == "__main__":
    sys.exit(main())

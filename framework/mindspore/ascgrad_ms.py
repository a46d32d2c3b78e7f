# SPDX-License-Identifier: Apache-2.0
"""The ascgrad operators in MindSpore, in graph mode and in PyNative mode, on Ascend and on the CPU.

    import ascgrad_ms as am
    rotary = am.RotaryMul()                        # a Cell; its bprop is RotaryMulGrad
    y = rotary(x, cos, sin)
    dx, dr1, dr2 = am.grad("RotaryMulGrad")(x, cos, sin, dy)

On Ascend the operators come from the installed package (names in reg_info are those of the IR). On the CPU they run
through libascgrad_ms.so, found by ASCGRAD_MS_LIB, else beside this file.
"""
import os

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

try:
    import ascgrad  # the binding of libascgrad: refuses wrong shapes while the graph is built
except (ImportError, OSError):
    ascgrad = None

MODES = {"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3}
_STREAMS = ("norm_query", "norm_key", "norm_added_query", "norm_added_key")

# inputs (a ? marks optional ones, a ! those that are always float32), outputs, attributes with type and default
IR = {
    "RotaryMulGrad": ("x r1 r2 dy", "dx dr1 dr2", [("need_backward", "bool", True)]),
    "RotaryPositionEmbeddingGrad": ("dy cos sin x?", "dx dcos dsin", [("mode", "int", 0)]),
    "RopeGrad": ("q k cos sin", "q_grad k_grad", [("qSeqLen", "listInt", None), ("exact_grad", "bool", False)]),
    "NormRopeConcatGrad": (
        "grad_query_output grad_key_output grad_value_output query key encoder_query? encoder_key? "
        + " ".join(f"{s}_weight? {s}_mean?! {s}_rstd?!" for s in _STREAMS) + " rope_sin? rope_cos?",
        "grad_query grad_key grad_value grad_encoder_query grad_encoder_key grad_encoder_value "
        + " ".join(f"grad_{s}_weight grad_{s}_bias" for s in _STREAMS),
        [(name, "int", 0) for name in ("norm_type", "norm_added_type", "rope_type", "concat_order")]),
    "ExpSegsumGrad": ("grad_output grad_self", "grad_input", []),
}


def _output_shapes(op, shapes, attrs):
    """Output name -> shape; None for outputs that do not apply."""
    if op == "RotaryMulGrad":
        return {"dx": shapes["x"], "dr1": shapes["r1"], "dr2": shapes["r2"]}
    if op == "RotaryPositionEmbeddingGrad":
        return {"dx": shapes["dy"], "dcos": shapes["cos"], "dsin": shapes["sin"]}
    if op == "RopeGrad":
        return {"q_grad": shapes["q"], "k_grad": shapes["k"]}
    if op == "ExpSegsumGrad":
        return {"grad_input": shapes["grad_output"][:-1]}
    out = {"grad_query": shapes["query"], "grad_key": shapes["key"], "grad_value": shapes["key"],
           "grad_encoder_query": shapes.get("encoder_query"), "grad_encoder_key": shapes.get("encoder_key"),
           "grad_encoder_value": shapes.get("encoder_key")}
    for stream in _STREAMS:
        kind = attrs["norm_added_type" if "added" in stream else "norm_type"]
        for what in ("weight", "bias"):
            out[f"grad_{stream}_{what}"] = shapes["query"][-1:] if kind == 2 else None
    return out


def _check(op, shapes, attrs):
    if ascgrad is None:
        return
    known = all(n >= 0 for shape in shapes.values() for n in shape)
    (ascgrad.tile if known else ascgrad.infer)(op, shapes, attrs)  # Refused is a ValueError with the sentence


class grad:
    """The operator as a callable: grad("RopeGrad", qSeqLen=[5, 7])(q, k, cos, sin).

    optional: names of the optional inputs that will be given, in the order of the IR. Results that do not apply are
    not returned on the CPU; on Ascend they are tensors of shape [0], as the graph has them.
    Make it outside of a construct or bprop, call it inside."""

    def __init__(self, op, optional=(), **attrs):
        inputs, outputs, known = IR[op]
        unknown = set(attrs) - {name for name, _, _ in known}
        if unknown:
            raise ValueError(f"{op} has no attribute {sorted(unknown)}")
        self.op = op
        self.attrs = {name: attrs.get(name, default) for name, _, default in known}
        missing = [name for name, value in self.attrs.items() if value is None]
        if missing:
            raise ValueError(f"{op} needs the attribute {missing[0]}")
        self.all_inputs = inputs.split()
        self.names = [i.rstrip("?!") for i in self.all_inputs if "?" not in i or i.rstrip("?!") in optional]
        self.on_ascend = ms.get_context("device_target") == "Ascend"
        self.outputs = outputs.split()
        self.custom = self._ascend() if self.on_ascend else self._cpu()

    def _shapes(self, *shapes):
        given = dict(zip(self.names, [list(s) for s in shapes]))
        _check(self.op, given, self.attrs)
        out = _output_shapes(self.op, given, self.attrs)
        out = [[0] if out[n] is None else out[n] for n in self.outputs if self.on_ascend or out[n] is not None]
        return out[0] if len(out) == 1 else tuple(out)

    def _dtypes(self, *dtypes):
        kinds = {name: dtype for name, dtype in zip(self.names, dtypes) if f"{name}?!" not in self.all_inputs}
        if len(set(str(d) for d in kinds.values())) > 1:
            raise TypeError(f"{self.op}: all inputs must have one dtype, got {kinds}")
        count = len(self.outputs)
        if not self.on_ascend:
            ranks = _output_shapes(self.op, {n: [1, 1, 1, 1] for n in self.names}, self.attrs)
            count = sum(shape is not None for shape in ranks.values())
        return dtypes[0] if count == 1 else (dtypes[0],) * count

    def _cpu(self):
        mask = sum(1 << i for i, name in enumerate(self.all_inputs) if name.rstrip("?!") in self.names)
        values = [mask]
        for value in self.attrs.values():
            values += [len(value), *value] if isinstance(value, (list, tuple)) else [int(value)]
        self.settings = Tensor(np.array(values, np.int64))
        library = os.environ.get("ASCGRAD_MS_LIB",
                                 os.path.join(os.path.dirname(os.path.abspath(__file__)), "libascgrad_ms.so"))
        return ops.Custom(f"{library}:ascgrad_ms_{self.op}", func_type="aot",
                          out_shape=lambda *s: self._shapes(*s[:-1]), out_dtype=lambda *d: self._dtypes(*d[:-1]))

    def _ascend(self):
        custom = ops.Custom(self.op, out_shape=self._shapes, out_dtype=self._dtypes, func_type="aot",
                            reg_info=reg_info(self.op))
        for name, value in self.attrs.items():
            custom.add_prim_attr(name, value)
        return custom

    def __call__(self, *tensors):
        if self.on_ascend:
            return self.custom(*tensors)
        return self.custom(*tensors, self.settings)


def reg_info(op):
    """What MindSpore is told about the operator: names, order and kinds of the IR."""
    inputs, outputs, attrs = IR[op]
    info = ops.CustomRegOp(op)
    for i, name in enumerate(inputs.split()):
        info = info.input(i, name.rstrip("?!"), "optional" if "?" in name else "required")
    for i, name in enumerate(outputs.split()):
        info = info.output(i, name, "required")
    for name, kind, default in attrs:
        info = info.attr(name, "required" if default is None else "optional", kind)
    for dtype in (ops.DataType.F16_Default, ops.DataType.BF16_Default, ops.DataType.F32_Default):
        row = [ops.DataType.F32_Default if "!" in name else dtype for name in inputs.split()]
        info = info.dtype_format(*row, *[dtype] * len(outputs.split()))
    return info.target("Ascend").get_op_info()


def _wide(x):
    return ops.cast(x, ms.float32)


def _rotated(x, mode):
    """R(x) of y = P(x) * cos + R(x) * sin."""
    if mode == 1:
        return ops.reshape(ops.stack((-x[..., 1::2], x[..., 0::2]), -1), x.shape)
    if mode == 2:
        q = x.shape[-1] // 4
        return ops.cat((-x[..., q:2 * q], x[..., :q], -x[..., 3 * q:], x[..., 2 * q:3 * q]), -1)
    if mode == 3:
        return ops.cat((-x[..., 1::2], x[..., 0::2]), -1)
    h = x.shape[-1] // 2
    return ops.cat((-x[..., h:], x[..., :h]), -1)


def _rotary(x, cos, sin, mode):
    kept = ops.cat((x[..., 0::2], x[..., 1::2]), -1) if mode == 3 else x
    return kept * cos + _rotated(x, mode) * sin


class RotaryMul(nn.Cell):
    """y = r1 * x + r2 * rotate_half(x)"""

    def __init__(self):
        super().__init__()
        self.grad = grad("RotaryMulGrad")

    def construct(self, x, r1, r2):
        return ops.cast(_rotary(_wide(x), _wide(r1), _wide(r2), 0), x.dtype)

    def bprop(self, x, r1, r2, out, dout):
        return self.grad(x, r1, r2, dout)


class RotaryPositionEmbedding(nn.Cell):
    """y = P(x) * cos + R(x) * sin; mode 0..3 or "half", "interleave", "quarter", "interleave-half"."""

    def __init__(self, mode=0):
        super().__init__()
        self.mode = MODES.get(mode, mode)
        self.grad = grad("RotaryPositionEmbeddingGrad", optional=("x",), mode=self.mode)

    def construct(self, x, cos, sin):
        return ops.cast(_rotary(_wide(x), _wide(cos), _wide(sin), self.mode), x.dtype)

    def bprop(self, x, cos, sin, out, dout):
        return self.grad(dout, cos, sin, x)


class Rope(nn.Cell):
    """RoPE of packed sequences: q [tokens, heads * D], k [tokens, kv heads * D], cos and sin [positions, D].
    The gradient is the true one unless exact_grad=False (docs/rope_grad.md); cos and sin get zeros."""

    def __init__(self, seq_len, exact_grad=True):
        super().__init__()
        self.rows = Tensor(np.concatenate([np.arange(n) for n in seq_len]).astype(np.int32))
        self.grad = grad("RopeGrad", qSeqLen=[int(n) for n in seq_len], exact_grad=exact_grad)

    def _one(self, x, cos, sin):
        heads = ops.reshape(_wide(x), (x.shape[0], -1, cos.shape[1]))
        tables = [ops.expand_dims(ops.gather(_wide(t), self.rows, 0), 1) for t in (cos, sin)]
        return ops.cast(ops.reshape(_rotary(heads, tables[0], tables[1], 0), x.shape), x.dtype)

    def construct(self, q, k, cos, sin):
        return self._one(q, cos, sin), self._one(k, cos, sin)

    def bprop(self, q, k, cos, sin, out, dout):
        q_grad, k_grad = self.grad(dout[0], dout[1], cos, sin)
        return q_grad, k_grad, ops.zeros_like(cos), ops.zeros_like(sin)


class ExpSegsum(nn.Cell):
    """x [..., T] -> y [..., T, T], y[i, j] = exp(x[j+1] + ... + x[i]) on and below the diagonal, else 0."""

    def __init__(self):
        super().__init__()
        self.grad = grad("ExpSegsumGrad")

    def construct(self, x):
        t = x.shape[-1]
        ones = ops.ones((t, t), ms.float32)
        sums = ops.cumsum(ops.expand_dims(_wide(x), -1) * ops.tril(ones, -1), -2)
        return ops.cast(ops.exp(sums) * ops.tril(ones), x.dtype)

    def bprop(self, x, out, dout):
        return (self.grad(dout, out),)


class _NormRopeConcat(nn.Cell):
    """NormRopeConcat on a tuple: a bprop cannot have a variable number of parameters."""

    def __init__(self, norm_type=0, norm_added_type=0, rope_type=0, concat_order=0, encoder=False, eps=1e-5):
        super().__init__()
        self.mean = ops.ReduceMean(keep_dims=True)
        self.kinds = (norm_type, norm_added_type if encoder else 0)
        self.rope, self.order, self.encoder, self.eps = rope_type, concat_order, encoder, eps
        optional = ["encoder_query", "encoder_key"] if encoder else []
        for i, stream in enumerate(_STREAMS):
            kind = self.kinds[i // 2]
            optional += ([f"{stream}_weight"] if kind == 2 else []) + \
                ([f"{stream}_mean", f"{stream}_rstd"] if kind else [])
        optional += ["rope_sin", "rope_cos"] if rope_type else []
        self.grad = grad("NormRopeConcatGrad", optional=tuple(optional), norm_type=norm_type,
                         norm_added_type=self.kinds[1], rope_type=rope_type, concat_order=concat_order)
        self.streams = 6 if encoder else 3
        self.affine = 4 * (self.kinds[0] == 2) + 4 * (self.kinds[1] == 2)

    def _stats(self, x):
        mean = self.mean(_wide(x), -1)
        return mean, ops.rsqrt(self.mean(ops.square(_wide(x) - mean), -1) + self.eps)

    def _normal(self, x, kind, weight, bias):
        if kind == 0:
            return _wide(x)
        mean, rstd = self._stats(x)
        y = (_wide(x) - mean) * rstd
        return y * _wide(weight) + _wide(bias) if kind == 2 else y

    def _first_affine(self, stream):
        """Where the weight of query, key, added query or added key is among the inputs."""
        before = 4 * (self.kinds[0] == 2) if stream >= 2 else 0
        return self.streams + before + 2 * (stream % 2)

    def _part(self, inputs, stream):
        kind = self.kinds[stream // 2]
        x = inputs[stream if stream < 2 else stream + 1]
        if kind != 2:
            return self._normal(x, kind, x, x)
        at = self._first_affine(stream)
        return self._normal(x, kind, inputs[at], inputs[at + 1])

    def _joined(self, main, extra):
        if self.encoder:
            main = ops.cat((main, extra) if self.order == 0 else (extra, main), 1)
        return ops.transpose(main, (0, 2, 1, 3))

    def _turned(self, x, inputs):
        if self.rope == 0:
            return x
        sin, cos = _wide(inputs[-2]), _wide(inputs[-1])
        rows = cos.shape[0]
        return ops.cat((_rotary(x[:, :, :rows], cos, sin, 2 - self.rope), x[:, :, rows:]), 2)

    def construct(self, inputs):
        dtype, out = inputs[0].dtype, ()
        for stream in range(2):
            extra = self._part(inputs, stream + 2) if self.encoder else None
            y = self._turned(self._joined(self._part(inputs, stream), extra), inputs)
            out = out + (ops.cast(y, dtype),)
        value = self._joined(_wide(inputs[2]), _wide(inputs[5]) if self.encoder else None)
        return out + (ops.cast(value, dtype),)

    def bprop(self, inputs, out, dout):
        given = (dout[0], dout[1], dout[2], inputs[0], inputs[1])
        if self.encoder:
            given = given + (inputs[3], inputs[4])
        for stream in range(4 if self.encoder else 2):
            kind = self.kinds[stream // 2]
            if kind == 2:
                given = given + (inputs[self._first_affine(stream)],)
            if kind != 0:
                given = given + self._stats(inputs[stream if stream < 2 else stream + 1])
        if self.rope != 0:
            given = given + (inputs[-2], inputs[-1])
        grads = self.grad(*given)
        grads = tuple(grads[:self.streams + self.affine])
        if self.rope != 0:
            grads = grads + (ops.zeros_like(inputs[-2]), ops.zeros_like(inputs[-1]))
        return (grads,)


class NormRopeConcat(nn.Cell):
    """[B,S,N,D] in, [B,N,S,D] out: norm, concat with the encoder part along S, transpose, rope on the first rows.

    The inputs are, in this order and as far as the settings call for them: query, key, value; with encoder
    encoder_query, encoder_key, encoder_value; weight and bias of the query's and the key's norm (norm_type 2) and of
    the added ones (norm_added_type 2); rope_sin, rope_cos (rope_type not 0)."""

    def __init__(self, norm_type=0, norm_added_type=0, rope_type=0, concat_order=0, encoder=False, eps=1e-5):
        super().__init__()
        self.inner = _NormRopeConcat(norm_type, norm_added_type, rope_type, concat_order, encoder, eps)

    def construct(self, *inputs):
        return self.inner(inputs)

# SPDX-License-Identifier: Apache-2.0
"""The ascgrad operators in MindSpore, in graph mode and in PyNative mode, on Ascend and on the CPU.

    import ascgrad.mindspore as am
    rotary = am.RotaryMul()                        # a Cell; its bprop is RotaryMulGrad
    y = rotary(x, cos, sin)
    dx, dr1, dr2 = am.grad("RotaryMulGrad")(x, cos, sin, dy)

On Ascend the operators come from the installed package: in GE's graphs (jit_level O2) by the names of the IR, in O0, O1
and PyNative mode by the names of their aclnn functions. On the CPU they run through libascgrad_ms.so of this package.
"""
import os

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.ops import constexpr

from ascgrad import _aclnn, _library, _names, _shapes
from ascgrad._names import ACROSS, BIASED, CENTRED, L2, STREAMS, WEIGHTED

MODES = _names.MODES
_DTYPES = {ms.float32: "fp32", ms.float16: "fp16", ms.bfloat16: "bf16"}


class grad:
    """The operator as a callable: grad("RopeGrad", qSeqLen=[5, 7])(q, k, cos, sin).

    optional: names of the optional inputs that will be given, in the order of the IR. Results that do not apply are
    not returned on the CPU; on Ascend they are tensors of shape [0], as the graph has them.
    Make it outside of a construct or bprop and in the mode in which it will be called, call it inside."""

    def __init__(self, op, optional=(), **attrs):
        if op not in _library.operators():
            raise ValueError(f"there is no operator '{op}'")
        self.op, self.ir = op, _library.operators()[op]
        known = [name for name, _ in self.ir["attr"]]
        unknown = sorted(set(attrs) - set(known))
        missing = sorted(set(known) - set(attrs) - set(self.ir["default"]))
        if unknown or missing:
            raise ValueError(f"{op} has no attribute {unknown}" if unknown else f"{op} needs the attribute {missing[0]}")
        self.attrs = {name: attrs.get(name, self.ir["default"].get(name)) for name in known}
        self.names = [name for name, may_miss, _ in self.ir["in"] if not may_miss or name in optional]
        self.on_ascend = ms.get_context("device_target") == "Ascend"
        self.settings = ()
        self.custom = self._cpu() if not self.on_ascend else self._graph() if _in_ge() else self._function()

    def _outputs(self, shapes, dtypes):
        """(dtype, shape) of the results; the operator's sentence, as a ValueError, if it refuses."""
        given = {name: (dtype, list(shape)) for name, dtype, shape in zip(self.names, dtypes, shapes)}
        found = _shapes.outputs(self.op, given, self.attrs)
        return [(dtype, list(shape)) for dtype, shape in found if self.on_ascend or list(shape) != [0]]

    def _shapes(self, *shapes):
        # MindSpore does not say the dtypes here, and shapes do not depend on them
        plain = {name: types.split(",")[self.ir["in"][0][2].split(",").index("fp32")] for name, _, types in self.ir["in"]}
        out = [shape for _, shape in self._outputs(shapes, [plain[name] for name in self.names])]
        return out[0] if len(out) == 1 else tuple(out)

    def _dtypes(self, *dtypes):
        kinds = {name: dtype.element_type() for name, dtype in zip(self.names, dtypes)}
        for name, dtype in kinds.items():
            if dtype not in _DTYPES:
                raise TypeError(f"{self.op}: {name} is {dtype}; the operator takes float32, float16 and bfloat16")
        names = [_DTYPES[kinds[name]] for name in self.names]
        columns = zip(*(types.split(",") for name, _, types in self.ir["in"] if name in self.names))
        if tuple(names) not in columns:
            raise TypeError(f"{self.op}: the inputs must have one dtype, or a mixture that the IR lists, got {kinds}")
        # how many results there are does not depend on their sizes: as many as for unknown ones
        kind = dict(zip(names, dtypes))  # a result has the dtype of one of the inputs
        out = [kind[dtype] for dtype, _ in self._outputs([[-2]] * len(names), names)]
        return out[0] if len(out) == 1 else tuple(out)

    def _cpu(self):
        mask = sum(1 << i for i, (name, _, _) in enumerate(self.ir["in"]) if name in self.names)
        values = [mask]
        for name, kind in self.ir["attr"]:
            value = self.attrs[name]
            if kind == "listFloat":
                raise ValueError(f"{self.op}: {name} is a list of floats, which does not reach CPU operators of MindSpore")
            values += [len(value), *value] if kind == "listInt" else \
                [int(np.float32(value).view(np.int32))] if kind == "float" else [int(value)]
        self.settings = (Tensor(np.array(values, np.int64)),)
        library = os.path.join(_library.FOLDER, "lib", "libascgrad_ms.so")
        return ops.Custom(f"{library}:ascgrad_ms_{self.op}", func_type="aot",
                          out_shape=lambda *s: self._shapes(*s[:-1]), out_dtype=lambda *d: self._dtypes(*d[:-1]))

    def _graph(self):
        custom = ops.Custom(self.op, out_shape=self._shapes, out_dtype=self._dtypes, func_type="aot",
                            reg_info=reg_info(self.op))
        for name, value in self.attrs.items():
            custom.add_prim_attr(name, value)
        return custom

    def _function(self):
        """The aclnn function. MindSpore's eager call of one passes on tensors and nothing else, its graphs attributes too:
        in PyNative mode the call is a graph of one node."""
        name, formals = _aclnn.library().function(self.op, self.attrs)
        why = self._not_callable(formals)
        if why:
            def refuse(*tensors):
                raise ValueError(why)
            return refuse
        custom = ops.Custom(name, out_shape=self._shapes, out_dtype=self._dtypes, func_type="aot",
                            reg_info=reg_info(self.op, name, formals))
        values = (self.attrs[attr] for attr, _ in formals)
        self.settings = tuple(tuple(v) if isinstance(v, list) else v for v in values)
        if ms.get_context("mode") == ms.GRAPH_MODE:
            return custom

        def alone(*inputs):
            return custom(*inputs)
        return ms.jit(alone, backend="ms_backend")

    def _not_callable(self, formals):
        """What MindSpore cannot do with this call of an aclnn function, as a sentence (docs/aclnn.md has the proof)."""
        absent = [name for name, _, _ in self.ir["in"] if name not in self.names]
        if absent:
            return f"{self.op} without {absent[0]}: MindSpore cannot leave out an input of an aclnn function, only GE (O2) can"
        scalars = [kind for _, kind in formals if not kind.startswith("list")]
        if len(set(scalars)) < len(scalars):
            return f"{self.op}: MindSpore does not pass several attributes of one type to an aclnn function safely, only GE (O2)"
        return None

    def __call__(self, *tensors):
        return self.custom(*tensors, *self.settings)


def _in_ge():
    """Whether GE gets the graphs, on Ascend."""
    return ms.get_context("mode") == ms.GRAPH_MODE and ms.get_context("jit_level") == "O2"


def reg_info(op, function=None, formals=()):
    """What MindSpore is told about the operator: names, order and kinds of the IR; or about an aclnn function of it with these
    attributes, for which every attribute is an argument, and a float one a double."""
    ir = _library.operators()[op]
    info = ops.CustomRegOp(function or op)
    for i, (name, optional, _) in enumerate(ir["in"]):
        info = info.input(i, name, "optional" if optional else "required")
    for i, name in enumerate(ir["out"]):
        info = info.output(i, name, "required")
    for name, kind in formals if function else ir["attr"]:
        if function:
            info = info.attr(name, "required", "double" if kind == "float" else kind)
        else:
            info = info.attr(name, "optional" if name in ir["default"] else "required", kind)
    kinds = {"fp16": ops.DataType.F16_Default, "bf16": ops.DataType.BF16_Default, "fp32": ops.DataType.F32_Default}
    for column in zip(*(types.split(",") for types in [types for _, _, types in ir["in"]] + ir["out_types"])):
        info = info.dtype_format(*(kinds[dtype] for dtype in column))
    return info.target("Ascend").get_op_info()


_WORDS = {"RotaryMulGrad": ("RotaryMul", {"dy": "x", "r1": "cos (r1)", "r2": "sin (r2)"}),
          "RotaryPositionEmbeddingGrad": ("RotaryPositionEmbedding", {"dy": "x"}), "RopeGrad": ("Rope", {"qSeqLen": "seq_len"}),
          "NormRopeConcatGrad": ("NormRopeConcat", {}), "ExpSegsumGrad": ("ExpSegsum", {})}


@constexpr
def _check(op, dtype, names=(), shapes=(), attrs=()):
    """Refuses with the operator's sentence, in the words of the Cell, while the graph is built: the plain forward takes more
    than the operator. An unknown size is None."""
    cell, words = _WORDS[op]
    dtypes = dtype if isinstance(dtype, tuple) else (dtype,) * max(1, len(names))
    for name, kind in zip(names or ("the input",), dtypes):
        if kind not in _DTYPES:
            raise TypeError(f"{cell}: {words.get(name, name)} must be float32, float16 or bfloat16, got {kind}")
    given = {name: (_DTYPES[kind], [-1 if n is None else n for n in shape])
             for name, kind, shape in zip(names, dtypes, shapes)}
    if given:
        try:
            _shapes.outputs(op, given, dict(attrs))
        except ValueError as refusal:
            raise ValueError(_names.retold(cell, str(refusal), words)) from None


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


def _partly_rotated(x, cos, sin, mode, start=0):
    """The elements of a row from `start` on are rotated, as many as cos has; the others stay."""
    end, wide = start + cos.shape[-1], _wide(x)  # MindSpore cannot slice bfloat16 on the CPU
    turned = _rotary(wide[..., start:end], _wide(cos), _wide(sin), mode)
    if start > 0:
        turned = ops.cat((wide[..., :start], turned), -1)
    if end < x.shape[-1]:
        turned = ops.cat((turned, wide[..., end:]), -1)
    return ops.cast(turned, x.dtype)


class RotaryMul(nn.Cell):
    """y = r1 * x + r2 * rotate_half(x); where r1 and r2 have fewer columns than x, only so many of a row are rotated."""

    def __init__(self):
        super().__init__()
        self.grad = grad("RotaryMulGrad")

    def construct(self, x, r1, r2):
        _check("RotaryMulGrad", (x.dtype, r1.dtype, r2.dtype, x.dtype), ("x", "r1", "r2", "dy"), (x.shape, r1.shape, r2.shape, x.shape))
        return _partly_rotated(x, r1, r2, 0)

    def bprop(self, x, r1, r2, out, dout):
        return self.grad(x, r1, r2, dout)


class RotaryPositionEmbedding(nn.Cell):
    """y = P(x) * cos + R(x) * sin; mode 0..3 or "half", "interleave", "quarter", "interleave-half". Where cos and sin have
    fewer columns than x, so many of a row are rotated, from slice_start on."""

    def __init__(self, mode=0, slice_start=0):
        super().__init__()
        self.mode, self.start = _names.mode(mode), _names.whole("slice_start", slice_start)
        self.grad = grad("RotaryPositionEmbeddingGrad", optional=("x",), mode=self.mode, slice_start=self.start)

    def construct(self, x, cos, sin):
        _check("RotaryPositionEmbeddingGrad", (x.dtype, cos.dtype, sin.dtype), ("dy", "cos", "sin"), (x.shape, cos.shape, sin.shape),
               (("mode", self.mode), ("slice_start", self.start)))
        return _partly_rotated(x, cos, sin, self.mode, self.start)

    def bprop(self, x, cos, sin, out, dout):
        return self.grad(dout, cos, sin, x)


class Rope(nn.Cell):
    """RoPE of packed sequences: q [tokens, heads * D], k [tokens, kv heads * D], cos and sin [positions, D].
    With head_size=D cos and sin may have fewer columns: so many of a head are rotated then, from slice_start on.
    start_positions: the row of cos at which each sequence starts, 0 without.
    The gradient is the true one unless exact_grad=False (docs/rope_grad.md); cos and sin get zeros."""

    def __init__(self, seq_len, exact_grad=True, head_size=0, slice_start=0, start_positions=()):
        super().__init__()
        self.lengths = tuple(_names.lengths("seq_len", seq_len))
        self.starts = tuple(_names.lengths("start_positions", start_positions))
        rows = [np.arange(n) + first for n, first in zip(self.lengths, self.starts or (0,) * len(self.lengths))]
        self.rows = Tensor(np.concatenate([*rows, np.arange(0)]).astype(np.int32))
        self.head_size, self.start = head_size, _names.whole("slice_start", slice_start)
        self.grad = grad("RopeGrad", qSeqLen=list(self.lengths), exact_grad=exact_grad, head_size=head_size,
                         slice_start=self.start, start_positions=list(self.starts))

    def _one(self, x, cos, sin):
        heads = ops.reshape(_wide(x), (x.shape[0], -1, self.head_size or cos.shape[1]))  # bfloat16 cannot be reshaped on the CPU
        tables = [ops.expand_dims(ops.gather(_wide(t), self.rows, 0), 1) for t in (cos, sin)]
        return ops.cast(ops.reshape(_partly_rotated(heads, tables[0], tables[1], 0, self.start), x.shape), x.dtype)

    def construct(self, q, k, cos, sin):
        _check("RopeGrad", q.dtype, ("q", "k", "cos", "sin"), (q.shape, k.shape, cos.shape, sin.shape),
               (("qSeqLen", self.lengths), ("head_size", self.head_size), ("slice_start", self.start),
                ("start_positions", self.starts)))
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
        _check("ExpSegsumGrad", x.dtype)
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
        for i, stream in enumerate(STREAMS):
            kind = self.kinds[i // 2]
            optional += ([f"{stream}_weight"] if kind in WEIGHTED else []) + \
                ([f"{stream}_mean"] if kind in CENTRED else []) + ([f"{stream}_rstd"] if kind else [])
        optional += ["rope_sin", "rope_cos"] if rope_type else []
        self.grad = grad("NormRopeConcatGrad", optional=tuple(optional), norm_type=norm_type,
                         norm_added_type=self.kinds[1], rope_type=rope_type, concat_order=concat_order)
        self.streams = 6 if encoder else 3
        self.vectors = tuple((kind in WEIGHTED) + (kind in BIASED) for kind in self.kinds)  # weight, bias of one stream
        self.affine = 2 * self.vectors[0] + 2 * self.vectors[1]

    def _stats(self, x, kind):
        """mean (layer norm only) and rstd, as the operator takes them."""
        axes, count = ((2, 3) if kind in ACROSS else (3,)), (x.shape[3] if kind == L2 else 1)
        if kind not in CENTRED:
            return (ops.rsqrt(self.mean(ops.square(_wide(x)), axes) * count + self.eps),)
        mean = self.mean(_wide(x), axes)
        return mean, ops.rsqrt(self.mean(ops.square(_wide(x) - mean), axes) + self.eps)

    def _normal(self, x, kind, weight, bias):
        if kind == 0:
            return _wide(x)
        stats = self._stats(x, kind)
        y = (_wide(x) - stats[0]) * stats[-1] if kind in CENTRED else _wide(x) * stats[-1]
        columns = x.shape[2:] if kind in ACROSS else x.shape[3:]
        if kind in WEIGHTED:
            y = y * ops.reshape(_wide(weight), columns)
        return y + ops.reshape(_wide(bias), columns) if kind in BIASED else y

    def _first_affine(self, stream):
        """Where the weight of query, key, added query or added key is among the inputs."""
        before = 2 * self.vectors[0] if stream >= 2 else 0
        return self.streams + before + self.vectors[stream // 2] * (stream % 2)

    def _part(self, inputs, stream):
        kind = self.kinds[stream // 2]
        x = inputs[stream if stream < 2 else stream + 1]
        if kind not in WEIGHTED:
            return self._normal(x, kind, x, x)
        at = self._first_affine(stream)
        return self._normal(x, kind, inputs[at], inputs[at + 1] if kind in BIASED else x)

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
        _check("NormRopeConcatGrad", dtype)
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
            if kind in WEIGHTED:
                given = given + (inputs[self._first_affine(stream)],)
            if kind != 0:
                given = given + self._stats(inputs[stream if stream < 2 else stream + 1], kind)
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
    encoder_query, encoder_key, encoder_value; weight and bias (types 4 and 8: weight only) of the query's and the key's norm
    (norm_type 2, 4, 6 and 8) and of the added ones; rope_sin, rope_cos (rope_type not 0)."""

    def __init__(self, norm_type=0, norm_added_type=0, rope_type=0, concat_order=0, encoder=False, eps=1e-5):
        super().__init__()
        self.inner = _NormRopeConcat(norm_type, norm_added_type, rope_type, concat_order, encoder, eps)

    def construct(self, *inputs):
        return self.inner(inputs)

# SPDX-License-Identifier: Apache-2.0
"""The blocks that models are made of: qk_norm_rope, rotary with a start, rope_packed, and use() for models that normalise
queries and keys. Formulas of this file's own, in double precision, differentiated by PyTorch."""
import itertools
import sys
import types
import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch_cases import rand, run_seeded

import ascgrad.torch as at
from ascgrad.torch import norms

SEED = 20267
BOUNDS = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}  # relative to the largest element


def turned(x, mode):
    """R(x): the partner of every element, with its sign."""
    if mode == "interleave":
        return torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2)
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)


def plain_rotary(x, cos, sin, mode="half", start=0):
    end = start + cos.shape[-1]
    part = x[..., start:end]
    if mode == "interleave-half":
        part, mode = torch.cat((part[..., 0::2], part[..., 1::2]), -1), "half"
    return torch.cat((x[..., :start], part * cos + turned(part, mode) * sin, x[..., end:]), -1)


def plain_norm(x, weight, bias, norm, across, eps):
    axes = (2, 3) if across else (3,)
    if norm == "layer":
        x = x - x.mean(axes, keepdim=True)
    power = x.pow(2).sum(axes, keepdim=True)
    count = 1
    if norm != "l2":
        count = x.shape[3] * (x.shape[2] if across else 1)
    y = x / (power / count + eps).sqrt()
    if weight is not None:
        y = y * weight.reshape(x.shape[2:] if across else x.shape[3:])
    return y if bias is None else y + bias.reshape(x.shape[2:] if across else x.shape[3:])


def compare(ours, plain, args, what):
    """Results and gradients of ours, against the formula in double."""
    exact = [t if t is None else t.detach().double().requires_grad_(t.requires_grad) for t in args]
    got, want = ours(*args), plain(*exact)
    got, want = ([y] if isinstance(y, torch.Tensor) else list(y) for y in (got, want))
    upstream = [torch.randn(y.shape).to(y.dtype) for y in got]
    torch.autograd.backward(got, upstream)
    torch.autograd.backward(want, [g.double() for g in upstream])
    pairs = [(f"result {i}", a.detach(), b.detach(), args[0].dtype) for i, (a, b) in enumerate(zip(got, want))]
    pairs += [(f"gradient {i}", a.grad, b.grad, a.dtype) for i, (a, b) in enumerate(zip(args, exact))
              if a is not None and a.requires_grad]
    for name, a, b, dtype in pairs:
        error = float((a.double() - b).abs().max()) / max(1.0, float(b.abs().max()))
        assert a.shape == b.shape and a.dtype == dtype and error <= BOUNDS[args[0].dtype], f"{what} {name}: {error:.3g}"


def test_qk_norm_rope():
    count = 0
    for norm, weighted, across, mode, batched in itertools.product(
            ("rms", "layer", "l2"), (False, True), (False, True), ("half", "interleave"), (False, True)):
        if norm == "l2" and (weighted or across):
            continue
        for dtype, table_dtype in ((torch.float32,) * 2, (torch.bfloat16, torch.float32), (torch.float16,) * 2):
            table = (2, 7, 16) if batched else (7, 16)
            sizes = (4 * 16, 2 * 16) if across else (16, 16)
            args = [rand(2, 7, 4, 16, dtype=dtype), rand(2, 7, 2, 16, dtype=dtype),
                    *(rand(*table, grad=False, dtype=table_dtype) for _ in range(2)),
                    *(rand(n, dtype=dtype) if weighted else None for n in sizes),
                    *(rand(n, dtype=dtype) if weighted and norm == "layer" else None for n in sizes)]

            def plain(query, key, cos, sin, *affine):
                cos, sin = (t.unsqueeze(-2) for t in (cos, sin))
                return [plain_rotary(plain_norm(x, affine[i], affine[2 + i], norm, across, 1e-3), cos, sin, mode)
                        for i, x in enumerate((query, key))]

            compare(lambda *a: at.qk_norm_rope(*a, norm=norm, mode=mode, across_heads=across, eps=1e-3), plain, args,
                    f"{norm} weighted {weighted} across {across} {mode} tables {table} {dtype}")
            count += 1
    print(f"{count} combinations")


def test_qk_norm_rope_takes_gradients_as_they_lie():
    """Behind a transposition, as attention leaves them, and without: the same bits."""
    found = []
    for turn in (False, True):
        torch.manual_seed(SEED)
        args = [rand(2, 7, 4, 16), rand(2, 7, 2, 16), rand(7, 16, grad=False), rand(7, 16, grad=False), rand(16), rand(16)]
        upstream = [torch.randn(2, 7, n, 16) for n in (4, 2)]
        out = at.qk_norm_rope(*args)
        if turn:
            out, upstream = ([t.transpose(1, 2) for t in ts] for ts in (out, upstream))
            upstream = [t.contiguous() for t in upstream]
        torch.autograd.backward(out, upstream)
        found.append([a.grad for a in args if a.requires_grad])
    for a, b in zip(*found):
        assert torch.equal(a, b)


def test_rotary_with_a_start():
    for dtype, mode, (size, rotated, start) in itertools.product(
            BOUNDS, ("half", "interleave", "interleave-half"), ((192, 64, 128), (192, 64, 64), (40, 12, 3), (24, 24, 0))):
        for tables in (False, True):
            args = [rand(2, 5, 3, size, dtype=dtype), *(rand(1, 5, 1, rotated, grad=tables, dtype=dtype) for _ in range(2))]
            compare(lambda *a: at.rotary(*a, mode, start), lambda *a: plain_rotary(*a, mode, start), args,
                    f"rotary {mode} {start}+{rotated} of {size} {dtype}")


def test_rope_packed():
    for dtype, (lengths, starts) in itertools.product(
            BOUNDS, (((4, 0, 5), ()), ((4, 0, 5), (3, 9, 1)), ((2, 2, 3, 2), (0, 6, 2, 8)))):
        for rotated, start in ((16, 0), (8, 0), (8, 8), (6, 5)):
            rows = torch.cat([torch.arange(n) + s for n, s in zip(lengths, starts or (0,) * len(lengths))])
            args = [rand(9, 4, 16, dtype=dtype), rand(9, 2, 16, dtype=dtype),
                    *(rand(12, rotated, grad=False, dtype=dtype) for _ in range(2))]

            def plain(q, k, cos, sin):
                return [plain_rotary(x, cos[rows][:, None], sin[rows][:, None], "half", start) for x in (q, k)]

            compare(lambda *a: at.rope_packed(*a, lengths, starts, start), plain, args,
                    f"rope_packed {lengths} {starts} {start}+{rotated} {dtype}")


def refused(function, *args, text, **named):
    try:
        function(*args, **named)
    except (RuntimeError, ValueError, TypeError) as error:
        assert text in str(error), f"expected {text!r} in {error}"
    else:
        raise AssertionError(f"not refused: {text}")


def test_refusals():
    q, k, table, weight = rand(2, 7, 4, 16), rand(2, 7, 2, 16), rand(7, 16, grad=False), rand(16)
    refused(at.qk_norm_rope, q, k, table, table, weight, text="the weights of query and key come together")
    refused(at.qk_norm_rope, q, k, table, table, weight, weight, weight, text="and there are no biases")
    refused(at.qk_norm_rope, q, k, table, table, weight, weight, norm="layer", text="weights and biases of query and key")
    refused(at.qk_norm_rope, q, k, table, table, weight, weight, norm="l2", text="norm l2 has no weights")
    refused(at.qk_norm_rope, q, k, table, table, norm="batch", text="norm must be one of layer, rms, l2; got 'batch'")
    refused(at.qk_norm_rope, q, k, table, table, mode="quarter", text="mode must be one of interleave, half; got 'quarter'")
    refused(at.qk_norm_rope, q[0], k, table, table, text="query must have four axes [B, S, N, D], got [7, 4, 16]")
    refused(at.qk_norm_rope, q, k, table.requires_grad_(), table, text="cos and sin have no gradient")
    refused(at.qk_norm_rope, q, k, table.detach(), table.detach(), rand(8), rand(8), text="query_weight")
    refused(at.rotary, q, rand(1, 7, 1, 8), rand(1, 7, 1, 8), start=9, text="start")
    refused(at.rotary, q, rand(1, 7, 1, 8), rand(1, 7, 1, 8), start=-1, text="start")
    refused(at.rotary, q, rand(1, 7, 1, 8), rand(1, 7, 1, 8), start=1.5, text="start must be an integer")
    packed, table = (q.flatten(0, 1), k.flatten(0, 1)), table.detach()
    refused(at.rope_packed, *packed, table, table, [7, 7], [0, -1], text="starts")
    refused(at.rope_packed, *packed, table, table, [7, 7], [0, 1], text="starts")
    refused(at.rope_packed, *packed, table, table, [7, 7], [0], text="starts")
    refused(at.rope_packed, q, k, table, table, [7, 7], text="q must have three axes [tokens, heads, D]")


class RmsNorm(nn.Module):
    """As Qwen3's file has it."""

    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight, self.variance_epsilon = nn.Parameter(torch.ones(size)), eps

    def forward(self, hidden_states):
        wide = hidden_states.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * wide.to(hidden_states.dtype)


def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + turned(q, "half") * sin, k * cos + turned(k, "half") * sin


class Attention(nn.Module):
    """Norm per head (Qwen3) or across heads (OLMo 2), fewer key heads than query heads, rotation."""

    def __init__(self, across, between=lambda x: x):
        super().__init__()
        self.across, self.between = across, between
        self.q_proj, self.k_proj = nn.Linear(32, 4 * 16), nn.Linear(32, 2 * 16)
        self.q_norm, self.k_norm = (RmsNorm(n * 16 if across else 16) for n in (4, 2))
        for norm in (self.q_norm, self.k_norm):
            nn.init.normal_(norm.weight)

    def forward(self, x, cos, sin):
        q, k = self.q_proj(x), self.k_proj(x)
        q, k = ((norm(t) if self.across else norm(t.view(*t.shape[:2], -1, 16)))
                for norm, t in ((self.q_norm, q), (self.k_norm, k)))
        q, k = (self.between(t).view(*t.shape[:2], -1, 16).transpose(1, 2) for t in (q, k))
        return vars(sys.modules[type(self).__module__])["apply_rotary_pos_emb"](q, k, cos, sin)


def attention(*words):
    """An Attention whose class is defined in a module of its own."""
    module = types.ModuleType("small_attention")
    module.apply_rotary_pos_emb = apply_rotary_pos_emb
    module.Attention = type("Attention", (Attention,), {"__module__": module.__name__})
    sys.modules[module.__name__] = module
    return module.Attention(*words)


def nodes(outputs):
    """Names of the functions in the graph behind these tensors."""
    seen, left = set(), [y.grad_fn for y in outputs]
    while left:
        function = left.pop()
        if function is not None and function not in seen:
            seen.add(function)
            left += [following for following, _ in function.next_functions]
    return [type(function).__name__ for function in seen]


def test_norm_and_rotation_are_joined():
    x, table = torch.randn(2, 7, 32), torch.randn(2, 7, 16)
    for across, batch, again in itertools.product((False, True), (1, 2), (False, True)):
        model = attention(across)
        results = []
        for on in (False, True):
            done = at.use(model, on, always=True)
            assert bool(done.joined) == on and (not on or "joined q_norm and k_norm of small_attention.Attention" in str(done))
            model.zero_grad()
            tensors = x, table[:batch].expand(2, 7, 16) if batch == 2 else table[:1], table[:batch]
            out = checkpoint(model, *tensors, use_reentrant=False) if again else model(*tensors)
            torch.autograd.backward(out, [y.detach().cos() for y in out])
            results.append([*(y.detach() for y in out), *(p.grad.clone() for p in model.parameters())])
            assert nodes(out).count("_QkNormRopeBackward") == on, (across, on, nodes(out))
        at.use(model, False)
        assert "forward" not in vars(model.q_norm)
        for a, b in zip(*results):
            assert float((a - b).abs().max()) <= 2e-5 * max(1.0, float(b.abs().max())), across


def test_norms_stay_where_something_is_between():
    """A factor, a change in place: the rotation has no note then, or one of another version."""
    x, table = torch.randn(2, 7, 32), torch.randn(2, 7, 16)
    for between in (lambda t: 2 * t, lambda t: t.mul_(2)):
        model = attention(False, between)
        wanted = model(x, table, table)
        at.use(model, always=True)
        out = model(x, table, table)
        assert "_QkNormRopeBackward" not in nodes(out)
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(out, wanted))


def test_what_is_an_rms_norm():
    class Plus(RmsNorm):  # as Gemma has it
        def forward(self, hidden_states):
            wide = hidden_states * torch.rsqrt(hidden_states.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
            return wide * (1 + self.weight)

    assert norms.is_rms_norm(RmsNorm(16)) and norms.is_rms_norm(RmsNorm(16).bfloat16())
    for other in (Plus(16), nn.LayerNorm(16), nn.Linear(16, 16), nn.Identity()):
        assert not norms.is_rms_norm(other), other


def test_hugging_face():
    """Models that normalise queries and keys, with random weights: the one line changes neither loss nor gradients."""
    try:
        import transformers as hf
    except ImportError:
        return
    tokens = torch.randint(1, 50, (2, 9), generator=torch.Generator().manual_seed(SEED))
    small = {"vocab_size": 50, "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
             "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 0,
             "eos_token_id": 0}
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
    for name, build in (("Qwen3", lambda: hf.Qwen3ForCausalLM(hf.Qwen3Config(**small))),
                        ("Qwen3-MoE", lambda: hf.Qwen3MoeForCausalLM(hf.Qwen3MoeConfig(**small, **experts))),
                        ("OLMo 2", lambda: hf.Olmo2ForCausalLM(hf.Olmo2Config(**small)))):
        torch.manual_seed(SEED)
        model = build().train()
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=0.2)
        results = []
        for on in (False, True):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                done = at.use(model, on, always=True)
            assert bool(done.joined) == on, f"{name}: {done}"
            model.zero_grad()
            loss = model(input_ids=tokens, labels=tokens).loss
            assert nodes([loss]).count("_QkNormRopeBackward") == 2 * on, name
            loss.backward()
            results.append([loss.detach(), *(p.grad.clone() for p in model.parameters())])
        at.use(model, False)
        worst = max(float((a - b).abs().max() / (b.abs().max() + 1e-8)) for a, b in zip(*results))
        assert worst <= 1e-3, (name, worst)
        print(f"transformers {hf.__version__} {name}: gradients within {worst:.1g}; {done}")


if __name__ == "__main__":
    sys.exit(run_seeded(globals(), SEED))

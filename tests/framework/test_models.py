# SPDX-License-Identifier: Apache-2.0
"""ascgrad.torch.use(model): what it recognises, and training with it against training without."""
import sys
import time
import types
import warnings

import small_models
import torch
from run_tests import run_tests

import ascgrad.torch as at
from ascgrad.torch import models

SEED = 20265
STEPS = 20
BOUND = 1e-4  # of the losses, relative: float32, the same sums in another order


def trained(model):
    """Losses of STEPS steps on random tokens, and the seconds they took."""
    torch.manual_seed(SEED)
    tokens = torch.randint(0, small_models.VOCABULARY, (4, small_models.LENGTH + 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    begin, losses = time.perf_counter(), []
    for _ in range(STEPS):
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, time.perf_counter() - begin


def test_training_is_the_same():
    for name in small_models.FAMILIES:
        runs = {}
        for used in (False, True):
            torch.manual_seed(SEED)
            model = small_models.family(name)
            if used:
                done = at.use(model)
                assert len(done.replaced) == 1 and not done.left, f"{name}: {done}"
            runs[used] = trained(model)
        worst = max(abs(a - b) / abs(b) for a, b in zip(runs[True][0], runs[False][0]))
        assert worst <= BOUND, f"{name}: losses differ by {worst:.2g}"
        assert runs[True][0][-1] < 0.5 * runs[True][0][0], f"{name} does not learn: {runs[True][0]}"
        faster = "with" if runs[True][1] < runs[False][1] else "without"
        print(f"{name}: {STEPS} steps, losses within {worst:.1g}; {1e3 * runs[True][1] / STEPS:.1f} ms a step with use(), "
              f"{1e3 * runs[False][1] / STEPS:.1f} ms without: faster {faster}")


def test_backward_is_ours():
    model = small_models.family("llama")
    at.use(model)
    seen, node = set(), [model(torch.zeros(1, 4, dtype=torch.long)).sum().grad_fn]
    while node:
        function = node.pop()
        if function is not None and function not in seen:
            seen.add(function)
            node += [next_function for next_function, _ in function.next_functions]
    names = [type(function).__name__ for function in seen]
    assert names.count("_RotaryMulBackward") == 4, names  # q and k of two layers


def test_what_is_recognised():
    wanted = {"llama": "half", "neox": "half", "glm": "interleave, tables first half, each twice", "qwen_vl": "half",
              "gptj": "interleave, tables each twice", "vision": "half", "old_llama": "half", "not_a_rotation": "None"}
    for name, text in wanted.items():
        found = models._recognised(getattr(small_models, name))
        assert str(found) == text, f"{name}: {found}"
    q, k, table = torch.randn(2, 5, 3, 16), torch.randn(2, 5, 1, 16), torch.randn(2, 5, 16)
    for name in ("llama", "neox", "glm"):  # the options that a call may give are obeyed
        function = getattr(small_models, name)
        for got, want in zip(models._recognised(function)(q, k, table, table, unsqueeze_dim=2),
                             function(q, k, table, table, unsqueeze_dim=2)):
            assert torch.allclose(got, want, atol=1e-5), name


def test_undone():
    model = small_models.family("llama")
    space = vars(sys.modules[type(model).__module__])
    own = space["apply_rotary_pos_emb"]
    first = at.use(model)
    assert space["apply_rotary_pos_emb"] is not own and "replaced small_llama.apply_rotary_pos_emb (half)" in str(first)
    again = at.use(model)
    assert again.replaced == first.replaced
    at.use(model, False)
    assert space["apply_rotary_pos_emb"] is own
    at.use(model, False)
    assert space["apply_rotary_pos_emb"] is own


def test_what_is_left_is_said():
    module = types.ModuleType("small_strange")
    sys.modules[module.__name__] = module
    module.apply_rotary_pos_emb = small_models.not_a_rotation
    module.Model = type("Model", (torch.nn.Module,), {"__module__": module.__name__})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        done = at.use(module.Model())
    assert not done.replaced and module.apply_rotary_pos_emb is small_models.not_a_rotation
    assert "left small_strange.apply_rotary_pos_emb: not a rotation" in str(done)
    assert len(said) == 1 and "apply_rotary_pos_emb" in str(said[0].message)


def hugging_face():
    """Real models with random weights, as far as transformers is there: (name, model)."""
    import transformers as hf
    torch.manual_seed(SEED)
    small = {"vocab_size": small_models.VOCABULARY, "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2,
             "num_attention_heads": 4, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 0,
             "eos_token_id": 0}
    kv = {**small, "num_key_value_heads": 2}
    yield "Llama", hf.LlamaForCausalLM(hf.LlamaConfig(**kv))
    yield "Qwen3", hf.Qwen3ForCausalLM(hf.Qwen3Config(**kv, head_dim=16))
    yield "GPT-NeoX", hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(**small, rotary_pct=0.5))
    yield "GLM", hf.GlmForCausalLM(hf.GlmConfig(**kv, head_dim=16))
    yield "GPT-J", hf.GPTJForCausalLM(hf.GPTJConfig(
        vocab_size=small_models.VOCABULARY, n_embd=64, n_layer=2, n_head=4, n_positions=64, rotary_dim=8))


def test_hugging_face():
    try:
        import transformers
    except ImportError:
        return
    tokens = torch.randint(0, small_models.VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(SEED))
    for name, model in hugging_face():
        model.eval()  # no dropout
        results = []
        for used in (False, True):
            done = at.use(model, used)
            assert bool(done.replaced) == used, f"{name}: {done}"
            model.zero_grad()
            loss = model(tokens, labels=tokens).loss
            loss.backward()
            results.append([loss.item()] + [p.grad.clone() for p in model.parameters() if p.grad is not None])
        at.use(model, False)
        (loss, *want), (got_loss, *got) = results
        assert abs(loss - got_loss) <= 1e-5 * abs(loss), (name, loss, got_loss)
        worst = max(float((a - b).abs().max() / (b.abs().max() + 1e-8)) for a, b in zip(got, want))
        assert len(got) == len(want) and worst <= 1e-3, (name, worst)
        print(f"transformers {transformers.__version__} {name}: {done}; gradients within {worst:.1g}")


def main():
    def call(test):
        torch.manual_seed(SEED)
        test()

    return run_tests(globals(), f"torch {torch.__version__}, seed {SEED}", call)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""ascgrad.torch.use(model): what it recognises, and training with it against training without."""
import sys
import time
import types
import warnings

import small_models
import torch
from torch.utils.checkpoint import checkpoint
from torch_cases import run_seeded

import ascgrad.torch as at
from ascgrad.torch import rotations

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
                done = at.use(model, always=True)
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
    for always, wanted in ((True, 4), (False, 0)):  # q and k of two layers; left to the model on a CPU, since they are small
        done = at.use(model, always=always)
        assert ("on a CPU the model's own functions compute calls in 16 bits" in str(done)) != always, done
        seen, node = set(), [model(torch.zeros(1, 4, dtype=torch.long)).sum().grad_fn]
        while node:
            function = node.pop()
            if function is not None and function not in seen:
                seen.add(function)
                node += [next_function for next_function, _ in function.next_functions]
        names = [type(function).__name__ for function in seen]
        assert names.count("_RotaryMulBackward") == wanted, (always, names)


def test_checkpointing():
    """A forward that the backward repeats: what is tried at the first call of its kind is no part of it."""
    tokens = torch.randint(0, small_models.VOCABULARY, (2, small_models.LENGTH))
    for name in small_models.FAMILIES:
        model, gradients = small_models.family(name), []
        for used in (False, True):
            at.use(model, used, always=True)
            model.zero_grad()
            checkpoint(model, tokens, use_reentrant=False).cos().sum().backward()
            gradients.append([p.grad.clone() for p in model.parameters()])
        worst = max(float((a - b).abs().max() / b.abs().max()) for a, b in zip(*gradients))
        assert worst <= BOUND, f"{name}: gradients differ by {worst:.2g}"


def seconds(functions, tensors, rounds):
    """CPU seconds of a forward and backward of each function, the least of some rounds in turn."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            begin = time.process_time()
            out = function(*tensors)
            torch.autograd.backward(out, [y.detach() for y in out])
            best[i] = min(best[i], time.process_time() - begin)
    return best


def test_not_slower_on_a_cpu():
    """use() as it is by default, against the model's own function, eager and compiled, in one run."""
    rotation, _ = rotations.recognised(small_models.llama)
    rotation.always = False
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for dtype in (torch.float32, torch.bfloat16):
            for shape in ((1, 4, 12, 16), (1, 8, 128, 64), (1, 8, 512, 64), (2, 16, 512, 64), (1, 16, 1024, 128)):
                q, k = (torch.randn(shape, dtype=dtype, requires_grad=True) for _ in range(2))
                tables = torch.randn(2, shape[0], shape[2], shape[3], dtype=dtype)
                functions = [small_models.llama, rotation]
                if hasattr(torch, "compiler"):
                    functions += [torch.compile(f, backend="aot_eager") for f in functions]
                rounds = max(5, min(40, 10 ** 7 // q.numel()))
                plain, ours, *compiled = seconds(functions, (q, k, *tables), rounds)
                taken = "ours" if rotation.pays(q) else "the model's own"
                print(f"{str(dtype)[6:]} {list(shape)}: {taken}; {1e3 * plain:.2f} ms plain, {1e3 * ours:.2f} ms with use()"
                      + (f"; compiled {1e3 * compiled[0]:.2f} and {1e3 * compiled[1]:.2f}" if compiled else ""))
                assert ours <= 1.3 * plain + 1e-4, (dtype, shape, plain, ours)
    finally:
        torch.set_num_threads(threads)


def test_what_is_recognised():
    wanted = {"llama": "half", "neox": "half", "glm": "interleave, tables first half, each twice", "qwen_vl": "half",
              "gptj": "interleave, tables each twice", "vision": "half", "old_llama": "half", "not_a_rotation": "None",
              "deepseek": "interleave-half, tables first half, twice", "gpt_oss": "half, tables twice",
              "nanochat": "half, sin negative", "complex_pairs": "interleave, tables each twice, complex tables",
              "last_part": "interleave, tables each twice, last part", "prefix": "None"}
    for name, text in wanted.items():
        found, why = rotations.recognised(getattr(small_models, name))
        assert str(found) == text and (found is None) == bool(why), f"{name}: {found}: {why}"
    q, k, table = torch.randn(2, 5, 3, 16), torch.randn(2, 5, 1, 16), torch.randn(2, 5, 16)
    for name in ("llama", "neox", "glm"):  # the options that a call may give are obeyed
        function = getattr(small_models, name)
        for got, want in zip(rotations.recognised(function)[0](q, k, table, table, unsqueeze_dim=2),
                             function(q, k, table, table, unsqueeze_dim=2)):
            assert torch.allclose(got, want, atol=1e-5), name


def test_vision_towers():
    """No batch: tables [tokens, D] beside x [tokens, heads, D], in a function that could also take a batch."""
    q, k, table = torch.randn(7, 4, 16), torch.randn(7, 2, 16), torch.randn(7, 16)
    rotation, _ = rotations.recognised(small_models.vision)
    for got, want in zip(rotation(q, k, table, table), small_models.vision(q, k, table, table)):
        assert torch.allclose(got, want, atol=1e-5)


def calls(rotation, monitor):
    """The rotation with every result of ours noted in monitor."""
    plain = rotation.ours
    rotation.ours = lambda given: (lambda out: (monitor.append(out is not None), out)[1])(plain(given))
    return rotation


def test_tables_of_fewer_axes():
    q, k, table = torch.randn(2, 5, 3, 16), torch.randn(2, 5, 1, 16), torch.randn(5, 16)
    seen = []
    rotation = calls(rotations.recognised(small_models.llama)[0], seen)
    for got, want in zip(rotation(q, k, table, table), small_models.llama(q, k, table, table)):
        assert torch.allclose(got, want, atol=1e-5)
    assert seen[-1]


def test_dtypes_are_the_originals():
    """bf16 x beside fp32 tables: some functions give fp32, some bf16."""
    q, table = torch.randn(2, 3, 5, 16, dtype=torch.bfloat16), torch.randn(2, 5, 16)
    for function in (small_models.llama, small_models.vision):
        rotation, _ = rotations.recognised(function)
        for kind in (torch.float32, torch.bfloat16):
            tables = table.to(kind) if function is small_models.llama else table[0].to(kind)
            x = q if function is small_models.llama else q[0].transpose(0, 1)
            assert rotation(x, x, tables, tables)[0].dtype == function(x, x, tables, tables)[0].dtype, (function, kind)


def test_a_call_that_was_not_tried():
    """A function that changes its mind with the sizes: ours is compared at the first call of that kind, and loses."""
    def sly(q, k, cos, sin, unsqueeze_dim=1):
        return small_models.llama(q, k, cos if q.shape[-1] < 64 else -cos, sin, unsqueeze_dim=unsqueeze_dim)

    rotation, _ = rotations.recognised(sly)
    for size, ours in ((32, True), (64, False), (64, False)):
        q, table = torch.randn(2, 3, 5, size), torch.randn(2, 5, size)
        seen = []
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            got = calls(rotation, seen)(q, q, table, table)
        assert torch.allclose(got[0], sly(q, q, table, table)[0], atol=1e-5), size
        if not ours:
            assert not rotation.takes({"q": q, "k": q, "cos": table, "sin": table}), size
    assert not said  # it was said once, the first time


def test_defaults_of_pytorch():
    """The caller's default dtype and device do not matter, and stay."""
    for dtype in (torch.bfloat16, torch.float64):
        torch.set_default_dtype(dtype)
        try:
            assert str(rotations.recognised(small_models.llama)[0]) == "half", dtype
            assert torch.get_default_dtype() == dtype
        finally:
            torch.set_default_dtype(torch.float32)
    if hasattr(torch, "set_default_device"):
        torch.set_default_device("meta")
        try:
            assert str(rotations.recognised(small_models.llama)[0]) == "half"
            assert torch.empty(1).device.type == "meta"
        finally:
            torch.set_default_device(None)
    with torch.inference_mode():
        assert str(rotations.recognised(small_models.llama)[0]) == "half"


def test_no_model():
    for nothing in (None, "model", small_models.llama):
        try:
            at.use(nothing)
        except TypeError as error:
            assert "must be a torch.nn.Module, got" in str(error), error
        else:
            raise AssertionError(nothing)


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
    assert "left small_strange.apply_rotary_pos_emb: no rotation that ascgrad knows gives its numbers" in str(done)
    assert len(said) == 1 and "apply_rotary_pos_emb" in str(said[0].message)


def hugging_face():
    """Real models with random weights, as far as transformers is there: (name, model, what a step gets)."""
    import transformers as hf
    torch.manual_seed(SEED)
    tokens = torch.randint(1, small_models.VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(SEED))
    text = {"input_ids": tokens, "labels": tokens}
    small = {"vocab_size": small_models.VOCABULARY, "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2,
             "num_attention_heads": 4, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 0,
             "eos_token_id": 0}
    kv = {**small, "num_key_value_heads": 2}
    yield "Llama", hf.LlamaForCausalLM(hf.LlamaConfig(**kv)), text
    yield "Qwen3", hf.Qwen3ForCausalLM(hf.Qwen3Config(**kv, head_dim=16)), text
    yield "GPT-NeoX", hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(**small, rotary_pct=0.5)), text
    yield "GLM", hf.GlmForCausalLM(hf.GlmConfig(**kv, head_dim=16)), text
    yield "GPT-J", hf.GPTJForCausalLM(hf.GPTJConfig(
        vocab_size=small_models.VOCABULARY, n_embd=64, n_layer=2, n_head=4, n_positions=64, rotary_dim=8)), text
    latent = {**kv, "num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 16,
              "qk_nope_head_dim": 16, "v_head_dim": 16, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1,
              "topk_group": 1, "moe_intermediate_size": 32, "first_k_dense_replace": 1}
    yield "DeepSeek-V3", hf.DeepseekV3ForCausalLM(hf.DeepseekV3Config(**latent)), text
    yield "DeepSeek-V2", hf.DeepseekV2ForCausalLM(hf.DeepseekV2Config(**latent)), text
    yield "gpt-oss", hf.GptOssForCausalLM(hf.GptOssConfig(
        **kv, head_dim=16, num_local_experts=4, num_experts_per_tok=2, layer_types=["full_attention"] * 2)), text
    yield "Qwen2-VL", *qwen2_vl(hf, kv)


def qwen2_vl(hf, small):
    """With an image: its patches go through the vision tower, whose rotation has no batch."""
    start, end, pad, video = 40, 41, 42, 43
    config = hf.Qwen2VLConfig(
        text_config={**small, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 3, 3]}},
        vision_config={"depth": 2, "embed_dim": 32, "hidden_size": 64, "num_heads": 2, "patch_size": 2, "mlp_ratio": 2,
                       "spatial_merge_size": 2, "temporal_patch_size": 2},
        image_token_id=pad, video_token_id=video, vision_start_token_id=start, vision_end_token_id=end)
    tokens = torch.tensor([[3, start, pad, pad, pad, pad, end, 5, 6]])
    return hf.Qwen2VLForConditionalGeneration(config), {
        "input_ids": tokens, "labels": tokens, "pixel_values": torch.randn(16, 3 * 2 * 2 * 2),
        "image_grid_thw": torch.tensor([[1, 4, 4]]), "mm_token_type_ids": (tokens == pad).int()}


def test_hugging_face():
    try:
        import transformers
    except ImportError:
        return
    for name, model, batch in hugging_face():
        model.eval()  # no dropout
        results, seen = [], []
        for used in (False, True):
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # nothing is left
                done = at.use(model, used, always=True)
            assert bool(done.replaced) == used, f"{name}: {done}"
            for full in done.replaced:
                module, _, function = full.rpartition(".")
                calls(vars(sys.modules[module])[function], seen)
            model.zero_grad()
            loss = model(**batch).loss
            loss.backward()
            results.append([loss.item()] + [p.grad.clone() for p in model.parameters() if p.grad is not None])
        at.use(model, False)
        (loss, *want), (got_loss, *got) = results
        assert abs(loss - got_loss) <= 1e-5 * abs(loss), (name, loss, got_loss)
        worst = max(float((a - b).abs().max() / (b.abs().max() + 1e-8)) for a, b in zip(got, want))
        assert len(got) == len(want) and worst <= 1e-3, (name, worst)
        assert len(seen) > 2 and all(seen), f"{name}: ours computed {sum(seen)} of {len(seen)} calls"  # a trial, 2 layers
        print(f"transformers {transformers.__version__} {name}: {len(seen)} calls; gradients within {worst:.1g}; {done}")


def main():
    return run_seeded(globals(), SEED)


if __name__ == "__main__":
    sys.exit(main())

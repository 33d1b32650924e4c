"""Makes tests/data/huggingface: small random checkpoints of transformers, and its results with these (README.md)."""

import json
import pathlib
import shutil

import numpy as np
import torch
from safetensors.torch import load_file
from sentencepiece_golden import write_sentencepiece
from t5_golden import write_t5
from tokenizers_golden import qwen2_tokenizer, small_gemma_tokenizer, write_steps, write_tokenizers
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Olmo2Config,
    Olmo2ForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

golden = pathlib.Path(__file__).parents[1] / "data/huggingface"
T, prompt, written, slots = 100, 8, 200, (9, 99)
sizes = dict(vocab_size=64, hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=64, rms_norm_eps=1e-5, initializer_range=0.25,
             bos_token_id=None, eos_token_id=None, pad_token_id=None)
theta = 10000.0


def rope(kind, **more):
    return dict(rope_type=kind, rope_theta=theta, **more)


sliding, full = "sliding_attention", "full_attention"
factors = dict(short_factor=[1.0, 1.1, 1.3, 1.7], long_factor=[1.0, 2.0, 3.5, 6.0])
# name: (the model whose weights it uses, keys that differ in its configuration)
cases = {
    "llama": ("llama", dict(rope_parameters=rope("default"))),
    "llama_base": ("llama", dict(rope_parameters=dict(rope_type="default", rope_theta=500000.0))),
    "llama_huge_base": ("llama", dict(rope_parameters=dict(rope_type="default", rope_theta=3e16))),
    "linear": ("llama", dict(rope_parameters=rope("linear", factor=4.0))),
    "dynamic": ("llama", dict(rope_parameters=rope("dynamic", factor=2.0))),
    "yarn": ("llama", dict(rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=32))),
    "yarn_all": ("llama", dict(rope_parameters=rope(
        "yarn", factor=8.0, original_max_position_embeddings=16, beta_fast=16.0, beta_slow=2.0, mscale=0.8,
        mscale_all_dim=0.4, truncate=False))),
    "yarn_factor": ("llama", dict(rope_parameters=rope(
        "yarn", factor=4.0, original_max_position_embeddings=32, attention_factor=1.25))),
    "yarn_flatter": ("llama", dict(rope_parameters=rope(
        "yarn", factor=4.0, original_max_position_embeddings=32, attention_factor=0.8, mscale=0.5))),
    "yarn_plain": ("llama", dict(rope_parameters=rope(
        "yarn", factor=1.0, original_max_position_embeddings=64, attention_factor=1.5))),
    "yarn_fast": ("llama", dict(rope_parameters=dict(  # all pairs turn faster than beta_fast
        rope_type="yarn", rope_theta=10.0, factor=4.0, original_max_position_embeddings=48, beta_fast=0.05,
        beta_slow=0.01))),
    "yarn_slow": ("llama", dict(rope_parameters=dict(  # all pairs turn slower than beta_slow
        rope_type="yarn", rope_theta=100.0, factor=4.0, original_max_position_embeddings=16, beta_fast=40.0,
        beta_slow=20.0))),
    "longrope": ("llama", dict(rope_parameters=rope(
        "longrope", factor=4.0, original_max_position_embeddings=48, **factors))),
    "longrope_factor": ("llama", dict(rope_parameters=rope(
        "longrope", original_max_position_embeddings=16, attention_factor=1.1, **factors))),
    "longrope_flatter": ("llama", dict(rope_parameters=rope(
        "longrope", factor=4.0, original_max_position_embeddings=48, attention_factor=0.8, **factors))),
    "longrope_sharp": ("llama", dict(rope_parameters=rope(
        "longrope", factor=0.5, original_max_position_embeddings=48, attention_factor=3.0, **factors))),
    "longrope_shorter": ("llama", dict(rope_parameters=rope(
        "longrope", factor=0.5, original_max_position_embeddings=48, **factors))),
    "llama3": ("llama", dict(rope_parameters=dict(
        rope_type="llama3", rope_theta=500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=32))),
    "llama_biases": ("llama_biases", dict(attention_bias=True, tie_word_embeddings=True)),
    "mistral": ("mistral", dict(head_dim=12, sliding_window=24)),
    "mistral_whole": ("mistral", dict(head_dim=12, sliding_window=None)),
    "mistral_yarn": ("mistral", dict(head_dim=12, sliding_window=24, rope_parameters=rope(
        "yarn", factor=4.0, original_max_position_embeddings=32))),
    "qwen2": ("qwen2", dict()),
    "qwen2_windows": ("qwen2", dict(use_sliding_window=True, sliding_window=20, max_window_layers=1)),
    "qwen2_linear": ("qwen2", dict(rope_parameters=rope("linear", factor=2.0))),
    "qwen3": ("qwen3", dict()),
    "qwen3_yarn": ("qwen3", dict(rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=32))),
    "qwen3_windows": ("qwen3", dict(use_sliding_window=True, sliding_window=20, layer_types=[sliding, full])),
    "olmo2": ("olmo2", dict()),
    "olmo2_linear": ("olmo2", dict(rope_parameters=rope("linear", factor=2.0))),
    "phi3": ("phi3", dict()),
    "phi3_windows": ("phi3", dict(sliding_window=20)),
    "phi3_partial": ("phi3", dict(partial_rotary_factor=0.5)),
    "phi3_longrope": ("phi3", dict(original_max_position_embeddings=32, rope_parameters=rope("longrope", **factors))),
    "phi3_partial_longrope": ("phi3", dict(original_max_position_embeddings=32, rope_parameters=rope(
        "longrope", partial_rotary_factor=0.75, short_factor=[1.0, 1.1, 1.3], long_factor=[1.0, 2.0, 3.5]))),
    "gemma3": ("gemma3", dict()),
    "gemma3_linear": ("gemma3", dict(rope_parameters={
        full: dict(rope_type="linear", rope_theta=1000000.0, factor=8.0),
        sliding: dict(rope_type="default", rope_theta=10000.0)})),
    "gemma3_pattern": ("gemma3", dict(layer_types=None, sliding_window_pattern=2, sliding_window=24)),
    "gemma3_capped": ("gemma3", dict(final_logit_softcapping=3.0, query_pre_attn_scalar=40)),
}
models = {
    "llama": (LlamaConfig, LlamaForCausalLM, dict(), torch.float32),
    "llama_biases": (LlamaConfig, LlamaForCausalLM, dict(num_hidden_layers=1, attention_bias=True,
                                                         tie_word_embeddings=True), torch.bfloat16),
    "mistral": (MistralConfig, MistralForCausalLM, dict(head_dim=12, sliding_window=24, tie_word_embeddings=True),
                torch.float16),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM, dict(vocab_size=300, tie_word_embeddings=True), torch.bfloat16),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM, dict(head_dim=12, attention_bias=True, tie_word_embeddings=True),
              torch.bfloat16),
    "olmo2": (Olmo2Config, Olmo2ForCausalLM, dict(), torch.bfloat16),
    "phi3": (Phi3Config, Phi3ForCausalLM, dict(), torch.bfloat16),
    "gemma3": (Gemma3TextConfig, Gemma3ForCausalLM, dict(
        head_dim=10, num_hidden_layers=3, query_pre_attn_scalar=16, sliding_window=16,
        layer_types=[sliding, sliding, full]), torch.bfloat16),
}
# without a cache, which would hold keys turned for earlier lengths
anew = [name for name in cases if name == "dynamic" or "longrope" in name]


def build(name, more):
    config, model, own, dtype = models[name]
    torch.manual_seed(1)
    fresh = model(config(**{**sizes, **own}))
    for at, p in fresh.named_parameters():  # makes biases differ from 0, and gains from 1
        if at.endswith("bias"):
            torch.nn.init.normal_(p, std=0.2)
        if "norm" in at:
            torch.nn.init.normal_(p, mean=0.0 if name == "gemma3" else 1.0, std=0.1)  # Gemma adds 1 to these
    stored = fresh.to(dtype)
    if more is None:
        return stored
    run = model(config(**{**sizes, **own, **more}, attn_implementation="eager"))
    run.load_state_dict({k: v.float() for k, v in stored.state_dict().items()})
    return run.eval()


def greedy(model, start):
    """Greedy tokens, each from a pass over the whole text, and the smallest lead of a token over the next best."""
    text, lead = start.clone(), float("inf")
    for _ in range(written):
        z = model(text, use_cache=False).logits[0, -1]
        top = torch.topk(z, 2)
        lead = min(lead, float(top.values[0] - top.values[1]))
        if lead < 1e-3:
            return None
        text = torch.cat([text, top.indices[:1][None]], 1)
    return text[0, start.shape[1]:].tolist()


@torch.no_grad()
def case(name):
    model_name, more = cases[name]
    for draw in range(100):  # until rounding decides no generated token
        model = build(model_name, more)
        tokens = torch.tensor(np.random.default_rng(draw).integers(0, model.config.vocab_size, T))[None]
        text = greedy(model, tokens[:, :prompt])
        if text:
            break
    model = build(model_name, more)
    z = model(tokens, use_cache=False).logits[0]
    if name not in anew:
        whole = model.generate(tokens[:, :prompt], max_new_tokens=written, do_sample=False,
                               attention_mask=torch.ones_like(tokens[:, :prompt]), pad_token_id=0)
        assert whole[0, prompt:].tolist() == text, name
    print(name, "draw", draw, flush=True)
    config = json.loads(model.config.to_json_string())
    return dict(name=name, model=model_name, config=config, prompt=prompt, tokens=tokens[0].tolist(),
                slots=list(slots), logits=[[float(f"{v:.6g}") for v in z[t].tolist()] for t in slots], written=text)


def rerope_two_passes(weights, config, tokens, window):
    """LLaMA with ReRoPE as its author computes it (Su 2023). The logits of all pairs are computed twice, rotated by the
    distance and rotated as if every distance were `window`; each pair uses one of the two."""
    w = {k: v.double().numpy() for k, v in weights.items()}
    heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
    n, d = len(tokens), config["hidden_size"] // heads
    f = theta ** (-2.0 * np.arange(d // 2) / d)

    def norm(x, gain):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + config["rms_norm_eps"]) * gain

    def turn(x, positions):  # (heads, n, d)
        angle = np.concatenate([np.outer(positions, f)] * 2, -1)
        half = np.concatenate([-x[..., d // 2:], x[..., :d // 2]], -1)
        return x * np.cos(angle) + half * np.sin(angle)

    x = w["model.embed_tokens.weight"][tokens]
    place = np.arange(n)
    distance = place[:, None] - place[None, :]
    for layer in range(config["num_hidden_layers"]):
        of = f"model.layers.{layer}."
        y = norm(x, w[of + "input_layernorm.weight"])

        def split(which, count):
            return (y @ w[of + f"self_attn.{which}_proj.weight"].T).reshape(n, count, d).transpose(1, 0, 2)

        q, k, v = split("q", heads), split("k", groups), split("v", groups)
        k, v = np.repeat(k, heads // groups, 0), np.repeat(v, heads // groups, 0)
        near = turn(q, place) @ turn(k, place).transpose(0, 2, 1)
        far = turn(q, np.full(n, window)) @ k.transpose(0, 2, 1)
        s = np.where(distance < window, near, far) / np.sqrt(d)
        s = np.where(distance < 0, -np.inf, s)
        a = np.exp(s - s.max(-1, keepdims=True))
        a /= a.sum(-1, keepdims=True)
        o = (a @ v).transpose(1, 0, 2).reshape(n, heads * d)
        x = x + o @ w[of + "self_attn.o_proj.weight"].T
        y = norm(x, w[of + "post_attention_layernorm.weight"])
        gate = y @ w[of + "mlp.gate_proj.weight"].T
        x = x + (gate / (1 + np.exp(-gate)) * (y @ w[of + "mlp.up_proj.weight"].T)) @ w[of + "mlp.down_proj.weight"].T
    return norm(x, w["model.norm.weight"]) @ w["lm_head.weight"].T


def main():
    shutil.rmtree(golden, ignore_errors=True)
    golden.mkdir()
    torch.set_num_threads(1)  # the models are small
    done = [case(name) for name in cases]
    for model in models:
        build(model, None).save_pretrained(golden / model, max_shard_size="40KB" if model == "llama" else "5GB")
        (golden / model / "generation_config.json").unlink(missing_ok=True)
    weights = {}
    for file in sorted((golden / "llama").glob("*.safetensors")):
        weights.update(load_file(file))
    llama = next(c for c in done if c["name"] == "llama")
    for window in (2, 24):
        z = rerope_two_passes(weights, llama["config"], llama["tokens"], window)
        done.append(dict(name=f"rerope_{window}", model="llama", encoding=f"rerope:window={window}",
                         config=llama["config"], prompt=prompt, tokens=llama["tokens"], slots=list(slots),
                         logits=[[float(f"{v:.6g}") for v in z[t]] for t in slots], written=[]))
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in done)
    (golden / "cases.json").write_text(f"[\n{lines}\n]\n")
    qwen2_tokenizer().save(str(golden / "qwen2" / "tokenizer.json"), pretty=False)
    small_gemma_tokenizer().save(str(golden / "gemma3" / "tokenizer.json"), pretty=False)
    write_tokenizers(golden)
    write_steps(golden)
    write_sentencepiece(golden / "sentencepiece")
    write_t5(golden / "t5")


if __name__ == "__main__":
    main()

"""A small random LLaMA of transformers whose attention is poslab's."""

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM

import poslab.torch as pt
from poslab import formulas
from poslab.formulas import rotated

SIZES = {"vocab_size": 97, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 8,
         "num_key_value_heads": 4, "max_position_embeddings": 64}
KINDS = {"llama": (LlamaConfig, LlamaForCausalLM), "qwen2": (Qwen2Config, Qwen2ForCausalLM),
         "mistral": (MistralConfig, MistralForCausalLM)}


def model_of(kind="llama", **sizes):
    torch.manual_seed(0)
    config, model = KINDS[kind]
    more = {"sliding_window": None} if kind == "mistral" else {}
    return model(config(**(SIZES | more | sizes))).eval()


def tokens(*shape):
    return torch.randint(1, 97, shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("kind", KINDS)
def test_with_its_own_rope_nothing_changes(kind):
    sizes = {"rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}}
    plain, patched = model_of(kind, **sizes), pt.patch(model_of(kind, **sizes), "rope")
    at = tokens(2, 20)
    assert torch.allclose(patched(at).logits, plain(at).logits, atol=1e-4)
    mask = torch.ones_like(at)
    mask[1, 12:] = 0
    a, b = (m(at, attention_mask=mask).logits for m in (patched, plain))
    assert torch.allclose(a[0], b[0], atol=1e-4) and torch.allclose(a[1, :12], b[1, :12], atol=1e-4)
    assert torch.equal(patched.generate(at[:1], max_new_tokens=12, do_sample=False),
                       plain.generate(at[:1], max_new_tokens=12, do_sample=False))


@pytest.mark.parametrize("encoding", ["rope|rope", "rope*4+rope*4", "rope:base=500000|rope"])
def test_each_part_of_a_composition_has_its_pairing_and_base(encoding):
    sizes = {"rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}}
    plain, patched, at = model_of(**sizes), pt.patch(model_of(**sizes), encoding), tokens(2, 20)
    assert torch.allclose(patched(at).logits, plain(at).logits, atol=1e-4)


def test_gradients_are_those_of_its_own_attention():
    plain, patched = model_of(), pt.patch(model_of(), "rope")
    at = tokens(2, 16)
    for m in (plain, patched):
        m.train()
        m(at, labels=at).loss.backward()
    theirs = dict(plain.named_parameters())
    for name, p in patched.named_parameters():
        assert torch.allclose(p.grad, theirs[name].grad, atol=1e-5), name


def test_rerope_is_the_formula():
    model = pt.patch(model_of(), "rerope:window=3,pairing=half")
    seen = {}
    scheme = model.model.poslab
    scheme.register_forward_hook(lambda module, args, kwargs, y: seen.update(args=args, y=y), with_kwargs=True)
    with torch.no_grad():
        model(tokens(1, 11))
    q, k, v = (t.numpy().astype(float) for t in seen["args"][:3])
    k, v = (np.repeat(t, 2, 2) for t in (k, v))
    s = rotated.logits(np.minimum(rotated.slots({"tokens": [range(11)]}), 3), q, k, half=True)
    e = np.exp(formulas.masked(s, causal=True))
    wanted = np.einsum("bhij,bjhd->bihd", e / e.sum(-1, keepdims=True), v)
    assert abs(wanted - seen["y"].numpy()).max() < 1e-5


@pytest.mark.parametrize("encoding", ["rerope:window=4", "alibi", "t5", "rope|none", "self_extend:window=4,group=2",
                                      "cable", "forgetting", "selective_rope", "cope:npos=8"])
def test_a_cache_gives_what_one_pass_gives(encoding):
    model, at = pt.patch(model_of(), encoding, temperature="log_n:length=8"), tokens(1, 14)
    with torch.no_grad():
        whole = model(at).logits
        past = model(at[:, :9], use_cache=True)
        parts = [past.logits]
        for n in range(9, 14):
            past = model(at[:, n:n + 1], past_key_values=past.past_key_values, use_cache=True)
            parts.append(past.logits)
    assert torch.allclose(torch.cat(parts, 1), whole, atol=1e-4)


def test_what_an_encoding_learns_is_trained_and_stored():
    model, at = pt.patch(model_of(), "t5"), tokens(2, 16)
    model.train()
    table = model.model.poslab.encoding.table
    before = table.detach().clone()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(8):
        loss = model(at, labels=at).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.5 and not torch.equal(table, before)
    assert "model.poslab.encoding.table" in model.state_dict()


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="adds to the embedding"):
        pt.patch(model_of(), "sincos")
    with pytest.raises(ValueError, match="patched already"):
        pt.patch(pt.patch(model_of(), "rope"), "rerope")
    with pytest.raises(ValueError, match="sliding window of 32"):
        pt.patch(model_of("mistral", sliding_window=32), "rope")
    model, at = pt.patch(model_of(), "rope"), tokens(2, 8)
    mask = torch.ones_like(at)
    mask[1, :3] = 0
    with pytest.raises(ValueError, match="padding must be on the right"):
        model(at, attention_mask=mask)
    with pytest.raises(ValueError, match="no dropout"):
        pt.patch(model_of(attention_dropout=0.1), "rope").train()(at)
    with pytest.raises(ValueError, match="torch.bfloat16"):
        pt.patch(model_of(), "rope").bfloat16()(at)

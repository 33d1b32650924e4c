"""A small random LLaMA of transformers that uses poslab's attention."""

import copy
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from transformers import (DynamicCache, LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, Qwen2Config,
                          Qwen2ForCausalLM, StaticCache)

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


def test_a_model_in_evaluation_draws_no_new_positions():
    patched, at = pt.patch(model_of(), "rope", positions="randomized:max_position=64"), tokens(2, 12)
    assert torch.equal(patched(at).logits, patched(at).logits)
    patched.train()
    assert not torch.equal(patched(at).logits, patched(at).logits)
    assert pt.patch(model_of().train(), "rope").model.poslab.training


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


SCALED = [({"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 16}, "llama3:length=16,pairing=half"),
          ({"rope_type": "linear", "factor": 4.0, "rope_theta": 1e4}, "pi:factor=4,length=1L,pairing=half"),
          ({"rope_type": "yarn", "factor": 4.0, "rope_theta": 1e4, "original_max_position_embeddings": 16},
           "yarn:factor=4,length=16,pairing=half")]


@pytest.mark.parametrize("scaling, own", SCALED, ids=[own for _, own in SCALED])
def test_a_scaled_rotation_is_not_dropped_without_a_word(scaling, own):
    for encoding in ("rope", "rope|none"):
        with pytest.raises(ValueError, match=f"{scaling['rope_type']}, which rope would drop; to keep it, use '{own}'"):
            pt.patch(model_of(rope_parameters=dict(scaling)), encoding)
    plain, patched = (model_of(rope_parameters=dict(scaling)) for _ in range(2))
    at = tokens(1, 40)
    assert torch.allclose(pt.patch(patched, own)(at).logits, plain(at).logits, atol=1e-4)


LISTS = {"short_factor": [1.0, 1.1, 1.3, 1.7], "long_factor": [1.0, 2.0, 3.5, 6.0]}
OPEN = {"yarn:factor=4": {"rope_type": "yarn"}, "dynamic_ntk:factor=4": {"rope_type": "dynamic"},
        "yarn:factor=4,truncate=off": {"rope_type": "yarn", "truncate": False},
        "llama3:factor=4": {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        "longrope:factor=4,short=1/1.1/1.3/1.7,long=1/2/3.5/6":
            {"rope_type": "longrope", "attention_factor": (1 + np.log(4) / np.log(64)) ** 0.5} | LISTS}


@pytest.mark.parametrize("encoding", OPEN)
@pytest.mark.parametrize("slots", [20, 60, 90])
def test_the_trained_length_is_that_of_the_checkpoint_where_it_is_not_said(encoding, slots):
    plain, more = {"rope_type": "default", "rope_theta": 500.0}, {"initializer_range": 0.2}
    scaled = plain | {"factor": 4.0} | OPEN[encoding]
    if scaled["rope_type"] != "dynamic":
        scaled["original_max_position_embeddings"] = 64
    with torch.no_grad():
        wanted = model_of(rope_parameters=scaled, **more)(at := tokens(1, slots)).logits
        got, other = (pt.patch(model_of(rope_parameters=dict(plain), **more), e)(at).logits
                      for e in (encoding, encoding + ",length=12"))
    assert torch.allclose(got, wanted, atol=1e-4)
    assert not torch.allclose(other, wanted, atol=1e-2)


@pytest.mark.parametrize("scaling, own", [SCALED[0], SCALED[2]], ids=["llama3", "yarn"])
def test_the_trained_length_is_the_original_one_of_a_rotation_that_is_scaled(scaling, own):
    plain, patched = (model_of(rope_parameters=dict(scaling), initializer_range=0.2) for _ in range(2))
    at = tokens(1, 60)
    name = f"{scaling['rope_type']}:factor={scaling['factor']:g}"
    assert torch.allclose(pt.patch(patched, name)(at).logits, plain(at).logits, atol=1e-4)
    assert "length=16" in patched.model.poslab.how["encoding"]


def test_a_base_keeps_all_its_digits():
    model = pt.patch(model_of(rope_parameters={"rope_type": "default", "rope_theta": 1000003.0}), "rope")
    assert "base=1000003" in model.model.poslab.how["encoding"]


def test_positions_that_are_not_counted_are_refused():
    model, at = pt.patch(model_of(), "rope"), tokens(2, 8)
    counted, mask = torch.arange(8)[None], torch.ones_like(at)
    assert torch.equal(model(at, position_ids=counted).logits, model(at).logits)
    mask[1, 5:] = 0
    model(at, attention_mask=mask, position_ids=(mask.cumsum(-1) - 1).masked_fill(mask == 0, 1))
    for other in (counted * 3, counted % 4, counted + 1):
        with pytest.raises(ValueError, match="position_ids are .* patch.. counts slots"):
            model(at, position_ids=other)


PACKED = torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2, 3]])


def test_packed_documents_are_as_transformers_has_them():
    plain, patched, at = model_of(), pt.patch(model_of(), "rope"), tokens(2, 12)
    both = torch.cat([PACKED, PACKED.flip(0)])
    both[1] = torch.arange(12) % 6
    for positions in (PACKED, both):
        how = {"position_ids": positions, "use_cache": False, "labels": at}
        ours, theirs = patched(at, **how), plain(at, **how)
        assert torch.allclose(ours.logits, theirs.logits, atol=1e-5)
        gradients = [torch.autograd.grad(x.loss, m.model.layers[0].self_attn.k_proj.weight)[0]
                     for x, m in ((ours, patched), (theirs, plain))]
        assert torch.allclose(*gradients, atol=1e-6)
    assert not torch.allclose(patched(at).logits, patched(at, position_ids=PACKED, use_cache=False).logits, atol=1e-2)


@pytest.mark.parametrize("encoding", [row["name"] for row in pt.attention.engine._inside.things("encoding")])
def test_packed_documents_are_as_each_alone(encoding):
    try:
        model = pt.patch(model_of(), encoding)
    except ValueError as error:
        return pytest.skip(str(error))
    at = tokens(1, 12)
    with torch.no_grad():
        packed = model(at, position_ids=PACKED, use_cache=False).logits
        alone = [model(at[:, a:b], use_cache=False).logits for a, b in ((0, 5), (5, 8), (8, 12))]
        assert torch.allclose(packed, torch.cat(alone, 1), atol=1e-5)


def test_borders_of_flash_attention_must_be_those_of_the_positions():
    model, at = pt.patch(model_of(), "rope"), tokens(1, 12)
    lengths, other = (torch.tensor(x, dtype=torch.int32) for x in ([0, 5, 8, 12], [0, 5, 12]))
    flash = {"use_cache": False, "max_length_q": 5, "max_length_k": 5}
    free = model(at, position_ids=PACKED, use_cache=False).logits
    said = model(at, position_ids=PACKED, cu_seq_lens_q=lengths, cu_seq_lens_k=lengths, **flash).logits
    assert torch.equal(free, said)
    for how in ({"position_ids": PACKED, "cu_seq_lens_q": other, "cu_seq_lens_k": lengths},
                {"cu_seq_lens_q": lengths, "cu_seq_lens_k": lengths}):
        with pytest.raises(ValueError, match="cu_seq_lens_. are .* position_ids begin documents elsewhere"):
            model(at, **how, **flash)


def test_packed_documents_beside_a_mask_or_a_cache_are_refused_as_transformers_does_not_part_them():
    model, at = pt.patch(model_of(), "rope"), tokens(1, 12)
    for how in ({"attention_mask": torch.ones_like(at), "use_cache": False}, {"use_cache": True}):
        with pytest.raises(ValueError, match="position_ids are .* use_cache=False and no attention_mask"):
            model(at, position_ids=PACKED, **how)
    weights = model(at, position_ids=PACKED, use_cache=False, output_attentions=True).attentions[0]
    assert torch.allclose(weights.sum(-1), torch.ones(1, 8, 12)) and (weights[0, :, 5:8, :5] == 0).all()


@pytest.mark.parametrize("encoding", ["rope", "cope:npos=8", "selective_rope", "forgetting"])
def test_a_search_with_beams_finds_what_it_finds_without_a_cache(encoding):
    model = pt.patch(model_of(initializer_range=0.3), encoding)
    with torch.no_grad():
        for p in model.model.poslab.parameters():
            p.normal_(generator=torch.Generator().manual_seed(2))
    how = {"max_new_tokens": 8, "num_beams": 4, "num_return_sequences": 4, "do_sample": False, "pad_token_id": 0}
    cached, whole = (model.generate(tokens(2, 12), use_cache=use, **how) for use in (True, False))
    assert torch.equal(cached, whole)


@pytest.mark.parametrize("encoding", ["dape", "entmax"])
def test_a_base_that_is_an_encoding_is_left_alone(encoding):
    assert pt.patch(model_of(), encoding)(tokens(1, 8)).logits.isfinite().all()


def test_a_patched_model_can_be_stored(tmp_path):
    model, at = pt.patch(model_of(), "t5"), tokens(1, 8)
    torch.save(model, tmp_path / "model.pt")
    torch.save(at, tmp_path / "tokens.pt")
    code = ("import sys, torch\nmodel, at = (torch.load(f, weights_only=False) for f in sys.argv[1:])\n"
            "print(model(at).logits.sum().item())")
    said = subprocess.run([sys.executable, "-c", code, tmp_path / "model.pt", tmp_path / "tokens.pt"], check=True,
                          capture_output=True, text=True)
    assert float(said.stdout) == model(at).logits.sum().item()
    assert torch.equal(copy.deepcopy(model)(at).logits, model(at).logits)


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


@pytest.mark.parametrize("encoding", ["rope", "t5", "rope|none", "cope:npos=8", "selective_rope"])
def test_a_static_cache_gives_what_one_pass_gives(encoding):
    model, at = pt.patch(model_of(), encoding, temperature="log_n:length=8"), tokens(2, 14)
    cache, ones = StaticCache(config=model.config, max_cache_len=40), torch.ones_like(at)
    with torch.no_grad():
        parts = [model(at[:, n:m], attention_mask=mask, past_key_values=cache, use_cache=True).logits
                 for n, m, mask in ((0, 6, None), (6, 9, ones[:, :9]), (9, 10, ones[:, :10]), (10, 14, None))]
        assert torch.allclose(torch.cat(parts, 1), model(at).logits, atol=1e-4)
    how = {"max_new_tokens": 8, "num_beams": 2, "do_sample": False, "pad_token_id": 0}
    static, dynamic = (model.generate(at, cache_implementation=kind, **how) for kind in ("static", "dynamic"))
    assert torch.equal(static, dynamic)


def test_a_static_cache_with_positions_or_padding_that_do_not_count_is_refused():
    model, at = pt.patch(model_of(), "rope"), tokens(2, 8)
    for positions in (torch.arange(8) + 1, torch.arange(8) - 8, torch.arange(8) + 2**40):
        cache = StaticCache(config=model.config, max_cache_len=20)
        with pytest.raises(ValueError, match="position_ids are .* patch.. counts slots"):
            model(at, past_key_values=cache, position_ids=positions[None])
    mask = torch.ones_like(at)
    mask[1, 5:] = 0
    cache = StaticCache(config=model.config, max_cache_len=20)
    a = model(at, attention_mask=mask, past_key_values=cache).logits
    assert torch.allclose(a[1, :5], model(at[1:, :5]).logits[0], atol=1e-4)
    more = torch.cat([mask, torch.ones(2, 1, dtype=int)], 1)
    with pytest.raises(ValueError, match="none while decoding"):
        model(at[:, :1], attention_mask=more, past_key_values=cache)
    with pytest.raises(ValueError, match="attention_mask is 4-D, .2, 1, 8, 8.*takes one of padding"):
        model(at, attention_mask=torch.ones(2, 1, 8, 8, dtype=bool).tril())


def test_a_cache_that_drops_slots_is_named():
    class Short(DynamicCache):
        def update(self, *how, **more):
            return tuple(x[:, :, -4:] for x in super().update(*how, **more))
    with pytest.raises(ValueError, match="this Short gave 4 keys of 8 slots.*use a DynamicCache"):
        pt.patch(model_of(), "rope")(tokens(1, 8), past_key_values=Short())


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


@pytest.mark.parametrize("encoding", ["rope", "rope:base=500", "pi:factor=4", "yarn:factor=4,length=16",
                                      "abf:base=5000", "llama3:factor=8,length=16", "ntk:factor=4",
                                      "dynamic_ntk:factor=4,length=64"])
def test_a_config_that_can_express_the_encoding_stores_it(encoding, tmp_path):
    model, at = pt.patch(model_of(initializer_range=0.2), encoding), tokens(1, 40)
    model.save_pretrained(tmp_path)
    assert torch.allclose(LlamaForCausalLM.from_pretrained(tmp_path)(at).logits, model(at).logits, atol=1e-4)


@pytest.mark.parametrize("encoding, how", [
    ("alibi", {}), ("t5", {}), ("rerope:window=4", {}), ("rope|none", {}), ("window:window=4", {}), ("none", {}),
    ("rope:pairing=interleaved", {}), ("dynamic_ntk:factor=4,length=40", {}),
    ("rope", {"temperature": "log_n:length=8"}), ("rope", {"positions": "randomized:max_position=64"})])
def test_what_a_config_cannot_express_is_not_stored_without_it(encoding, how, tmp_path):
    model = pt.patch(model_of(), encoding, **how)
    for stored in (model, model.model, copy.deepcopy(model)):
        refusal = f"config.json cannot express encoding {re.split('[:|]', encoding)[0]}.*torch.save"
        with pytest.raises(ValueError, match=refusal):
            stored.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="config.json cannot express"):
        model.push_to_hub("nobody/nothing")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("encoding", ["rope", "t5", "forgetting"])
def test_attention_weights_are_given(encoding):
    own = model_of(attn_implementation="eager")
    model, at = pt.patch(model_of(), encoding), tokens(2, 9)
    mask = torch.ones_like(at)
    mask[1, 6:] = 0
    found = model(at, attention_mask=mask, output_attentions=True).attentions
    assert len(found) == 2 and found[0].shape == (2, 8, 9, 9)
    assert torch.allclose(found[0].sum(-1), torch.ones(2, 8, 9), atol=1e-5) and not found[0][1, :, :, 6:].any()
    if encoding == "rope":
        wanted = own(at, attention_mask=mask, output_attentions=True).attentions
        assert all(torch.allclose(a[0], b[0], atol=1e-5) for a, b in zip(found, wanted))
    past = model(at[:1, :6], use_cache=True).past_key_values
    last = model(at[:1, 6:], past_key_values=past, output_attentions=True).attentions
    assert torch.allclose(last[1], model(at[:1], output_attentions=True).attentions[1][:, :, 6:], atol=1e-5)
    written = model.generate(at[:1], max_new_tokens=2, do_sample=False, output_attentions=True, pad_token_id=0,
                             return_dict_in_generate=True)
    assert written.attentions[1][0].shape == (1, 8, 1, 10)
    assert model(at).attentions is None
    with pytest.raises(ValueError, match="attention weights have no gradient"):
        model.train()(at, output_attentions=True)


def test_settings_that_a_patch_would_pass_over_are_refused():
    at = tokens(1, 8)
    for name in ("head_mask", "softcap", "s_aux", "sliding_window"):
        with pytest.raises(ValueError, match=f"has no {name}"):
            pt.patch(model_of(), "rope")(at, **{name: torch.ones(2, 8)})
    model = pt.patch(model_of("mistral"), "rope")
    model.config.sliding_window = 4
    with pytest.raises(ValueError, match="has no sliding_window"):
        model(at)
    for module in ("config", "attention"):
        model = pt.patch(model_of(), "rope")
        (model.config if module == "config" else model.model.layers[1].self_attn).is_causal = False
        with pytest.raises(ValueError, match="is_causal is False"):
            model(at)
    for other in ("eager", "sdpa"):
        model = pt.patch(model_of(), "rope")
        model.set_attn_implementation(other)
        with pytest.raises(ValueError, match=f"attn_implementation is {other} now"):
            model(at)
        model.set_attn_implementation("poslab")
        assert model(at).logits.isfinite().all()
    config = LlamaConfig(**SIZES)
    pt.patch(LlamaForCausalLM(config), "rope")
    with pytest.raises(ValueError, match="shares its config with one that is"):
        LlamaForCausalLM(config)(at)


def test_checkpointed_layers_draw_the_positions_of_their_pass():
    model, at = pt.patch(model_of(), "rope", positions="randomized:max_position=64").train(), tokens(2, 8)
    model.gradient_checkpointing_enable()
    model(at, labels=at).loss.backward()
    first, second = (model(at, labels=at).loss for _ in range(2))
    with pytest.raises(ValueError, match="repeats a pass after a later one"):
        (first + second).backward()

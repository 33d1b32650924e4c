"""Encodings as score_mod and mask_mod: with these, flex_attention gives the engine's results."""

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import poslab as pl
import poslab.torch as pt

ARE = ["none", "alibi", "hard_alibi", "kerple", "sandwich", "t5", "relative_bias", "tisa", "scale_invariant", "nape",
       "fire", "tupe", "window:window=4,rope=off"]


def drawn(slots=13):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(3, 2, slots, 4, 8, generator=generator)


@pytest.mark.filterwarnings("ignore:flex_attention called without")
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("encoding", ARE)
def test_they_give_what_the_engine_gives(encoding, causal):
    scheme = pt.Scheme(encoding, 32, 4, causal=causal or encoding in ("hard_alibi", "nape", "fire"))
    with torch.no_grad():
        for p in scheme.parameters():
            p.add_(torch.randn(p.shape, generator=torch.Generator().manual_seed(1)) / 4)
    q, k, v = drawn()
    score_mod, mask_mod = pt.score_mod(scheme, 16), pt.mask_mod(scheme, 13)
    blocks = create_block_mask(mask_mod, None, None, 13, 13, device="cpu")
    for mask in (None, blocks):
        y = flex_attention(*(t.transpose(1, 2) for t in (q, k, v)), score_mod=score_mod, block_mask=mask)
        assert torch.allclose(y.transpose(1, 2), scheme(q, k, v), atol=2e-5)


def test_a_temperature_is_one_too():
    scheme = pt.Scheme("alibi", 32, 4, causal=True, temperature="log_n:length=6")
    q, k, v = drawn()
    y = flex_attention(*(t.transpose(1, 2) for t in (q, k, v)), score_mod=pt.score_mod(scheme, 13))
    assert torch.allclose(y.transpose(1, 2), scheme(q, k, v), atol=2e-5)


@pytest.mark.parametrize("encoding", ["none", "t5"])
def test_what_is_learned_gets_the_gradient_that_the_engine_gives(encoding):
    scheme, (q, k, v), slots = pt.Scheme(encoding, 32, 4, causal=True, temperature="ssmax"), drawn(), torch.arange(13)
    score_mod, learned = pt.score_mod(scheme, 13), list(scheme.parameters())
    scores = torch.einsum("bihd,bjhd->bhij", q, k) * 8 ** -0.5
    logits = score_mod(scores, 0, torch.arange(4)[:, None, None], slots[:, None], slots)
    y = torch.einsum("bhij,bjhd->bihd", logits.softmax(-1), v)
    got, wanted = (torch.autograd.grad(r.square().sum(), learned) for r in (y, scheme(q, k, v)))
    for a, b in zip(got, wanted):
        assert b.norm() > 0.1 and torch.allclose(a, b, rtol=1e-4, atol=1e-4)


def test_all_others_are_refused():
    modes = set()
    for row in pl.encodings:
        for causal in (False, True):
            try:
                scheme = pt.Scheme(row.name, 32, 4, causal=causal, train_length=8)
            except ValueError:
                continue                        # a scheme that needs a causal mask
            try:
                pt.score_mod(scheme, 24)
                modes.add(row.name)
            except ValueError as refused:
                assert "cannot be a score_mod" in str(refused)
    assert {e.split(":")[0] for e in ARE if e != "window:window=4,rope=off"} <= modes
    assert not modes & {"rope", "cope", "rerope", "window", "sincos", "shaw", "entmax", "stick_breaking", "geometric",
                        "relative"}

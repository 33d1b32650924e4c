"""Random shapes, offsets, lengths and positions: results must equal a dense reference, or the call is refused.

The reference is the engine's logits in square calls with as many slots as a sequence has; this file selects their rows
and columns, and sums them. SEED=7 DRAWS=2000 chooses other draws; a failure names its draw.
"""

import os

import numpy as np
import pytest
import torch
from torch.nn.attention.flex_attention import create_mask, flex_attention

import poslab as pl
import poslab.torch as pt

SEED, DRAWS = int(os.environ.get("SEED", "1")), int(os.environ.get("DRAWS", "500"))
HUGE = [2**31 - 1, 2**31, 2**32 + 3, 2**40, 2**62, -1, -2, -2**31, -2**40]
TEMPERATURES = ["none", "none", "log_n:length=6", "ssmax"]
H, D = 4, 8


def draws(test):
    """(number, generator) for each draw of a test."""
    return ((n, np.random.default_rng([SEED, len(test), n])) for n in range(DRAWS))


def train_length(name):
    """The trained length: 8, which most draws exceed; 40 for two that depend on the number of slots beyond it."""
    return 40 if name in ("dynamic_ntk", "longrope") else 8


def scheme_of(rng, names, *, causal=None):
    """A scheme with changed parameters, or None if name, mask and temperature do not fit together."""
    how = {"causal": bool(rng.integers(2)) if causal is None else causal, "temperature": str(rng.choice(TEMPERATURES))}
    name = str(rng.choice(names))
    try:
        scheme = pt.Scheme(name, H * D, H, train_length=train_length(name), **how).requires_grad_(False)
    except ValueError as refused:
        assert "causal" in str(refused)
        return None
    for p in scheme.parameters():
        p += torch.from_numpy(rng.normal(size=p.shape).astype("float32")) / 4
    return scheme


def normal(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape).astype("float32"))


def attended(logits, v):
    """softmax(logits) v in float64: (B, H, Tq, Tk), (B, Tk, G, D) -> (B, Tq, H, D); zeros where no key is visible."""
    s = logits.double().numpy()
    most = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(most), most, 0))
    w = e / np.maximum(e.sum(-1, keepdims=True), 1e-300)
    return np.einsum("bhij,bjhd->bihd", w, v.double().repeat_interleave(H // v.shape[2], 2).numpy())


def is_softmax(name):
    """Whether the scheme has logits whose softmax weights the values."""
    scheme = pt.Scheme(name, H * D, H, causal=True, train_length=8)
    if scheme.adds_to_embedding:
        return False
    q, k, v = normal(np.random.default_rng(0), 3, 1, 7, H, D)
    x = torch.ones(1, 7, H * D)
    try:
        return np.allclose(attended(scheme.logits(q, k, x, x).detach(), v), scheme(q, k, v, x, x).detach(), atol=1e-4)
    except ValueError:
        return False


def is_mod(name):
    try:
        return bool(pt.score_mod(pt.Scheme(name, H * D, H, causal=True, train_length=8), 24))
    except ValueError:
        return False


SOFTMAX = [e.name for e in pl.encodings if is_softmax(e.name)]
MODS = [e.name for e in pl.encodings if is_mod(e.name)] + ["window:window=4,rope=off", "alibi|t5", "t5*2+none*2"]


def test_there_are_enough():
    assert len(SOFTMAX) >= 45 and len(MODS) >= 12


@pytest.mark.filterwarnings("ignore:flex_attention called without")
def test_mods_of_any_shape_are_the_engine_or_refused():
    right = refused = depends = 0
    for n, rng in draws("mods"):
        scheme = scheme_of(rng, MODS)
        if scheme is None:
            continue
        length, batch = int(rng.integers(1, 40)), int(rng.integers(1, 3))
        try:
            score_mod, mask_mod = pt.score_mod(scheme, length), pt.mask_mod(scheme, length)
        except ValueError as error:
            assert "depends on how many slots" in str(error) and not scheme.how["causal"], n
            depends += 1
            continue
        # queries and keys begin at random slots: within the length, a little beyond it, or far beyond it
        tq, tk = (int(rng.integers(1, length + 4)) for _ in "qk")
        first_q, first_k = (int(rng.choice(HUGE)) if rng.random() < 0.15 else int(rng.integers(0, 6)) *
                            int(rng.random() < 0.5) for _ in "qk")
        i, j = first_q + torch.arange(tq), first_k + torch.arange(tk)
        q, k, v = (normal(rng, batch, t, H, D) for t in (tq, tk, tk))
        score = torch.einsum("bihd,bjhd->bhij", q, k) * D ** -0.5
        head = torch.arange(H)[:, None, None]
        outside = min(first_q, first_k) < 0 or max(i[-1], j[-1]) >= length
        if outside:
            for call in (lambda: score_mod(score, 0, head, i[:, None], j), lambda: mask_mod(0, head, i[:, None], j)):
                with pytest.raises(IndexError):
                    print(n, call())
            refused += 1
            continue
        slots = int(max(i[-1], j[-1])) + 1
        all_q, all_k = torch.zeros(2, batch, slots, H, D)
        all_q[:, i], all_k[:, j] = q, k
        wanted = scheme.logits(all_q, all_k)[:, :, i][..., j]
        got = score_mod(score, 0, head, i[:, None], j)
        assert torch.allclose(got, wanted, atol=1e-4, rtol=1e-4), (n, scheme)
        assert torch.equal(mask_mod(0, head, i[:, None], j).expand(wanted.shape), wanted > -torch.inf), (n, scheme)
        if right % 16 == 0:                     # also as PyTorch calls them
            y = flex_attention(*(t.transpose(1, 2) for t in (q, k, v)), score_mod=lambda s, b, h, at, to: score_mod(
                s, b, h, at + first_q, to + first_k))
            assert np.allclose(y.transpose(1, 2), attended(wanted, v), atol=1e-4), (n, scheme)
            mask = create_mask(lambda b, h, at, to: mask_mod(b, h, at + first_q, to + first_k), 1, H, tq, tk,
                               device="cpu")
            assert torch.equal(mask.expand(wanted.shape), wanted > -torch.inf), (n, scheme)
        right += 1
    assert min(right, refused) > DRAWS / 6 and depends > DRAWS / 50


def test_schemes_of_any_shape_are_a_square_call_or_refused():
    right = refused = 0
    for n, rng in draws("schemes"):
        scheme = scheme_of(rng, SOFTMAX)
        if scheme is None:
            continue
        batch, tk, groups = int(rng.integers(1, 4)), int(rng.integers(1, 30)), int(rng.choice([1, 2, 4]))
        tq = int(rng.integers(1, tk + 1)) if rng.random() < 0.8 else tk + int(rng.integers(1, 4))
        lengths = rng.integers(0, tk + 1, batch) if rng.random() < 0.6 else None
        if lengths is not None and rng.random() < 0.15:
            lengths = [tk + 1, -1, *HUGE][rng.integers(len(HUGE) + 2)] + np.zeros(batch, np.int64)
        positions = None
        if rng.random() < 0.4:                  # evenly spaced: some modes require it
            positions = np.arange(tk) + int(rng.choice([0, 1, 5, 100, *HUGE]))
        slots = max(tq, tk)
        q, k, v = normal(rng, batch, slots, H, D), normal(rng, batch, tk, groups, D), normal(rng, batch, tk, groups, D)
        x = normal(rng, batch, slots, H * D)
        x_keys = x[:, :tk]
        wrong = tq > tk or (lengths is not None and not all(0 <= n <= tk for n in lengths))
        wrong = wrong or (positions is not None and abs(positions).max() > 2**32)
        try:
            got = scheme(q[:, slots - tq:], k, v, x[:, slots - tq:], x_keys, positions=positions, lengths=lengths)
        except ValueError as error:
            assert wrong or "is not in the table" in str(error) or "positions from" in str(error), (n, scheme, error)
            refused += 1
            continue
        assert not wrong, (n, scheme)
        for b, own in enumerate([tk] * batch if lengths is None else lengths):
            if own <= slots - tq:
                continue                        # all queries are padding
            square = [t[b:b + 1, :own] for t in (q, k, x, x_keys)]
            logits = scheme.logits(*square, positions=None if positions is None else positions[:own])
            wanted = attended(logits, v[b:b + 1, :own])[:, slots - tq:]
            off = abs(got[b:b + 1, :own - slots + tq].numpy() - wanted)
            assert np.all(off <= 2e-4 * (1 + abs(wanted))), (n, scheme, off.max())
        right += 1
    assert right > DRAWS / 2 and refused > DRAWS / 8


def test_caches_of_any_parts_are_one_pass_or_refused():
    right = refused = 0
    for n, rng in draws("caches in parts"):
        if n % 4:                               # one call for each part
            continue
        name, seed = str(rng.choice(SOFTMAX)), int(rng.integers(2**31))
        layer = pt.Attention(name, H * D, H, causal=True, seed=seed, train_length=train_length(name),
                             key_heads=int(rng.choice([1, 2, 4])),
                             temperature=str(rng.choice(TEMPERATURES))).requires_grad_(False)
        batch, slots = int(rng.integers(1, 3)), int(rng.integers(1, 20))
        capacity, x = slots + int(rng.integers(-3, 4)), normal(rng, batch, slots, H * D)
        lengths = rng.integers(1, slots + 1, batch) if rng.random() < 0.3 else None
        if capacity < 1:
            continue
        cache, parts, at = layer.cache(capacity, batch), [], 0
        while at < min(slots, capacity):
            to = min(at + int(rng.integers(1, 6)), slots, capacity)
            some = None if lengths is None else np.minimum(lengths, to)
            if rng.random() < 0.2:              # a refused call leaves the cache unchanged
                with pytest.raises(ValueError):
                    layer(x[:, at:to], cache=cache, lengths=np.full(batch, to + 1))
            parts.append(layer(x[:, at:to], cache=cache, lengths=some))
            at = to
        if at < slots:
            with pytest.raises(ValueError, match="this cache is for"):
                layer(x[:, at:], cache=cache)
            refused += 1
        wanted = layer(x[:, :at], lengths=None if lengths is None else np.minimum(lengths, at))
        seen = np.ones((batch, at)) if lengths is None else np.arange(at) < lengths[:, None]
        got = torch.cat(parts, 1)
        assert np.allclose(got.numpy()[seen > 0], wanted.numpy()[seen > 0], atol=2e-4, rtol=2e-4), (n, layer)
        right += 1
    assert right > DRAWS / 8 and refused > DRAWS / 80

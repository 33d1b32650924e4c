"""Encodings as score_mod and mask_mod of torch.nn.attention.flex_attention: those that only add to a logit, scale it or
mask it, by the places of query and key."""

import copy

import torch

from .attention import Scheme


def score_mod(scheme, length, *, layer=0, device="cpu"):
    """For flex_attention(q, k, v, score_mod=...) with sequences of up to `length` slots on that device.

    It has a number for each head and distance, or for each pair where that does not do, as the parameters are now, and
    their gradients. ValueError for an encoding that is none, such as one that turns queries and keys."""
    gain, bias = (table.to(device) for table in _tables(scheme, length, layer))

    def modified(score, batch, head, query, key):
        at = _place(bias, length, query, key)
        return score * gain[(head, *at)] + bias[(head, *at)]

    return modified


def mask_mod(scheme, length, *, layer=0, device="cpu"):
    """For create_block_mask(...): which pairs an encoding leaves, such as those of a window. With a score_mod, which
    masks them too, it saves the work for blocks that are masked throughout."""
    _, bias = _tables(scheme, length, layer)
    seen = (bias.detach() > -torch.inf).to(device)

    def visible(batch, head, query, key):
        return seen[(head, *_place(seen, length, query, key))]

    return visible


def _place(table, length, query, key):
    return (key - query + length - 1,) if table.dim() == 2 else (query, key)


def _tables(scheme, length, layer):
    """Gain and bias of a pair: (H, 2 length - 1) by distance, or (H, length, length)."""
    if not isinstance(scheme, Scheme):
        raise ValueError(f"poslab.torch: {scheme!r} is no Scheme; say pt.Scheme({str(scheme)!r}, d_model, heads)")
    heads = scheme.how["heads"]
    size = scheme.how["head_dim"] or scheme.how["d_model"] // heads

    def logits_of(scheme, slots, score):
        """Of queries and keys that all have the same product / sqrt(D)."""
        q = torch.full((1, slots, heads, size), score * size ** -0.5)
        return scheme.logits(q, torch.ones_like(q), layer=layer)[0]

    def parts(scheme, slots):
        bias, one = logits_of(scheme, slots, 0.0), logits_of(scheme, slots, 1.0)
        return torch.where(bias > -torch.inf, one - bias, 1.0), bias

    def fits(slots):
        """Whether the engine's result for any queries, keys and parameters is that of these tables."""
        drawn = torch.Generator().manual_seed(1)
        q, k, v = torch.randn(3, 1, slots, heads, size, generator=drawn)
        other = copy.deepcopy(scheme)
        for p in other.parameters():
            p.add_(torch.randn(p.shape, generator=drawn) / 2)
        try:
            gain, bias = parts(other, slots)
        except ValueError as error:
            if "has no logits" not in str(error):
                raise
            return False
        logits = torch.einsum("bihd,bjhd->bhij", q, k) * size ** -0.5 * gain + bias
        read = torch.einsum("bhij,bjhd->bihd", torch.nan_to_num(logits.softmax(-1)), v)
        return torch.allclose(read, other(q, k, v, layer=layer), atol=1e-4)

    with torch.no_grad():
        if scheme.adds_to_embedding or not fits(min(length, 24)):
            raise ValueError(f"poslab.torch: {scheme.how['encoding']} is no score_mod: it does more than to scale a "
                             "logit, to add to it and to mask it; use the Scheme itself")
    gain, bias = parts(scheme, length)
    slot = torch.arange(length)
    row = torch.cat([bias[:, -1, :], bias[:, 0, 1:]], -1)           # distances 1 - length .. length - 1
    gains = torch.cat([gain[:, -1, :], gain[:, 0, 1:]], -1)
    place = slot[None, :] - slot[:, None] + length - 1
    if torch.allclose(row[:, place], bias, atol=1e-5) and torch.allclose(gains[:, place], gain, atol=1e-5):
        return gains, row
    return gain, bias

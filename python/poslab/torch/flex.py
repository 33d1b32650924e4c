"""Encodings as score_mod and mask_mod of torch.nn.attention.flex_attention, for those that only shift, scale or mask a
logit depending on the slots of query and key."""

import copy

import torch

from ..chosen import whole
from .attention import Scheme


def score_mod(scheme, length, *, layer=0, device="cpu"):
    """For flex_attention(q, k, v, score_mod=...) with queries and keys in slots 0 to length - 1, on that device.

    It holds a number for each head and distance, or for each pair if distances are not enough, from the current
    parameters, which get gradients. Query i is in slot i: if the queries are only the last slots, add to i the number
    of slots before them. PyTorch raises IndexError for other slots and heads, and this function ValueError for an
    encoding that rotates queries and keys, or whose numbers for a pair depend on the number of slots."""
    gain, bias = (table.to(device) for table in _tables(scheme, length, layer))

    def modified(score, batch, head, query, key):
        at = _place(bias, length, head, query, key)
        return score * gain[at] + bias[at]

    return modified


def mask_mod(scheme, length, *, layer=0, device="cpu"):
    """For create_block_mask(...): the visible pairs of an encoding, such as those of a window. A score_mod also masks
    pairs; with this mask, fully masked blocks cost nothing."""
    _, bias = _tables(scheme, length, layer)
    seen = (bias.detach() > -torch.inf).to(device)

    def visible(batch, head, query, key):
        return seen[_place(seen, length, head, query, key)]

    return visible


def _place(table, length, head, query, key):
    """The index of a pair in a table. It is beyond the table's end for slots and heads that the table lacks: without
    this their distance, or a negative index, might find an entry."""
    head, query, key = (torch.as_tensor(at) for at in (head, query, key))
    inside = (head >= 0) & (query >= 0) & (query < length) & (key >= 0) & (key < length)
    place = (key - query + length - 1,) if table.dim() == 2 else (query, key)
    return head, *(torch.where(inside, at, table.shape[-1]) for at in place)


def _tables(scheme, length, layer):
    """Gain and bias of a pair: (H, 2 length - 1) by distance, or (H, length, length)."""
    if not isinstance(scheme, Scheme):
        raise ValueError(f"poslab.torch: {scheme!r} is not a Scheme; write pt.Scheme({str(scheme)!r}, d_model, heads)")
    length, heads = whole("length", length, 1, 2**16), scheme.how["heads"]
    size = scheme.how["head_dim"] or scheme.how["d_model"] // heads

    def logits_of(scheme, slots, score):
        """The logits of queries and keys whose products / sqrt(D) are all `score`."""
        q = torch.full((1, slots, heads, size), score * size ** -0.5)
        return scheme.logits(q, torch.ones_like(q), layer=layer)[0]

    def parts(scheme, slots):
        bias, one = logits_of(scheme, slots, 0.0), logits_of(scheme, slots, 1.0)
        return torch.where(bias > -torch.inf, one - bias, 1.0), bias

    other = copy.deepcopy(scheme)               # gets random parameters, because zeros would hide terms
    drawn = torch.Generator().manual_seed(1)
    for p in other.parameters():
        p.data += torch.randn(p.shape, generator=drawn) / 2

    def fits(slots):
        """Whether these tables give the engine's result for any queries and keys."""
        q, k, v = torch.randn(3, 1, slots, heads, size, generator=drawn)
        try:
            gain, bias = parts(other, slots)
        except ValueError as error:
            if "has no logits" not in str(error):
                raise
            return False
        logits = torch.einsum("bihd,bjhd->bhij", q, k) * size ** -0.5 * gain + bias
        read = torch.einsum("bhij,bjhd->bihd", torch.nan_to_num(logits.softmax(-1)), v)
        return torch.allclose(read, other(q, k, v, layer=layer), atol=1e-4)

    def by_distance(table):                     # distances 1 - length .. length - 1
        return torch.cat([table[:, -1, :], table[:, 0, 1:]], -1)

    def same(a, b):
        return torch.allclose(a, b, atol=1e-5)

    with torch.no_grad():
        if scheme.adds_to_embedding or not fits(min(length, 24)):
            raise ValueError(f"poslab.torch: {scheme.how['encoding']} cannot be a score_mod: it does more than "
                             "scale, shift and mask a logit; use the Scheme itself")
        tables, fewer, slot = parts(other, length), (length + 1) // 2, torch.arange(length)
        if not all(same(t[:, :fewer, :fewer], first) for t, first in zip(tables, parts(other, fewer))):
            raise ValueError(f"poslab.torch: {scheme.how['encoding']} with positions {scheme.how['positions']} and "
                             f"temperature {scheme.how['temperature']} cannot be a score_mod: its number for a pair "
                             "depends on how many slots there are; use the Scheme itself")
        distance = slot[None, :] - slot[:, None] + length - 1
        all_alike = all(same(by_distance(t)[:, distance], t) for t in tables)
    return tuple(by_distance(t) if all_alike else t for t in parts(scheme, length))

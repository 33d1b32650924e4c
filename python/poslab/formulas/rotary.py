"""The common part of schemes that rotate channels: logits of queries and keys whose pairs rotate by given angles."""

import numpy as np


def rope(channels, base=10000.0):
    """The frequencies of RoPE, radians a position."""
    return base ** (-2.0 * np.arange(channels // 2) / channels)


def turn(x, angles, pairing="interleaved"):
    """x: (B, T, H, D), angles: (1 or B, T, 1 or H, D/2)."""
    c, s = np.cos(angles), np.sin(angles)
    half = x.shape[-1] // 2
    if pairing == "half":
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * c - b * s, a * s + b * c], -1)
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * c - b * s, a * s + b * c], -1).reshape(x.shape)


def logits(q, k, positions, frequencies, factor=1.0, pairing="interleaved"):
    """(B, H, T, T). frequencies: (D/2), or (H, D/2) if heads differ."""
    angles = np.asarray(positions["tokens"], float)[:, :, None, None] * frequencies
    product = np.einsum("bihd,bjhd->bhij", turn(q, angles, pairing), turn(k, angles, pairing))
    return factor * product / np.sqrt(q.shape[-1])


def by_pairs(q, k, differences):
    """(B, H, T, T). differences(m): for pair m of channels, m and m + D/2, the angle from key to query for each (i, j),
    in a shape that broadcasts to (B, H, T, T)."""
    size, s = q.shape[-1], 0
    for m in range(size // 2):
        d = differences(m)
        qa, qb, ka, kb = q[..., m], q[..., m + size // 2], k[..., m], k[..., m + size // 2]
        same = np.einsum("bih,bjh->bhij", qa, ka) + np.einsum("bih,bjh->bhij", qb, kb)
        cross = np.einsum("bih,bjh->bhij", qa, kb) - np.einsum("bih,bjh->bhij", qb, ka)
        s = s + same * np.cos(d) + cross * np.sin(d)
    return s / np.sqrt(size)

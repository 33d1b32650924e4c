"""FoPE as in its paper: each pair and head mixes the cosines and sines of all pairs that complete a turn."""

import numpy as np
from . import rotary

CASE = {"encoding": "fope:length=512", "positions": "randomized"}
KEPT = 2  # two of the wavelengths 6.28, 62.8, 628 and 6283


def shapes(case):
    return {"cosine": (KEPT, case["heads"] * KEPT), "sine": (KEPT, case["heads"] * KEPT)}


def mixed(waves, weights, heads):
    """waves: (S, T, K), weights: (K, H M), to which 1 is added for each pair's own frequency -> (S, T, H, K)."""
    a = weights.reshape(KEPT, heads, KEPT) + np.eye(KEPT)[:, None, :]
    return np.einsum("stk,khm->sthm", waves, a)


def logits(case, w, q, k, positions):
    heads, size = q.shape[2:]
    angles = np.asarray(positions["tokens"], float)[:, :, None] * rotary.rope(size)[:KEPT]
    cosine, sine = mixed(np.cos(angles), w["cosine"], heads), mixed(np.sin(angles), w["sine"], heads)

    def carried(x):
        a, b = x[..., : size // 2], x[..., size // 2 :]
        first, second = a[..., :KEPT], b[..., :KEPT]
        rotated = [cosine * first - sine * second, a[..., KEPT:], cosine * second + sine * first, b[..., KEPT:]]
        return np.concatenate(rotated, -1)

    return np.einsum("bihd,bjhd->bhij", carried(q), carried(k)) / np.sqrt(size)

"""Learnable Fourier features: gelu([cos(p f), sin(p f)] / sqrt(F) w1 + b1) w2 + b2, added to the embedding."""

import math

import numpy as np

CASE = {"encoding": "learned_fourier:waves=6,hidden=10", "positions": "per_sequence", "layers": 2}
WAVES, HIDDEN = 6, 10
TERMS = 60


def table(case):
    return {
        "f": (WAVES,), "w1": (2 * WAVES, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, case["d_model"]),
        "b2": (case["d_model"],),
    }  # fmt: skip


def erf(x):
    """erf by its power series, which accepts complex numbers; for |x| < 3."""
    term, total = x, x
    for n in range(1, TERMS):
        term = -term * x * x / n
        total = total + term / (2 * n + 1)
    return 2 / math.sqrt(math.pi) * total


def embed(case, w, x, positions):
    angle = positions["tokens"][..., None] * w["encoding.f"]
    r = np.concatenate([np.cos(angle), np.sin(angle)], -1) / math.sqrt(2 * WAVES)
    h = r @ w["encoding.w1"] + w["encoding.b1"]
    return x + h * (1 + erf(h / math.sqrt(2))) / 2 @ w["encoding.w2"] + w["encoding.b2"]


def logits(case, w, q, k, positions):
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1])

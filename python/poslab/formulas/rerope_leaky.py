"""Leaky ReRoPE, causal: rho = r below w, w + (r - w) / k from there. Each sequence has its own positions."""

import numpy as np

from .rotated import before, logits as rotated

CASE = {"encoding": "rerope:window=9,leaky=2,pairing=half", "causal": True, "positions": "per_sequence"}


def logits(case, w, q, k, positions):
    r = before(positions)
    return rotated(np.where(r < 9, r, 9 + (r - 9) / 2), q, k, half=True)

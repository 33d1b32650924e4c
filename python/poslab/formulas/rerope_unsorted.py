"""Leaky ReRoPE without a mask, positions in any order: rho(-r) = -rho(r)."""

import numpy as np

from .rotated import before, logits as rotated

CASE = {"encoding": "rerope:window=9,leaky=2", "positions": "unsorted"}


def logits(case, w, q, k, positions):
    r = before(positions)
    a = abs(r)
    return rotated(np.sign(r) * np.where(a < 9, a, 9 + (a - 9) / 2), q, k)

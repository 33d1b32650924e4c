"""Inverse Leaky ReRoPE, the training form of Su's 14th post: a larger step beyond the window, and base 80000."""

import numpy as np

from .rotated import before, logits as rotated

CASE = {"encoding": "rerope:window=4,leaky=0.25,base=80000", "causal": True}


def logits(case, w, q, k, positions):
    r = before(positions)
    return rotated(np.where(r < 4, r, 4 + (r - 4) * 4), q, k, base=80000.0)

"""Sliding window without positions, causal: the last 3 keys."""

import numpy as np

from .rotated import logits as rotated, slots

CASE = {"encoding": "window:window=3,rope=off", "causal": True}


def logits(case, w, q, k, positions):
    return rotated(np.where(abs(slots(positions)) < 3, 0.0, np.nan), q, k)

"""Sliding window without positions, causal: the last 3 keys."""

import numpy as np

from .turned import logits as turned, slots

CASE = {"encoding": "window:window=3,rope=off", "causal": True}


def logits(case, w, q, k, positions):
    return turned(np.where(abs(slots(positions)) < 3, 0.0, np.nan), q, k)

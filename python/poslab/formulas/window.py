"""Sliding window with RoPE, on both sides: |i - j| < 4 slots. spec A.6 (42)."""

import numpy as np

from .rotated import before, logits as rotated, slots

CASE = {"encoding": "window:window=4", "positions": "randomized"}


def logits(case, w, q, k, positions):
    return rotated(np.where(abs(slots(positions)) < 4, before(positions), np.nan), q, k)

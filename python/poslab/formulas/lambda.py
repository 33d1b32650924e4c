"""LM-Infinite, causal: a window of 4 slots, and the first 2 keys at distance 4 beyond it. spec A.6 (42)."""

import numpy as np

from .rotated import before, logits as rotated, slots

CASE = {"encoding": "lambda:window=4,sinks=2", "causal": True, "positions": "per_sequence"}


def logits(case, w, q, k, positions):
    i_j, r = slots(positions), before(positions)
    first = np.arange(r.shape[-1]) < 2
    return rotated(np.where(abs(i_j) < 4, r, np.where(first & (i_j >= 4), 4.0, np.nan)), q, k)

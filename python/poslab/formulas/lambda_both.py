"""LM-Infinite without a mask: a first key after the query is at distance -w."""

import numpy as np

from .rotated import before, logits as rotated, slots

CASE = {"encoding": "lambda:window=3,sinks=5"}


def logits(case, w, q, k, positions):
    i_j, r = slots(positions), before(positions)
    first = np.arange(r.shape[-1]) < 5
    return rotated(np.where(abs(i_j) < 3, r, np.where(first, 3.0 * np.sign(i_j), np.nan)), q, k)

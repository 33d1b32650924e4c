"""RNoPE with sliding windows in every second layer: odd layers have no positions, and see all keys."""

import numpy as np

from .rotated import before, logits as rotated, slots

CASE = {"encoding": "rnope:window=4,every=2"}


def logits(case, w, q, k, positions):
    r = before(positions)
    if w["layer"] % 2:
        return rotated(0 * r, q, k)
    return rotated(np.where(abs(slots(positions)) < 4, r, np.nan), q, k)

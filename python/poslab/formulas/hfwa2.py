"""HFWA2 at test: of 5 layers the second and the fourth are full and rotate as ReRoPE. spec A.4 (23)."""

import numpy as np

from .rotated import before, logits as rotated, slots

CASE = {"encoding": "hfwa2:window=3,full=2,rerope=4"}


def logits(case, w, q, k, positions):
    r = before(positions)
    if w["layer"] in (1, 3):
        return rotated(np.clip(r, -4, 4), q, k)
    return rotated(np.where(abs(slots(positions)) < 3, r, np.nan), q, k)

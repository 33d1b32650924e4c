"""HFWA: windows with RoPE; the last layer has no positions, and logits times ln n / ln length. spec A.4 (23)."""

import numpy as np

from .rotated import before, logits as rotated, slots

CASE = {"encoding": "hfwa:window=3,length=8", "causal": True}


def logits(case, w, q, k, positions):
    r = before(positions)
    if w["layer"] < case["layers"] - 1:
        return rotated(np.where(slots(positions) < 3, r, np.nan), q, k)
    n = np.arange(1, r.shape[-1] + 1)
    return np.log(n)[:, None] / np.log(8) * rotated(0 * r, q, k)

"""Hard ALiBi (Jelassi et al. 2024), causal: the first half of the heads sees only the last 1, 2, 3, ... slots, the
other half sees all, without positions."""

import numpy as np

CASE = {"encoding": "hard_alibi", "positions": "randomized", "causal": True}


def logits(case, w, q, k, positions):
    heads, time = case["heads"], q.shape[1]
    s = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3])
    back = np.arange(time)[:, None] - np.arange(time)
    for h in range(heads // 2):
        s[:, h] = np.where(abs(back) <= h, s[:, h], -np.inf)
    return s

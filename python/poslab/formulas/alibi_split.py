"""ALiBi with learned slopes and half of the heads for each side: the first four of eight see only the left."""

import numpy as np

CASE = {"encoding": "alibi:sides=split,learned", "positions": "sequential"}


def shapes(case):
    return {"log_slope": (case["heads"],)}


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"], float)
    d = (p[:, None, :] - p[:, :, None])[:, None]
    left = np.arange(8)[:, None, None] < 4
    s = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) - np.exp(w["log_slope"])[:, None, None] * abs(d)
    return np.where((d == 0) | ((d < 0) == left), s, -np.inf)

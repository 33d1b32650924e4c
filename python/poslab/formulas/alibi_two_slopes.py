"""ALiBi with a learned slope for each side."""

import numpy as np

CASE = {"encoding": "alibi:sides=two_slopes", "positions": "sequential"}


def shapes(case):
    return {"log_slope": (case["heads"],), "log_slope_right": (case["heads"],)}


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"], float)
    d = (p[:, None, :] - p[:, :, None])[:, None]
    slope = np.where(d < 0, np.exp(w["log_slope"])[:, None, None], np.exp(w["log_slope_right"])[:, None, None])
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) - slope * abs(d)

"""KERPLE, the power kind with its weight kernel: exp(-b r^c) q . k / sqrt(D) - a r^p, all at least 0.01, powers at most
2, and 0^p = 0."""

import numpy as np

from .kerple import at_least

CASE = {"encoding": "kerple:kind=power,weight", "positions": "per_sequence"}
NAMES = ("power", "slope", "weight_power", "weight_slope")


def table(case):
    return dict.fromkeys(NAMES, (case["heads"],))


def power(r, c):
    c = at_least(c)
    return np.where(r > 0, np.exp(np.where(c.real > 2, 2, c) * np.log(np.where(r > 0, r, 1))), 0)


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"])
    r = abs(p[:, None, :] - p[:, :, None])[:, None]  # (S, 1, T, T)
    content = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3])
    gain = np.exp(-at_least(w["weight_slope"]) * power(r, w["weight_power"]))
    return content * gain - at_least(w["slope"]) * power(r, w["power"])

"""KERPLE, the logarithmic kind (Chi et al. 2022): -p_h ln(1 + a_h r), r = |p_j - p_i|, p and a at least 0.01 and shared
by all layers."""

import numpy as np

CASE = {"encoding": "kerple", "positions": "randomized"}


def table(case):
    return {"power": (case["heads"],), "slope": (case["heads"],)}


def at_least(x):
    return np.where(x.real < 0.01, 0.01, x)[:, None, None]


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"])
    r = abs(p[:, None, :] - p[:, :, None])[:, None]  # (S, 1, T, T)
    bias = -at_least(w["power"]) * np.log(1 + at_least(w["slope"]) * r)
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) + bias

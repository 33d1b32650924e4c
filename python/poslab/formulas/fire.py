"""FIRE (Li et al. 2024), causal: an MLP of psi(i - j) / psi(max(i, |m| L)), psi(x) = ln(|c| x + 1), in each layer; i
and j are positions. L = 100 here, so that some queries are closer to the start than |m| L and some are not."""

import numpy as np

CASE = {"encoding": "fire:length=100", "positions": "per_layer", "causal": True}


def shapes(case):
    return {"c": (1,), "m": (1,), "w1": (1, 32), "b1": (32,), "w2": (32, case["heads"])}


def absolute(x):
    return np.where(x.real < 0, -x, x)


def bias(w, p, length, side):
    d, query = abs(p[:, :, None] - p[:, None, :]), p[:, :, None]
    threshold = absolute(w["m"]) * length
    x = np.log(absolute(w["c"]) * d + 1) * side
    x = x / (np.log(absolute(w["c"]) * np.where(query > threshold.real, query, threshold) + 1) + 1e-6)
    h = x[..., None] @ w["w1"] + w["b1"]
    return (np.where(h.real > 0, h, 0) @ w["w2"]).transpose(0, 3, 1, 2)


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"], float)
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) + bias(w, p, 100, 1)

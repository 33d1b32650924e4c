"""CABLE (Veisi et al. 2025) as released: penalties softplus(w . x + b) add up, and q . k has no factor."""

import numpy as np

CASE = {"encoding": "cable:scaled=off", "positions": "sequential", "causal": True}


def shapes(case):
    return {"w": (case["d_model"], case["heads"]), "b": (case["heads"],)}


def logits(case, w, q, k, positions):
    sums = np.cumsum(-np.log(1 + np.exp(w["x"] @ w["w"] + w["b"])), 1).transpose(0, 2, 1)  # (B, H, T)
    return np.einsum("bihd,bjhd->bhij", q, k) + sums[..., :, None] - sums[..., None, :]

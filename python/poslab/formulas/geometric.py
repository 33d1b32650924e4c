"""Geometric attention with directional encoding (Csordas et al. 2022): the nearest key that matches takes its share,
the next one of what is left. Of two keys at equal distances the right one comes first."""

import numpy as np

CASE = {"encoding": "geometric"}


def shapes(case):
    heads, width = case["heads"], case["d_model"]
    one = {"alpha": (1,), "beta": (1,), "gamma": (1,)}
    return {"c": (heads, width // heads), **one, "w": (width, 2 * heads), "b": (2 * heads,)}


def weights(case, w, q, k, positions):
    """a_ij = P_ij times the product of 1 - P_ik over the keys k nearer than j, divided by its sum     (B, H, T, T)"""
    slot = np.arange(q.shape[1])
    f, b = ((w["x"] @ w["w"] + w["b"])[..., side::2].transpose(0, 2, 1)[..., None] for side in (0, 1))
    z = w["alpha"] * np.einsum("bihd,bjhd->bhij", q + w["c"], k) + w["gamma"]
    z = z + w["beta"] * np.where(slot[None, :] > slot[:, None], f, b)
    seen = slot[None, :] < slot[:, None] if case["causal"] else slot[None, :] != slot[:, None]
    p = seen / (1 + np.exp(-z))
    i, j, k = slot[:, None, None], slot[None, :, None], slot[None, None, :]
    nearer = (abs(i - k) < abs(i - j)) | ((j < i) & (k - i == i - j))
    a = p * np.where(nearer, 1 - p[:, :, :, None, :], 1).prod(-1)
    total = a.sum(-1, keepdims=True)
    return a / np.where(total.real > 0, total, 1)  # a query without another key gives no weight

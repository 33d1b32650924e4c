"""Dynamic position bias of the logarithm of the distance: one hidden layer, with a LayerNorm before its SiLU."""

import numpy as np

from .dynamic_bias import silu

CASE = {"encoding": "dynamic_bias:depth=1,norm", "positions": "per_sequence"}


def table(case):
    width, heads = case["d_model"] // 4, case["heads"]
    return {"w0": (1, width), "b0": (width,), "gain0": (width,), "bias0": (width,), "w": (width, heads)}


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"], float)
    d = p[:, :, None] - p[:, None, :]
    h = (np.sign(d) * np.log(abs(d) + 1))[..., None] @ w["w0"] + w["b0"]
    h = h - h.mean(-1, keepdims=True)
    h = w["gain0"] * h / np.sqrt((h * h).mean(-1, keepdims=True) + 1e-5) + w["bias0"]
    bias = (silu(h) @ w["w"]).transpose(0, 3, 1, 2)
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) + bias

"""Dynamic position bias of x-transformers: a network 1 -> C/4 -> C/4 -> H with SiLU maps the distance p_i - p_j to the
heads' biases, the same in all layers."""

import numpy as np

CASE = {"encoding": "dynamic_bias:log=off", "positions": "randomized"}


def table(case):
    width, heads = case["d_model"] // 4, case["heads"]
    return {"w0": (1, width), "b0": (width,), "w1": (width, width), "b1": (width,), "w": (width, heads)}


def silu(x):
    return x / (1 + np.exp(-x))


def of_distances(w, x):
    h = silu(x[..., None] @ w["w0"] + w["b0"])
    h = silu(h @ w["w1"] + w["b1"])
    return (h @ w["w"]).transpose(0, 3, 1, 2)


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"], float)
    bias = of_distances(w, p[:, :, None] - p[:, None, :])
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) + bias

"""GRAPE, form ap as released: slots after the key, up to the query, add slope ln sigmoid(b_i . R(-p_s) b^_s / 6)."""

import numpy as np

CASE = {"encoding": "grape:form=ap,pairs=3", "positions": "sequential", "causal": True, "layers": 2}
WIDTH = 6


def shapes(case):
    return {"w": (case["d_model"], case["heads"] * WIDTH)}


def logits(case, w, q, k, positions):
    heads, size = q.shape[2:]
    p = positions["tokens"].astype(float)[0]
    b = (w["x"] @ w["w"]).reshape(*q.shape[:3], WIDTH)
    hat = b / np.sqrt((b * b).mean(-1, keepdims=True) + 1e-6)
    c, n = np.cos(p)[:, None, None], np.sin(p)[:, None, None]
    first, second = hat[..., : WIDTH // 2], hat[..., WIDTH // 2 :]
    hat = np.concatenate([first * c + second * n, second * c - first * n], -1)
    slope = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
    s = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(size)
    s = s.astype(np.result_type(s, b))
    for i in range(len(p)):
        for j in range(i):
            for between in range(j + 1, i + 1):
                z = (b[:, i] * hat[:, between]).sum(-1) / WIDTH
                s[:, :, i, j] = s[:, :, i, j] - slope * np.log(1 + np.exp(-z))
    return s

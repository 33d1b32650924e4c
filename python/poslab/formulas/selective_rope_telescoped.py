"""Selective RoPE with skip_conv and the factors of random features: the sum of differences telescopes to its last
term, so the angle of a slot is T_m y_t, which depends on its content alone."""

import numpy as np

CASE = {"encoding": "selective_rope:skip_conv,table=rfa,theta=0.9,rank=5", "layers": 2}
RANK, THETA = 5, 0.9


def shapes(case):
    return {"down": (case["d_model"], RANK), "up": (RANK, case["d_model"] // 2)}


def logits(case, w, q, k, positions):
    heads, size = q.shape[2:]
    x = w["x"].reshape(*w["x"].shape[:2], heads, size)
    x = (x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6)).reshape(w["x"].shape)
    u = np.linspace(0, THETA * np.pi, size // 2)
    table = np.sqrt((1 - np.cos(u)) / (1 + np.cos(u)))
    angle = (x @ w["down"] @ w["up"]).reshape(*x.shape[:2], heads, size // 2) * table / table.max()
    c, n = np.cos(angle), np.sin(angle)

    def turn(y):
        a, b = y[..., : size // 2], y[..., size // 2 :]
        return np.concatenate([a * c - b * n, a * n + b * c], -1)

    return np.einsum("bihd,bjhd->bhij", turn(q), turn(k)) / np.sqrt(size)

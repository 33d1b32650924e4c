"""Learned curves over the distance back, mixed by each query's state (x-transformers)."""

import numpy as np

CASE = {"encoding": "projection_bank:reach=20,curves=5", "positions": "randomized"}
REACH, CURVES = 20, 5


def shapes(case):
    mixes = case["heads"] * CURVES
    return {"curves": (REACH, CURVES), "w": (case["d_model"], mixes), "b": (mixes,)}


def logits(case, w, q, k, positions):
    p = positions["tokens"][0]
    back = p[:, None] - p[None, :]
    inside = (back >= 0) & (back < REACH)
    curve = w["curves"][np.clip(back, 0, REACH - 1)] * inside[..., None]  # (i, j, curves)
    mixed = (w["x"] @ w["w"] + w["b"]).reshape(q.shape[:3] + (CURVES,))
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1]) + np.einsum("bihc,ijc->bhij", mixed, curve)

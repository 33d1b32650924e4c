"""TUPE-A (Ke et al. 2021): untied positions."""

import numpy as np

CASE = {"encoding": "tupe", "positions": "per_sequence"}


def shapes(case):
    width = case["d_model"]
    return {
        "table": (case["max_position"], width),
        "gain": (width,),
        "bias": (width,),
        "queries": (width, width),
        "keys": (width, width),
    }


def logits(case, w, q, k, positions):
    t = w["table"][positions["tokens"]]  # (S, T, C)
    t = t - t.mean(-1, keepdims=True)
    t = t / np.sqrt((t * t).mean(-1, keepdims=True) + 1e-5) * w["gain"] + w["bias"]
    of_q, of_k = ((t @ w[name]).reshape(t.shape[:2] + q.shape[2:]) for name in ("queries", "keys"))
    positional = np.einsum("bihd,bjhd->bhij", of_q, of_k)
    return (np.einsum("bihd,bjhd->bhij", q, k) + positional) / np.sqrt(2 * q.shape[-1])

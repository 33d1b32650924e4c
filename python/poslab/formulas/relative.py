"""Transformer-XL (Dai et al. 2019): sines of the distance, projected and multiplied by the query; u and v are
learned."""

import numpy as np

from .sincos import sinusoid

CASE = {"encoding": "relative"}


def shapes(case):
    heads, width = case["heads"], case["d_model"]
    return {"u": (heads, width // heads), "v": (heads, width // heads), "w": (width, width)}


def logits(case, w, q, k, positions):
    """s_ij = ((q_i + u) . k_j + (q_i + v) . W PE(p_j - p_i)) / sqrt(D)                                (B, H, T, T)"""
    heads, size = q.shape[2:]
    p = np.asarray(positions["tokens"], float)
    r = sinusoid(p[:, None, :] - p[:, :, None], heads * size) @ w["w"]  # (S, T, T, C)
    r = r.reshape(*r.shape[:3], heads, size)
    r = np.broadcast_to(r, (len(q), *r.shape[1:]))
    content = np.einsum("bihd,bjhd->bhij", q + w["u"], k)
    return (content + np.einsum("bihd,bijhd->bhij", q + w["v"], r)) / np.sqrt(size)

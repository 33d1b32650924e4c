"""The ids scheme with codes of sines and cosines: if a token has one number, it is sincos."""

import numpy as np

CASE = {"encoding": "ids:codes=sincos", "positions": "randomized"}


def embed(case, w, x, positions):
    p, width = np.asarray(positions["tokens"], float), x.shape[-1]
    angle = p[..., None] * 10000.0 ** (-2.0 * np.arange(width // 2) / width)
    return x + np.concatenate([np.sin(angle), np.cos(angle)], -1)


def logits(case, w, q, k, positions):
    """s_ij = q_i . k_j / sqrt(D)"""
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3])

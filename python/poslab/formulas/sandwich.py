"""Sandwich (Chi et al. 2023): the scalar product of two sin/cos encodings of width 128, whose first wavelength is
2 pi 10000^(2/128), divided by 8h/H. Softmax ignores a term that all keys share."""

import numpy as np

CASE = {"encoding": "sandwich", "positions": "randomized"}


def logits(case, w, q, k, positions):
    heads = case["heads"]
    p = np.array(positions["tokens"], float)
    angle = p[..., None] / 10000 ** (2 * np.arange(1, 65) / 128)
    code = np.concatenate([np.sin(angle), np.cos(angle)], -1)  # (S, T, 128)
    ratio = 8 * np.arange(1, heads + 1) / heads
    bias = np.einsum("sid,sjd->sij", code, code)[:, None] / ratio[:, None, None]
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) + bias

"""Attention Bias Calibration: biases for some distances of slots, the same for all heads; -1e6 for the others."""

import numpy as np

from .rotated import slots

CASE = {"encoding": "calibrated:of=all -6:0.4 -1:0.6 0:0.3 2:0.1", "positions": "randomized"}


def logits(case, w, q, k, positions):
    back = slots(positions)  # i - j, (1, T, T)
    bias = np.full(back.shape, -1e6)
    for distance, value in {-6: 0.4, -1: 0.6, 0: 0.3, 2: 0.1}.items():
        bias[back == -distance] = value
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1]) + bias[:, None]

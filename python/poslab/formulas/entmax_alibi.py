"""Sparsemax of ALiBi's logits."""

import numpy as np
from .entmax import weights as sparse

CASE = {"encoding": "entmax:alpha=2,base=alibi", "positions": "sequential"}


def weights(case, w, q, k, positions):
    p = positions["tokens"][0]
    d = p[None, :] - p[:, None]
    slope = 2.0 ** (-8.0 * np.arange(1, q.shape[2] + 1) / q.shape[2])
    return sparse(case, w, q, k, positions, 2, slope[:, None, None] * (0.5 * (d < 0) - abs(d)))

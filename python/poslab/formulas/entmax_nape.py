"""NAPE with its entmax: of 8 heads the first four have the biases -|p_i - p_j| / h, the others none. NEWER (9)."""

import numpy as np

from . import entmax
from .rotated import before

CASE = {"encoding": "entmax:base=nape", "causal": True, "positions": "sequential"}


def weights(case, w, q, k, positions):
    slope = np.array([1, 1 / 2, 1 / 3, 1 / 4, 0, 0, 0, 0])
    return entmax.weights(case, w, q, k, positions, bias=-slope[:, None, None] * abs(before(positions))[:, None])

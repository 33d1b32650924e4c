"""BiPE with ALiBi: 96 2^-h for each segment between two tokens, and the table as in bipe.py."""

import numpy as np

from .bipe import ROWS, embed, segments, table  # noqa: F401

CASE = {"encoding": "bipe:between=alibi,rows=20", "positions": "unsorted", "causal": True}


def logits(case, w, q, k, positions):
    n = segments(positions)
    slope = 96 * 2.0 ** -np.arange(1, 9)
    apart = abs(n[:, :, None] - n[:, None, :])[:, None]
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1]) - slope[:, None, None] * apart

"""BiPE (He et al. 2024): a learned vector for the place in a segment, and RoPE by the number of the segment.
A segment begins where positions do not grow."""

import numpy as np

from .rotary import logits as rotated
from .rotary import rope

CASE = {"encoding": "bipe:rows=20", "positions": "unsorted"}
ROWS = 20


def table(case):
    return {"table": (ROWS, case["d_model"])}


def segments(positions):
    p = np.asarray(positions["tokens"], float)
    return np.concatenate([np.zeros_like(p[:, :1]), np.cumsum(p[:, 1:] <= p[:, :-1], 1)], 1)


def embed(case, w, x, positions):
    return x + w["encoding.table"][np.minimum(np.asarray(positions["tokens"], int), ROWS - 1)]


def logits(case, w, q, k, positions):
    return rotated(q, k, {"tokens": segments(positions)}, rope(q.shape[-1]))

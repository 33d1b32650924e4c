"""p-RoPE: the slowest of four pairs does not rotate."""

import numpy as np
from . import rotary

CASE = {"encoding": "p_rope", "positions": "randomized"}


def logits(case, w, q, k, positions):
    return rotary.logits(q, k, positions, rotary.rope(q.shape[-1]) * np.array([1, 1, 1, 0]))

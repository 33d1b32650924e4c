"""LongRoPE within the trained length, a list of two numbers stretched over four pairs."""

import math

import numpy as np
from . import rotary

CASE = {"encoding": "longrope:short=1/2.5", "positions": "randomized"}


def logits(case, w, q, k, positions):
    f = rotary.rope(q.shape[-1]) / np.array([1, 1.5, 2, 2.5])
    return rotary.logits(q, k, positions, f, 1 + math.log(8) / math.log(40))

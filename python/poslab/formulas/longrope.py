"""LongRoPE with a factor for each of four pairs: 14 slots, 9 in training."""

import math

import numpy as np
from . import rotary

CASE = {"encoding": "longrope:length=9,long=1/1.5/3/10,short=1/1/1/2,factor=4", "positions": "randomized"}


def logits(case, w, q, k, positions):
    assert q.shape[1] > 9
    f = rotary.rope(q.shape[-1]) / np.array([1, 1.5, 3, 10])
    return rotary.logits(q, k, positions, f, 1 + math.log(4) / math.log(9))

"""Moebius RoPE in the first two of eight heads: odd multiples of pi / 64."""

import numpy as np
from . import rotary

CASE = {"encoding": "mobius:length=64", "positions": "randomized"}


def logits(case, w, q, k, positions):
    heads, size = q.shape[2:]
    f = np.tile(rotary.rope(size), (heads, 1))
    f[: heads // 4] = np.pi * (2 * np.arange(size // 2) + 1) / 64
    return rotary.logits(q, k, positions, f)

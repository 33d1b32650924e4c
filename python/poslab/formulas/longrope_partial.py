"""LongRoPE on the first half of the channels: two pairs, and a factor that the other channels do not have."""

import math

import numpy as np
from . import rotary

CASE = {"encoding": "longrope:length=9,long=1/3,factor=4,fraction=0.5", "positions": "randomized"}


def logits(case, w, q, k, positions):
    size, factor = q.shape[-1], 1 + math.log(4) / math.log(9)
    f = rotary.rope(size // 2) / np.array([1, 3])
    turned = rotary.logits(q[..., : size // 2], k[..., : size // 2], positions, f, factor) * np.sqrt(size // 2)
    return (turned + np.einsum("bihd,bjhd->bhij", q[..., size // 2 :], k[..., size // 2 :])) / np.sqrt(size)

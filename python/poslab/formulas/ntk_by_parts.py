"""NTK by parts, as released before YaRN: linear below 0.75 turns, bloc97's NTK from 1.25 to 2, unchanged from 16."""

import math

import numpy as np
from . import rotary

CASE = {"encoding": "ntk_by_parts:length=512", "heads": 2, "positions": "randomized"}


def logits(case, w, q, k, positions):
    size, factor = q.shape[-1], 8

    def ramp(many, few):
        pair = [size * math.log(512 / (2 * math.pi * turns)) / (2 * math.log(10000)) for turns in (many, few)]
        low, high = math.floor(pair[0]), math.ceil(pair[1])
        return np.clip((np.arange(size // 2) - low) / (high - low), 0, 1)

    f = rotary.rope(size)
    ntk = rotary.rope(size, 1e4 * factor ** (size / (size - 2)))
    linear = ramp(1.25, 0.75)
    slowed = f / factor * linear + ntk * (1 - linear)
    slow = ramp(16, 2)
    return rotary.logits(q, k, positions, slowed * slow + f * (1 - slow))

"""Resonance YaRN that depends on the number of slots (14, 9 in training), with a ramp whose ends are not rounded."""

import math

import numpy as np
from . import rotary

CASE = {
    "encoding": "yarn:length=9,beta_fast=1.2,beta_slow=0.05,truncate=off,dynamic,resonance",
    "heads": 2,
    "positions": "randomized",
}


def logits(case, w, q, k, positions):
    size, factor = q.shape[-1], q.shape[1] / 9

    def pair(turns):
        return size * math.log(9 / (2 * math.pi * turns)) / (2 * math.log(10000))

    low, high = pair(1.2), pair(0.05)
    assert 0 < low < high < size // 2
    inter = np.clip((np.arange(size // 2) - low) / (high - low), 0, 1)
    f = rotary.rope(size) * (1 - inter + inter / factor)
    f = 2 * math.pi / np.round(2 * math.pi / f)
    return rotary.logits(q, k, positions, f, (0.1 * math.log(factor) + 1) ** 2)

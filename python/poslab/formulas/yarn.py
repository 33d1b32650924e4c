"""YaRN as in its code: a ramp over pairs, with rounded ends. In two heads of 32 channels it covers 7 pairs."""

import math

import numpy as np
from . import rotary

CASE = {"encoding": "yarn:length=512", "heads": 2, "positions": "randomized"}


def frequencies(size, factor, length, base=10000):
    """The ramp of a head with this many channels. With too few pairs for a ramp there is a step."""

    def pair(turns):
        return size * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base))

    low, high = max(math.floor(pair(32)), 0), min(math.ceil(pair(1)), size - 1)
    inter = np.clip((np.arange(size // 2) - low) / max(high - low, 0.001), 0, 1)
    f = rotary.rope(size, base)
    return f * (1 - inter) + f / factor * inter


def steepness(factor):
    """The factor on the logits."""
    return (0.1 * math.log(factor) + 1) ** 2


def logits(case, w, q, k, positions):
    f, plain = frequencies(q.shape[-1], factor=8, length=512), rotary.rope(q.shape[-1])
    assert ((plain / 8 < f) & (f < plain)).any()  # there is a ramp, not a step
    return rotary.logits(q, k, positions, f, steepness(8))

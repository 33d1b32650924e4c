"""Resonance RoPE: wavelengths are rounded to whole numbers."""

import numpy as np
from . import rotary

CASE = {"encoding": "resonance", "positions": "randomized"}


def logits(case, w, q, k, positions):
    waves = np.round(2 * np.pi / rotary.rope(q.shape[-1]))
    return rotary.logits(q, k, positions, 2 * np.pi / waves)

"""Resonance RoPE: whole wavelengths."""

import numpy as np
from . import turning

CASE = {"encoding": "resonance", "positions": "randomized"}


def logits(case, w, q, k, positions):
    waves = np.round(2 * np.pi / turning.rope(q.shape[-1]))
    return turning.logits(q, k, positions, 2 * np.pi / waves)

"""Clipped RoPE: pairs with a wavelength over 40 positions fade along half a cosine; the slowest does not rotate."""

import numpy as np
from . import rotary

CASE = {"encoding": "clipped_rope", "heads": 2, "positions": "randomized"}


def logits(case, w, q, k, positions):
    f = rotary.rope(q.shape[-1])
    slow = int((2 * np.pi > 40 * f).sum())
    mask = np.ones(len(f))
    mask[-slow:] = (1 + np.cos(np.linspace(0, np.pi, slow))) / 2
    return rotary.logits(q, k, positions, f * mask)

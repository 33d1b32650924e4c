"""HoPE: pairs whose wavelength is longer than 40 positions do not rotate."""

import numpy as np
from . import rotary

CASE = {"encoding": "hope_hf", "heads": 2, "positions": "randomized"}


def logits(case, w, q, k, positions):
    f = rotary.rope(q.shape[-1])
    return rotary.logits(q, k, positions, np.where(2 * np.pi <= 40 * f, f, 0))

"""NTK-aware RoPE, Su's fixed form: pair m slowed by 8^(2 (m+1) / D)."""

import numpy as np
from . import rotary

CASE = {"encoding": "ntk:form=fixed", "positions": "randomized"}


def logits(case, w, q, k, positions):
    size = q.shape[-1]
    slower = 8.0 ** (2 * np.arange(1, size // 2 + 1) / size)
    return rotary.logits(q, k, positions, rotary.rope(size) / slower)

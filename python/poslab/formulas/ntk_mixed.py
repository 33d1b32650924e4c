"""NTK-aware RoPE, Su's mixed form: pair m slowed by exp(a (m+1)^0.625), the last one by 8."""

import numpy as np
from . import rotary

CASE = {"encoding": "ntk:form=mixed", "positions": "randomized"}


def logits(case, w, q, k, positions):
    pairs = q.shape[-1] // 2
    a = np.log(8) / pairs**0.625
    slower = np.exp(a * np.arange(1, pairs + 1) ** 0.625)
    return rotary.logits(q, k, positions, rotary.rope(2 * pairs) / slower)

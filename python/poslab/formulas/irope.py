"""iRoPE: RoPE, but the fourth layer has no positions and Llama 4's temperature. spec A.5, its last line."""

import numpy as np

from .rotated import before, logits as rotated

CASE = {"encoding": "irope:length=4,scale=0.5", "causal": True}


def logits(case, w, q, k, positions):
    r = before(positions)
    if w["layer"] != 3:
        return rotated(r, q, k)
    slot = np.arange(r.shape[-1])
    return (1 + 0.5 * np.log((slot + 1) // 4 + 1))[:, None] * rotated(0 * r, q, k)

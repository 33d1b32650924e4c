"""DroPE with its positions dropped."""

import numpy as np

CASE = {"encoding": "drope:dropped", "causal": True}


def logits(case, w, q, k, positions):
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1])

"""No positions at all (NoPE): the plain dot product."""

import numpy as np

CASE = {"encoding": "none"}


def logits(case, w, q, k, positions):
    """s_ij = q_i . k_j / sqrt(D)                                                                      (B, H, T, T)"""
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1])

"""ALiBi (Press et al. 2022): a penalty for distance, with a separate slope for each head. Without a causal mask
0.5 tells left from right, as in the code of Ruoss et al."""

import math

import numpy as np

CASE = {"encoding": "alibi"}


def slopes(heads):
    """2^(-8h/H) if H is a power of two; else the slopes of the power below, then every second slope of the power
    above."""
    power = 2 ** int(math.log2(heads))
    between = [2.0 ** (-4.0 * h / power) for h in range(1, 2 * power + 1, 2)]
    return np.array([2.0 ** (-8.0 * h / power) for h in range(1, power + 1)] + between[: heads - power])


def logits(case, w, q, k, positions):
    """s_ij = q_i . k_j / sqrt(D) + m_h (-|p_j - p_i| + 0.5 [p_j < p_i])                               (B, H, T, T)"""
    p = np.asarray(positions["tokens"], float)
    d = (p[:, None, :] - p[:, :, None])[:, None]
    past = 0.0 if case["causal"] else 0.5 * (d < 0)
    bias = slopes(q.shape[2])[:, None, None] * (past - abs(d))
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) + bias

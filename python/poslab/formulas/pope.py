"""PoPE: sizes softplus(q), softplus(k), and angles (p_j - p_i) 10000^(-m/D) + delta_hm."""

import numpy as np

CASE = {"encoding": "pope", "positions": "per_sequence", "layers": 2}


def shapes(case):
    return {"delta": (case["heads"], case["d_model"] // case["heads"])}


def logits(case, w, q, k, positions):
    size = q.shape[-1]
    p = positions["tokens"].astype(float)
    f = 10000.0 ** (-np.arange(size) / size)
    angle = (p[:, None, :] - p[:, :, None])[:, None, :, :, None] * f + w["delta"][:, None, None, :]  # (B, H, T, T, D)
    both = np.einsum("bihd,bjhd->bhijd", np.log(1 + np.exp(q)), np.log(1 + np.exp(k)))
    return (both * np.cos(angle)).sum(-1) / np.sqrt(size)

"""Music Transformer (Huang et al. 2018): a learned key for each distance back and each head."""

import numpy as np

CASE = {"encoding": "music:clip=6", "positions": "randomized", "causal": True}
CLIP = 6


def shapes(case):
    return {"keys": (CLIP + 1, case["heads"], case["d_model"] // case["heads"])}


def logits(case, w, q, k, positions):
    p = positions["tokens"][0]
    back = np.clip(p[:, None] - p[None, :], 0, CLIP)  # (i, j)
    a = w["keys"][CLIP - back]  # (i, j, H, D)
    return (np.einsum("bihd,bjhd->bhij", q, k) + np.einsum("bihd,ijhd->bhij", q, a)) / np.sqrt(q.shape[-1])

"""DeBERTa (He et al. 2021): content to position and position to content."""

import numpy as np

CASE = {"encoding": "deberta:clip=6", "positions": "sequential"}
CLIP = 6


def shapes(case):
    width = case["d_model"]
    return {"rows": (2 * CLIP, width), "keys": (width, width), "queries": (width, width)}


def logits(case, w, q, k, positions, clip=CLIP, bucket=lambda d: d):
    p = positions["tokens"][0]
    heads, size = q.shape[2:]
    key, query = ((w["rows"] @ w[name]).reshape(-1, heads, size) for name in ("keys", "queries"))
    back = bucket(p[:, None] - p[None, :])  # i - j
    delta = np.where(back <= -clip, 0, np.where(back >= clip, 2 * clip - 1, back + clip))  # delta(i, j)
    c2p = np.einsum("bihd,ijhd->bhij", q, key[delta])
    p2c = np.einsum("bjhd,ijhd->bhij", k, query[delta.T])
    return (np.einsum("bihd,bjhd->bhij", q, k) + c2p + p2c) / np.sqrt(3 * size)

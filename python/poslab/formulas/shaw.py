"""Shaw et al. 2018: learned vectors of clipped distances, added to keys and to values."""

import numpy as np

CASE = {"encoding": "shaw:clip=5", "positions": "randomized"}
CLIP = 5


def shapes(case):
    size = case["d_model"] // case["heads"]
    return {"keys": (2 * CLIP + 1, 1, size), "values": (2 * CLIP + 1, 1, size)}


def rows(table, positions):
    p = positions["tokens"]
    return table[np.clip(p[:, None, :] - p[:, :, None], -CLIP, CLIP) + CLIP, 0]  # (S, T, T, D)


def logits(case, w, q, k, positions):
    a = rows(w["keys"], positions)
    keys = k[:, None] + a[:, :, :, None]  # (B, i, j, H, D)
    return np.einsum("bihd,bijhd->bhij", q, keys) / np.sqrt(q.shape[-1])


def mix(case, w, a, positions):
    c = np.broadcast_to(rows(w["values"], positions), a.shape[:1] + a.shape[2:] + w["values"].shape[2:])
    return np.einsum("bhij,bijd->bihd", a, c)

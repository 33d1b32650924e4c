"""A learned bias in each layer for each distance from -10 to 10; larger distances are clipped."""

import numpy as np

CASE = {"encoding": "relative_bias:clip=10", "positions": "randomized"}


def shapes(case):
    return {"table": (21, case["heads"])}


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"])
    row = np.clip(p[:, None, :] - p[:, :, None], -10, 10) + 10
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) + w["table"][row].transpose(0, 3, 1, 2)

"""T5's bias as in T5 itself: causal, with 32 buckets, all for the left, and logits without 1 / sqrt(D)."""

import numpy as np

CASE = {"encoding": "t5:unscaled", "positions": "per_sequence", "causal": True}


def table(case):
    return {"table": (32, case["heads"])}


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"])
    r = np.maximum(p[:, :, None] - p[:, None, :], 0)
    far = 16 + np.floor(16 * np.log(np.maximum(r, 16) / 16) / np.log(8) + 1e-9).astype(int)
    bucket = np.where(r < 16, r, np.minimum(far, 31))
    return np.einsum("bihd,bjhd->bhij", q, k) + w["table"][bucket].transpose(0, 3, 1, 2)

"""T5's bias with 20 buckets up to distance 40, multiplied by sqrt(D) as in GPT-NeoX."""

import numpy as np

CASE = {"encoding": "t5:buckets=20,max_distance=40,sqrt_d", "positions": "randomized"}


def table(case):
    return {"table": (20, case["heads"])}


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"])
    d = p[:, None, :] - p[:, :, None]
    r = abs(d)
    far = 5 + np.floor(5 * np.log(np.maximum(r, 5) / 5) / np.log(40 / 5) + 1e-9).astype(int)
    bucket = np.where(r < 5, r, np.minimum(far, 9)) + 10 * (d > 0)
    root = np.sqrt(q.shape[3])
    return np.einsum("bihd,bjhd->bhij", q, k) / root + root * w["table"][bucket].transpose(0, 3, 1, 2)

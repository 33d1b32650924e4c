"""Scale-invariant attention (Anson et al. 2025): a_r q . k / sqrt(D) + 1 - a_r^2, a_r^2 = 2 ln(r / 10 + 1) + 1."""

import numpy as np

CASE = {"encoding": "scale_invariant", "positions": "randomized"}


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"])
    r = abs(p[:, None, :] - p[:, :, None])[:, None]
    square = 2 * np.log(r / 10 + 1) + 1
    return np.sqrt(square) * np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) + 1 - square

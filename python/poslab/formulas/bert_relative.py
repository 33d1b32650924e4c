"""BERT's relative_key: q_i . a[p_i - p_j + N - 1] is added to q_i . k_j."""

import numpy as np

CASE = {"encoding": "bert_relative", "positions": "randomized"}


def shapes(case):
    return {"keys": (2 * case["max_position"] - 1, 1, case["d_model"] // case["heads"])}


def vectors(case, w, positions):
    p = positions["tokens"]
    return w["keys"][p[:, :, None] - p[:, None, :] + case["max_position"] - 1, 0]  # (S, i, j, D)


def logits(case, w, q, k, positions):
    a = vectors(case, w, positions)[0]
    return (np.einsum("bihd,bjhd->bhij", q, k) + np.einsum("bihd,ijd->bhij", q, a)) / np.sqrt(q.shape[-1])

"""Dual Chunk Attention as released, with s + w as the last position; positions are randomized."""

import numpy as np

from .rotated import logits as rotated

CASE = {"encoding": "dual_chunk:chunk=9,window=5,last=released", "causal": True, "positions": "per_sequence"}


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"])
    chunk, place = p // 9, p % 9
    between = chunk[:, :, None] - chunk[:, None, :]
    at = np.where(between == 0, place[:, :, None], np.where(between == 1, np.minimum(place + 9, 14)[:, :, None], 14))
    return rotated(at - place[:, None, :], q, k)

"""FIRE with one network of width 16 for all layers and no mask: a key on the right has the input of a key equally far
on the left, with the opposite sign."""

import numpy as np

from .fire import bias, shapes as of_32

CASE = {"encoding": "fire:length=64,width=16,shared", "positions": "per_sequence"}


def table(case):
    return of_32(case) | {"w1": (1, 16), "b1": (16,), "w2": (16, case["heads"])}


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"], float)
    side = np.where(p[:, None, :] > p[:, :, None], -1, 1)
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) + bias(w, p, 64, side)

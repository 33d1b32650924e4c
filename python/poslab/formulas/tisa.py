"""TISA (Wennberg and Henter 2021): the bias of a distance is a sum of five bumps a exp(-|b| (d - c)^2)."""

import numpy as np

CASE = {"encoding": "tisa", "positions": "sequential"}


def shapes(case):
    return dict.fromkeys(("amplitude", "sharpness", "centre"), (5, case["heads"]))


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"], float)
    d = (p[:, None, :] - p[:, :, None])[..., None, None]  # (S, T, T, 1, 1)
    size = np.where(w["sharpness"].real < 0, -w["sharpness"], w["sharpness"])
    bias = (w["amplitude"] * np.exp(-size * (d - w["centre"]) ** 2)).sum(-2).transpose(0, 3, 1, 2)
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3]) + bias

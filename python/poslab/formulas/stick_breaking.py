"""Stick-breaking attention (Tan et al. 2025), as a product over the keys between."""

import numpy as np

CASE = {"encoding": "stick_breaking", "positions": "sequential", "causal": True}


def weights(case, w, q, k, positions):
    beta = 1 / (1 + np.exp(-np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1])))
    a = np.zeros_like(beta)
    for i in range(beta.shape[-1]):
        left = np.ones_like(beta[..., 0, 0])
        for j in reversed(range(i)):
            a[..., i, j] = beta[..., i, j] * left
            left = left * (1 - beta[..., i, j])
    return a

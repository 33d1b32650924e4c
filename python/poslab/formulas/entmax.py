"""1.5-entmax of q . k / sqrt(D) (Peters et al. 2019): tau by bisection, its derivative from the sum being 1."""

import numpy as np

CASE = {"encoding": "entmax", "positions": "sequential", "causal": True}


def entmax(s, alpha):
    """Over the last axis. s: complex numbers with tiny imaginary parts, -infinity where masked"""
    z, power = (alpha - 1) * s, 1 / (alpha - 1)
    low = z.real.max(-1, keepdims=True) - 1
    high = low + 1
    for _ in range(100):
        tau = (low + high) / 2
        enough = (np.maximum(z.real - tau, 0) ** power).sum(-1, keepdims=True) >= 1
        low, high = np.where(enough, tau, low), np.where(enough, high, tau)
    inside = z.real > tau
    slope = np.where(inside, np.maximum(z.real - tau, 0) ** (power - 1), 0)  # d tau = sum slope dz / sum slope
    moved = (slope * np.where(inside, z.imag, 0)).sum(-1, keepdims=True) / slope.sum(-1, keepdims=True)
    tau = tau + 1j * moved if np.iscomplexobj(s) else tau
    gap = np.where(inside, z - tau, 0)
    return gap * gap if power == 2 else gap


def weights(case, w, q, k, positions, alpha=1.5, bias=0):
    s = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1]) + bias
    return entmax(np.where(np.tri(s.shape[-1], dtype=bool) | (not case["causal"]), s, -np.inf), alpha)

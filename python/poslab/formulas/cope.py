"""CoPE (Golovneva et al. 2024): positions count the slots that the gates let through."""

import numpy as np

CASE = {"encoding": "cope:npos=5", "positions": "sequential", "causal": True}
ROWS, LOWEST = 5, 0


def shapes(case):
    return {"rows": (ROWS, case["d_model"] // case["heads"])}


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def logits(case, w, q, k, positions, gate=sigmoid, lowest=LOWEST):
    z = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1])
    time, rows = z.shape[-1], w["rows"].shape[0]
    g = np.where(np.tri(time, dtype=bool), gate(z), 0)
    at = np.flip(np.cumsum(np.flip(g, -1), -1), -1) + lowest  # p_ij = sum of g_it over t = j .. i
    at = np.where(at.real > rows - 1, rows - 1, np.where(at.real < 0, 0, at))
    below = np.clip(np.floor(at.real).astype(int), 0, rows - 2)
    of_rows = np.einsum("bihd,nd->bhin", q, w["rows"])
    low, high = (np.take_along_axis(of_rows, n, -1) for n in (below, below + 1))
    return z + low + (high - low) * (at - below)

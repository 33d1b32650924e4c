"""GRAPE, form m: the rotation exp(p e^o_m f_m L), L = a b^T - b a^T, of each plane of channels m and m + D/2, by the
formula of Rodrigues, which for unit vectors a and b of a plane is I + sin L + (1 - cos) L^2."""

import numpy as np

CASE = {"encoding": "grape", "positions": "randomized", "layers": 2}


def shapes(case):
    return {"o": (case["d_model"] // case["heads"] // 2,)}


def logits(case, w, q, k, positions):
    size = q.shape[-1]
    p = positions["tokens"].astype(float)[0]
    half = size // 2

    def act(y):
        y = y.astype(np.result_type(y, w["o"]))
        for m in range(half):
            L = np.zeros((size, size))
            L[m + half, m], L[m, m + half] = 1, -1
            for t in range(len(p)):
                angle = p[t] * np.exp(w["o"][m]) * 10000.0 ** (-2 * m / size)
                G = np.eye(size) + np.sin(angle) * L + (1 - np.cos(angle)) * (L @ L)
                y[:, t] = y[:, t] @ G.T
        return y

    return np.einsum("bihd,bjhd->bhij", act(q), act(k)) / np.sqrt(size)

"""xPos: pair m of the product has the factor z_m^(r / scale). spec A.5 (27)."""

import numpy as np

from .rotated import before

CASE = {"encoding": "xpos:scale=16", "causal": True}


def logits(case, w, q, k, positions):
    size, r, total = q.shape[-1], before(positions)[:, None], 0
    for m in range(size // 2):
        angle, z = r * 10000.0 ** (-2.0 * m / size), (2 * m + 0.4 * size) / (1.4 * size)
        product = lambda a, b: np.einsum("bih,bjh->bhij", q[..., 2 * m + a], k[..., 2 * m + b])
        rotated = np.cos(angle) * (product(0, 0) + product(1, 1)) + np.sin(angle) * (product(0, 1) - product(1, 0))
        total = total + z ** (r / 16) * rotated
    return total / np.sqrt(size)

"""PaTH with beta = 2 and no mask: s_ij = q_i . P_i P_j^T k_j, P_t = H_t ... H_1 an orthogonal matrix."""

import numpy as np

from . import path

CASE = {"encoding": "path:rank=5,reflect", "layers": 2}


def shapes(case):
    return {name: path.shapes(case)[name] for name in ("down", "up", "conv")}


def logits(case, w, q, k, positions):
    size = q.shape[-1]
    direction = path.directions(w, q.shape)
    passed, products = np.eye(size), []
    for t in range(q.shape[1]):
        passed = (np.eye(size) - 2 * direction[:, t, :, :, None] * direction[:, t, :, None, :]) @ passed
        products.append(passed)  # (B, H, D, D)
    to = np.stack(products, 1)
    return np.einsum("bihd,bihde,bjhfe,bjhf->bhij", q, to, to, k) / np.sqrt(size)

"""HoPE, hyperbolic: pairs of channels are boosted by d 10000^(-2m/D), d = p_i - p_j, and all decays by e^(-1.1 |d|)."""

import numpy as np

CASE = {"encoding": "hope_hyp", "positions": "unsorted", "layers": 2}
DECAY = 1.1


def logits(case, w, q, k, positions):
    size = q.shape[-1]
    p = positions["tokens"].astype(float)
    d = (p[:, :, None] - p[:, None, :])[:, None]
    s = 0
    for m in range(size // 2):
        a, b = q[..., m], q[..., m + size // 2]
        e, g = k[..., m], k[..., m + size // 2]
        same = np.einsum("bih,bjh->bhij", a, e) + np.einsum("bih,bjh->bhij", b, g)
        cross = np.einsum("bih,bjh->bhij", a, g) + np.einsum("bih,bjh->bhij", b, e)
        f = 10000.0 ** (-2 * m / size)
        s = s + (same * np.cosh(d * f) + cross * np.sinh(d * f)) * np.exp(-DECAY * abs(d))
    return s / np.sqrt(size)

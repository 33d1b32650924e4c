"""SelfExtend: spec A.6 (40), without a mask by rho(-r) = -rho(r)."""

import numpy as np

from .rotated import before, logits as rotated

CASE = {"encoding": "self_extend:window=5,group=2"}


def logits(case, w, q, k, positions):
    r, group = before(positions), np.floor(np.array(positions["tokens"]) / 2)
    apart = group[:, :, None] - group[:, None, :]
    far = apart + np.sign(r) * (5 - 5 // 2)
    return rotated(np.where(abs(r) < 5, r, far), q, k)

"""CARoPE: pair m = 1 .. D/2 of a slot rotates by the sum of f^m up to it, f = 1 / (softplus(x . w_h) + 1)."""

import numpy as np
from . import rotary

CASE = {"encoding": "carope", "causal": True, "layers": 2}


def shapes(case):
    return {"w": (case["d_model"], case["heads"])}


def logits(case, w, q, k, positions):
    f = 1 / (np.log(1 + np.exp(w["x"] @ w["w"])) + 1)  # (B, T, H)

    def differences(m):
        phase = np.moveaxis(np.cumsum(f ** (m + 1), 1), 2, 1)  # (B, H, T)
        return phase[:, :, :, None] - phase[:, :, None, :]

    return rotary.by_pairs(q, k, differences)

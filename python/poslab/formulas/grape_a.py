"""GRAPE, form a: ALiBi's slope times ln(1 + e^w), times the sum of a gate of the query and a gate of the key."""

import numpy as np

CASE = {"encoding": "grape:form=a", "positions": "per_sequence", "causal": True, "layers": 2}


def shapes(case):
    heads, size = case["heads"], case["d_model"] // case["heads"]
    return {"w": (heads, 1), "u": (heads, size), "v": (heads, size)}


def logits(case, w, q, k, positions):
    heads, size = q.shape[2:]
    p = positions["tokens"].astype(float)

    def softplus(x):
        return np.log(1 + np.exp(x))

    def gate(x, by):
        by = by / np.sqrt((by * by).sum(-1, keepdims=True) + 1e-6)
        return np.moveaxis(softplus((x * by).sum(-1) / np.sqrt(size)), 2, 1)  # (B, H, T)

    rate = softplus(w["w"][:, 0]) * 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
    both = gate(q, w["v"])[:, :, :, None] + gate(k, w["u"])[:, :, None, :]
    bias = (p[:, None, :] - p[:, :, None])[:, None] * rate[:, None, None] * both
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(size) + bias

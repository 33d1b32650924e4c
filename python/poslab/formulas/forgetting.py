"""Forgetting gates, separate for each side: the bias is the sum of their logarithms over the slots between."""

import numpy as np

CASE = {"encoding": "forgetting", "positions": "sequential"}


def shapes(case):
    n = case["heads"] * (1 if case["causal"] else 2)
    return {"w": (case["d_model"], n), "b": (n,)}


def logits(case, w, q, k, positions):
    f = -np.log(1 + np.exp(-(w["x"] @ w["w"] + w["b"])))  # ln sigmoid, (B, T, H or 2 H)
    s = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1])
    bias, heads = np.zeros(s.shape, np.result_type(f, s)), q.shape[2]
    for i in range(s.shape[2]):
        for j in range(s.shape[3]):
            if j < i:
                bias[:, :, i, j] = f[:, j + 1 : i + 1, :heads].sum(1)
            if j > i and not case["causal"]:
                bias[:, :, i, j] = f[:, i + 1 : j + 1, heads:].sum(1)
    return s + bias

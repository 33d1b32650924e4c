"""PaTH: the product of the matrices H_t = I - beta_t w_t w_t^T between each key and each query, multiplied out."""

import numpy as np

RANK = 5
CASE = {"encoding": "path:rank=5,gate=paper", "causal": True, "layers": 2}


def shapes(case):
    heads, width = case["heads"], case["d_model"]
    return {
        "down": (width, RANK), "up": (RANK, width), "conv": (3, width), "v": (width, heads), "b": (heads,),
        "u": (width, heads), "c": (heads,),
    }  # fmt: skip


def directions(w, shape):
    y = w["x"] @ w["down"] @ w["up"]
    z = np.zeros(y.shape, np.result_type(y, w["conv"]))
    for t in range(y.shape[1]):
        for back in range(min(3, t + 1)):
            z[:, t] += w["conv"][back] * y[:, t - back]
    z = (z / (1 + np.exp(-z))).reshape(shape)
    return z / np.sqrt((z * z).sum(-1, keepdims=True) + 1e-6)


def logits(case, w, q, k, positions, scaled_gate=False):
    batch, time, heads, size = q.shape
    direction = directions(w, q.shape)
    beta = 2 / (1 + np.exp(-(w["x"] @ w["v"] + w["b"])))  # (B, T, H)
    forget = -np.log(1 + np.exp(-(w["x"] @ w["u"] + w["c"])))
    s = np.zeros((batch, heads, time, time), np.result_type(q, k, direction, beta, forget))
    for j in range(time):
        passed = np.broadcast_to(np.eye(size), (batch, heads, size, size))
        gate = 0
        for i in range(j, time):
            if i > j:
                w_w = direction[:, i, :, :, None] * direction[:, i, :, None, :]
                mirror = np.eye(size) - beta[:, i, :, None, None] * w_w
                passed = mirror @ passed  # H_i ... H_{j+1}
                gate = gate + forget[:, i]
            s[:, :, i, j] = np.einsum("bhd,bhde,bhe->bh", q[:, i], passed, k[:, j]) / np.sqrt(size)
            s[:, :, i, j] += gate / np.sqrt(size) if scaled_gate else gate
    return s

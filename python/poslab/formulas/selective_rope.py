"""Selective RoPE with all its parts: a convolution over 4 slots, a bias, a gate; a slot's angle is the sum up to it.

The angle between a query and a key is the sum of the turns of the slots between them, written out pair by pair. """

import numpy as np

CASE = {"encoding": "selective_rope:bias,gate,rank=6,base=100", "layers": 2}
RANK, BASE = 6, 100.0


def shapes(case):
    heads, width = case["heads"], case["d_model"]
    half = width // heads // 2
    return {
        "down": (width, RANK), "up": (RANK, heads * half), "conv": (4, heads * half), "bias": (heads * half,),
        "gate": (width, heads), "gate_b": (heads,),
    }  # fmt: skip


def steps(case, w):
    """phi: (B, T, H, D/2), and T: (D/2)"""
    heads, size = case["heads"], case["d_model"] // case["heads"]
    x = w["x"].reshape(*w["x"].shape[:2], heads, size)
    x = (x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6)).reshape(w["x"].shape)
    y = x @ w["down"] @ w["up"]
    phi = np.zeros(y.shape, np.result_type(y, w["conv"]))
    for t in range(y.shape[1]):
        for back in range(min(4, t + 1)):
            phi[:, t] += w["conv"][back] * y[:, t - back]
    phi = (phi + np.exp(w["bias"])).reshape(*y.shape[:2], heads, size // 2)
    phi = phi / (1 + np.exp(-(x @ w["gate"] + w["gate_b"])))[..., None]
    return phi, BASE ** (-2 * np.arange(size // 2) / size)


def logits(case, w, q, k, positions):
    phi, scale = steps(case, w)
    half = q.shape[-1] // 2
    s = np.zeros((q.shape[0], q.shape[2], q.shape[1], q.shape[1]), np.result_type(q, k, phi))
    for i in range(q.shape[1]):
        for j in range(q.shape[1]):
            between = phi[:, j + 1 : i + 1].sum(1) - phi[:, i + 1 : j + 1].sum(1)  # (B, H, D/2)
            c, n = np.cos(scale * between), np.sin(scale * between)
            a, b = k[:, j, :, :half], k[:, j, :, half:]  # the key rotated back, by the angles between
            back = np.concatenate([a * c + b * n, b * c - a * n], -1)
            s[:, :, i, j] = (q[:, i] * back).sum(-1)
    return s / np.sqrt(2 * half)

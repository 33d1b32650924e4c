"""RePo: RoPE at positions z = (silu(x gate) * (x content)) out, one for each head."""

import numpy as np
from . import rotary

CASE = {"encoding": "repo", "causal": True, "layers": 2}


def shapes(case):
    width = case["d_model"]
    return {"gate": (width, width // 8), "content": (width, width // 8), "out": (width // 8, case["heads"])}


def logits(case, w, q, k, positions):
    g = w["x"] @ w["gate"]
    z = (g / (1 + np.exp(-g)) * (w["x"] @ w["content"])) @ w["out"]  # (B, T, H)
    z = np.moveaxis(z, 2, 1)
    d, frequencies = z[:, :, :, None] - z[:, :, None, :], rotary.rope(q.shape[-1])
    return rotary.by_pairs(q, k, lambda m: d * frequencies[m])

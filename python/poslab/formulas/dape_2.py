"""DAPE, version 2: convolutions over 3 neighbouring keys, of logits that are 0 where masked."""

import numpy as np
from .dape import WIDTH, leaky, parts
from .dape import shapes as of_kernel

CASE = {"encoding": "dape:version=2,width=12", "positions": "sequential", "causal": True}


def shapes(case):
    return of_kernel(case, 3)


def convolve(x, w, b=None):
    """x: (B, in, T, T), w: (3 in, out), the left neighbour's rows first"""
    padded = np.pad(x, ((0, 0), (0, 0), (0, 0), (1, 1)))
    time, channels = x.shape[-1], x.shape[1]
    y = 0 if b is None else b[:, None, None]
    for n in range(3):
        y = y + np.einsum("bcij,co->boij", padded[..., n : n + time], w[n * channels : (n + 1) * channels])
    return y


def logits(case, w, q, k, positions, masked=True):
    a, b = parts(w, q, k, positions)
    seen = np.tri(a.shape[-1])
    hidden = leaky(convolve(np.concatenate([a, np.broadcast_to(b, a.shape)], 1) * seen, w["w1"], w["b1"]))
    assert hidden.shape[1] == WIDTH
    return a + b + convolve(hidden * seen if masked else hidden, w["w2"])

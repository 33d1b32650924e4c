"""DAPE (Zheng et al. 2024), version 1 over KERPLE's bias."""

import numpy as np

CASE = {"encoding": "dape:width=12", "positions": "randomized"}
WIDTH = 12


def shapes(case, kernel=1):
    heads = case["heads"]
    return {
        "p": (heads,),
        "a": (heads,),
        "w1": (kernel * 2 * heads, WIDTH),
        "b1": (WIDTH,),
        "w2": (kernel * WIDTH, heads),
    }


def leaky(x):
    return np.where(x.real > 0, x, 0.01 * x)


def parts(w, q, k, positions):
    """A, (B, H, T, T), and B, (S, H, T, T)"""
    t = positions["tokens"]
    far = abs(t[:, None, :] - t[:, :, None])[:, None]
    p, a = (np.where(w[n].real > 0.01, w[n], 0.01)[:, None, None] for n in "pa")
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1]), -p * np.log(1 + a * far)


def logits(case, w, q, k, positions):
    a, b = parts(w, q, k, positions)
    pair = np.concatenate([a, np.broadcast_to(b, a.shape)], 1)  # (B, 2H, T, T)
    hidden = leaky(np.einsum("bcij,cw->bwij", pair, w["w1"]) + w["b1"][:, None, None])
    return a + b + np.einsum("bwij,wh->bhij", hidden, w["w2"])

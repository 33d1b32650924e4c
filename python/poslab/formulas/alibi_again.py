"""ALiBi with symmetric distances, as an example of a scheme of one's own: copy it, and run tools/reference NAME.

CASE is the scheme's spelling in C++, and all else that differs from golden.py's BASE. logits() is the formula, slot by
slot; q, k: (B, T, H, D), positions["tokens"]: (1 or B, T), w: the parameters that shapes() names, if it is defined,
and w["x"], (B, T, C), the states that q and k are projected from, and w["layer"], from 0. A scheme may also have
these functions: table(case), the parameters that all layers share, which are in w too; embed(case, w, x, positions),
a term of the embedding, with the parameters of table(case); weights(), in place of logits() and with its arguments:
(B, H, T, T), masked too; mix(case, w, a, positions), a term that weights a add to the sum of values, (B, T, H, D). """

import numpy as np

CASE = {"encoding": "alibi:symmetric", "positions": "sequential"}


# def shapes(case):                     # the shapes of a layer's parameters; this scheme has none
#     return {"slope": (case["heads"],)}


def logits(case, w, q, k, positions):
    """s_ij = q_i . k_j / sqrt(D) - 2^(-8h/H) |p_j - p_i|                                              (B, H, T, T)"""
    heads, size = q.shape[2:]
    p = positions["tokens"]
    distance = abs(p[:, None, :] - p[:, :, None])
    slope = 2.0 ** (-8.0 * np.arange(1, heads + 1) / heads)
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(size) - slope[:, None, None] * distance[:, None]

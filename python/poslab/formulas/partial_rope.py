"""RoPE on the first half of the channels, by halves of that half."""

import numpy as np
from . import rotary

CASE = {"encoding": "partial_rope:fraction=0.5,pairing=half", "positions": "randomized"}


def logits(case, w, q, k, positions):
    size = q.shape[-1]
    angles = np.asarray(positions["tokens"], float)[:, :, None, None] * rotary.rope(size // 2)

    def some(x):
        return np.concatenate([rotary.turn(x[..., : size // 2], angles, "half"), x[..., size // 2 :]], -1)

    return np.einsum("bihd,bjhd->bhij", some(q), some(k)) / np.sqrt(size)

"""FoPE as released: heads of 16 channels have 4 series of 6 frequencies; pairs beyond those have cosine and sine 1."""

import numpy as np
from . import rotary

CASE = {"encoding": "fope:length=3000,mode=released", "heads": 4, "positions": "randomized"}
KEPT, SERIES = 6, 4
DOMINANT = [0, 2, 4]  # every second frequency, until none is left: the last series has none


def shapes(case):
    return {"cosine": (KEPT, case["heads"] * SERIES), "sine": (KEPT, case["heads"] * SERIES)}


def logits(case, w, q, k, positions):
    heads, size = q.shape[2:]
    f = rotary.rope(size)
    assert (2 * np.pi / f <= 3000).sum() == KEPT
    angles = np.asarray(positions["tokens"], float)[:, :, None] * f[:KEPT]
    one = np.zeros((KEPT, SERIES))
    for series, frequency in enumerate(DOMINANT):
        one[frequency, series] = 1
    table = []
    for waves, name in ((np.cos(angles), "cosine"), (np.sin(angles), "sine")):
        a = w[name].reshape(KEPT, heads, SERIES) + one[:, None, :]
        y = np.einsum("stk,khm->sthm", waves, a)
        table.append(np.concatenate([y, np.ones(y.shape[:3] + (size // 2 - SERIES,))], -1))
    cosine, sine = (np.concatenate([t, t], -1) for t in table)

    def carried(x):
        behind = np.concatenate([-x[..., size // 2 :], x[..., : size // 2]], -1)
        return x * cosine + behind * sine

    return np.einsum("bihd,bjhd->bhij", carried(q), carried(k)) / np.sqrt(size)

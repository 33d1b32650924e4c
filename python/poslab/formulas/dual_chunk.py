"""Dual Chunk Attention with the paper's sets of positions: chunks of 4, trained length c = 4 + 2. spec A.6 (42)."""

import numpy as np

from .rotated import logits as rotated

CASE = {"encoding": "dual_chunk:chunk=4,window=2", "causal": True}
CHUNK, LENGTH = 4, 6


def logits(case, w, q, k, positions):
    time = np.array(positions["tokens"]).shape[1]
    keys = [j % CHUNK for j in range(time)]
    successive = list(range(CHUNK, LENGTH)) + [LENGTH - 1] * time
    rho = np.full((1, time, time), np.nan)
    for i in range(time):
        for j in range(i + 1):
            between = i // CHUNK - j // CHUNK
            at = [i % CHUNK, successive[i % CHUNK], LENGTH - 1][min(between, 2)]
            rho[0, i, j] = at - keys[j]
    return rotated(rho, q, k)

"""StreamingLLM as its cache does it: for each query, the remaining keys are renumbered from 0."""

import numpy as np

from .rotated import logits as rotated

CASE = {"encoding": "sinks:window=4,sinks=2", "causal": True}


def logits(case, w, q, k, positions):
    time = np.array(positions["tokens"]).shape[1]
    rho = np.full((1, time, time), np.nan)
    for i in range(time):
        cache = list(range(i + 1))
        if len(cache) > 2 + 4:
            cache = cache[:2] + cache[-4:]
        for place, j in enumerate(cache):
            rho[0, i, j] = len(cache) - 1 - place
    return rotated(rho, q, k)

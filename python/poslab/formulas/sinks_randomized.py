"""StreamingLLM with other positions: tokens that a cache drops are removed from the string, without a gap."""

import numpy as np

from .rotated import logits as rotated

CASE = {"encoding": "sinks:window=3,sinks=3", "causal": True, "positions": "per_sequence"}


def logits(case, w, q, k, positions):
    p = np.array(positions["tokens"], float)
    rho = np.full((p.shape[0], p.shape[1], p.shape[1]), np.nan)
    for b in range(p.shape[0]):
        for i in range(p.shape[1]):
            left_out = range(3, i - 2)  # slots between the first three and the last three up to i
            closed = p[b, left_out[-1] + 1] - p[b, 3] if len(left_out) else 0.0
            for j in [j for j in range(i + 1) if j not in left_out]:
                rho[b, i, j] = p[b, i] - p[b, j] - (closed if j < 3 else 0.0)
    return rotated(rho, q, k)

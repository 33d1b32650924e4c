"""ReRoPE: rho = sign(r) min(|r|, w). spec A.4 (21) and its bidirectional extension."""

import numpy as np

from .rotated import before, logits as rotated

CASE = {"encoding": "rerope:window=3"}


def logits(case, w, q, k, positions):
    r = before(positions)
    return rotated(np.sign(r) * np.minimum(abs(r), 3), q, k)

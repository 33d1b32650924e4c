"""ReRoPE: rho = sign(r) min(|r|, w). spec A.4 (21) and its bidirectional extension."""

import numpy as np

from .turned import before, logits as turned

CASE = {"encoding": "rerope:window=3"}


def logits(case, w, q, k, positions):
    r = before(positions)
    return turned(np.sign(r) * np.minimum(abs(r), 3), q, k)

"""CoPE whose gates count up and down."""

import numpy as np
from .cope import logits as contextual

CASE = {"encoding": "cope:npos=3,signed", "positions": "sequential", "causal": True}


def shapes(case):
    return {"rows": (5, case["d_model"] // case["heads"])}


def logits(case, w, q, k, positions):
    return contextual(case, w, q, k, positions, np.tanh, 2)

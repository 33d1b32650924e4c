"""DAPE, version 2, as released: the hidden layer is not masked."""

from .dape_2 import logits as convolved
from .dape_2 import shapes  # noqa: F401

CASE = {"encoding": "dape:version=2,width=12,border=released", "positions": "sequential", "causal": True}


def logits(case, w, q, k, positions):
    return convolved(case, w, q, k, positions, masked=False)

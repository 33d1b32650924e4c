"""DroPE before anything is dropped: RoPE."""

from .turned import before, logits as turned

CASE = {"encoding": "drope", "causal": True}


def logits(case, w, q, k, positions):
    return turned(before(positions), q, k)

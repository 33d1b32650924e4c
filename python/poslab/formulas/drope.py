"""DroPE before anything is dropped: RoPE."""

from .rotated import before, logits as rotated

CASE = {"encoding": "drope", "causal": True}


def logits(case, w, q, k, positions):
    return rotated(before(positions), q, k)

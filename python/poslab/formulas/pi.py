"""Position interpolation: p / 8."""

from . import rotary

CASE = {"encoding": "pi", "positions": "randomized"}


def logits(case, w, q, k, positions):
    return rotary.logits(q, k, positions, rotary.rope(q.shape[-1]) / 8)

"""Position interpolation: p / 8."""

from . import turning

CASE = {"encoding": "pi", "positions": "randomized"}


def logits(case, w, q, k, positions):
    return turning.logits(q, k, positions, turning.rope(q.shape[-1]) / 8)

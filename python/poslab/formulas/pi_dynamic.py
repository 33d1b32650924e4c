"""Position interpolation by slots / trained length: 14 slots, 5 trained, a causal mask."""

from . import turning

CASE = {"encoding": "pi:dynamic,length=5", "positions": "sequential", "causal": True}


def logits(case, w, q, k, positions):
    return turning.logits(q, k, positions, turning.rope(q.shape[-1]) / (q.shape[1] / 5))

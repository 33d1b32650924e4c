"""Position interpolation by slots / trained length: 14 slots, 5 in training; causal."""

from . import rotary

CASE = {"encoding": "pi:dynamic,length=5", "positions": "sequential", "causal": True}


def logits(case, w, q, k, positions):
    return rotary.logits(q, k, positions, rotary.rope(q.shape[-1]) / (q.shape[1] / 5))

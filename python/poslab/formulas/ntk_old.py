"""NTK-aware RoPE, the older form: the base times the factor."""

from . import rotary

CASE = {"encoding": "ntk:form=old,factor=4", "positions": "randomized"}


def logits(case, w, q, k, positions):
    return rotary.logits(q, k, positions, rotary.rope(q.shape[-1], 4e4))

"""NTK-aware RoPE, the older form: the base times the factor."""

from . import turning

CASE = {"encoding": "ntk:form=old,factor=4", "positions": "randomized"}


def logits(case, w, q, k, positions):
    return turning.logits(q, k, positions, turning.rope(q.shape[-1], 4e4))

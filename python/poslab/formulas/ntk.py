"""NTK-aware RoPE, the form of bloc97: the base times 8^(D/(D-2))."""

from . import turning

CASE = {"encoding": "ntk", "positions": "per_sequence"}


def logits(case, w, q, k, positions):
    size = q.shape[-1]
    return turning.logits(q, k, positions, turning.rope(size, 1e4 * 8 ** (size / (size - 2))))

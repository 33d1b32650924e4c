"""NTK-aware RoPE, the form of bloc97: the base times 8^(D/(D-2))."""

from . import rotary

CASE = {"encoding": "ntk", "positions": "per_sequence"}


def logits(case, w, q, k, positions):
    size = q.shape[-1]
    return rotary.logits(q, k, positions, rotary.rope(size, 1e4 * 8 ** (size / (size - 2))))

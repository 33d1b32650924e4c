"""RoPE with base 500000, by halves."""

from . import turning

CASE = {"encoding": "abf:pairing=half", "positions": "randomized"}


def logits(case, w, q, k, positions):
    return turning.logits(q, k, positions, turning.rope(q.shape[-1], 5e5), pairing="half")

"""RoPE with base 500000, by halves."""

from . import rotary

CASE = {"encoding": "abf:pairing=half", "positions": "randomized"}


def logits(case, w, q, k, positions):
    return rotary.logits(q, k, positions, rotary.rope(q.shape[-1], 5e5), pairing="half")

"""NTK-aware RoPE whose base depends on the number of slots: 14 here, 6 in training; alpha is 2."""

from . import rotary

CASE = {"encoding": "dynamic_ntk:factor=2,length=6", "positions": "randomized"}


def logits(case, w, q, k, positions):
    size, slots = q.shape[-1], q.shape[1]
    k_times = 2 * slots / 6 - (2 - 1)
    return rotary.logits(q, k, positions, rotary.rope(size, 1e4 * k_times ** (size / (size - 2))))

"""SelfExtend with the released code's w - w / G in place of w - floor(w / G); causal, randomized positions."""

import numpy as np

from .rotated import before, logits as rotated

CASE = {"encoding": "self_extend:window=7,group=4,shift=exact", "causal": True, "positions": "randomized"}


def logits(case, w, q, k, positions):
    r, group = before(positions), np.array(positions["tokens"]) // 4
    return rotated(np.where(r < 7, r, group[:, :, None] - group[:, None, :] + 7 - 7 / 4), q, k)

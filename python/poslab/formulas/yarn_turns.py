"""YaRN as in its paper: a ramp over turns, from 1 to 32. Logits have DeepSeek's two scales."""

import math

import numpy as np
from . import rotary

CASE = {
    "encoding": "yarn:length=512,ramp=turns,mscale=0.7,mscale_all_dim=0.3,pairing=half",
    "heads": 2,
    "positions": "randomized",
}


def logits(case, w, q, k, positions):
    f = rotary.rope(q.shape[-1])
    kept = np.clip((512 * f / (2 * math.pi) - 1) / (32 - 1), 0, 1)
    t = (0.1 * 0.7 * math.log(8) + 1) / (0.1 * 0.3 * math.log(8) + 1)
    return rotary.logits(q, k, positions, (1 - kept) * f / 8 + kept * f, t**2, "half")

"""The bands of Llama 3.1 by wavelength, with two heads of 32 channels and 512 trained positions."""

import math

import numpy as np
from . import rotary

CASE = {"encoding": "llama3:length=512,base=10000", "heads": 2, "positions": "randomized"}


def logits(case, w, q, k, positions):
    f = rotary.rope(q.shape[-1])
    wave = 2 * math.pi / f
    smooth = (512 / wave - 1) / (4 - 1)
    between = (1 - smooth) * f / 8 + smooth * f
    bands = np.where(wave < 512 / 4, f, np.where(wave > 512 / 1, f / 8, between))
    assert ((wave > 128) & (wave < 512)).sum() > 1
    return rotary.logits(q, k, positions, bands)

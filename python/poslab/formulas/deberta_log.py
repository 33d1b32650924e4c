"""DeBERTa, version 2: distances fall into buckets that widen."""

import numpy as np
from .deberta import logits as disentangled
from .deberta import shapes as of_6

CASE = {"encoding": "deberta:clip=8,log", "positions": "randomized"}
CLIP = 8


def shapes(case):
    return of_6(case) | {"rows": (2 * CLIP, case["d_model"])}


def bucket(d):
    middle, reach = CLIP // 2, 2 * CLIP
    far = np.maximum(abs(d), middle)
    grown = middle + np.ceil(np.log(far / middle) / np.log((reach - 1) / middle) * (middle - 1))
    return np.where(abs(d) <= middle, d, np.sign(d) * grown).astype(int)


def logits(case, w, q, k, positions):
    return disentangled(case, w, q, k, positions, CLIP, bucket)

"""Stick-breaking attention whose remaining weight goes to a learned vector of the head."""

import numpy as np
from .stick_breaking import weights  # noqa: F401

CASE = {"encoding": "stick_breaking:rest=vector", "positions": "sequential", "causal": True}


def shapes(case):
    return {"b": (case["heads"], case["d_model"] // case["heads"])}


def mix(case, w, a, positions):
    return np.einsum("bhi,hd->bihd", 1 - a.sum(-1), w["b"])

"""Sine and cosine of the position, added to the embedding (Vaswani et al. 2017)."""

import numpy as np

from .none import logits  # noqa: F401

CASE = {"encoding": "sincos"}


def sinusoid(p, width):
    """PE(p)_m = sin(p 10000^(-2m/C)), PE(p)_(m + C/2) = cos(same): two halves, as in the code of Ruoss et al."""
    angle = np.asarray(p, float)[..., None] * 10000.0 ** (-2.0 * np.arange(width // 2) / width)
    return np.concatenate([np.sin(angle), np.cos(angle)], -1)


def embed(case, w, x, positions):
    return x + sinusoid(positions["tokens"], x.shape[-1])

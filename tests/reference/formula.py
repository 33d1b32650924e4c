"""Weights, tokens and positions as pure functions of names and indices: tests/support/formula.h in Python.

A weight is a 16-bit integer times a power of two (plus 1/2 or 1 for factors). It is exact in float32, so both sides
start from equal bits without a file of weights. Leaves out: realistic initialization (spec B.3), which these weights
only match in size.
"""

import numpy as np


def fnv1a(text):
    """32-bit FNV-1a of a name."""
    h = 0x811C9DC5
    for byte in text.encode():
        h = (h ^ byte) * 0x01000193 & 0xFFFFFFFF
    return h


def mix(name, index):
    """32 well-mixed bits for each index of a named sequence (the finalizer of MurmurHash3)."""
    h = np.asarray(index, dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(fnv1a(name))
    h = (h ^ h >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    h = (h ^ h >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return h ^ h >> np.uint32(16)


# Half-widths of the uniform distributions, by the last part of the name. They are close to spec B.3. They are larger
# for the embedding, biases, u and v, so that errors in these show, and smaller for values, so that five layers of
# attention do not make all tokens alike.
WIDTH = {
    "embedding": 2**-3,
    "table": 1.0,
    "value": 2**-3,
    "output": 2**-3,
    "w2": 2**-3,
    "b1": 2**-3,
    "b2": 2**-3,
    "b": 2**-3,
    "bias": 2**-3,
    "gain": 2**-3,
}


def weight(name, count):
    """The values of a parameter, in storage order, in float64; float32 represents them exactly."""
    last = name.split(".")[-1]
    centre = {"gain": 1.0, "alpha": 0.5, "beta": 1.0}.get(last, 0.0)
    unit = ((mix(name, np.arange(count)) >> np.uint32(16)).astype(np.int64) - 32768) / 32768.0  # [-1, 1)
    return centre + WIDTH.get(last, 2**-2) * unit


def integers(name, count, below):
    return (mix(name, np.arange(count)) % np.uint32(below)).astype(np.int64)


def signs(name, count):
    return 1.0 - 2.0 * (mix(name, np.arange(count)) >> np.uint32(31)).astype(np.float64)


def increasing(name, count, stride=4):
    """Strictly increasing positions in 0 .. stride * count - 1, one position in each interval of `stride`."""
    return stride * np.arange(count) + integers(name, count, stride)

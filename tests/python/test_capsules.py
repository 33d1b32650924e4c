"""DLPack capsules as any library could make them: random shapes, strides, dtypes, devices and offsets.

A reader cannot check what a capsule says about its memory, so all memory here is one buffer. A capsule is accepted, and
then shows the buffer's numbers, or refused; either way its memory is returned exactly once.
"""

import ctypes
import gc
import math
import random

import numpy as np
import pytest

import poslab as pl

FLOAT32, BUFFER = (2, 32, 1), 4096
FREED = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned of dlpack.h 1.0: version, deleter, flags (1: read-only), and the tensor."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
                ("deleter", FREED), ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p),
                ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


api = ctypes.pythonapi
api.PyCapsule_New.restype, api.PyCapsule_New.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, FREED]
api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Producer:
    """Another library's tensor: `shape`, `strides` in numbers (None: not given), `dtype` as (code, bits, lanes)."""

    name = b"dltensor_versioned"

    def __init__(self, shape, strides=None, dtype=FLOAT32, device=1, offset=0, flags=0, major=1):
        self.memory = np.arange(BUFFER, dtype="float32")
        self.given_back, self.capsule, self.device = 0, None, device
        self.lists = [(ctypes.c_int64 * max(1, len(n)))(*n) for n in (shape, strides or [])]
        self.about = Versioned(major, 0, None, FREED(self.free), flags, self.memory.ctypes.data, device, 0, len(shape),
                               *dtype, self.lists[0], self.lists[1] if strides is not None else None, offset)

    def free(self, _):
        self.given_back += 1

    def __dlpack__(self, **how):
        self.capsule = api.PyCapsule_New(ctypes.addressof(self.about), self.name, FREED())
        return self.capsule

    def is_whole(self):
        """Whether the memory was returned once, or was never taken: a reader that takes it renames the capsule."""
        left = self.capsule is None or bool(api.PyCapsule_IsValid(self.capsule, self.name))
        return self.given_back == (0 if left else 1)

    def __dlpack_device__(self):
        return self.device, 0


def contiguous(shape):
    return [math.prod(shape[n + 1:]) for n in range(len(shape))]


def read(one):
    """The capsule's numbers, or None if it was refused; its memory must stay valid while they are read."""
    try:
        tensor = pl.from_dlpack(one)
    except (ValueError, TypeError, BufferError, RuntimeError) as e:
        assert str(e)
        return None
    assert one.given_back == 0
    return np.array(tensor.numpy())


def test_a_plain_capsule_is_taken_and_given_back_once():
    one = Producer([2, 3], offset=8)
    assert (read(one) == np.arange(2, 8).reshape(2, 3)).all()
    gc.collect()
    assert one.given_back == 1


@pytest.mark.parametrize("wrong", [
    dict(dtype=(2, 64, 1)), dict(dtype=(2, 16, 1)), dict(dtype=(0, 32, 1)), dict(dtype=(2, 32, 4)),
    dict(dtype=(2, 7, 1)), dict(dtype=(4, 16, 1)), dict(dtype=(99, 32, 1)), dict(device=2), dict(device=77),
    dict(strides=[1, 2]), dict(strides=[6, 2]), dict(strides=[0, 0]), dict(strides=[-3, 1], offset=12),
    dict(shape=[0, 3]), dict(shape=[1] * 65), dict(shape=[2, 2**31 + 1], strides=[0, 0]), dict(offset=2),
    dict(flags=1), dict(major=9)])
def test_what_cannot_be_shared_is_refused(wrong):
    one = Producer(**{"shape": [2, 3], **wrong})
    assert read(one) is None
    gc.collect()
    assert one.is_whole()


def test_random_capsules():
    random.seed(1)
    taken = 0
    for _ in range(3000):
        shape = [random.choice([1, 1, 2, 3, 5]) for _ in range(random.randrange(7))]
        strides = random.choice([None, contiguous(shape), [random.choice([0, 1, 2, 3, 6]) for _ in shape]])
        offset = random.choice([0, 0, 4, 8, 64])
        dtype = random.choice([FLOAT32] * 4 + [(random.randrange(8), random.choice([8, 16, 32, 64]), 1)])
        one = Producer(shape, strides, dtype, offset=offset)
        want = np.lib.stride_tricks.as_strided(one.memory[offset // 4:], shape,
                                               [4 * n for n in (contiguous(shape) if strides is None else strides)])
        values = read(one)
        may = dtype == FLOAT32 and want.flags.c_contiguous
        assert (values is not None) <= may, (shape, strides, dtype)
        if values is not None:
            taken += 1
            assert values.shape == (want.shape or values.shape) and (values.ravel() == want.ravel()).all()
        del values
        assert one.is_whole()
    assert taken > 500

"""A code of random signs for each number, added to the embedding: bits of Philox4x32-10 with the number as its key."""

import struct

import numpy as np

CASE = {"encoding": "ids", "positions": "per_sequence"}


def philox(key, counter):
    """Ten rounds of Salmon et al. 2011 on the counter (low, high, 0, 0)."""
    c = [counter & 0xFFFFFFFF, counter >> 32, 0, 0]
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return sum(word << 32 * i for i, word in enumerate(c))


def code(number, width):
    """Sign m is bit m of the stream, 128 bits for each counter."""
    key = struct.unpack("<Q", struct.pack("<d", number if number else -0.0))[0]  # 0 has the bits of -0
    return np.array([2.0 * (philox(key, m // 128) >> m % 128 & 1) - 1 for m in range(width)])


def embed(case, w, x, positions):
    p = np.asarray(positions["tokens"], float)
    return x + np.array([[code(number, x.shape[-1]) for number in row] for row in p])


def logits(case, w, q, k, positions):
    """s_ij = q_i . k_j / sqrt(D)"""
    return np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3])

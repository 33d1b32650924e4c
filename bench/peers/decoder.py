"""The common part of torch_decoder.py and jax_decoder.py: the sizes of poslab's causal decoder, and its data.

A pre-norm decoder of LLaMA's shape with RoPE or ReRoPE and 256 tokens: 6 layers of width 256, 8 heads, a gated
feed-forward network of width 688; DECODER_SIZES may set other sizes, in this order. Windows are random tokens: the time
of a step does not depend on them. A size "0+256" is a window of 256 slots, all of them outputs.
"""

import os
import sys

import numpy as np
import peer

import formula

LAYERS, WIDTH, HEADS, WIDE = map(int, os.environ.get("DECODER_SIZES", "6,256,8,688").split(","))
TOKENS = 256
HEAD = WIDTH // HEADS
EPSILON = 1e-5


class Data:
    """Draws the data for the commands of bench/peers/peer.py."""

    def __init__(self, options):
        self.o, self.random = options, np.random.default_rng(1)

    def windows(self, read, expected, slots):
        shape = (self.o.batch, slots)
        positions = np.arange(slots, dtype=np.float32)
        return peer.Batch(read.reshape(shape).astype(np.int32), positions, expected.reshape(shape).astype(np.int32))

    def batch(self, _, slots):
        drawn = lambda: self.random.integers(0, TOKENS, self.o.batch * slots, np.int32)
        return self.windows(drawn(), drawn(), slots)

    def check(self, _, slots):
        same = lambda name: formula.integers(name, self.o.batch * slots, TOKENS)
        return self.windows(same("check.tokens"), same("check.targets"), slots)


def angles(positions):
    """RoPE's angles, one for each pair of channels. (T) -> (T, D/2)"""
    return positions[:, None] * 10000.0 ** (-np.arange(HEAD // 2) / (HEAD // 2))


def parse(about):
    """The options of peer.parse, and `window`: for rerope:window=512 the one distance that all farther pairs get; None
    for rope."""
    spelled = next((b for a, b in zip(sys.argv, sys.argv[1:]) if a == "--encoding"), "rope")
    options = peer.parse(about, ["rope", spelled])
    options.window = int(spelled.partition("window=")[2]) if spelled.startswith("rerope") else None
    return options

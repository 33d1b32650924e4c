"""A case: poslab's spelling of a scheme, and a function that runs a library's own code on drawn numbers."""

import dataclasses

import formula
import numpy as np
import torch

torch.set_default_dtype(torch.float64)
CASES = {}
FLOAT32 = "the library computes its angles in float32"


@dataclasses.dataclass
class Case:
    name: str
    encoding: str  # as poslab spells it
    library: str  # on PyPI
    code: str  # the library's class or function that is called
    function: object
    causal: bool = False
    expects: str = "logits"  # | "logits but for a row's" (up to a number a query) | "weights" | "output" | "embedding"
    tolerance: float = 0  # of a difference, relative to the largest number; C++ allows 1e-9 (double) and 1e-5 (float)
    why: str = ""  # the reason for a larger tolerance
    heads: int = 4
    head_dim: int = 4
    max_position: int = 64
    layer: int = 0
    positions: list = None  # default: 0 .. 9
    width: float = 2.0  # queries, keys, values and states are in [-width, width)


def case(name, encoding, library, code, **more):
    def add(function):
        assert name not in CASES, name
        CASES[name] = Case(name, encoding, library, code, function, **more)
        return function

    return add


def uniform(name, shape, centre, width):
    unit = ((formula.mix(name, np.arange(int(np.prod(shape)))) >> np.uint32(16)).astype(np.int64) - 32768) / 32768
    return torch.tensor(centre + width * unit).reshape(shape)


class Drawn:
    """q, k, v: (1, T, H, D); x: (1, T, C); p: (T), the positions."""

    def __init__(self, case):
        self.p = torch.tensor([float(x) for x in case.positions or range(10)])
        self.T, self.H, self.D, self.C = len(self.p), case.heads, case.head_dim, case.heads * case.head_dim
        self.name, self.width, self.parameters = case.name, case.width, {}
        self.q, self.k, self.v = (self._drawn(what, self.H, self.D) for what in "qkv")
        self.x = self._drawn("x", self.C)
        # the layout of most libraries: (1, H, T, D)
        self.qh, self.kh, self.vh = (t.transpose(1, 2) for t in (self.q, self.k, self.v))

    def _drawn(self, what, *rest):
        return uniform(f"{self.name}.{what}", (1, self.T, *rest), 0, self.width)

    def param(self, name, *shape, centre=0.0, width=0.5):
        """poslab's parameter encoding.NAME, set to the same numbers in poslab and in the library."""
        self.parameters[name] = {"shape": shape, "centre": centre, "width": width}
        return uniform(name, shape, centre, width)


def products(q, k):
    """q_i . k_j / sqrt(D), of q and k (1, H, T, D)."""
    return q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5

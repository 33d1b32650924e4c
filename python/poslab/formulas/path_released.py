"""PaTH with the gate of the released code, which divides it by sqrt(D), like the products."""

import functools

from . import path
from .path import shapes  # noqa: F401

CASE = path.CASE | {"encoding": "path:rank=5,gate=released"}
logits = functools.partial(path.logits, scaled_gate=True)

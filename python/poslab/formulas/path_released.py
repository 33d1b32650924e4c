"""PaTH with the gate as the released code has it: divided by sqrt(D), as the products are."""

import functools

from . import path
from .path import shapes  # noqa: F401

CASE = path.CASE | {"encoding": "path:rank=5,gate=released"}
logits = functools.partial(path.logits, scaled_gate=True)

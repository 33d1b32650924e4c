"""PaTH with the gate of the released code, which is divided by sqrt(D), as the products are."""

import functools

from . import path
from .path import shapes  # noqa: F401

CASE = path.CASE | {"encoding": "path:rank=5,gate=released"}
logits = functools.partial(path.logits, scaled_gate=True)

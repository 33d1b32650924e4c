"""Shaw without vectors for values, the form that fused attention runs."""

from .shaw import logits  # noqa: F401
from .shaw import shapes as both

CASE = {"encoding": "shaw:clip=5,values=off", "positions": "sequential", "causal": True}


def shapes(case):
    return {"keys": both(case)["keys"]}

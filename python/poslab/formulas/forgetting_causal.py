"""Forgetting gates with a causal mask, as published."""

from .forgetting import logits, shapes  # noqa: F401

CASE = {"encoding": "forgetting", "positions": "sequential", "causal": True}

"""Shaw with positions drawn for each sequence."""

from .shaw import logits, mix, shapes  # noqa: F401

CASE = {"encoding": "shaw:clip=5", "positions": "per_sequence"}

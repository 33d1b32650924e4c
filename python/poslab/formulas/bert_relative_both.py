"""BERT's relative_key_query: the key is compared with the distance too. Positions are drawn for each sequence."""

import numpy as np
from .bert_relative import shapes, vectors  # noqa: F401

CASE = {"encoding": "bert_relative:meets=both", "positions": "per_sequence"}


def logits(case, w, q, k, positions):
    a = vectors(case, w, positions)
    of_both = np.einsum("bihd,bijd->bhij", q, a) + np.einsum("bjhd,bijd->bhij", k, a)
    return (np.einsum("bihd,bjhd->bhij", q, k) + of_both) / np.sqrt(q.shape[-1])

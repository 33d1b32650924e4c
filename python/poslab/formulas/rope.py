"""RoPE (Su et al. 2021): pairs of channels turn by their position, so that only the difference of two shows."""

from . import turning

CASE = {"encoding": "rope"}


def logits(case, w, q, k, positions):
    """s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D), pair m of channels turned by p 10000^(-2m/D)      (B, H, T, T)"""
    return turning.logits(q, k, positions, turning.rope(q.shape[-1]))

"""RoPE (Su et al. 2021): pairs of channels rotate by the position, so that only differences of positions count."""

from . import rotary

CASE = {"encoding": "rope"}


def logits(case, w, q, k, positions):
    """s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D), pair m of channels rotated by p 10000^(-2m/D)      (B, H, T, T)"""
    return rotary.logits(q, k, positions, rotary.rope(q.shape[-1]))

"""Logits of queries and keys rotated by an effective distance, pair by pair, for the schemes of windows."""

import numpy as np

seen = {}


def turns(rho, size, base):
    """cos and sin of rho_ij theta_m, (1 or B, 1, D/2, T, T): the same in all passes."""
    key = (rho.tobytes(), rho.shape, size, base)
    if key not in seen:
        theta = base ** (-2.0 * np.arange(size // 2) / size)
        angle = np.nan_to_num(rho)[:, None, None] * theta[:, None, None]
        seen[key] = np.cos(angle), np.sin(angle)
    return seen[key]


def logits(rho, q, k, base=10000.0, half=False):
    """s_ij = q_i . R(-rho_ij) k_j / sqrt(D), (B, H, T, T); NaN in rho, (1 or B, T, T), is a masked pair."""
    rho, size = np.array(rho, float), q.shape[-1]
    first, second = (slice(0, size // 2), slice(size // 2, None)) if half else (slice(0, None, 2), slice(1, None, 2))
    q0, q1, k0, k1 = (x.transpose(0, 2, 3, 1) for x in (q[..., first], q[..., second], k[..., first], k[..., second]))
    pair = lambda a, b: a[..., :, None] * b[..., None, :]  # (B, H, D/2, T, T)
    cosine, sine = turns(rho, size, base)
    total = (cosine * (pair(q0, k0) + pair(q1, k1)) + sine * (pair(q0, k1) - pair(q1, k0))).sum(2)
    return np.where(np.isnan(rho)[:, None], -np.inf, total / np.sqrt(size))


def before(positions):
    """r_ij = p_i - p_j, (1 or B, T, T)."""
    p = np.array(positions["tokens"], float)
    return p[:, :, None] - p[:, None, :]


def slots(positions):
    """i - j, (1, T, T)."""
    i = np.arange(np.array(positions["tokens"]).shape[1])
    return (i[:, None] - i[None, :])[None]

"""LeRoPE: pair m of head h rotates by p a_hm 10000^(-2m/D), here with different factors a for each head."""

from . import rotary

CASE = {"encoding": "lerope:per_head", "positions": "per_sequence", "layers": 2}


def shapes(case):
    return {"a": (case["heads"], case["d_model"] // case["heads"] // 2)}


def logits(case, w, q, k, positions):
    p = positions["tokens"].astype(float)
    d = (p[:, :, None] - p[:, None, :])[:, None]
    frequencies = w["a"] * rotary.rope(q.shape[-1])  # (H, D/2)
    return rotary.by_pairs(q, k, lambda m: d * frequencies[:, m, None, None])

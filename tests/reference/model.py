"""The encoder of spec B.3 with the encodings of spec A.1 and A.2, written again in PyTorch, as plain formulas.

Independent of the C++ sources: they only share parameter names and layouts. Every logit matrix is written out pair by
pair; nothing is fused or shifted. Leaves out: dropout, speed (bench/peers/torch_encoder.py has both).
"""

import math

import torch

import golden
from golden import HEADS, POOL, WIDTH


def parameter_shapes(encoding):
    heads, size = HEADS, WIDTH // HEADS
    table = {"table": (POOL, WIDTH)} if encoding == "learned" else {}
    of_layer = {}
    if encoding == "relative":
        of_layer = {"u": (heads, size), "v": (heads, size), "w": (WIDTH, WIDTH)}
    if encoding == "geometric":
        of_layer = {"c": (heads, size), "alpha": (1,), "beta": (1,), "gamma": (1,)}
        of_layer |= {"w": (WIDTH, 2 * heads), "b": (2 * heads,)}
    return golden.parameter_shapes(table, of_layer)


def sinusoid(position, width):
    """PE(p)_m = sin(p 10000^(-2m/width)), PE(p)_(m + width/2) = cos(same): two halves (spec A.1).  (..., width)"""
    frequency = 10000.0 ** (-2.0 * torch.arange(width // 2, dtype=position.dtype) / width)
    angle = position[..., None] * frequency
    return torch.cat([angle.sin(), angle.cos()], -1)


def alibi_slopes(heads):
    """2^(-8h/H) for H a power of two; else those of the power below, then every second of the power above (A.1 (6))."""
    power = 2 ** int(math.log2(heads))
    slopes = [2.0 ** (-8.0 * h / power) for h in range(1, power + 1)]
    return slopes + [2.0 ** (-4.0 * h / power) for h in range(1, 2 * power + 1, 2)][: heads - power]


def distance(positions):
    """The position of key j minus that of query i.    tokens (S, T) or offsets (S, 2T - 1) -> (S, T, T)"""
    if "tokens" in positions:
        p = positions["tokens"]
        return p[:, None, :] - p[:, :, None]
    offset = positions["offsets"]
    time = (offset.shape[1] + 1) // 2
    slot = torch.arange(time)
    return offset[:, slot[None, :] - slot[:, None] + time - 1]


def rotate(x, position, pairing):
    """RoPE: the m-th pair of channels of token t, turned by position_t 10000^(-2m/D).    x: (B, T, H, D)"""
    half = x.shape[-1] // 2
    angle = position[:, :, None, None] * 10000.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    if pairing == "interleaved":
        a, b = x[..., 0::2], x[..., 1::2]
    else:
        a, b = x[..., :half], x[..., half:]
    turned = [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]
    return torch.stack(turned, -1).flatten(-2) if pairing == "interleaved" else torch.cat(turned, -1)


def logits_of_attention(case, w, layer, q, k, positions):
    """(B, H, T, T), before mask and softmax; q, k: (B, T, H, D)."""
    encoding, scale = case["encoding"], 1.0 / math.sqrt(q.shape[-1])
    if encoding == "rope":
        q, k = (rotate(x, positions["tokens"], case["pairing"]) for x in (q, k))
    if encoding == "relative":
        # ((q_i + u) . k_j + (q_i + v) . W PE(distance)) / sqrt(D)
        delta = distance(positions)
        if case["mode"] == "released":
            # Finding 1: a table of PE(0 .. N-1), read at distance + N; indices beyond it are clamped to N - 1.
            pool = case["max_position"]
            delta = torch.clamp(delta + pool, max=pool - 1)
        r = sinusoid(delta, q.shape[2] * q.shape[3]) @ w[f"encoding.layer{layer}.w"]  # (S, T, T, C)
        r = r.unflatten(-1, q.shape[2:])
        content = torch.einsum("bihd,bjhd->bhij", q + w[f"encoding.layer{layer}.u"], k)
        return (
            content
            + torch.einsum(
                "bihd,sijhd->bhij" if len(r) == 1 else "bihd,bijhd->bhij", q + w[f"encoding.layer{layer}.v"], r
            )
        ) * scale
    logits = torch.einsum("bihd,bjhd->bhij", q, k) * scale
    if encoding == "alibi":
        # m_h (-|distance| + 0.5 [key on the past side]); the causal form has no 0.5
        delta = distance(positions)[:, None]
        slope = torch.tensor(alibi_slopes(q.shape[2]), dtype=q.dtype)[:, None, None]
        past = 0.0 if case["symmetric"] or case["causal"] else 0.5 * (delta < 0)
        logits = logits + slope * (past - delta.abs())
    return logits


def geometric_weights(case, w, layer, q, k, x):
    """P_ij times the product of 1 - P_ik over all keys k nearer than j, divided by the row's sum (A.1 (14)).
    x: (B, T, C) -> (B, H, T, T)"""
    of = {name: w[f"encoding.layer{layer}.{name}"] for name in ("c", "alpha", "beta", "gamma", "w", "b")}
    time = q.shape[1]
    slot = torch.arange(time)
    i, j, k_ = slot[:, None, None], slot[None, :, None], slot[None, None, :]
    direction = (x @ of["w"] + of["b"]).unflatten(-1, (q.shape[2], 2)).transpose(1, 2)  # (B, H, T, 2): right, left
    right = slot[None, :] > slot[:, None]
    z = of["alpha"] * torch.einsum("bihd,bjhd->bhij", q + of["c"], k) + of["gamma"]
    z = z + of["beta"] * torch.where(right, direction[..., :1], direction[..., 1:])
    seen = slot[None, :] < slot[:, None] if case["causal"] else slot[None, :] != slot[:, None]
    p = torch.sigmoid(z) * seen
    nearer = ((i - k_).abs() < (i - j).abs()) | ((j < i) & (k_ - i == i - j))  # (T, T, T)
    a = p * torch.where(nearer, 1 - p[:, :, :, None, :], torch.ones((), dtype=p.dtype)).prod(-1)
    total = a.sum(-1, keepdim=True)
    return a / torch.where(total > 0, total, torch.ones_like(total))  # a query without another key has no weights


def layer_norm(x, gain, bias):
    centred = x - x.mean(-1, keepdim=True)
    return gain * centred / torch.sqrt((centred * centred).mean(-1, keepdim=True) + 1e-5) + bias


def forward(case, w, tokens, outputs, positions, kinks):
    """The logits of the last `outputs` slots (B, outputs, symbols_out). positions: one for each layer.
    kinks: collects each layer's smallest distance of a ReLU's input from 0."""
    heads, width = case["heads"], case["d_model"]
    x = math.sqrt(width) * w["embedding"][tokens]  # (B, T, C)
    if case["encoding"] == "sincos":
        x = x + sinusoid(positions[0]["tokens"], width)
    if case["encoding"] == "learned":
        x = x + w["encoding.table"][positions[0]["tokens"].long()]
    for n in range(case["layers"]):
        p = f"block{n}."
        q, k, v = (
            (x @ w[p + "attention." + part]).unflatten(-1, (heads, width // heads))
            for part in ("query", "key", "value")
        )
        if case["encoding"] == "geometric":
            a = geometric_weights(case, w, n, q, k, x)
        else:
            s = logits_of_attention(case, w, n, q, k, positions[n])
            if case["causal"]:
                s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
            a = torch.softmax(s, -1)
        o = torch.einsum("bhij,bjhd->bihd", a, v).flatten(-2) @ w[p + "attention.output"]
        x = layer_norm(x + o, w[p + "norm1.gain"], w[p + "norm1.bias"])
        h = x @ w[p + "ffn.w1"] + w[p + "ffn.b1"]
        kinks.append(h.detach().abs().min().item())
        h = torch.clamp(h, min=0) @ w[p + "ffn.w2"] + w[p + "ffn.b2"]
        x = layer_norm(x + h, w[p + "norm2.gain"], w[p + "norm2.bias"])
    return x[:, -outputs:] @ w["head.w"] + w["head.b"]


def cross_entropy(logits, targets):
    """The mean over the batch and all output slots, with natural logarithms; nothing is masked (spec B.1)."""
    return (logits.logsumexp(-1) - logits.gather(-1, targets[..., None])[..., 0]).mean()

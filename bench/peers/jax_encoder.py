"""poslab's encoder in JAX, written for speed: a peer of bench/compare.py.

Activations are (B T, C): as (B, T, C) the gradient of the feed-forward layer takes 1.5 to 2 times as long. Attention
divides by the sum of its weights after the product with v: before it, a block's gradient takes 1.6 to 1.8 times as
long. With --precision bf16 attention's own products, of 8 channels, stay in fp32: rounding them makes a step without
positions 1.15 times as long. XLA has as many threads as the process may use cores, so the cores are set before JAX is
imported.
"""

import math
import os

import peer

options = peer.parse(__doc__)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
if options.device == "cpu":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import jax_base
import numpy as np

matmul = jax_base.products(options.precision)
LAYERS, HEADS, WIDTH, WIDENING = 5, 8, 64, 4
HEAD = WIDTH // HEADS


def sinusoid(position):
    """Two halves, sines and cosines (spec A.1).                               (...) -> (..., C)"""
    angle = position[..., None] * 10000.0 ** (-2.0 * np.arange(WIDTH // 2) / WIDTH).astype(np.float32)
    return jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1)


def rotate(x, position):
    """RoPE, interleaved pairs.                                                x: (B, T, H, D)"""
    angle = position[:, None, None] * 10000.0 ** (-np.arange(HEAD // 2) / (HEAD // 2)).astype(np.float32)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    pairs = x.reshape(*x.shape[:-1], HEAD // 2, 2)
    a, b = pairs[..., 0], pairs[..., 1]
    return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


def table_to_pairs(s):
    """Transformer-XL's shift: column j - i + T - 1 of row i -> column j.       (..., T, 2T-1) -> (..., T, T)"""
    time = s.shape[-2]
    s = s.reshape(*s.shape[:-2], -1)[..., time - 1 : time - 1 + time * (2 * time - 2)]
    return s.reshape(*s.shape[:-1], time, 2 * time - 2)[..., :time]


def norm(x, gain, bias):
    mean = x.mean(-1, keepdims=True)
    centred = x - mean
    return gain * centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) + bias


def dropout(x, key):
    """Dropout by 16 random bits for each number, as in poslab; none without a key."""
    if key is None or options.dropout == 0:
        return x
    keep = jax.random.bits(key, x.shape, jnp.uint16) >= round(options.dropout * 65536)
    return jnp.where(keep, x / (1 - options.dropout), 0)


def attention(p, x, batch, signal):
    """Attention, with heads as batched products; weights are divided by their sum after the product with v.
    x: (B T, C)"""

    def heads(part):
        return matmul(x, p["qkv"][:, part * WIDTH : (part + 1) * WIDTH]).reshape(batch, -1, HEADS, HEAD)

    q, k, v = heads(0) * HEAD**-0.5, heads(1), heads(2)
    bias = 0
    if options.encoding == "rope":
        q, k = rotate(q, signal), rotate(k, signal)
    elif options.encoding == "alibi":
        bias = signal
    elif options.encoding == "relative":
        bias = relative(p, q + p["v"] * HEAD**-0.5, signal)
        q = q + p["u"] * HEAD**-0.5
    q, k, v = (y.transpose(0, 2, 1, 3) for y in (q, k, v))
    s = q @ k.swapaxes(-1, -2) + bias
    e = jnp.exp(s - jax.lax.stop_gradient(s.max(-1, keepdims=True)))
    o = (e @ v) / e.sum(-1, keepdims=True)
    return matmul(o.transpose(0, 2, 1, 3).reshape(x.shape), p["output"])


def relative(p, q, signal):
    """(q_i + v) . W PE, one logit for each pair.                              q: (B, T, H, D) -> (B, H, T, T)"""
    r = matmul(signal.reshape(-1, WIDTH), p["w"]).reshape(*signal.shape[:-1], HEADS, HEAD)
    if options.differences:  # r is (T, T, H, D)
        return jnp.einsum("bihd,ijhd->bhij", q, r)
    batch, slots = q.shape[:2]
    # One product per head for all sequences: with einsum("bihd,nhd->bhin") the whole step takes 10 % longer.
    s = q.transpose(2, 0, 1, 3).reshape(HEADS, -1, HEAD) @ r.transpose(1, 2, 0)  # (H, B T, 2T-1)
    return table_to_pairs(s.reshape(HEADS, batch, slots, -1).swapaxes(0, 1))


def logits_of(p, batch, key):
    """(B, T) tokens -> (B, outputs, symbols)"""
    tokens, positions, outputs = batch.tokens, batch.positions, batch.targets.shape[1]
    keys = iter([None] * 11 if key is None else jax.random.split(key, 11))
    x = (p["embedding"] * math.sqrt(WIDTH))[tokens]
    signal = None
    if options.encoding == "sincos":
        x = dropout(x + sinusoid(positions), next(keys))
    elif options.encoding == "learned":
        x = dropout(x + p["table"][positions.astype(jnp.int32)], next(keys))
    elif options.encoding == "rope":
        signal = positions
    elif options.encoding == "relative":
        signal = sinusoid(positions[None, :] - positions[:, None] if options.differences else positions)
    elif options.encoding == "alibi":
        time = tokens.shape[1]
        slope = 2.0 ** -np.arange(1, HEADS + 1, dtype=np.float32)[:, None, None]
        slot = np.arange(time)
        bias = 0.5 * (positions < 0) - abs(positions)
        signal = slope * bias[slot[None, :] - slot[:, None] + time - 1]
    x = x.reshape(-1, WIDTH)
    for b in p["blocks"]:
        x = norm(x + dropout(attention(b, x, len(tokens), signal), next(keys)), b["norm1.gain"], b["norm1.bias"])
        wide = jax.nn.relu(matmul(x, b["w1"]) + b["b1"])
        x = norm(x + dropout(matmul(wide, b["w2"]) + b["b2"], next(keys)), b["norm2.gain"], b["norm2.bias"])
    last = x.reshape(*tokens.shape, WIDTH)[:, -outputs:].reshape(-1, WIDTH)
    return matmul(last, p["head.w"]).reshape(len(tokens), outputs, -1) + p["head.b"]


def parameters():
    of = peer.weight
    blocks = []
    for n in range(LAYERS):
        b = f"block{n}."
        block = {"qkv": np.concatenate([of(f"{b}attention.{x}", WIDTH, WIDTH) for x in ("query", "key", "value")], 1)}
        block["output"] = of(b + "attention.output", WIDTH, WIDTH)
        for x in ("norm1.gain", "norm1.bias", "norm2.gain", "norm2.bias"):
            block[x] = of(b + x, WIDTH)
        block["w1"], block["b1"] = of(b + "ffn.w1", WIDTH, WIDENING * WIDTH), of(b + "ffn.b1", WIDENING * WIDTH)
        block["w2"], block["b2"] = of(b + "ffn.w2", WIDENING * WIDTH, WIDTH), of(b + "ffn.b2", WIDTH)
        if options.encoding == "relative":
            e = f"encoding.layer{n}."
            block |= {"w": of(e + "w", WIDTH, WIDTH), "u": of(e + "u", HEADS, HEAD), "v": of(e + "v", HEADS, HEAD)}
        blocks.append(block)
    p = {"embedding": of("embedding", options.symbols_in, WIDTH), "blocks": blocks}
    if options.encoding == "learned":
        p["table"] = of("encoding.table", options.max_position, WIDTH)
    p["head.w"], p["head.b"] = of("head.w", WIDTH, options.symbols_out), of("head.b", options.symbols_out)
    return jax.tree.map(jnp.asarray, p)


def named(p):
    """(name in poslab, array)"""
    yield "embedding", p["embedding"]
    if "table" in p:
        yield "encoding.table", p["table"]
    for n, block in enumerate(p["blocks"]):
        for key, x in block.items():
            if key == "qkv":
                for i, part in enumerate(("query", "key", "value")):
                    yield f"block{n}.attention.{part}", x[:, i * WIDTH : (i + 1) * WIDTH]
            elif key in ("w", "u", "v"):
                yield f"encoding.layer{n}.{key}", x
            else:
                place = "attention." if key == "output" else "" if key.startswith("norm") else "ffn."
                yield f"block{n}.{place}{key}", x
    yield "head.w", p["head.w"]
    yield "head.b", p["head.b"]


if __name__ == "__main__":
    peer.serve(jax_base.Peer(options, parameters, named, logits_of))

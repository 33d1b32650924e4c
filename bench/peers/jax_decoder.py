"""poslab's causal decoder in JAX, written for speed: a peer of bench/compare.py --decoder.

Activations are (B T, C), and attention divides by the sum of its weights only after the product with v; jax_encoder.py
has the measurements of both.
"""

import os

import decoder
import peer
from decoder import EPSILON, HEAD, HEADS, LAYERS, TOKENS, WIDE, WIDTH

options = decoder.parse(__doc__)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
os.environ.setdefault("JAX_PLATFORMS", options.device)

import jax
import jax.numpy as jnp
import jax_base
import numpy as np

matmul = jax_base.products(options.precision)


def norm(x, gain):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + EPSILON) * gain


def rotate(x, cos, sin):
    """Interleaved pairs.                                                      x: (B, T, H, D), cos, sin: (T, 1, D/2)"""
    a, b = x[..., 0::2], x[..., 1::2]
    return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


def rotation(positions):
    angle = decoder.angles(positions)[:, None]
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


FAR = rotation(np.float32([options.window])) if options.window else None  # rotates queries for far pairs


def attention(p, x, batch, cos, sin):
    """x: (B T, C)"""
    q, k, v = (matmul(x, p[f"attention.{name}"]).reshape(batch, -1, HEADS, HEAD) for name in ("query", "key", "value"))
    q = q * HEAD**-0.5
    heads = lambda *all: (y.transpose(0, 2, 1, 3) for y in all)
    near, far, near_k, k, v = heads(rotate(q, cos, sin), rotate(q, *FAR) if FAR else q, rotate(k, cos, sin), k, v)
    s = matmul(near, near_k.swapaxes(-1, -2))
    if FAR:  # ReRoPE
        s = jnp.where(np.tri(s.shape[-1], k=-options.window, dtype=bool), matmul(far, k.swapaxes(-1, -2)), s)
    s = jnp.where(np.tri(s.shape[-1], dtype=bool), s, -jnp.inf)
    e = jnp.exp(s - jax.lax.stop_gradient(s.max(-1, keepdims=True)))
    o = matmul(e, v) / e.sum(-1, keepdims=True)
    return matmul(o.transpose(0, 2, 1, 3).reshape(x.shape), p["attention.output"])


def logits_of(p, batch, _):
    """(B, T) tokens -> (B, T, V)"""
    tokens = batch.tokens
    angle = decoder.angles(batch.positions)[:, None]
    cos, sin = jnp.cos(angle).astype(jnp.float32), jnp.sin(angle).astype(jnp.float32)
    x = p["embedding"][tokens].reshape(-1, WIDTH)
    for n in range(LAYERS):
        b = {name: p[f"block{n}.{name}"] for name in BLOCK}
        x = x + attention(b, norm(x, b["norm1.gain"]), len(tokens), cos, sin)
        y = norm(x, b["norm2.gain"])
        x = x + matmul(jax.nn.silu(matmul(y, b["ffn.w1"])) * matmul(y, b["ffn.w3"]), b["ffn.w2"])
    return matmul(norm(x, p["norm.gain"]), p["head.w"]).reshape(*tokens.shape, -1)


# The names are poslab's; the weights of a product are (in, out).
BLOCK = {
    "norm1.gain": (WIDTH,),
    **{f"attention.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value", "output")},
    "norm2.gain": (WIDTH,),
    "ffn.w1": (WIDTH, WIDE),
    "ffn.w3": (WIDTH, WIDE),
    "ffn.w2": (WIDE, WIDTH),
}
SHAPES = {
    "embedding": (TOKENS, WIDTH),
    **{f"block{n}.{name}": shape for n in range(LAYERS) for name, shape in BLOCK.items()},
    "norm.gain": (WIDTH,),
    "head.w": (WIDTH, TOKENS),
}


def parameters():
    return {name: jnp.asarray(peer.weight(name, *shape)) for name, shape in SHAPES.items()}


if __name__ == "__main__":
    peer.serve(jax_base.Peer(options, parameters, dict.items, logits_of), decoder.Data(options))

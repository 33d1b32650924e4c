"""poslab's causal decoder in JAX, written for speed: a peer of bench/compare.py --decoder.

One jit holds the whole training step; parameters and moments are donated. Activations are (B T, C), and the weights of
attention are divided by their sum after the product with v, as in jax_peer.py, where both were measured.
"""

import os
import time

import decoder
import peer
from decoder import EPSILON, HEAD, HEADS, LAYERS, WIDTH

options = decoder.parse(__doc__)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
import optimizer


def norm(x, gain):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + EPSILON) * gain


def rotate(x, cos, sin):
    """Interleaved pairs.                                                      x: (B, T, H, D), cos, sin: (T, 1, D/2)"""
    a, b = x[..., 0::2], x[..., 1::2]
    return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


def attention(p, x, batch, cos, sin):
    """x: (B T, C)"""
    q, k, v = ((x @ p[name]).reshape(batch, -1, HEADS, HEAD) for name in ("query", "key", "value"))
    q, k, v = (y.transpose(0, 2, 1, 3) for y in (rotate(q * HEAD**-0.5, cos, sin), rotate(k, cos, sin), v))
    s = q @ k.swapaxes(-1, -2)
    s = jnp.where(np.tri(s.shape[-1], dtype=bool), s, -jnp.inf)
    e = jnp.exp(s - jax.lax.stop_gradient(s.max(-1, keepdims=True)))
    o = (e @ v) / e.sum(-1, keepdims=True)
    return o.transpose(0, 2, 1, 3).reshape(x.shape) @ p["output"]


def logits_of(p, tokens, positions):
    """(B, T) tokens -> (B, T, V)"""
    angle = decoder.angles(positions)[:, None]
    cos, sin = jnp.cos(angle).astype(jnp.float32), jnp.sin(angle).astype(jnp.float32)
    x = p["embedding"][tokens].reshape(-1, WIDTH)
    for b in p["blocks"]:
        x = x + attention(b, norm(x, b["norm1"]), len(tokens), cos, sin)
        y = norm(x, b["norm2"])
        x = x + (jax.nn.silu(y @ b["w1"]) * (y @ b["w3"])) @ b["w2"]
    return (norm(x, p["norm"]) @ p["head"]).reshape(*tokens.shape, -1)


def loss_of(p, batch):
    logits = logits_of(p, batch.tokens, batch.positions)
    picked = jnp.take_along_axis(logits, batch.targets[..., None], -1)[..., 0]
    return (jax.nn.logsumexp(logits, -1) - picked).mean(), logits


@jax.jit(donate_argnums=0)
def train(state, batch):
    p, m, v, count = state
    (loss, _), g = jax.value_and_grad(loss_of, has_aux=True)(p, batch)
    return (*optimizer.adam(p, m, v, g, count + 1), count + 1), loss


@jax.jit
def predict(p, batch):
    logits = logits_of(p, batch.tokens, batch.positions)
    return (logits.argmax(-1) == batch.targets).mean(), logits


def place(name):
    """Where a parameter of this name in poslab is: (number of the block, or none; its key)."""
    block, *rest = name.split(".")
    if block.startswith("block"):
        return int(block[5:]), rest[0] if rest[0].startswith("norm") else rest[-1]
    return None, block


def parameters():
    p = {"blocks": [{} for _ in range(LAYERS)]}
    for name, shape in decoder.shapes():
        block, key = place(name)
        (p if block is None else p["blocks"][block])[key] = jnp.asarray(decoder.weight(name, shape))
    return p


def named(p):
    for name, _ in decoder.shapes():
        block, key = place(name)
        yield name, (p if block is None else p["blocks"][block])[key]


class Peer:
    options = options

    def __init__(self):
        p = parameters()
        zeros = lambda: jax.tree.map(jnp.zeros_like, p)
        self.state = (p, zeros(), zeros(), jnp.float32(0))

    def hello(self):
        cores = len(os.sched_getaffinity(0))
        return {"program": f"jax {jax.__version__}", "threads": cores, "isa": "XLA's", "blas": "Eigen, in XLA"}

    def warm(self, what, sizes, data):
        start = time.perf_counter()
        run = self.step if what == "steps" else self.evaluate
        for size in dict.fromkeys(sizes):
            jax.block_until_ready(run(data.batch(*size)))
        return {"compile_seconds": time.perf_counter() - start}

    def step(self, batch):
        self.state, loss = train(self.state, batch)
        return loss

    def evaluate(self, batch):
        return predict(self.state[0], batch)[0]

    def tensors(self, what, batch):
        p = parameters()
        if what == "eval":
            return [("logits", predict(p, batch)[1])]
        (loss, logits), g = jax.jit(jax.value_and_grad(loss_of, has_aux=True))(p, batch)
        return [("loss", loss), ("logits", logits), *named(g)]


if __name__ == "__main__":
    peer.serve(Peer(), decoder.Data(options))

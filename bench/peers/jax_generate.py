"""A checkpoint in JAX that generates on command: a peer of bench/generate.py.

The cache has room for all tokens from the start, and all steps after the prompt are one compiled loop.
"""

import functools
import time

from decoder import EPSILON, HEAD, HEADS, LAYERS, TOKENS  # before peer, which would find another decoder.py

import jax_checkpoint
import numpy as np
import peer  # finds formula

import formula

options = jax_checkpoint.parse(__doc__)

import jax
import jax.numpy as jnp
import jax_base

matmul = jax_base.products(options.precision)


def norm(x, gain):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + EPSILON) * gain


def rotate(x, cos, sin):
    """LLaMA's pairs: channel m with m + D/2.                                  x: (n, H, D), cos, sin: (n, 1, D/2)"""
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def read(w, cache, tokens, start):
    """The logits after the last of n tokens, whose first has the position `start`, and the new cache. cache: keys and
    values of each layer, (L, 2, H, T, D)"""
    at = start + jnp.arange(len(tokens))
    angle = at[:, None, None] * 10000.0 ** (-np.arange(HEAD // 2) / (HEAD // 2)).astype(np.float32)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    x = w["model.embed_tokens.weight"][tokens]
    for n in range(LAYERS):
        block = lambda name: w[f"model.layers.{n}.{name}.weight"]
        y = norm(x, block("input_layernorm"))
        part = lambda name: matmul(y, block(f"self_attn.{name}_proj")).reshape(-1, HEADS, HEAD)
        q = rotate(part("q"), cos, sin).transpose(1, 0, 2) * HEAD**-0.5
        new = jnp.stack([rotate(part("k"), cos, sin), part("v")]).transpose(0, 2, 1, 3)
        cache = jax.lax.dynamic_update_slice(cache, new[None].astype(cache.dtype), (n, 0, 0, start, 0))
        k, v = cache[n]
        s = jnp.where(jnp.arange(k.shape[1]) <= at[:, None], matmul(q, k.swapaxes(-1, -2)), -jnp.inf)
        o = matmul(jax.nn.softmax(s, -1), v).transpose(1, 0, 2).reshape(len(tokens), -1)
        x = x + matmul(o, block("self_attn.o_proj"))
        y = norm(x, block("post_attention_layernorm"))
        wide = jax.nn.silu(matmul(y, block("mlp.gate_proj"))) * matmul(y, block("mlp.up_proj"))
        x = x + matmul(wide, block("mlp.down_proj"))
    return matmul(norm(x[-1:], w["model.norm.weight"]), w["lm_head.weight"])[0], cache


@functools.partial(jax.jit, static_argnums=2)
def write(w, prompt, count):
    """The most probable tokens after the prompt, (count), and the logits of the first."""
    number = jnp.bfloat16 if options.precision == "bf16" else jnp.float32
    room = jnp.zeros((LAYERS, 2, HEADS, len(prompt) + count, HEAD), number)
    logits, cache = read(w, room, prompt, 0)

    def step(state, at):
        token, cache = state
        logits, cache = read(w, cache, token[None], at)
        return (logits.argmax().astype(jnp.int32), cache), token

    first = (logits.argmax().astype(jnp.int32), cache)
    (last, _), tokens = jax.lax.scan(step, first, len(prompt) + jnp.arange(count - 1))
    return jnp.append(tokens, last), logits


def main():
    w = jax_checkpoint.weights(options)

    def answer(size):
        ((length, count),) = peer.sizes([size])
        prompt = np.array(formula.integers("prompt", length, TOKENS))
        start = time.perf_counter()
        tokens, logits = (np.asarray(x).tolist() for x in write(w, prompt, count))
        return {"ms": [1e3 * (time.perf_counter() - start)], "tokens": tokens, "logits": logits}

    jax_checkpoint.serve(options, "write", answer)


if __name__ == "__main__":
    main()

"""The encoder of a T5 in JAX, written for speed, that encodes on command: a peer of bench/t5.py."""

import time

import jax_checkpoint
import numpy as np
import peer  # finds formula

import formula

options = jax_checkpoint.parse(__doc__)

import jax
import jax.numpy as jnp
import jax_base

LAYERS, HEADS, HEAD, VOCABULARY, BUCKETS = 6, 8, 64, 32128, 32
matmul = jax_base.products(options.precision)


def norm(x, gain):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gain


def buckets(time):
    """The buckets of j - i. Half of them are for later keys. In each half, half of the buckets hold one distance each,
    the rest growing ranges up to 128."""
    offset = np.arange(time)[None, :] - np.arange(time)[:, None]
    half, exact, distance = BUCKETS // 2, BUCKETS // 4, abs(offset)
    wide = exact + np.log(np.maximum(distance, 1) / exact) / np.log(128 / exact) * (half - exact)
    return half * (offset > 0) + np.where(distance < exact, distance, np.minimum(wide.astype(int), half - 1))


@jax.jit
def encode(w, tokens):
    """(T) -> (T, C)"""
    x = w["shared.weight"][tokens]
    table = w["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
    bias = table[buckets(len(tokens))].transpose(2, 0, 1)
    for n in range(LAYERS):
        block = lambda name: w[f"encoder.block.{n}.layer.{name}.weight"]
        y = norm(x, block("0.layer_norm"))
        part = lambda name: matmul(y, block(f"0.SelfAttention.{name}")).reshape(-1, HEADS, HEAD).transpose(1, 0, 2)
        s = matmul(part("q"), part("k").swapaxes(-1, -2)) + bias
        e = jnp.exp(s - s.max(-1, keepdims=True))
        o = matmul(e, part("v")) / e.sum(-1, keepdims=True)
        x = x + matmul(o.transpose(1, 0, 2).reshape(len(tokens), -1), block("0.SelfAttention.o"))
        wide = jax.nn.relu(matmul(norm(x, block("1.layer_norm")), block("1.DenseReluDense.wi")))
        x = x + matmul(wide, block("1.DenseReluDense.wo"))
    return norm(x, w["encoder.final_layer_norm.weight"])


def main():
    w = jax_checkpoint.weights(options)

    def answer(length):
        tokens = np.array(formula.integers("prompt", int(length), VOCABULARY))
        start = time.perf_counter()
        states = np.asarray(encode(w, tokens))
        return {"ms": [1e3 * (time.perf_counter() - start)], "states": states[[0, -1]].flatten().tolist()}

    jax_checkpoint.serve(options, "encode", answer)


if __name__ == "__main__":
    main()

"""The common part of the JAX peers that read a checkpoint of bench/peers/transformers_base.py: their options, the
weights, and their commands. In bf16 all factors of products are bfloat16, and the rest is fp32."""

import argparse
import os
import sys

import peer


def parse(about):
    """The options. Call this before importing JAX: XLA has as many threads as the process may use cores."""
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ.setdefault("JAX_PLATFORMS", options.device)
    return options


def weights(options):
    """{name: array}, matrices as (in, out). Tables and vectors keep their layout, in fp32."""
    import jax.numpy as jnp
    from safetensors.numpy import load_file

    number = jnp.bfloat16 if options.precision == "bf16" else jnp.float32
    is_table = lambda name: "embed" in name or "shared" in name or "bias" in name
    loaded = load_file(f"{options.folder}/fp32/model.safetensors").items()
    return {
        name: jnp.asarray(w) if w.ndim < 2 or is_table(name) else jnp.asarray(w.T.copy(), dtype=number)
        for name, w in loaded
    }


def serve(options, verb, answer):
    import jax_base

    peer.say(jax_base.hello(options))
    for line in sys.stdin:
        command, word = line.split()
        if command != verb:
            sys.exit(f"unknown line: {line}")
        peer.say(answer(word))

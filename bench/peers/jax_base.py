"""The common part of the peers in JAX: the loss, the answers to commands, and a training step as one jit with donated
parameters and moments.

Parameters are a tree of arrays. Before you import this, set the cores of the process and JAX's platform: XLA sizes its
thread pool by the cores.
"""

import os
import time

import jax
import jax.numpy as jnp


def rounded(a, b):
    """a @ b with factors rounded to bf16, summed in fp32. If the result's type is fp32, XLA uses the processor's bf16
    instruction; a plain a @ b of bf16 has a bf16 result and takes 4 times as long."""
    return jnp.matmul(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), preferred_element_type=jnp.float32)


@jax.custom_vjp
def product(a, b):
    """rounded(), with a backward pass that rounds too: JAX's own would multiply an fp32 gradient by a bf16 factor."""
    return rounded(a, b)


product.defvjp(
    lambda a, b: (rounded(a, b), (a.astype(jnp.bfloat16), b.astype(jnp.bfloat16))),
    lambda factors, g: (rounded(g, factors[1].swapaxes(-1, -2)), rounded(factors[0].swapaxes(-1, -2), g)),
)


def products(precision):
    """The function that multiplies matrices, or batches of them."""
    return product if precision == "bf16" else jnp.matmul


def adam(p, m, v, g, count):
    """Adam (spec B.3), with the gradient clipped to norm 1."""
    leaves = jax.tree.leaves(g)
    shrink = jnp.minimum(1.0, 1.0 / jnp.sqrt(sum(jnp.vdot(x, x) for x in leaves)))
    g = jax.tree.map(lambda x: x * shrink, g)
    m = jax.tree.map(lambda m, x: 0.9 * m + 0.1 * x, m, g)
    v = jax.tree.map(lambda v, x: 0.999 * v + 0.001 * x * x, v, g)
    rate = 1e-3 / (1 - 0.9**count)
    p = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8), p, m, v)
    return p, m, v


def hello(options):
    """The description that a peer prints first; the CPU computes the products."""
    return {
        "program": f"jax {jax.__version__}{' bf16' if options.precision == 'bf16' else ''}",
        "threads": len(os.sched_getaffinity(0)),
        "isa": "XLA's",
        "blas": "Eigen, in XLA",
    }


class Peer:
    """A peer made of three functions. parameters() returns a new tree; named(tree) yields pairs of poslab's name and an
    array; logits_of(tree, batch, key) returns logits, without dropout if the key is None."""

    def __init__(self, options, parameters, named, logits_of):
        def loss_of(p, batch, key):
            logits = logits_of(p, batch, key)
            picked = jnp.take_along_axis(logits, batch.targets[..., None], -1)[..., 0]
            return (jax.nn.logsumexp(logits, -1) - picked).mean(), logits

        def train(state, batch):
            p, m, v, count, key = state
            count, key, used = count + 1, *jax.random.split(key)
            (loss, _), g = self.gradient(p, batch, used)
            return (*adam(p, m, v, g, count), count, key), loss

        def predict(p, batch):
            logits = logits_of(p, batch, None)
            return (logits.argmax(-1) == batch.targets).mean(), logits

        self.options, self.parameters, self.named = options, parameters, named
        self.gradient = jax.value_and_grad(loss_of, has_aux=True)
        self.train, self.predict = jax.jit(train, donate_argnums=0), jax.jit(predict)
        p = parameters()
        zeros = lambda: jax.tree.map(jnp.zeros_like, p)
        self.state = (p, zeros(), zeros(), jnp.float32(0), jax.random.key(1))

    def hello(self):
        return hello(self.options) | ({"blas": "cuBLAS, under XLA"} if self.options.device == "cuda" else {})

    def warm(self, what, sizes, data):
        """Compiles for these sizes, and returns the seconds that it took."""
        start = time.perf_counter()
        run = self.step if what == "steps" else self.evaluate
        for size in dict.fromkeys(sizes):
            jax.block_until_ready(run(data.batch(*size)))
        return {"compile_seconds": time.perf_counter() - start}

    def step(self, batch):
        self.state, loss = self.train(self.state, batch)
        return loss

    def evaluate(self, batch):
        return self.predict(self.state[0], batch)[0]

    def tensors(self, what, batch):
        p = self.parameters()
        if what == "eval":
            return [("logits", self.predict(p, batch)[1])]
        (loss, logits), g = jax.jit(self.gradient)(p, batch, None)
        return [("loss", loss), ("logits", logits), *self.named(g)]

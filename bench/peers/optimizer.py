"""Adam (spec B.3) for the JAX peers."""

import jax
import jax.numpy as jnp


def adam(p, m, v, g, count):
    """Adam from the gradient cut to norm 1."""
    leaves = jax.tree.leaves(g)
    shrink = jnp.minimum(1.0, 1.0 / jnp.sqrt(sum(jnp.vdot(x, x) for x in leaves)))
    g = jax.tree.map(lambda x: x * shrink, g)
    m = jax.tree.map(lambda m, x: 0.9 * m + 0.1 * x, m, g)
    v = jax.tree.map(lambda v, x: 0.999 * v + 0.001 * x * x, v, g)
    rate = 1e-3 / (1 - 0.9**count)
    p = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8), p, m, v)
    return p, m, v

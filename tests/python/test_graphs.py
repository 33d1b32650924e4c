"""200 random small graphs: each is computed by the engine in float32 and by NumPy in double, and its gradient is held
against central differences of the latter. Tensors are used several times, and shapes broadcast."""

import numpy as np
from hypothesis import given, seed, settings, strategies as st

import poslab as pl

# name: the op in NumPy; all take and give (4, 4) or broadcast to it, and have bounded slopes on what `tame` gives.
UNARY = {
    "tanh": np.tanh, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "sin": np.sin, "cos": np.cos,
    "softplus": lambda x: np.log1p(np.exp(x)), "silu": lambda x: x / (1 + np.exp(-x)),
    "softmax": lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True), "transpose": lambda x: np.swapaxes(x, -1, -2),
}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "matmul": np.matmul}
AXES = {"sum": np.sum, "mean": np.mean, "scan": np.cumsum}
SHAPES = [(4, 4), (1, 4), (4, 1), (4,)]


@st.composite
def graphs(draw):
    """Shapes of the leaves, and steps (op, which earlier values, an axis)."""
    leaves = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    steps = []
    for n in range(draw(st.integers(1, 8))):
        one = st.integers(0, len(leaves) + n - 1)
        steps.append((draw(st.sampled_from([*UNARY, *BINARY, *AXES])), draw(one), draw(one), draw(st.integers(0, 1))))
    return leaves, steps, draw(st.integers(0, 2**32 - 1))


def run(values, steps, engine):
    """The graph on arrays, or on tensors. What could grow is squeezed by a tanh, and becomes (4, 4) first."""
    tanh, ones = (pl.tanh, np.ones((4, 4), "float32")) if engine else (np.tanh, np.ones((4, 4)))
    values = list(values)
    for name, i, j, axis in steps:
        a, b = tanh(values[i] * ones), tanh(values[j] * ones)
        if name in UNARY:
            y = getattr(pl, name)(a) if engine else UNARY[name](a)
        elif name in BINARY:
            y = getattr(pl, name)(a, b) if engine else BINARY[name](a, b)
        elif engine:
            y = getattr(pl, name)(a, axis)
        else:
            y = AXES[name](a, axis, **({} if name == "scan" else {"keepdims": True}))
        values.append(y)
    return values[-1]


@seed(0)
@settings(max_examples=200, deadline=None, database=None)
@given(graphs())
def test_gradients_of_random_graphs(graph):
    shapes, steps, number = graph
    rng = np.random.default_rng(number)
    arrays = [rng.uniform(-1, 1, s).astype("float32") for s in shapes]
    leaves = [pl.Tensor(a, requires_grad=True) for a in arrays]
    y = run(leaves, steps, True)
    exact = [a.astype("float64") for a in arrays]
    expected = run(exact, steps, False)
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-4, atol=1e-4)

    weight = rng.uniform(-1, 1, expected.shape)
    pl.sum_all(y * weight).backward()
    directions = [rng.uniform(-1, 1, s) for s in shapes]

    def at(step):
        return (run([a + step * d for a, d in zip(exact, directions)], steps, False) * weight).sum()

    slope = (at(1e-5) - at(-1e-5)) / 2e-5
    ours = sum((leaf.grad.numpy() * d).sum() for leaf, d in zip(leaves, directions) if leaf.grad is not None)
    assert abs(ours - slope) <= 1e-3 * (1 + abs(slope)), graph

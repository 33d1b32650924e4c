"""200 random small graphs. The engine computes each in float32 and NumPy in double. The gradient is compared with
central differences in NumPy, and with PyTorch's in double if that can be imported. Tensors are used several times, and
shapes broadcast."""

import numpy as np
import pytest
from hypothesis import given, seed, settings, strategies as st

import poslab as pl

# {name: the op in NumPy}. Each maps (4, 4), or what broadcasts to it, to (4, 4); slopes on results of `tame` are small.
UNARY = {
    "tanh": np.tanh, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "sin": np.sin, "cos": np.cos, "exp": np.exp,
    "softplus": lambda x: np.log1p(np.exp(x)), "silu": lambda x: x / (1 + np.exp(-x)),
    "softmax": lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True), "transpose": lambda x: np.swapaxes(x, -1, -2),
}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "matmul": np.matmul}
AXES = {"sum": lambda x, axis: x.sum(axis, keepdims=True), "mean": lambda x, axis: x.mean(axis, keepdims=True),
        "scan": np.cumsum}
SHAPES = [(4, 4), (1, 4), (4, 1), (4,)]
OPS = {"tame": np.tanh, **UNARY, **BINARY, **AXES}
OURS = {"tame": pl.tanh, **{name: getattr(pl, name) for name in (*UNARY, *BINARY, *AXES)}}


@st.composite
def graphs(draw):
    """The shapes of the leaves, and steps (op, the indices of two earlier values, an axis)."""
    leaves = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    steps = []
    for n in range(draw(st.integers(1, 8))):
        one = st.integers(0, len(leaves) + n - 1)
        steps.append((draw(st.sampled_from([*UNARY, *BINARY, *AXES])), draw(one), draw(one), draw(st.integers(0, 1))))
    return leaves, steps, draw(st.integers(0, 2**32 - 1))


def run(values, steps, ops, ones):
    """Computes the graph with `ops`. A value that could grow is first made (4, 4) and squeezed by a tanh."""
    values = list(values)
    for name, i, j, axis in steps:
        a, b = (ops["tame"](values[n] * ones) for n in (i, j))
        more = [b] if name in BINARY else [axis] if name in AXES else []
        values.append(ops[name](a, *more))
    return values[-1]


def in_numpy(values, steps):
    return run(values, steps, OPS, np.ones((4, 4)))


def drawn(graph):
    """The leaves as arrays, our result of the graph, the tensors of the leaves, and a random generator."""
    shapes, steps, number = graph
    rng = np.random.default_rng(number)
    arrays = [rng.uniform(-1, 1, s).astype("float32") for s in shapes]
    leaves = [pl.Tensor(a, requires_grad=True) for a in arrays]
    return [a.astype("float64") for a in arrays], run(leaves, steps, OURS, np.ones((4, 4), "float32")), leaves, rng


@seed(0)
@settings(max_examples=200, deadline=None, database=None)
@given(graphs())
def test_gradients_against_differences(graph):
    shapes, steps, _ = graph
    exact, y, leaves, rng = drawn(graph)
    expected = in_numpy(exact, steps)
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-4, atol=1e-4)

    weight = rng.uniform(-1, 1, expected.shape)
    pl.sum_all(y * weight).backward()
    directions = [rng.uniform(-1, 1, s) for s in shapes]

    def at(step):
        return (in_numpy([a + step * d for a, d in zip(exact, directions)], steps) * weight).sum()

    slope = (at(1e-5) - at(-1e-5)) / 2e-5
    ours = sum((leaf.grad.numpy() * d).sum() for leaf, d in zip(leaves, directions) if leaf.grad is not None)
    assert abs(ours - slope) <= 1e-3 * (1 + abs(slope)), graph


def ops_of(torch):
    from torch.nn import functional
    same = {name: getattr(torch, name) for name in ("tanh", "sigmoid", "sin", "cos", "exp", *BINARY)}
    return {**same, "tame": torch.tanh, "softplus": functional.softplus, "silu": functional.silu,
            "softmax": lambda x: torch.softmax(x, -1), "transpose": lambda x: x.mT, "scan": torch.cumsum,
            "sum": lambda x, axis: x.sum(axis, keepdim=True), "mean": lambda x, axis: x.mean(axis, keepdim=True)}


@seed(0)
@settings(max_examples=200, deadline=None, database=None)
@given(graphs())
def test_gradients_against_pytorch(graph):
    torch = pytest.importorskip("torch", reason="no PyTorch; tools/reference brings it into .venv")
    exact, y, leaves, rng = drawn(graph)
    theirs = [torch.from_numpy(a).requires_grad_() for a in exact]
    expected = run(theirs, graph[1], ops_of(torch), torch.ones(4, 4, dtype=torch.float64))
    np.testing.assert_allclose(y.numpy(), expected.detach(), rtol=1e-4, atol=1e-4)

    weight = rng.uniform(-1, 1, y.shape)
    pl.sum_all(y * weight).backward()
    (expected * torch.from_numpy(weight)).sum().backward()
    for leaf, other in zip(leaves, theirs):
        assert (leaf.grad is None) == (other.grad is None), graph
        if other.grad is not None:
            np.testing.assert_allclose(leaf.grad.numpy(), other.grad, rtol=1e-3, atol=1e-4, err_msg=str(graph))

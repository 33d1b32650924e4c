"""Every op of autograd/ops.h: its results equal NumPy's, and its gradients equal differences."""

import re
from pathlib import Path

import numpy as np
import pytest

import poslab as pl

ROOT = Path(__file__).parents[2]


def test_every_op_of_the_header_is_there():
    header = (ROOT / "autograd/ops.h").read_text()
    names = set(re.findall(r"^(?:Tensor|TopK|ResidualNorm) (\w+)\(", header, re.M))
    assert len(names) > 45
    assert names - set(dir(pl)) == set()


def draw(*shape, seed=0, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype("float32")


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x, gain, bias):
    return gain * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + bias


X, Y, POSITIVE = draw(3, 4), draw(3, 4, seed=1), draw(3, 4, seed=2, low=0.5, high=2)
W, GAIN, BIAS = draw(4, 5, seed=3), draw(4, seed=4), draw(4, seed=5)
CASES = {
    "add": ((X, BIAS), lambda a, b: a + b), "sub": ((X, Y), lambda a, b: a - b),
    "mul": ((X, GAIN), lambda a, b: a * b), "div": ((X, POSITIVE), lambda a, b: a / b),
    "pow": ((POSITIVE, 1.5), lambda x, c: x**c), "minimum": ((X, Y), np.minimum), "maximum": ((X, Y), np.maximum),
    "clamp": ((X, -0.5, 0.4), np.clip), "abs": ((X,), np.abs), "exp": ((X,), np.exp), "log": ((POSITIVE,), np.log),
    "tanh": ((X,), np.tanh), "sigmoid": ((X,), lambda x: 1 / (1 + np.exp(-x))),
    "softplus": ((X,), lambda x: np.log1p(np.exp(x))), "relu": ((X,), lambda x: np.maximum(x, 0)),
    "silu": ((X,), lambda x: x / (1 + np.exp(-x))), "cos": ((X,), np.cos), "sin": ((X,), np.sin),
    "gelu_tanh": ((X,), lambda x: x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    "sqrt": ((POSITIVE,), np.sqrt), "sum": ((X, 0), lambda x, axis: x.sum(axis, keepdims=True)),
    "mean": ((X, -1), lambda x, axis: x.mean(axis, keepdims=True)), "sum_all": ((X,), lambda x: x.sum().reshape(1)),
    "max": ((X,), lambda x: x.max(-1, keepdims=True)), "scan": ((X, 1), np.cumsum),
    "permute": ((draw(2, 3, 4), [2, 0, 1]), np.transpose), "transpose": ((X,), np.transpose),
    "slice": ((X, 1, 1, 3), lambda x, axis, start, stop: x[:, start:stop]),
    "matmul": ((X, W), np.matmul), "softmax": ((X,), softmax), "norm": ((X, GAIN, BIAS), layer_norm),
    "rms_norm": ((X, GAIN), lambda x, g: g * x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)),
    "linear": ((X, W, draw(5)), lambda x, w, b: x @ w + b),
    "feed_forward": ((X, W, draw(5), W.T.copy(), BIAS),
                     lambda x, w1, b1, w2, b2: np.maximum(x @ w1 + b1, 0) @ w2 + b2),
    "residual_norm": ((X, Y, GAIN, BIAS), lambda x, z, g, b: layer_norm(x + z, g, b)),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name):
    inputs, reference = CASES[name]
    op = getattr(pl, name)
    arrays = [i for i, x in enumerate(inputs) if isinstance(x, np.ndarray)]
    given = [pl.Tensor(x, requires_grad=True) if i in arrays else x for i, x in enumerate(inputs)]
    y = op(*given)
    exact = [x.astype("float64") if i in arrays else x for i, x in enumerate(inputs)]
    expected = reference(*exact)
    np.testing.assert_allclose(y.numpy(), expected, rtol=2e-5, atol=1e-5)
    weight = draw(*y.shape, seed=9)
    pl.sum_all(y * weight).backward()
    for i in arrays:
        direction = draw(*inputs[i].shape, seed=10 + i)
        def moved(step):
            return reference(*[x + step * direction if j == i else x for j, x in enumerate(exact)])
        slope = ((moved(1e-6) - moved(-1e-6)) / 2e-6 * weight).sum()
        assert (given[i].grad.numpy() * direction).sum() == pytest.approx(slope, rel=1e-3, abs=1e-4)


def rotated(x, cosine, sine, pairing):
    half = x.shape[-1] // 2
    first, second = (np.s_[..., ::2], np.s_[..., 1::2]) if pairing == "interleaved" else (np.s_[..., :half],
                                                                                         np.s_[..., half:])
    y, c, s = np.empty_like(x), cosine[:, :, None], sine[:, :, None]
    y[first], y[second] = x[first] * c - x[second] * s, x[first] * s + x[second] * c
    return y


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
@pytest.mark.parametrize("sequences", [1, 2])
def test_rotate_has_gradients_of_angles_cosines_and_sines(pairing, sequences):
    x, angles = draw(2, 3, 5, 8), draw(sequences, 3, 4, seed=1, low=-3, high=3)
    weight = draw(2, 3, 5, 8, seed=2).astype("float64")

    def check(inputs, reference):
        given = [pl.Tensor(a, requires_grad=True) for a in inputs]
        pl.sum_all(pl.rotate(*given, pairing) * weight).backward()
        for n, tensor in enumerate(given):
            direction = draw(*inputs[n].shape, seed=10 + n).astype("float64")
            def moved(step):
                exact = [a + step * direction if i == n else a.astype("float64") for i, a in enumerate(inputs)]
                return (reference(*exact) * weight).sum()
            slope = (moved(1e-6) - moved(-1e-6)) / 2e-6
            assert (tensor.grad.numpy() * direction).sum() == pytest.approx(slope, rel=1e-4, abs=1e-4)

    check([x, angles], lambda x, a: rotated(x, np.cos(a), np.sin(a), pairing))
    check([x, np.cos(angles), np.sin(angles)], lambda x, c, s: rotated(x, c, s, pairing))


def test_rotate_is_what_rope_does():
    q = draw(1, 6, 1, 8)
    angles = np.arange(6.0)[None, :, None] * 10000.0 ** (-np.arange(4) / 4)
    scheme = pl.encodings.rope.build(heads=1, d_model=8)
    rotated = pl.rotate(q, angles, "interleaved").numpy()[0, :, 0]
    expected = rotated @ rotated.T / np.sqrt(8)
    np.testing.assert_allclose(scheme.logits(q, q).numpy()[0, 0], expected, rtol=1e-4, atol=1e-5)


def test_where_is_numpys():
    mask = np.array([0.0, -0.0, 1, 0.5, -1, 1e-40, np.inf, np.nan], "float32")
    a, b = draw(8), draw(8, seed=1)
    x, y = pl.Tensor(a, True), pl.Tensor(b, True)
    chosen = pl.where(mask, x, y)
    np.testing.assert_array_equal(chosen.numpy(), np.where(mask, a, b))
    pl.sum_all(chosen).backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.where(mask, 1, 0))
    np.testing.assert_array_equal(y.grad.numpy(), np.where(mask, 0, 1))


def test_ops_of_whole_numbers():
    table = pl.Tensor(draw(5, 2))
    np.testing.assert_array_equal(pl.gather(table, [[4], [0]]).numpy(), table.numpy()[[[4], [0]]])
    values, columns = pl.top_k([[3, 1, 2.0]], 2)
    assert values.tolist() == [[3, 2]] and columns.tolist() == [[0, 2]]
    logits = draw(6, 3)
    loss = pl.cross_entropy(logits, [0, 1, 2, 0, 1, 2]).item()
    assert loss == pytest.approx(-np.log(softmax(logits)[np.arange(6), [0, 1, 2] * 2]).mean(), rel=1e-5)


def test_dropout_is_a_function_of_seed_and_step():
    x = pl.full([1000], 1)
    one = pl.dropout(x, 0.25, seed=3, step=5).numpy()
    np.testing.assert_array_equal(one, pl.dropout(x, 0.25, seed=3, step=5).numpy())
    assert (one != pl.dropout(x, 0.25, seed=3, step=6).numpy()).any()
    assert set(one.tolist()) == {0.0, float(np.float32(1 / 0.75))} and abs((one == 0).mean() - 0.25) < 0.05


def test_attention_is_a_softmax_of_logits():
    q, k, v = (draw(2, 5, 3, 4, seed=n) for n in range(3))
    bias = draw(9, 3, seed=7)
    s = pl.Scores([pl.Piece(q, k)], scale=0.5, bias=bias)
    distance = np.arange(5)[None, :] - np.arange(5)[:, None] + 4
    logits = 0.5 * np.einsum("bihd,bjhd->bhij", q, k) + np.moveaxis(bias[distance], -1, 0)
    logits[:, :, np.triu(np.ones((5, 5), bool), 1)] = -np.inf
    weights = softmax(logits)
    span = pl.Span(causal=True)
    np.testing.assert_allclose(pl.attention_weights(s, span).numpy(), weights, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(pl.attention(s, v, span).numpy(), np.einsum("bhij,bjhd->bihd", weights, v), rtol=1e-4,
                               atol=1e-5)
    assert pl.attention_statistics(s, span).shape == (2, 3, 5, 5)
    np.testing.assert_allclose(pl.attention_statistics(s, span).numpy()[..., 0], weights.max(-1), rtol=1e-4)


def test_rotations_keep_lengths_and_turn_by_the_angle():
    x, angles = draw(1, 3, 2, 4), draw(1, 3, 2, seed=1)
    y = pl.rotate(x, angles, pairing="interleaved").numpy()
    rotated = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles[:, :, None])
    np.testing.assert_allclose(y[..., ::2] + 1j * y[..., 1::2], rotated, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(pl.rotate(x, np.cos(angles), np.sin(angles), "half").shape, x.shape)

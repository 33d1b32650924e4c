"""Built encodings as python/poslab/torch calls them, without PyTorch; and that package's error without PyTorch."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import poslab as pl

ENCODINGS = list(pl.encodings)      # before other tests add theirs


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_the_last_queries_give_the_rows_of_all():
    for spelled in ("rope", "rerope:window=3", "t5", "cable", "cope:npos=5"):
        b = pl.encodings[spelled].build(heads=2, d_model=16, causal=True)
        q, k, v = (drawn(1, 9, 2, 8, seed=n) for n in range(3))
        x = drawn(1, 9, 16, seed=3)
        whole, last = b.attend(q, k, v, x), b.attend(q[:, 6:], k, v, x[:, 6:], x_keys=x)
        assert np.allclose(last.numpy(), whole.numpy()[:, 6:], atol=1e-5), spelled


def test_the_pool_is_that_of_random_positions():
    spelled = pl.encodings.rope.build("randomized:max_position=64", heads=2, d_model=16)
    said = pl.encodings.rope.build("randomized", heads=2, d_model=16, pool=64)
    usual = pl.encodings.rope.build("randomized", heads=2, d_model=16)
    q, k = drawn(1, 9, 2, 8), drawn(1, 9, 2, 8, seed=1)
    assert np.array_equal(said.logits(q, k).numpy(), spelled.logits(q, k).numpy())
    assert not np.array_equal(said.logits(q, k).numpy(), usual.logits(q, k).numpy())
    for positions in ("randomized:max_position=128", "sequential|randomized:max_position=128"):
        with pytest.raises(ValueError, match="pool = 64 and positions = .*128 contradict each other"):
            pl.encodings.rope.build(positions, heads=2, d_model=16, pool=64)


@pytest.mark.parametrize("encoding, positions, pool, rows", [
    ("learned", "sequential", None, 2048), ("learned", "sequential", 50, 50), ("tupe", "randomized", 50, 50),
    ("learned", "randomized:max_position=64", None, 64), ("learned", "given:at=0 5 7", 50, 50),
    ("learned", "randomized:max_position=4096|sequential", None, 4096),
    ("tupe", "randomized:max_position=64|randomized:max_position=30", None, 64),
    ("learned&none", "coupled:max_position=40&randomized:max_position=64", None, 64)])
def test_a_table_has_the_rows_of_the_pool(encoding, positions, pool, rows):
    built = pl.encodings[encoding].build(positions, layers=2, heads=2, d_model=16, pool=pool)
    assert max(t.shape[0] for t in built.parameters.values()) == rows


@pytest.mark.parametrize("encoding, positions", [
    ("rope", "sequential"), ("none", "interpolated"), ("rope|alibi", "sequential"), ("rope", "given:at=0 1 2 3")])
def test_a_pool_that_nothing_has_is_refused(encoding, positions):
    with pytest.raises(ValueError, match="pool = 64 changes nothing: .* has no table of positions, and positions = "):
        pl.encodings[encoding].build(positions, layers=2, heads=2, d_model=16, pool=64)
    for table in ("relative:mode=released", "rope|bert_relative"):
        pl.encodings[table].build("randomized" if "released" in table else "sequential", layers=2, heads=2, d_model=16,
                                  pool=64)


def test_positions_that_are_not_read_are_warned_of():
    with pytest.warns(UserWarning, match="none reads no positions, so positions = randomized change nothing here"):
        pl.encodings.none.build("randomized", heads=2, d_model=16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pl.encodings.none.build(heads=2, d_model=16)
        pl.encodings.rope.build("randomized", heads=2, d_model=16)
        with pytest.raises(UserWarning, match="cope reads no positions"):
            pl.encodings.cope.build("randomized", heads=2, d_model=16)


def test_keys_of_several_heads_are_shared():
    b = pl.encodings.rerope(window=3).build(heads=4, d_model=32)
    q, k, v = drawn(1, 7, 4, 8), drawn(1, 7, 2, 8, seed=1), drawn(1, 7, 2, 8, seed=2)
    each = [np.repeat(t, 2, 2) for t in (k, v)]
    assert np.allclose(b.attend(q, k, v).numpy(), b.attend(q, *each).numpy(), atol=1e-5)
    assert np.allclose(b.logits(q, k).numpy(), b.logits(q, each[0]).numpy(), atol=1e-5)


def test_weights_are_the_softmax_of_the_logits_at_these_positions_and_this_temperature():
    b = pl.encodings.rope.build(heads=2, d_model=16, temperature="log_n:length=4", causal=True)
    q, k = drawn(1, 6, 2, 8), drawn(1, 6, 2, 8, seed=1)
    at = [0, 2, 5, 6, 9, 40]
    s = b.logits(q, k, positions=at).numpy()
    a = np.exp(s - s.max(-1, keepdims=True))
    assert np.allclose(b.weights(q, k, positions=at).numpy(), a / a.sum(-1, keepdims=True), atol=1e-5)
    plain = pl.encodings.rope.build(heads=2, d_model=16, causal=True).logits(q, k, positions=np.array([at, at])[:1])
    factor = pl.temperatures.log_n(length=4).factor(6, heads=2, d_model=16).numpy()
    seen = np.tri(6, dtype=bool)
    assert np.allclose(s[..., seen], (plain.numpy() * factor.transpose(0, 2, 1)[..., None])[..., seen], atol=1e-5)
    assert not np.allclose(s[..., seen], b.logits(q, k).numpy()[..., seen])


def test_padding_is_not_seen():
    b = pl.encodings.alibi.build(heads=2, d_model=16)
    q = drawn(2, 6, 2, 8)
    assert (b.weights(q, q, lengths=[6, 4]).numpy()[1, :, :, 4:] == 0).all()


@pytest.mark.parametrize("lengths", [[3], [5, 5, 5], [[5, 5]], [6, 5], [5, -1]])
def test_every_encoding_refuses_key_lengths_that_do_not_fit(lengths):
    x, q = drawn(2, 5, 16), drawn(2, 5, 2, 8)
    refused = 0
    for encoding in ENCODINGS:
        b = encoding.build(heads=2, d_model=16, causal=True)
        for look in (b.logits, b.weights, lambda q, k, **more: b.attend(q, k, q, **more)):
            with pytest.raises(ValueError, match="key|has no logits"):
                look(q, q, x=x, lengths=lengths)
            refused += 1
    assert refused == 3 * len(ENCODINGS) > 150


@pytest.mark.parametrize("given, said", [
    ({"positions": [1, 2]}, r"positions are \(2\); they must be \(5\) or \(1, 5\)"),
    ({"positions": np.zeros((5, 1))}, r"positions are \(5, 1\)"), ({"lengths": [6]}, r"key_lengths\[0\] is 6"),
    ({"lengths": [-1]}, r"key_lengths\[0\] is -1"), ({"lengths": [3, 2]}, r"key_lengths is \(2\); it must be \(1\)"),
    ({"positions": []}, "there are none"),
    ({"x": np.ones((1, 5, 3))}, r"x is \(1, 5, 3\); it must be \(1, 5, 16\)"),
    ({"x_keys": np.ones((1, 4, 16))}, "x_keys is"), ({"layer": 1}, "layer 1 of 1")])
def test_what_does_not_fit_is_named(given, said):
    b = pl.encodings.rope.build(heads=2, d_model=16)
    with pytest.raises(ValueError, match=said):
        b.logits(drawn(1, 5, 2, 8), drawn(1, 5, 2, 8), **given)
    with pytest.raises(ValueError, match="k may have more slots or fewer heads"):
        b.logits(drawn(1, 5, 2, 8), drawn(1, 4, 2, 8))
    with pytest.raises(ValueError, match="unknown temperature"):
        pl.encodings.rope.build(temperature="hot")


def test_a_piece_of_the_tape_has_a_backward_of_its_own():
    since = pl.tape_length()
    x = pl.Tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    piece = pl._poslab._inside.TapePiece(since)
    assert pl.tape_length() == since
    piece.backward(y, [10.0, 1.0])
    assert pl._poslab._inside.take_grad(x).tolist() == [20.0, 4.0] and x.grad is None


def test_without_pytorch_the_remedy_is_named():
    code = "import sys; sys.modules['torch'] = None\nimport poslab\ntry: import poslab.torch\n" \
           "except ImportError as error: print(error)"
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert said.startswith("poslab.torch needs PyTorch, which is not installed here; pip install torch")

"""Trained models from Python: the bits of the engine, activations kept and replaced, one run's put into another."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import poslab as pl

PROGRAM = Path(__file__).parents[2] / "build/release/poslab"
TINY = {"preset": "tiny", "task": "reverse_string", "encoding": "rope", "steps": 12, "eval_lengths": "1:4",
        "eval_samples": 8, "progress": False}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return [pl.train(out=folder / f"seed{seed}", seed=seed, **TINY) for seed in (1, 2)]


@pytest.fixture
def model(runs):
    return pl.load(runs[0])


BATCH = pl.tasks.reverse_string.batch(3, length=4)
TOKENS = BATCH["tokens"]


def test_a_model_says_what_poslab_ask_says(runs, model):
    text = "0110"
    told = json.loads(subprocess.run([PROGRAM, "ask", runs[0].path, text, "--json"], check=True, capture_output=True,
                                     text=True).stdout)
    logits = model([[0, 1, 1, 0, 2, 2, 2, 2]], 4).numpy()[0]
    odds = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    assert np.allclose(odds, told["probabilities"], atol=1e-5)


def test_what_is_seen_changes_no_bit(model):
    plain = model(TOKENS, 4).numpy()
    again = model(TOKENS, 4, trace={"*": None}).numpy()
    assert (plain == again).all() and (model.seen["logits"].numpy() == plain).all()
    copied = model(TOKENS, 4, trace={"*.out": lambda name, x: x.numpy().copy(), "*": lambda name, x: None}).numpy()
    assert (plain == copied).all() and model.seen == {}
    assert np.allclose(model(TOKENS).numpy()[:, -4:], plain, atol=1e-6)


def test_names(model):
    names = model.names()
    assert names[:2] == ["embedding", "block0.attention.query"] and names[-1] == "logits"
    model(TOKENS, trace={"*": None})
    assert set(model.seen) == set(names)
    model(TOKENS, trace={"block0.attention.*": None, "*.logits": None})
    assert model.seen["block0.attention.weights"].shape == model.seen["block0.attention.logits"].shape


def test_a_silenced_head_is_one_without_rows_of_the_output_projection(model):
    def silence(name, x):
        return x * (np.arange(x.shape[2]) > 0)[:, None]

    silenced = model(TOKENS, trace={"block1.attention.heads": silence}).numpy()
    output = model.parameters["block1.attention.output"].numpy()
    assert not (silenced == model(TOKENS).numpy()).all()
    output[: len(output) // 8] = 0                                                       # of 8 heads
    assert (silenced == model(TOKENS).numpy()).all()


def test_gradients_of_activations_are_differences(model):
    def loss(trace, gradient):
        logits = model(TOKENS, 4, trace=trace, gradient=gradient)
        return pl.cross_entropy(logits, BATCH["targets"])

    loss({"block0.out": None}, True).backward()
    slope = model.seen["block0.out"].grad.numpy()
    assert slope.shape == model.seen["block0.out"].shape and model.parameters["head.w"].grad.shape[1] == 2
    way = np.sign(slope).astype("float32")
    step = 1e-2
    up, down = (loss({"block0.out": lambda name, x: x + by * way}, False).item() for by in (step, -step))
    assert np.isclose((up - down) / (2 * step), abs(slope).sum(), rtol=2e-2)
    assert pl.tape_length() == 0


def test_one_runs_activations_in_another(runs, model):
    other = pl.load(runs[1])
    expected = other(TOKENS, trace={"block*.out": None}).numpy()
    states = other.seen
    last = max(states)
    for name in ("head.w", "head.b"):
        model.parameters[name].numpy()[:] = other.parameters[name].numpy()
    assert not (model(TOKENS).numpy() == expected).all()
    assert (model(TOKENS, trace={last: lambda name, x: states[name]}).numpy() == expected).all()


def test_positions_of_your_own(model):
    assert (model(TOKENS, positions=range(8)).numpy() == model(TOKENS).numpy()).all()     # RoPE, sequential
    moved = model(TOKENS, positions=[0, 1, 2, 9, 4, 5, 6, 7]).numpy()
    assert not (moved == model(TOKENS).numpy()).all()


def test_a_language_model(tmp_path):
    options = ["--preset", "tiny", "--text", "copy_grammar", "--steps", "3", "--eval-times", "1"]
    subprocess.run([PROGRAM, "lm", "train", *options, "--out", tmp_path / "lm"], check=True, capture_output=True)
    model = pl.load(tmp_path / "lm")
    plain = model([[1, 2, 3, 4]])
    assert (model([[1, 2, 3, 4]], trace={"*": None}).numpy() == plain.numpy()).all()
    assert "block0.ffn.added" in model.names()


@pytest.mark.parametrize("trace, words", [
    ({"block0.out": lambda name, x: x.numpy()[:, 1:]}, "block0.out has shape"),
    ({"block0.attention.weights": lambda name, x: x * 2}, "only to be seen"),
    ({"embedding": lambda name, x: "text"}, "numbers"),
])
def test_replacements_that_do_not_fit(model, trace, words):
    with pytest.raises((ValueError, TypeError), match=words):
        model(TOKENS, trace=trace)


@pytest.mark.parametrize("tokens, how", [
    ([0, 1], {}), ([[0, 3]], {}), ([[0, -1]], {}), ([[0, 1]], {"outputs": 3}), ([[0, 1]], {"outputs": 0}),
    ([[0, 1]], {"positions": [0, 1, 2]}), ([[0, 1]], {"positions": [[0, 1]] * 3}),
])
def test_input_that_does_not_fit(model, tokens, how):
    with pytest.raises(ValueError):
        model(tokens, **how)


def test_errors_of_a_function_come_out(model):
    def broken(name, x):
        raise KeyError(name)

    with pytest.raises(KeyError, match="embedding"):
        model(TOKENS, trace={"*": broken})
    with pytest.raises(ValueError, match="no run folder"):
        pl.load("nowhere")

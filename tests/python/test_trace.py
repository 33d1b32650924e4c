"""Traces of training: Python functions see and replace updates of parameters, or the updates are kept."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import poslab as pl

TINY = {"preset": "tiny", "task": "even_pairs", "encoding": "rope", "steps": 4, "eval_lengths": "1:3",
        "eval_samples": 8, "dropout": 0.1, "checkpoint_every": 1, "keep_checkpoints": True, "progress": False}


def weights(run, step):
    """The parameters after this many steps: {name: array}."""
    file = (Path(run) / f"checkpoints/{step}.safetensors").read_bytes()
    size = int.from_bytes(file[:8], "little")
    header = json.loads(file[8:8 + size])
    names = pl.load(run).parameters
    return {name: np.frombuffer(file[8 + size:][slice(*header[name]["data_offsets"])], "float32").reshape(
        header[name]["shape"]) for name in names}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return pl.train(out=tmp_path_factory.mktemp("plain") / "run", **TINY)


def freeze(name, x):
    return x * 0


def test_updates_are_differences_of_parameters_and_seeing_them_changes_no_bit(tmp_path, plain):
    steps = []

    def keep(name, x):
        if name == "update.embedding":
            steps.append({})
        steps[-1][name.removeprefix("update.")] = x.numpy().copy()

    trace = {"update.*": keep, "block*": None, "*.logits": None, "update.head.w": None}
    run = pl.train(out=tmp_path / "run", trace=trace, **TINY)
    for name in ("checkpoint.safetensors", "metrics.jsonl", "eval.csv"):
        assert Path(run.file(name)).read_bytes() == Path(plain.file(name)).read_bytes()
    assert len(steps) == 4
    for n, updates in enumerate(steps):
        before, after = weights(run, n), weights(run, n + 1)
        assert set(updates) == set(before)
        for name in updates:
            assert (updates[name] == after[name] - before[name]).all(), name
            assert updates[name].any(), name
    assert (run.seen["update.head.w"].numpy() == steps[-1]["head.w"]).all()
    assert run.seen["block0.attention.logits"].shape == run.seen["block0.attention.weights"].shape
    assert run.seen["block0.out"].grad.numpy().any()
    assert plain.seen == {} == pl.Run(run.path).seen


def test_an_update_of_zero_freezes_a_parameter(tmp_path, plain):
    name = "block0.attention.query"
    run = pl.train(out=tmp_path / "run", trace={f"update.{name}": freeze}, **TINY)
    begun, first, first_of_plain, last = weights(run, 0), weights(run, 1), weights(plain, 1), weights(run, 4)
    for other in begun:
        assert (first[other] == (begun if other == name else first_of_plain)[other]).all(), other
    assert (last[name] == begun[name]).all() and (weights(plain, 4)[name] != begun[name]).any()
    assert (last["head.w"] != begun["head.w"]).any()


def test_what_a_function_raises_ends_the_training_and_its_last_checkpoint_goes_on(tmp_path):
    trace = {"update.head.*": lambda name, x: x * 0.5}
    whole = pl.train(out=tmp_path / "whole", trace=trace, **TINY)
    steps = []

    def broken(name, x):
        steps.append(name)
        if len(steps) == 3:
            raise KeyError(name)

    with pytest.raises(KeyError, match="update.head.w"):
        pl.train(out=tmp_path / "run", trace={**trace, "update.head.w": broken}, **TINY)
    assert len(steps) == 3 and not (tmp_path / "run/result.json").exists()
    run = pl.resume(tmp_path / "run", trace={**trace, "update.head.b": None}, progress=False)
    for name in ("checkpoint.safetensors", "metrics.jsonl", "eval.csv"):
        assert Path(whole.file(name)).read_bytes() == Path(run.file(name)).read_bytes()
    assert list(run.seen) == ["update.head.b"]


def test_what_does_not_fit_is_refused(tmp_path):
    with pytest.raises(ValueError, match="update.head.b has shape"):
        pl.train(out=tmp_path / "shape", trace={"update.head.b": lambda name, x: [0.0] * 7}, **TINY)
    with pytest.raises(ValueError, match="called from inside"):
        pl.train(out=tmp_path / "inner", trace={"embedding": lambda name, x: pl.train(out=tmp_path / "b", **TINY)},
                 **TINY)


@pytest.mark.parametrize("pattern", ["update.hed.w", "blok1.out", "block1.ou?"])
def test_a_name_that_nothing_has_ends_the_training_after_a_step(tmp_path, pattern):
    for what, steps in ((None, 1), (freeze, 100000)):
        out = tmp_path / str(steps)
        with pytest.raises(ValueError, match=f'no activation is called "{re.escape(pattern)}"'):
            pl.train(out=out, trace={pattern: what, "update.head.w": None}, **{**TINY, "steps": steps})
    run = pl.train(out=tmp_path / "run", **TINY)
    assert pl.resume(run, trace={pattern: None}, progress=False).seen == {}           # the run was complete: no step

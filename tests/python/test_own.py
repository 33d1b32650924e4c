"""Encodings written in Python: trained and checked like any other."""

import abc
import json
import os
import subprocess
import types
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import pytest

import poslab as pl
from built import PROGRAM

TINY = {"preset": "tiny", "task": "even_pairs", "steps": 8, "eval_lengths": "1:4", "eval_samples": 8,
        "positions": "randomized", "max_position": 64, "progress": False}


class Plain(pl.Encoding):
    """Without positions."""


def rows_of(q, positions):
    queries = positions[:, -q.shape[1]:]                     # the last slots
    return np.abs(positions[:, None, :] - queries[:, :, None]).astype(int)


class Farther(pl.Encoding):
    """A penalty for distance."""

    name = "farther_away"
    options = {"slope": 0.5, "squared": False}
    laws = {"two_sided": True}

    def scores(self, q, k, positions):
        rows = rows_of(q, positions)
        distance = np.arange(rows.max() + 1.0)[:, None] ** (2 if self.squared else 1)
        bias = np.repeat(-self.slope * distance, self.heads, 1)
        return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5, bias=bias, pairs=rows)


class Power(pl.Encoding):
    """A penalty by a power of the distance, which must not be negative."""

    options = {"power": (1, 1, 3), "slope": (0.5, 0.0, 4.0)}
    laws = {"two_sided": True}

    def scores(self, q, k, positions):
        rows = rows_of(q, positions)
        bias = np.repeat(-self.slope * np.arange(rows.max() + 1.0)[:, None] ** self.power, self.heads, 1)
        return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5, bias=bias, pairs=rows)


class LearnedBias(pl.Encoding):
    """A learned bias for each distance up to 63."""

    def learn(self, parameters):
        self.bias = parameters.full("bias", [64, self.heads], 0)

    def scores(self, q, k, positions):
        return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5, bias=self.bias,
                         pairs=np.minimum(rows_of(q, positions), 63))


class Absolute(pl.Encoding):
    """A bias by the position of the key; it wrongly declares all laws."""

    def scores(self, q, k, positions):
        keys = np.broadcast_to(positions[:, None, :], (len(positions), q.shape[1], positions.shape[1])).astype(int)
        return pl.Scores([pl.Piece(q, k)], 1, bias=np.arange(5000.0)[:, None] * np.ones(self.heads) * 0.01,
                         pairs=np.clip(keys, 0, 4999))


def test_a_twin_of_a_scheme_trains_with_its_bits(tmp_path):
    ours = pl.train(encoding=Plain, out=tmp_path / "ours", **TINY)
    theirs = pl.train(encoding="none", out=tmp_path / "theirs", **TINY)
    for name in ("metrics.jsonl", "eval.csv"):
        assert Path(ours.file(name)).read_bytes() == Path(theirs.file(name)).read_bytes()


def test_parameters_and_options(tmp_path):
    run = pl.train(encoding=LearnedBias, out=tmp_path / "learned", **TINY)
    with open(run.file("checkpoint.safetensors"), "rb") as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
    assert header["encoding.layer0.bias"]["shape"][0] == 64
    assert pl.encodings.farther_away.spelled in dir(pl.encodings)
    d = np.abs(np.arange(5)[:, None] - np.arange(5))
    np.testing.assert_allclose(pl.encodings.farther_away(slope=2).matrix(5)[0], -2.0 * d)
    np.testing.assert_allclose(pl.encodings.farther_away(slope=2, squared=True).matrix(5)[0], -2.0 * d * d)
    pl.train(encoding=pl.encodings.farther_away(slope=0.25), out=tmp_path / "farther", **TINY)
    with pytest.raises(ValueError, match='did you mean "slope"'):
        pl.encodings.farther_away(slpe=1)


def test_check_says_what_is_wrong():
    assert [r["failures"] + r["unseen"] for r in pl.check(Farther) if not r["passed"]] == []
    wrong = {r["check"] for r in pl.check(Absolute) if not r["passed"]}
    assert "shift" in wrong and wrong != {r["check"] for r in pl.check(Absolute)}


def test_options_have_ranges():
    assert [r["failures"] + r["unseen"] for r in pl.check(Power) if not r["passed"]] == []
    assert pl.encodings.power(power=2, slope=1.0).matrix(5)[0].min() == -16
    for wrong in ({"power": 0}, {"power": 4}, {"slope": -0.5}):
        with pytest.raises(ValueError, match="out of range"):
            pl.encodings.power(**wrong)
    with pytest.raises(ValueError, match="default, least, most"):
        type("Mine", (pl.Encoding,), {"options": {"a": (1, 2)}})


class Mixin:
    """A class from another library."""


T = TypeVar("T")


@pytest.mark.parametrize("others", [(Mixin,), (abc.ABC,), (Generic[T],)])
def test_a_class_may_have_other_bases(others):
    for kind in (pl.Encoding, pl.Sampler, pl.Task):
        name = f"{kind.__name__}With{others[0].__name__}"
        made = types.new_class(name, (kind, *others), exec_body=lambda space: space.update(
            symbols_in=2, symbols_out=2, answer=lambda self, x: x[:1]) if kind is pl.Task else None)
        assert made.name == name.lower()
    with pytest.raises(ValueError, match="a method score, but no scores"):
        types.new_class("Typo", (pl.Encoding, *others), exec_body=lambda space: space.update(score=len))


class Throws(pl.Encoding):
    def scores(self, q, k, positions):
        return {}["nothing"]


class GivesNothing(pl.Encoding):
    def scores(self, q, k, positions):
        return None


class OfAnotherShape(pl.Encoding):
    def scores(self, q, k, positions):
        return pl.Scores([pl.Piece(q[:, :1], k)], 1)


class NoSuchRow(pl.Encoding):
    def scores(self, q, k, positions):
        pairs = np.full((1, q.shape[1], k.shape[1]), -1)
        return pl.Scores([pl.Piece(q, k)], 1, bias=np.ones((3, self.heads)), pairs=pairs)


class RowsOfFloats(pl.Encoding):
    def scores(self, q, k, positions):
        return pl.Scores([pl.Piece(q, k)], 1, bias=np.ones((3, self.heads)), pairs=np.ones((1, 1, 1)) / 2)


class WritesNaN(pl.Encoding):
    def scores(self, q, k, positions):
        q.numpy()[...] = np.nan
        return pl.Scores([pl.Piece(q, k)], 1)


class BiasOfNaN(pl.Encoding):
    def scores(self, q, k, positions):
        rows = rows_of(q, positions)
        return pl.Scores([pl.Piece(q, k)], 1, bias=np.full((rows.max() + 1, self.heads), np.nan), pairs=rows)


class GoesBack(pl.Encoding):
    def scores(self, q, k, positions):
        pl.sum_all(pl.Tensor([1.0])).backward()


class Leaves(pl.Encoding):
    def scores(self, q, k, positions):
        raise SystemExit(3)


class LearnsTwice(pl.Encoding):
    def learn(self, parameters):
        self.a, self.b = (parameters.full("bias", [3], 0) for _ in range(2))


class LearnsNothing(pl.Encoding):
    def learn(self, parameters):
        parameters.normal("bias", [-3], 1)


class LearnsLate(pl.Encoding):
    def learn(self, parameters):
        self.parameters = parameters

    def scores(self, q, k, positions):
        self.parameters.full("late", [3], 0)


class TrainsInside(pl.Encoding):
    def scores(self, q, k, positions):
        pl.train(encoding="rope", out="never", **TINY)


class ChecksInside(pl.Encoding):
    def scores(self, q, k, positions):
        pl.check("rope")


class MakesInside(pl.Encoding):
    def scores(self, q, k, positions):
        type("Another", (pl.Encoding,), {})


@pytest.mark.parametrize("encoding, error, words", [
    (Throws, KeyError, "nothing"), (GivesNothing, ValueError, "it must give Scores"),
    (OfAnotherShape, ValueError, "residual|shape|must be|linear"), (NoSuchRow, ValueError, "row -1"),
    (RowsOfFloats, ValueError, "whole numbers"), (WritesNaN, RuntimeError, "the loss is nan"),
    (BiasOfNaN, ValueError, r"biasofnan: the bias of scores\(\), of shape .*, has a NaN; 0 adds nothing"),
    (GoesBack, ValueError, "depends on nothing"), (Leaves, SystemExit, "3"),
    (LearnsTwice, ValueError, "there is a parameter .*bias already"), (LearnsNothing, ValueError, "must be positive"),
    (LearnsLate, ValueError, r"late comes after pack"), (TrainsInside, ValueError, "called from inside a training run"),
    (ChecksInside, ValueError, "from inside a training run"), (MakesInside, ValueError, "another call is running")])
def test_what_goes_wrong_inside_reaches_the_caller(encoding, error, words, tmp_path):
    with pytest.raises(error, match=words):
        pl.train(encoding=encoding, out=tmp_path / "run", **TINY)
    pl.train(encoding=Plain, out=tmp_path / "next", **{**TINY, "steps": 1})


class Forks(pl.Encoding):
    def scores(self, q, k, positions):
        child = os.fork()
        if child == 0:
            pl.sum_all(pl.Tensor(np.ones((300, 300))) @ np.ones((300, 300)))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5)


def test_a_fork_in_the_middle_of_a_training(tmp_path):
    options = {**TINY, "steps": 1}
    forked = pl.train(encoding=Forks, out=tmp_path / "forked", **options)
    plain = pl.train(encoding=Plain, out=tmp_path / "plain", **options)
    assert Path(forked.file("eval.csv")).read_bytes() == Path(plain.file("eval.csv")).read_bytes()


def test_names_and_options_are_looked_at():
    with pytest.raises(ValueError, match="there is an encoding rope already"):
        type("Rope", (pl.Encoding,), {})
    with pytest.raises(ValueError, match="cannot be the name of an encoding"):
        type("Mine", (pl.Encoding,), {"name": "my encoding"})
    with pytest.raises(ValueError, match="give a bool, an int or a float"):
        type("Mine", (pl.Encoding,), {"options": {"a": "b"}})
    for standard in (10**30, 1 << 25, float("nan"), 1e10):
        with pytest.raises(ValueError, match="option a: .* is not a number from"):
            type("Mine", (pl.Encoding,), {"options": {"a": standard}})
    for name in ("a b", "", "heads"):
        with pytest.raises(ValueError, match="its name must be a Python identifier"):
            type("Mine", (pl.Encoding,), {"options": {name: 1}})
    with pytest.raises(ValueError, match='unknown law "shfit"'):
        type("Mine", (pl.Encoding,), {"laws": {"shfit": False}})


@pytest.mark.parametrize("scores, words", [
    (lambda q, k: pl.Scores([], 1), "0 pieces"),
    (lambda q, k: pl.Scores([pl.Piece(q, k)] * 2, 1), "pieces 0 and 1 overlap"),
    (lambda q, k: pl.Scores([pl.Piece(q, k, n, n + 1) for n in range(15)], 1), "15 pieces"),
    (lambda q, k: pl.Scores([pl.Piece(q, k)], 1, bias=np.ones((40, 2))), "40 rows"),
    (lambda q, k: pl.Scores([pl.Piece(q, k)], 1, r=np.ones((11, 2, 8))), "q_rel"),
    (lambda q, k: pl.Scores([pl.Piece(q[:, :3], k)], 1), r"returned q of \(1, 3, ., 8\); keep the first 3 sizes"),
    (lambda q, k: pl.Scores([pl.Piece(q, k[:, :3])], 1), r"returned k of \(1, 3, ., 8\); keep the first 2 sizes"),
])
def test_scores_that_do_not_fit_are_refused_by_all_that_reads_them(scores, words):
    class Unfit(pl.Encoding):
        def scores(self, q, k, positions):
            return scores(q, k)

    q = np.ones((1, 6, 2, 8))
    built = pl.encodings.unfit.build(heads=2, d_model=16)
    for do in (built.logits, built.weights, lambda q, k: built.attend(q, k, k), pl.encodings.unfit.logits):
        with pytest.raises(ValueError, match=words):
            do(q, q)
    with pytest.raises(ValueError):
        pl.encodings["unfit*1+alibi*1"].build(heads=2, d_model=16).logits(q, q)
    with pytest.raises(ValueError):
        pl.encodings.unfit.matrix(6, heads=2, d_model=16)


def test_positions_stay_for_a_call_within_which_others_are_drawn():
    built, q = None, np.ones((1, 7, 2, 8))

    class Inner(pl.Encoding):
        within = False

        def scores(self, q, k, positions):
            if not Inner.within:
                Inner.within = True
                built.logits(np.ones((1, 500, 2, 8)), np.ones((1, 500, 2, 8)))     # the same encoding at another length
                Inner.within = False
            return pl.Scores([pl.Piece(q, k)], 1)

    alone = pl.encodings["none*1+alibi*1"].build(heads=2, d_model=16).logits(q, q).numpy()
    built = pl.encodings["inner*1+alibi*1"].build(heads=2, d_model=16)
    for _ in range(20):
        np.testing.assert_array_equal(built.logits(q, q).numpy()[:, 1], alone[:, 1])


def test_the_program_says_that_a_run_of_a_class_is_for_python(tmp_path):
    class Unheard(pl.Encoding):
        pass

    class Silent(pl.Task):
        def answer(self, x):
            return [x[0]]

    class Steps(pl.Sampler):
        pass
    usual = {"encoding": "none", "task": "even_pairs", "positions": "sequential"}
    for option, own in (("encoding", Unheard), ("task", Silent), ("positions", Steps)):
        out = tmp_path / option
        pl.train(preset="tiny", steps=2, eval_lengths="3", out=out, progress=False, **(usual | {option: own}))
        for words in (["ask", out, "01"], ["eval", out], ["resume", out], ["view", out, "-o", tmp_path / "v"],
                      ["inspect", out, "-o", tmp_path / "i"], ["graph", out, "-o", tmp_path / "g.html"]):
            said = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
            assert said.returncode == 2, words
            assert f'{option} "{own.name}" is not known to this' in said.stderr and "pl.load" in said.stderr, words

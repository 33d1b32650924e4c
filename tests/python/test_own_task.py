"""Tasks written in Python: trained, tested and checked like any other."""

import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest
from built import PROGRAM

import poslab as pl

TINY = {"preset": "tiny", "encoding": "rope", "positions": "randomized", "steps": 8, "eval_lengths": "1:2",
        "eval_samples": 8, "progress": False}


class Ends(pl.Task):
    """Whether the first and the last symbol differ: even_pairs, rewritten."""

    def answer(self, x):
        return [x[0] != x[-1]]


class Sums(pl.Task):
    """Sums of neighbours, with words for symbols, and inputs of even length whose halves are alike."""

    name = "sums_of_neighbours"
    options = {"modulus": (3, 2, 5), "copies": True}
    symbols_in = symbols_out = property(lambda self: self.modulus)

    @property
    def alphabet(self):
        return list("abcde")[:self.modulus]

    def output_length(self, length):
        return length

    def input(self, length, rng):
        half = rng.integers(0, self.modulus, max(1, length // 2))
        return np.concatenate([half, half]) if self.copies and length > 1 else half

    def shuffled(self, x, rng):
        half = rng.permutation(x[:max(1, len(x) // 2)])
        return np.concatenate([half, half]) if len(half) < len(x) else half

    def scored_slots(self, answer):
        return 1

    def answer(self, x):
        return (x + np.roll(x, 1)) % self.modulus


def test_a_twin_of_a_task_trains_with_its_bits(tmp_path):
    ours, theirs = (pl.train(task=task, out=tmp_path / name, **TINY) for name, task in
                    (("ours", Ends), ("theirs", "even_pairs")))
    for name in ("metrics.jsonl", "eval.csv"):
        assert Path(ours.file(name)).read_bytes() == Path(theirs.file(name)).read_bytes()
    assert 'task = "ends"' in Path(ours.file("config.toml")).read_text()
    assert ours.result["task"] == "ends"
    one, other = (pl.evaluate(run, lengths="3:4", progress=False).rows("eval.csv") for run in (ours, theirs))
    assert one == other and len(one) == 2
    said = subprocess.run([PROGRAM, "eval", ours.path], capture_output=True, text=True)
    assert said.returncode == 2 and 'task "ends" is not known to this program' in said.stderr


def test_options_inputs_and_words(tmp_path):
    task = pl.tasks.sums_of_neighbours
    batch = task.batch(6, length=7, seed=1)
    x, y = batch["tokens"][:, :6], batch["targets"]
    assert (batch["tokens"][:, 6:] == 3).all() and batch["tokens"].shape == (6, 12) and set(x.ravel()) == {0, 1, 2}
    assert (x[:, :3] == x[:, 3:]).all() and (y == (x + np.roll(x, 1, 1)) % 3).all()
    assert (batch["scored_slots"] == 1).all()
    assert task.answer("a b c") == "210" or task.answer("abc") == "210"
    assert (task.batch(6, length=7, seed=1)["tokens"] == batch["tokens"]).all()
    assert (task.batch(6, length=7, seed=2)["tokens"] != batch["tokens"]).any()
    assert task(modulus=5).batch(64, length=7)["tokens"].max() == 5
    assert task(copies=False).batch(1, length=6)["targets"].shape == (1, 3)
    for wrong in ({"modulus": 6}, {"modulus": 1}, {"modlus": 2}):
        with pytest.raises(ValueError, match="out of range|did you mean"):
            task(**wrong)
    with pytest.raises(ValueError, match='"d" in "d" is not a symbol'):
        task.answer("d")
    run = pl.train(task=task(modulus=4), out=tmp_path / "run", **{**TINY, "eval_lengths": "2:2"})
    assert pl.load(run)(task(modulus=4).batch(2, length=4)["tokens"], 4).shape == (2, 4, 4)


class Fails(pl.Task):
    """even_pairs with an error in its 600th answer."""

    answers = 0

    def answer(self, x):
        Fails.answers += 1
        if Fails.answers == 600:
            raise ConnectionError("not now")
        return [x[0] != x[-1]]


def test_a_training_that_failed_goes_on(tmp_path):
    options = {**TINY, "steps": 12, "checkpoint_every": 2}
    with pytest.raises(ConnectionError, match="not now"):
        pl.train(task=Fails, out=tmp_path / "run", **options)
    assert (tmp_path / "run/checkpoint.safetensors").exists()
    run = pl.resume(tmp_path / "run", progress=False)
    assert run.rows("eval.csv") == pl.train(task=Ends, out=tmp_path / "whole", **options).rows("eval.csv")


def test_check():
    for right in (Ends, Sums, pl.tasks.reverse_string, pl.tasks.solve_equation):
        assert [row for row in pl.check(right) if not row["passed"]] == []


def wrong_in_check(**methods):
    return {row["check"]: row["failures"] for row in pl.check(type("Wrong", (pl.Task,), methods))
            if not row["passed"]}


def test_check_says_what_is_wrong():
    random = np.random.default_rng()
    assert list(wrong_in_check(answer=lambda self, x: [random.integers(0, 2)])) == ["repeats"]
    same = wrong_in_check(answer=lambda self, x: [0], input=lambda self, length, rng: np.zeros(length, int))
    assert list(same) == ["varies"]
    fails = wrong_in_check(answer=lambda self, x: [0] if len(x) < 7 else 1 / 0)
    assert fails["answers"] == ["length 7: ZeroDivisionError: division by zero",
                                "length 40: ZeroDivisionError: division by zero"]
    ordered = wrong_in_check(input=lambda self, length, rng: np.sort(rng.integers(0, 2, length)),
                             answer=lambda self, x: [0] if (np.diff(x) >= 0).all() else [2])
    assert list(ordered) == ["shuffled"] and "symbol 2" in ordered["shuffled"][0]
    assert "no symbol" not in str(wrong_in_check(answer=lambda self, x: [0]))
    assert "needs answer" in wrong_in_check()["answers"][0]


def of_answer(answer):
    return {"answer": lambda self, x: answer(x)}


def of_input(draw):
    return {"answer": lambda self, x: [0], "input": lambda self, length, rng: draw(length)}


@pytest.mark.parametrize("methods, error, words", [
    (of_answer(lambda x: 1 / 0), ZeroDivisionError, "division"), (of_answer(lambda x: None), ValueError, "NoneType"),
    (of_answer(lambda x: 1), ValueError, "must give a list"), (of_answer(lambda x: [[1]]), ValueError, r"\(1, 1\)"),
    (of_answer(lambda x: [0.5]), ValueError, "float64"), (of_answer(lambda x: []), ValueError, "list of whole"),
    (of_answer(lambda x: [0, 1]), ValueError, r"gave 2 symbols .* output_length\(5\) is 1"),
    (of_answer(lambda x: [2]), ValueError, "symbol 2; its symbols are 0 to 1"),
    (of_answer(lambda x: [-1]), ValueError, "symbol -1"), (of_answer(lambda x: "1"), ValueError, "str"),
    (of_answer(lambda x: x.fill(0)), ValueError, "NoneType"), (of_answer(lambda x: [10**30]), ValueError, "object"),
    (of_input(lambda n: [0] * (n + 1)), ValueError, r"input\(5\) gave 6 symbols; it must give 1 to 5"),
    (of_input(lambda n: np.zeros(0, int)), ValueError, "gave 0 symbols"),
    (of_input(lambda n: [3] * n), ValueError, "symbol 3"), (of_input(lambda n: {}["a"]), KeyError, "a"),
    (of_input(lambda n, count=itertools.count(): [0] * (1 + next(count) % 2)), ValueError, "in one batch"),
    ({"output_length": lambda self, n: 0}, ValueError, r"output_length\(5\) is 0; give a whole number from 1"),
    ({"output_length": lambda self, n: n / 2}, ValueError, "2.5"),
    ({"output_length": lambda self, n: 10**30}, ValueError, "whole number from 1"),
    ({**of_answer(lambda x: [0]), "scored_slots": lambda self, y: 2}, ValueError, r"scored_slots\(\) is 2; .* 1 to 1"),
    ({"symbols_in": 0}, ValueError, "symbols_in is 0"), ({"symbols_out": "two"}, ValueError, "symbols_out is two"),
    ({"alphabet": ["a"]}, ValueError, "give 2 texts"), ({"alphabet": ["a", "a"]}, ValueError, "twice"),
    ({"alphabet": 3}, ValueError, "give 2 texts"), ({"alphabet": ["a", ""]}, ValueError, "for a symbol"),
    ({"__init__": lambda self: 1 / 0}, ZeroDivisionError, "division")])
def test_what_goes_wrong_in_a_task_reaches_the_caller(methods, error, words, tmp_path):
    wrong = type("Wrong", (pl.Task,), methods)
    with pytest.raises(error, match=words):
        pl.tasks.wrong.batch(2, length=5)
    with pytest.raises(error):
        pl.train(task=wrong, out=tmp_path / "run", **{**TINY, "eval_lengths": "5:5"})


def test_a_batch_of_shuffled_inputs_is_looked_at():
    wrong = type("Wrong", (pl.Task,), {**of_answer(lambda x: [0]), "shuffled": lambda self, x, rng: x[1:]})
    with pytest.raises(ValueError, match="the same in another order"):
        pl.tasks.wrong.baselines(5, 8)
    assert "Wrong" not in pl.tasks.wrong.__doc__ and wrong.name == "wrong"


def test_a_class_that_is_written_anew_takes_the_place_of_the_old_one():
    for symbol in (0, 1):
        type("Again", (pl.Task,), of_answer(lambda x, symbol=symbol: [symbol]))
        assert (pl.tasks.again.batch(4, length=3)["targets"] == symbol).all()
        assert pl.tasks["again"].answer("01") == str(symbol)


@pytest.mark.parametrize("members, words", [
    ({"name": "even_pairs"}, "there is a task even_pairs already"),
    ({"name": "My task"}, "cannot be the name of a task"),
    ({"options": {"a": "b"}}, "give a bool, an int or a float"), ({"options": {"answer": 3}}, "a method has that name"),
    ({"options": {"a b": 1}}, "a Python identifier")])
def test_names_of_tasks_are_looked_at(members, words):
    with pytest.raises(ValueError, match=words):
        type("Mine", (pl.Task,), members)


class TrainsInside(pl.Task):
    def answer(self, x):
        pl.train(task="even_pairs", out="never", **TINY)


class MakesInside(pl.Task):
    def answer(self, x):
        return type("Another", (pl.Task,), {})


@pytest.mark.parametrize("task, words", [(TrainsInside, "called from inside a training run"),
                                         (MakesInside, "another call is running")])
def test_what_must_not_be_done_inside(task, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        pl.train(task=task, out=tmp_path / "run", **TINY)
    pl.train(task=Ends, out=tmp_path / "next", **{**TINY, "steps": 1})       # and the next training is not stopped

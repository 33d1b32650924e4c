"""Samplers written in Python: trained and checked like any other."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from built import HANGS

import poslab as pl

TINY = {"preset": "tiny", "task": "even_pairs", "encoding": "rope", "steps": 8, "eval_lengths": "1:4",
        "eval_samples": 8, "progress": False}


class Counted(pl.Sampler):
    """Plain positions."""


class Jumps(pl.Sampler):
    """Neighbours are up to `most` apart."""

    options = {"most": 8}

    def draw(self, slots, rng):
        return np.cumsum(rng.integers(1, self.most + 1, slots))


def test_a_sampler_trains_with_the_bits_of_its_twin(tmp_path):
    options = {**TINY, "test_positions": "sequential"}
    ours = pl.train(out=tmp_path / "ours", **{**options, "positions": Counted})
    theirs = pl.train(out=tmp_path / "theirs", **{**options, "positions": "sequential"})
    for name in ("metrics.jsonl", "eval.csv"):
        assert Path(ours.file(name)).read_bytes() == Path(theirs.file(name)).read_bytes()


def test_a_random_sampler_repeats_itself(tmp_path):
    jumps = pl.samplers.jumps(most=3)
    p = jumps.draw(30, 4, seed=1)
    assert p.shape == (4, 30) and set(np.diff(p).ravel()) == {1, 2, 3} and len({tuple(row) for row in p}) == 4
    assert (p != jumps.draw(30, 4, seed=2)).any() and (p != jumps.draw(30, 4, seed=1, step=1)).any()
    options = {**TINY, "positions": jumps}
    one, other = (pl.train(out=tmp_path / name, **options) for name in "ab")
    assert Path(one.file("metrics.jsonl")).read_bytes() == Path(other.file("metrics.jsonl")).read_bytes()
    sequential = pl.train(out=tmp_path / "c", **{**options, "positions": "sequential"})
    assert Path(one.file("metrics.jsonl")).read_bytes() != Path(sequential.file("metrics.jsonl")).read_bytes()


class Forgetful(pl.Sampler):
    def draw(self, slots, rng):
        return np.random.default_rng().uniform(0, 3, slots)


def test_check_says_what_is_wrong_with_a_sampler():
    assert all(row["passed"] for row in pl.check(Jumps)) and all(row["passed"] for row in pl.check(pl.samplers.jumps))
    assert [row["check"] for row in pl.check(Forgetful) if not row["passed"]] == ["repeats", "rises"]


@pytest.mark.parametrize("drawn, error, words", [
    (lambda slots: 1 / 0, ZeroDivisionError, "division"), (lambda slots: None, ValueError, "give numbers"),
    (lambda slots: np.zeros(slots + 1), ValueError, "one for each slot"), (lambda slots: "abc", ValueError, "give num"),
    (lambda slots: np.zeros((1, slots)), ValueError, "one for each slot"),
    (lambda slots: [float("nan")] * slots, ValueError, "position nan"),
    (lambda slots: [1e30] * slots, ValueError, "below 2"), (lambda slots: [1j] * slots, ValueError, "complex")])
def test_what_goes_wrong_in_a_sampler_reaches_the_caller(drawn, error, words, tmp_path):
    wrong = type("Wrong", (pl.Sampler,), {"draw": lambda self, slots, rng: drawn(slots)})
    with pytest.raises(error, match=words):
        pl.samplers.wrong.draw(5)
    with pytest.raises(error, match=words):
        pl.train(out=tmp_path / "run", **{**TINY, "positions": wrong})


class TrainsInDraw(pl.Sampler):
    def draw(self, slots, rng):
        pl.train(out="never", **TINY)


def test_a_sampler_must_not_train(tmp_path):
    with pytest.raises(ValueError, match="called from inside a training run or a check"):
        pl.train(out=tmp_path / "run", **{**TINY, "positions": TrainsInDraw})


def test_names_of_samplers_are_looked_at():
    with pytest.raises(ValueError, match="there is a sampler randomized already"):
        type("Randomized", (pl.Sampler,), {})
    with pytest.raises(ValueError, match="give a bool, an int or a float"):
        type("Mine", (pl.Sampler,), {"options": {"a": "b"}})
    with pytest.raises(ValueError, match="a method has that name"):
        type("Mine", (pl.Sampler,), {"options": {"draw": 3}})


# The working thread ends while a signal handler holds the GIL. At its end it needs the GIL once more, so a thread that
# joins it must not hold the GIL. The timer counts processor time: on a busy machine, a timer by the clock would fire
# again before anything else has run.
HANDLER_AT_THE_END = """
import signal, sys, time
import poslab as pl

class Own(pl.Sampler):
    pass

def busy(*_):
    until = time.thread_time() + 0.2
    while time.thread_time() < until:
        pass
    signal.setitimer(signal.ITIMER_PROF, 0.001)

run = pl.train(preset="tiny", task="even_pairs", encoding="rope", positions=Own, steps=1, eval_lengths="1:1",
               eval_samples=1, out=sys.argv[1], progress=False)
signal.signal(signal.SIGPROF, busy)
sys.setswitchinterval(100)
signal.setitimer(signal.ITIMER_PROF, 0.001)
for _ in range(8):
    pl.evaluate(run, lengths="200:200", samples=16, progress=False)
signal.signal(signal.SIGPROF, signal.SIG_IGN)
"""


def test_a_handler_of_a_signal_at_the_end_of_a_call(tmp_path):
    subprocess.run([sys.executable, "-c", HANDLER_AT_THE_END, tmp_path / "run"], check=True, timeout=HANGS)

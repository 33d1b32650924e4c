"""Training and testing, with the options of the command line; the run folders have the same bits."""

import json
import os
from pathlib import Path

from ._poslab import _inside
from .chosen import spelled_value, switch
from .html import of_run
from .model import patterns
from .tables import read_csv, table


def _parsed(text, place, remedy):
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise ValueError(f"{place} is damaged: it is not JSON; {remedy}") from None


class Run:
    """A run folder: the files of its training and tests. `seen` has the activations kept by the trace of train() or
    resume().

    `test` is "" for the run's own test, or the name of a test under other options, whose result and lengths this Run
    then has. `tests` has all tests under other options."""

    def __init__(self, path, seen=None, test=""):
        self.path = os.fsdecode(path)
        self.seen = seen or {}
        self.test = test
        if not os.path.exists(os.path.join(self.path, "config.toml")):
            raise ValueError(f"{self.path} is not a run folder: it has no config.toml; pl.train makes one")

    def file(self, name):
        """The path of a file in the folder. For eval.csv and result.json, it is the file of `test`."""
        if self.test:
            name = {"eval.csv": f"eval-{self.test}.csv", "result.json": f"eval-{self.test}.json"}.get(name, name)
        return os.path.join(self.path, name)

    @property
    def tests(self):
        """The run's tests under other options than its own: a dict of Runs by name."""
        return {name: Run(self.path, self.seen, name) for name in _inside.other_tests(self.path)}

    @property
    def result(self):
        """Scores, baselines, configuration and speed: a dict."""
        if not os.path.exists(self.file("result.json")):
            raise ValueError(f"{self.path} has no result yet: its training has not ended; pl.resume continues it, and"
                             " `metrics` has its steps so far")
        result = _parsed(Path(self.file("result.json")).read_text(encoding="utf-8"), self.file("result.json"),
                         "pl.evaluate tests the run again, and writes it")
        if os.path.exists(self.file("eval.csv")):
            _inside.check_test(self.path, self.test)
        return result

    @property
    def lengths(self):
        """Accuracy by length: a DataFrame of pandas, or a list of dicts where it is not installed."""
        return table(self.rows("eval.csv"))

    def rows(self, name):
        """A table of the folder, such as eval.csv: a list of dicts."""
        if name == "eval.csv" and os.path.exists(self.file("result.json")):
            _inside.check_test(self.path, self.test)
        return read_csv(self.file(name))

    @property
    def metrics(self):
        """Loss, accuracy and gradient norm by step: a DataFrame, or a list of dicts, as in `lengths`."""
        path = self.file("metrics.jsonl")
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        steps = [_parsed(line, f"line {number} of {path}", "restore the file from a copy, or empty it to do without")
                 for number, line in enumerate(lines, 1)]
        if os.path.exists(os.path.join(self.path, "result.json")):
            _inside.check_own_files(self.path)
        return table(steps)

    def _repr_html_(self):
        done = os.path.exists(self.file("result.json"))
        return of_run(self.path, self.result if done else None,
                      self.rows("eval.csv") if os.path.exists(self.file("eval.csv")) else [])

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"<run {self.path}, test {self.test}>" if self.test else f"<run {self.path}>"


def train(*unnamed, command="train", force=False, progress=True, trace=None, **options):
    """Trains a model into the new folder `out`, then tests it: `poslab train` with the same options, spelled with _.
    command: "lm train" trains a language model instead, "t5 train" a T5, "decoder train" a decoder for a task.

    pl.options(command) lists the options. "train" requires task and encoding, unless `from_` (the option from) names a
    run that has them. Other threads continue meanwhile. Ctrl-C saves the current step and stops: resume(out) continues
    the run. progress: whether stderr shows a bar. trace: a dict of patterns and functions, as for a Model, here for
    activations and updates in every step. An update, such as "update.head.w", is the term that a step adds to a
    parameter. A pattern with None for a function keeps its matches of the last step in `seen` of the Run. An exception
    in a function ends training. On a GPU functions may replace only updates. Returns a Run."""
    if unnamed:
        raise ValueError(f"train: {unnamed[0]!r} has no name; name the option, as in train(task=\"even_pairs\", "
                         "encoding=\"rope\", out=\"runs/first\")")
    for name, value in options.items():
        if isinstance(value, (list, tuple)):
            span = ', and a range of lengths is text, as "1:100"' if name == "eval_lengths" else ""
            raise ValueError(f"{name} is {value!r}, and train makes one run; pl.sweep takes lists{span}")
    texts = _texts(options)
    how = switch("force", force), switch("progress", progress), patterns(trace)
    seen = _as_written(options, lambda: _inside.train_run(command, texts, *how))
    return Run(dict(texts)["out"], seen)


def resume(run, *, force=False, progress=True, trace=None, **options):
    """Continues a stopped run: the result is bit for bit that of an uninterrupted one. A trace must be given again.
    Options: threads, device. Returns a Run."""
    path = os.fsdecode(run)
    texts = _texts(options, ("threads", "device"))
    seen = _inside.resume_run(path, texts, force, progress, patterns(trace))
    return Run(path, seen)


_testing = {"lengths": "eval_lengths", "times": "eval_times", "samples": "eval_samples",
            "positions": "test_positions", "temperature": "test_temperature"}


def evaluate(run, *, name="", force=False, progress=True, **options):
    """Tests a run again: `poslab eval`. A test under other options than the run's own is kept with the run's result,
    under `name` or a name made from the options. Returns a Run whose result and lengths are those of the test.

    Options: lengths ("1:100"), samples, positions, temperature, loops, test_dropout, matmul, threads, device. Other
    kinds of run take those of their own eval, such as times and encoding of `poslab lm eval`. force: tests even if it
    seems to need more than this machine's memory, or more than a month."""
    path = os.fsdecode(run)
    tested = _inside.tested_options(path)
    short = {one: whole for one, whole in _testing.items() if whole in tested}
    texts = _texts(options, (*short, *tested, "threads", "device"))
    named = [(short.get(option, option), text) for option, text in texts]
    own = ("matmul", "threads", "device")
    for option, _ in named:
        if not name and not option.startswith(("eval_", "test_")) and option not in own:
            raise ValueError(f"{option} makes a model other than the run's; give a name, under which its test is kept")
    return Run(path, test=_as_written(options, lambda: _inside.test_run(path, named, name, force, progress)))


def _as_written(options, call):
    """call(), with error messages that name refused values as they were written in Python."""
    try:
        return call()
    except ValueError as e:
        text = str(e)
        for value in options.values():
            if not isinstance(value, str):
                text = text.replace(f'"{spelled_value(value)}"', repr(value))
        if text == str(e):          # nothing to restore: the traceback may lead to the caller's own function
            raise
        raise ValueError(text) from None


def options(command="train"):
    """The options of train(command=...): name, values, default, description."""
    return table(_inside.run_options(command))


def _texts(options, allowed=None):
    for name in options:
        if allowed is not None and name not in allowed:
            raise ValueError(_inside.unknown("option", name, list(allowed)))
        if options[name] is None:
            raise ValueError(f"{name} is None; leave it out for its default, or give a value")
    return [(name.removesuffix("_"), os.fspath(value) if hasattr(value, "__fspath__") else spelled_value(value))
            for name, value in options.items()]

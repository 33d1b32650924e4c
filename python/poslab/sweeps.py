"""Sweeps and reproductions: many runs by one call, in worker processes of the program."""

import json
import os
import re
from pathlib import Path

from . import program
from ._poslab import _inside
from .chosen import spelled_value
from .own import written_in_python
from .pages import Page
from .runs import Run
from .tables import read_csv, table

# The options whose values may be written in Python, and their kinds.
KINDS = {"task": "task", "encoding": "encoding", "positions": "sampler", "test_positions": "sampler"}


class Sweep:
    """The folder of a sweep: its trials and their results, which can be read while workers run."""

    def __init__(self, path):
        self.path = os.fsdecode(path)
        if not os.path.exists(os.path.join(self.path, "plan.jsonl")):
            raise ValueError(f"{self.path} is not the folder of a sweep: it has no plan.jsonl; pl.sweep makes one")

    def _rows(self, which):
        return [json.loads(line) for line in _inside.sweep_tables(self.path)[which].splitlines()]

    @property
    def trials(self):
        """A row for each trial: id, name, state, the options that differ, scores, all other options. A DataFrame of
        pandas, or a list of dicts where it is not installed."""
        return table(self._rows(0))

    @property
    def lengths(self):
        """Accuracy by length, a row for each trial and length: a DataFrame, or a list of dicts."""
        return table(self._rows(1))

    @property
    def runs(self):
        """The finished trials by id: a dict of Runs."""
        return {row["id"]: Run(os.path.join(self.path, row["id"])) for row in self._rows(0) if row["state"] == "done"}

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"<sweep {self.path}>"


class Reproduction:
    """The folder of a reproduction: its tables, and the page that shows them."""

    def __init__(self, path):
        self.path = os.fsdecode(path)

    @property
    def tables(self):
        """The rows of each table and figure, by its name: a dict of DataFrames of pandas, or of lists of dicts."""
        return {file.stem: table(read_csv(file)) for file in sorted(Path(self.path).glob("*.csv"))}

    @property
    def page(self):
        """The page for a notebook: index.html."""
        return Page.of(self.path)

    def _repr_html_(self):
        return self.page._repr_html_()

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"<reproduction {self.path}>"


def sweep(plan=None, *, out, jobs=1, threads=None, shard=None, name=None, also=(), command="train", retry=False,
          force=False, progress=True, **options):
    """Trains and tests many runs, each in a process of the program: `poslab sweep plan` and `sweep run`.

        pl.sweep(task=["even_pairs", "bucket_sort"], encoding=["rope", "alibi"], preset="tiny", seeds=3,
                 out="runs/sweep", jobs=2).trials

    options: those of train(), each a value or a list of values; the trials are the product of all lists. seeds=3 is
    seed=[0, 1, 2]. also: dicts, each a further product, whose values replace those of the options. command: "lm train"
    trains language models, "t5 train" T5s, with their own options. plan: an existing plan.jsonl, instead of options.
    jobs: trials at once. threads: for each. shard: "0/4". name: "{task}-{encoding}-{seed}", for links to the trials.

    Finished trials are skipped, stopped ones continue. Ctrl-C saves first. A failed trial does not stop the others:
    RuntimeError is raised at the end, and Sweep(out).trials has the reason. Encodings, samplers and tasks written in
    Python cannot be swept, because the program does not know them. Returns a Sweep."""
    how = program.words_of({"out": os.fsdecode(out), "jobs": jobs, "threads": threads, "shard": shard, "name": name,
                            "retry": retry, "force": force})
    if plan is not None:
        if options or also or command != "train":
            raise ValueError("a sweep takes either a plan or options; leave out one of the two")
        program.run(["sweep", "run", os.fsdecode(plan), *how], progress)
        return Sweep(out)
    import tempfile
    lines = _inside.sweep_plan(_lists(options), [_lists(more) for more in also], command)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "plan.jsonl")
        Path(file).write_text(lines, encoding="utf-8")
        program.run(["sweep", "run", file, *how], progress)
    return Sweep(out)


def _lists(options):
    lists = {name: [spelled_value(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
             for name, value in options.items()}
    for option, kind in KINDS.items():
        for word in re.split(r"[|:+*&,]|\w+=", ",".join(lists.get(option, []))):
            if (kind, word) in written_in_python:
                raise ValueError(f"{word} is written in Python, so the processes of a sweep do not know it; train it "
                                 "with pl.train, a run at a time")
    return lists


def reproduce(*what, out, size="tiny", tasks=(), encodings=(), set=None, jobs=1, threads=None, retry=False, plan=False,
              draw=False, force=False, progress=True):
    """Reproduces tables and figures of a paper: `poslab reproduce`, with its options. Takes names such as
    "ruoss2023:table1"; `poslab reproduce` lists them.

    set: a dict of options for every run. plan: only writes FOLDER/plan.jsonl. draw: only draws finished runs. force:
    runs even if it seems to need more than this machine's memory, or more than a month. Returns a Reproduction, which a
    notebook shows as its page."""
    words = [spelled_value(w) for w in what]
    if not words:
        raise ValueError('reproduce what? Give a name, as in pl.reproduce("ruoss2023:table1", out="runs/table1")')
    settings = [f"--set={name}={json.dumps(v) if isinstance(v, (list, tuple)) else spelled_value(v)}"
                for name, v in (set or {}).items()]
    how = program.words_of({"size": size, "tasks": ",".join(map(spelled_value, tasks)),
                            "encodings": ",".join(map(spelled_value, encodings)), "out": os.fsdecode(out), "jobs": jobs,
                            "threads": threads, "retry": retry, "plan": plan, "draw": draw, "force": force})
    program.run(["reproduce", *words, *how, *settings], progress)
    return Reproduction(out)

"""Sweeps of tasks: accuracies by length, baselines, and how models were trained and tested. A range of lengths is a
pair, both ends included."""

import numpy as np

from .page import Cell
from .seeds import mean, number

BASELINES = {"chance": "chance", "majority": "majority", "content_only": "content only"}


def ends(text):
    """ "41:100" as (41, 100)."""
    low, high = map(int, text.split(":"))
    return low, high


def trained_lengths(options):
    """The range of training lengths of a run with these options: a fixed curriculum has only the longest."""
    longest = int(options["train_length"])
    return longest if options.get("curriculum") == "fixed" else 1, longest


def mean_at(trials, column, lengths):
    """The mean of a column of eval.csv over these lengths, by trial, added in their order as the program does."""
    key = (column, lengths)
    if key not in trials.frames:
        table = trials.by_length(column).loc[:, lengths[0] : lengths[1]].assign(none=float("nan"))
        trials.frames[key] = table.cumsum(axis=1).ffill(axis=1)["none"] / table.count(axis=1)
    return trials.frames[key]


def asked(trials, **options):
    """The trials that have these options; cached, because tables ask for the same trials again and again."""
    key, found = ("asked", *options.items()), trials.settings
    for one in options.items():
        if one not in found:
            found[one] = trials.asked[one[0]].eq(one[1]).to_numpy()
    if key not in found:
        found[key] = trials.asked[np.logical_and.reduce([found[one] for one in options.items()])]
    return found[key]


def done(trials, **options):
    """Finished trials with these options."""
    return asked(trials, done=True, **options)


def baselines(trials, of, lengths):
    """Baselines by name, as means over the seeds of these trials of one task; runs with equal seeds have the same
    strings."""
    ids = of.drop_duplicates("seed").sort_values("seed").index
    return {name: mean(mean_at(trials, name, lengths)[ids]) for name in BASELINES}


def task_cell(trials, of, *ranges):
    """The task of these trials, and below it its baselines in each range of lengths."""
    at = [baselines(trials, of, lengths) for lengths in ranges]
    below = [f"{name} {' / '.join(number(one[column]) for one in at)}" for column, name in BASELINES.items()]
    return Cell(of["task"].iloc[0], below)


def how_many(trials):
    these = done(trials)
    if these.empty:
        return "No run is done yet."
    seeds, rates = these["seed"].nunique(), sorted(these["lr"].unique())
    columns = ["steps", "batch", "train_length", "eval_lengths", "eval_samples", "test_dropout"]
    tested = sorted(
        f"{r.steps} steps of {r.batch} strings to length {r.train_length}, tested to length {ends(r.eval_lengths)[1]} "
        f"with {r.eval_samples} strings of each, dropout at test {'on' if r.test_dropout else 'off'}"
        for r in these.drop_duplicates(columns).itertuples()
    )
    return (
        f"{seeds} seed{'s' * (seeds != 1)}, learning rate{'s' * (len(rates) != 1)} "
        f"{', '.join(f'{rate:g}' for rate in rates)}; {'; '.join(tested)}."
    )

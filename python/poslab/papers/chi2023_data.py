"""The results of chi2023's runs, by seed: answers, losses, alignments; and the verdicts of its tables, with their
cells and sentences."""

import pandas as pd

from .page import Cell, Grid
from .seeds import NAN, above, average, difference, interval, mean, number, span, summary
from .setting import strong
from .trials import published

MODES = {"original": "", "log rule": "log", "maximum probability": "pmax", "entropy": "entropy",
         "proposition 1": "prop1", "proposition 2": "prop2"}  # fmt: skip
UNLEARNED = "neither side is above guesses by more than its interval"


def file(task, mode, folder, ending):
    return f"{folder}/{'-'.join(filter(None, [task, MODES[mode]]))}.{ending}"


def answers(trials, model, task, mode, length, column="accuracy"):
    """A test of a model, plain or with an aligned temperature. The language model has no task."""
    test = file(task, mode, "tests", "csv") if MODES[mode] else "eval.csv"
    return trials.by_seed(model, test, length, task or "plain", column)


def of_task(trials, task, mode, length):
    """answers() for the model that learned the task."""
    return answers(trials, trials.about["tasks"][task], task, mode, length)


def over_all(trials, tasks, lengths, mode, model=""):
    """For each seed, the mean over tasks and lengths; by default, of the model that learned each task."""
    models = {task: model or trials.about["tasks"][task] for task in tasks}
    return average([answers(trials, models[task], task, mode, length) for task in tasks for length in lengths])


def guess(trials, tasks, lengths):
    """The mean accuracy of random answers."""
    return mean([trials.about["guess"][task][str(length)] for task in tasks for length in lengths])


def at_length(record, length):
    return next((one for one in record["long"] if one["length"] == length), None)


def temperature(trials, task, mode, length):
    """The temperatures by algorithm 1 or another rule for a task."""
    records = trials.records(trials.about["tasks"][task], file(task, mode, "aligned", "json"))
    found = {seed: at_length(record, length) for seed, record in records.items()}
    return pd.Series({seed: one["temperature"][0] for seed, one in found.items() if one}, dtype=float)


def attention(trials, task, length, name, first_layer):
    """A statistic of attention before alignment: the mean over all layers of the encoder, or its first layer's."""
    found = {}
    records = trials.records(trials.about["tasks"][task], file(task, "maximum probability", "aligned", "json"))
    for seed, record in records.items():
        at = record["short"]["measured"] if length == trials.about["length"] else at_length(record, length)
        measured = at.get("before", at) if at else {name: [None, None]}
        found[seed] = measured[name][int(first_layer)]
    return pd.Series(found, dtype=float).dropna()


def standing(trials, task):
    """Whether the model of a task is better than guesses at the trained length: "learned", "not learned", or
    "untested"."""
    length = trials.about["length"]
    ours = of_task(trials, task, "original", length)
    if not len(ours):
        return "untested"
    return "learned" if above(ours, guess(trials, [task], [length])) else "not learned"


def verdict_on(trials, task, verdict):
    """A verdict on the model of a task, or "not learned" or "untested"."""
    return verdict if (of := standing(trials, task)) == "learned" else of


def guarded(trials, text):
    """A sentence on the learned tasks, and one on the remaining tasks."""
    count = [standing(trials, task) for task in trials.about["tasks"]].count
    n, why = count("not learned"), "answers at the trained length are not above guesses by more than their interval."
    if not count("learned"):
        return f"None of {n} tested tasks is learned: {why}" if n else "No model is tested yet."
    return text + (f" {n} more task{' is' if n == 1 else 's are'} not learned: {why}" if n else "")


def columns(x, source=NAN):
    """Columns of a .csv file: the number of seeds, their mean, its interval and the source's number."""
    return summary(x, "value") | {"source": source}


def change(more, sides, baseline, words=("better", "worse")):
    """A difference by seed and its verdict: the first word if its interval is above zero, the second if below,
    "inconclusive", or "not learned" if neither side is above the baseline."""
    row = summary(more)
    if any(above(x, baseline) for x in sides):
        verdict = words[0] if row["interval_low"] > 0 else words[1] if row["interval_high"] < 0 else "inconclusive"
    else:
        verdict = "not learned"
    return row | {"verdict": verdict}


def points(x, ends):
    """ "+3.1 points [+1.0, +5.2]" """
    return " ".join([number(x, sign="+"), "points", *span(ends, sign="+")])


def stated(row):
    says = {"inconclusive": "which is inconclusive", "not learned": f"not learned: {UNLEARNED}"}
    ends = row["interval_low"], row["interval_high"]
    return f"{points(row['mean'], ends)}, {says.get(row['verdict'], row['verdict'])}"


def accuracy_cell(ours, reference=None):
    """Accuracy in %, and below it its interval or its lead over a reference, bold if that excludes zero."""
    if reference is None:
        return Cell(number(mean(ours)), span(interval(ours)))
    more = difference(ours, reference)
    ends = interval(more)
    ahead = [" ".join([number(mean(more), sign="+"), *span(ends, sign="+")])] if len(more) else []
    return Cell(number(mean(ours)), ahead, strong(ends))


def value_cell(x, digits=2, source=NAN):
    below = span(interval(x), digits=digits, scale=1)
    return Cell(number(mean(x), digits, 1), below + ([] if pd.isna(source) else [f"source {source:.2f}"]))


def length_names(lengths, trained):
    return [f"{length}{' (trained)' * (length == trained)}" for length in lengths]


def source_grid(table, caption, corner, rows, digits):
    """A grid of the source's numbers. rows: the rows of its table, by our names."""
    frame = published(table)
    cells = [[Cell(name), *(Cell(number(x, digits, 1)) for x in frame.loc[row])] for name, row in rows.items()]
    return Grid(caption, [corner, *frame.columns], cells)

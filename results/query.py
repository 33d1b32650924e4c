"""What results/*.py ask of the tables and trials that are committed, and how they say it. Standard library only."""

import csv
import functools
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
NAMES = {"none": "none", "sincos": "sin/cos", "relative": "relative", "alibi": "ALiBi", "rope": "RoPE",
         "learned": "learned"}  # fmt: skip


@functools.cache
def all_rows(path):
    with (HERE / path).open() as file:
        return list(csv.DictReader(file))


def table(path, **wanted):
    """The rows of a table that have these cells."""
    return [r for r in all_rows(path) if all(r[name] == value for name, value in wanted.items())]


def row(path, **wanted):
    (found,) = table(path, **wanted)
    return found


def one(path, column, **wanted):
    return float(row(path, **wanted)[column])


def mean(rows, column):
    values = [float(r[column]) for r in rows if r[column]]
    return sum(values) / len(values)


# -- trials ------------------------------------------------------------------------------------------------------------


def done(folder, **wanted):
    return [r for r in table(f"{folder}/trials.csv", **wanted) if r["state"] == "done"]


def head(folder):
    """The first paragraph of a folder's page: what is done, and by what it was trained."""
    return (HERE / folder / "README.md").read_text().split("\n\n")[1]


def asked(folder):
    """Of a folder that `poslab.papers` draws: its artifacts, its trials, and what else there is to know of them."""
    return json.loads((HERE / folder / "about.json").read_text())


def about(folder):
    """How many runs of models its tables ask for, and what the trained ones came to."""
    models = {method["model"] for artifact in asked(folder)["artifacts"] for method in artifact.get("methods", [])}
    results = [trial["result"] for trial in kept(f"{folder}/kept.jsonl").values()]
    return sum(trial["model"] in models for trial in asked(folder)["trials"]), results


def numerics(folder):
    """Of its runs, as trials.csv or kept.jsonl has them or, of T5s, the head of the page."""
    if (HERE / folder / "trials.csv").exists():
        return {r.get("numerics") or "" for r in done(folder)}
    if (HERE / folder / "about.json").exists():
        return {r.get("numerics") or "" for r in about(folder)[1]}
    return set(re.findall(r"numerics ([0-9a-f]{8})", head(folder))) or {""}


def hours(trials):
    """Of clock time, summed over trainings."""
    return sum(float(r["seconds"]) for r in trials) / 3600


def cost(folder_trials, unit="core-hours"):
    """Behind a command: what it trains."""
    return f"# {len(folder_trials)} trainings, {hours(folder_trials):.1f} {unit}"


def paper_says(path):
    """Of the comparisons in which the paper has the first ahead by 2 points or more: how many agree, of how many that
    are learned, how many of them with an interval above zero, and how many are not learned."""
    count = [r["verdict"] for r in table(path) if float(r["paper"]) >= 0.02].count
    agree = count("agrees") + count("agrees in sign")
    return agree, agree + count("opposite"), count("agrees"), count("not learned")


@functools.cache
def kept(path):
    """What trials kept, by their id."""
    with (HERE / path).open() as file:
        return {r["id"]: r for r in map(json.loads, file)}


def tested(trial, column, path="table1-tiny/kept.jsonl"):
    """A column of what a trial was tested with, a number a length. "= ID COLUMN" is the same as that trial's."""
    text = kept(path)[trial]["tested"][column]
    while text.startswith("= "):
        _, trial, column = text.split()
        text = kept(path)[trial]["tested"][column]
    return [float(x) for x in text.split()]


@functools.cache
def at_trained(task, encoding, positions):
    """Mean accuracy at the lengths of training, 1 to 20, of table 1 at size tiny: over lengths and seeds."""
    means = [
        sum(tested(r["id"], "accuracy")[:20]) / 20
        for r in done("table1-tiny", task=task, encoding=encoding, positions=positions)
    ]
    return sum(means) / len(means)


# -- words -------------------------------------------------------------------------------------------------------------


def points(x):
    return f"{100 * x:.1f}"


def whole(x):
    return f"{100 * x:.0f}"


def signed(x):
    """With its sign; what rounds to zero has none."""
    text = f"{100 * x:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def interval(r, low="interval_low", high="interval_high", say=points):
    return f"[{say(float(r[low]))}, {say(float(r[high]))}]"


def range_of(values, say=whole):
    return f"{say(min(values))} to {say(max(values))}"


def in_words(name):
    """missing_duplicate_string: Missing Duplicate, as the pages write it."""
    short = {"missing_duplicate_string": "missing_duplicate"}
    return " ".join(word.capitalize() for word in short.get(name, name).split("_"))


def listed(items):
    items = list(items)
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]

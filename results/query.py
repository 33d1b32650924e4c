"""Access to the committed tables and trials for results/*.py and the templates of pages, and formats of numbers.
Standard library only."""

import csv
import functools
import json
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
NAMES = {"none": "none", "sincos": "sin/cos", "relative": "relative", "alibi": "ALiBi", "rope": "RoPE",
         "learned": "learned"}  # fmt: skip
ENCODINGS = [e for e in NAMES if e != "none"]
TASKS = ("even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort")  # the tasks of finding 1
HASHES = ("id", "commit", "numerics")  # columns of texts, some of which look like numbers


def cell(name, text):
    for type in () if name in HASHES else (int, float):
        try:
            return type(text)
        except ValueError:
            pass
    return text


@functools.cache
def all_rows(path):
    with (HERE / path).open() as file:
        return [{name: cell(name, text) for name, text in r.items()} for r in csv.DictReader(file)]


def table(path, **wanted):
    """The rows of a table with these cells."""
    return [r for r in all_rows(path) if all(r[name] == value for name, value in wanted.items())]


def row(path, **wanted):
    (found,) = table(path, **wanted)
    return found


def one(path, column, **wanted):
    return row(path, **wanted)[column]


def column(path, name, **wanted):
    return [r[name] for r in table(path, **wanted) if r[name] != ""]


def by(name, rows):
    """The rows, grouped by their cell in a column, in order of first appearance."""
    groups = {}
    for r in rows:
        groups.setdefault(r[name], []).append(r)
    return groups


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def write(path, rows, folders):
    """Writes a committed table again. rows: None if the command names too few or too many folders."""
    if not rows:
        sys.exit(f"{sys.argv[0]}: no finished trial in the folders given; name {folders}")
    with (HERE / path).open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


# -- trials ------------------------------------------------------------------------------------------------------------


def done(folder, **wanted):
    return table(f"{folder}/trials.csv", state="done", **wanted)


@functools.cache
def page(folder):
    """The page.json of a folder, by poslab.papers: its title, its tables, and its runs."""
    return json.loads((HERE / folder / "page.json").read_text())


def folders():
    return [path.parent.name for path in sorted(HERE.glob("*/page.json"))]


def asked(folder):
    """The about.json of a folder that poslab.papers can draw again: its artifacts, its trials, and their
    registration."""
    return json.loads((HERE / folder / "about.json").read_text())


def cost(folder):
    """The cost of a command, in hours of one core."""
    trained = page(folder)
    return f"{trained['done']} runs, {trained['hours']:.1f}"


@functools.cache
def kept(path):
    """The kept results of trials, by id."""
    with (HERE / path).open() as file:
        return {r["id"]: r for r in map(json.loads, file)}


def tested(trial, column, path="table1-tiny/kept.jsonl"):
    """A column of a trial's test, a number for each length. "= ID COLUMN" refers to a column of trial ID."""
    text = kept(path)[trial]["tested"][column]
    while text.startswith("= "):
        _, trial, column = text.split()
        text = kept(path)[trial]["tested"][column]
    return [float(x) for x in text.split()]


@functools.cache
def at_trained(task, encoding, positions):
    """Mean accuracy of table 1, size tiny, over the trained lengths, 1 to 20, and over seeds."""
    of = done("table1-tiny", task=task, encoding=encoding, positions=positions)
    return mean(mean(tested(r["id"], "accuracy")[:20]) for r in of)


def bench(name):
    """A table of bench/results/: its comment lines (machine, command), and its rows as texts."""
    lines = (ROOT / "bench/results" / name).read_text().splitlines()
    notes = [line.strip("# ") for line in lines if line.startswith("#")]
    return notes, list(csv.DictReader(line for line in lines if not line.startswith("#")))


# -- words -------------------------------------------------------------------------------------------------------------


def points(x):
    return f"{100 * x:.1f}"


def whole(x):
    return f"{100 * x:.0f}"


def signed(x):
    """The number with its sign, or without a sign if it rounds to zero."""
    text = f"{100 * x:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def with_interval(r, column="mean", say=points, ends="interval"):
    return f"{say(r[column])} [{say(r[f'{ends}_low'])}, {say(r[f'{ends}_high'])}]"


def range_of(values, say=whole):
    values = list(values)
    return f"{say(min(values))} to {say(max(values))}"


def in_words(name):
    """The name of a task on pages: Missing Duplicate for missing_duplicate_string."""
    short = {"missing_duplicate_string": "missing_duplicate"}
    return " ".join(word.capitalize() for word in short.get(name, name).split("_"))


def listed(items):
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def filled(path, names):
    """A template with each {{...}} evaluated like the braces of an f-string, {{mean(gains):.1f}}, and its paragraphs in
    120 columns. No line begins with a number's %, because the site reads such lines as comments."""
    text = re.sub(r"\{\{(.+?)\}\}", lambda m: eval(f"f'''{{{m[1]}}}'''", dict(names)), path.read_text(), flags=re.S)
    wrapped = functools.partial(textwrap.wrap, width=120, break_long_words=False, break_on_hyphens=False)
    blocks = re.split(r"(\n\n|\n(?=- |[|<]))", text)
    for n, block in enumerate(blocks):
        if block[:1] not in ("", "\n", "#", "|", "!", "<", " "):
            kept = re.sub(r"\s+", " ", block).replace(" %", "\xa0%")
            blocks[n] = "\n".join(wrapped(kept, subsequent_indent="  " * block.startswith("- "))).replace("\xa0", " ")
            blocks[n] += "\n" * block.endswith("\n")
    return "".join(blocks)


def lines(table):
    return "\n".join(table)


def markdown(head, rows):
    """The lines of a table."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return [lines[0].replace("|  |", "| |"), "|---" * len(head) + "|", *lines[1:]]

#!/usr/bin/env python3
"""Draws the pictures of docs/results.md into docs/results/, from results/*/*.csv.

    .venv-python/bin/python results/pictures.py [NAME...]

Each SVG says its numbers in words, for who cannot see it; results/sentences.py compares these with the tables, without
matplotlib.
"""

import csv
import pathlib
import sys
from dataclasses import dataclass
from typing import Callable

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent / "docs/results"
BLUE, ORANGE, GREEN, GREY, PINK, YELLOW = "#0072B2", "#D55E00", "#009E73", "#777777", "#CC79A7", "#E69F00"
SCHEMES = {"sincos": "sin/cos", "relative": "relative", "alibi": "ALiBi", "rope": "RoPE", "learned": "learned"}


@dataclass
class Picture:
    name: str
    title: str
    says: str  # what it shows, with its numbers
    size: tuple  # inches
    draw: Callable  # of a figure of matplotlib


def rows(path, **wanted):
    with (HERE / path).open() as file:
        return [r for r in csv.DictReader(file) if all(r[name] == value for name, value in wanted.items())]


def percent(text):
    return round(100 * float(text), 1)


def in_words(name):
    return name.replace("_", " ")


def interval(row):
    """Its ends in %, or the mean twice where one seed has none."""
    return [percent(row[end] or row["mean"]) for end in ("interval_low", "interval_high")]


# -- two points a line: what one change does ---------------------------------------------------------------------------


def pairs(axes, lines, names, title, limits, level=None):
    """lines: (label, first, second), each (mean, low, high); the second is what the picture is about."""
    for y, (_, first, second) in enumerate(lines):
        axes.plot([first[0], second[0]], [y, y], color="#cccccc", linewidth=3, zorder=1)
        for (mean, low, high), colour, marker in ((first, GREY, "o"), (second, BLUE, "D")):
            axes.plot([low, high], [y, y], color=colour, linewidth=1, zorder=2)
            axes.plot(
                mean, y, marker, color=colour, markersize=5.5, zorder=3, label=names[colour == BLUE] if not y else ""
            )
    if level is not None:
        axes.axvline(level, color=ORANGE, linestyle="--", linewidth=1)
    axes.set(yticks=range(len(lines)), title=title, xlim=limits, xlabel="accuracy in %")
    axes.set_yticklabels([label for label, *_ in lines])
    axes.set_ylim(len(lines) - 0.5, -0.5)


def of_row(row):
    return percent(row["mean"]), *interval(row)


def randomized():
    tasks = ("even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort")
    found = {(r["task"], r["encoding"], r["positions"]): r for r in rows("table1-tiny/table1.csv")}
    panels = {
        task: [
            (name, *(of_row(found[task, scheme, positions]) for positions in ("sequential", "randomized")))
            for scheme, name in SCHEMES.items()
        ]
        for task in tasks
    }
    majority = {task: percent(found[task, "rope", "sequential"]["majority"]) for task in tasks}
    says = " ".join(
        f"{in_words(task)} (most frequent symbol {majority[task]}): "
        + ", ".join(f"{name} {plain[0]} to {random[0]}" for name, plain, random in lines)
        + "."
        for task, lines in panels.items()
    )

    def draw(figure):
        for axes, (task, lines) in zip(figure.subplots(1, 4, sharey=True), panels.items()):
            pairs(axes, lines, ("plain", "randomized"), in_words(task), (15, 102), majority[task])
        figure.axes[0].legend(loc="lower right", frameon=False, fontsize=7)

    return Picture(
        "randomized", "Accuracy in % on unseen lengths, from plain to randomized positions", says, (10, 2.4), draw
    )


def in_order():
    found = {(r["task"], r["order"]): r for r in rows("ruoss2023-tiny/table3.csv")}
    lines = [
        (in_words(task), *(of_row(found[task, order]) for order in ("unsorted", "sorted")))
        for task in dict.fromkeys(task for task, _ in found)
    ]
    says = ", ".join(f"{task} {lost[0]} to {kept[0]}" for task, lost, kept in lines) + "."

    def draw(figure):
        axes = figure.subplots()
        pairs(axes, lines, ("in random order", "sorted"), "randomized sin/cos", (15, 102))
        axes.legend(loc="center right", frameon=False, fontsize=7)

    return Picture(
        "sorted", "Accuracy in % on unseen lengths, from unsorted to sorted random positions", says, (7, 2), draw
    )


# -- curves against the length -----------------------------------------------------------------------------------------


def curves(axes, lines, title):
    """lines: {label: [(length, accuracy), ...]}"""
    for (label, points), colour, style in zip(
        lines.items(), (GREY, BLUE, GREEN, ORANGE, PINK, YELLOW), ("--", "-", "-.", ":", (0, (3, 1, 1, 1)), (0, (5, 2)))
    ):
        axes.plot(*zip(*points), color=colour, linestyle=style, marker="o", markersize=3, linewidth=1.6, label=label)
    lengths = [length for length, _ in next(iter(lines.values()))]
    axes.set_xscale("log", base=2)
    axes.set(xticks=lengths, title=title)
    axes.set_xticklabels([str(length) for length in lengths], fontsize=7)
    axes.minorticks_off()


def said(lines):
    return "; ".join(f"{label} " + ", ".join(f"{y} at {x}" for x, y in points) for label, points in lines.items())


def alignment():
    modes = {"original": "as trained", "maximum probability": "aligned", "log rule": "log rule"}
    tasks = {
        task: {
            label: [
                (int(r["length"]), percent(r["value"])) for r in rows("chi2023-tiny/table4.csv", task=task, mode=mode)
            ]
            for mode, label in modes.items()
        }
        for task in ("topic", "line", "passkey")
    }
    says = " ".join(f"{task}: {said(lines)}." for task, lines in tasks.items())

    def draw(figure):
        for axes, (task, lines) in zip(figure.subplots(1, 3, sharey=True), tasks.items()):
            curves(axes, lines, task)
            axes.set_xlabel("symbols of context")
        figure.axes[0].set_ylabel("answers right, %")
        figure.axes[1].legend(loc="lower left", frameon=False, fontsize=7)

    return Picture("alignment", "Answers right in % against the length of the context", says, (9, 2.4), draw)


def rerope():
    methods = {"Baseline": "RoPE", "ReRoPE-w32": "ReRoPE", "NTK-RoPE-mixed": "NTK", "PI-RoPE": "PI", "HFWA": "HFWA"}
    sets = {
        kind: {
            label: [
                (int(r["length"]), percent(r["accuracy"]))
                for r in rows("su2023-tiny/lengths.csv", method=method, set=kind)
            ]
            for method, label in methods.items()
        }
        for kind in ("repeated", "plain")
    }
    says = " ".join(f"{kind} texts: {said(lines)}." for kind, lines in sets.items())

    def draw(figure):
        for axes, (kind, lines) in zip(figure.subplots(1, 2, sharey=True), sets.items()):
            curves(axes, lines, f"{kind} texts")
            axes.set_xlabel("tokens; trained to 64")
        figure.axes[0].set_ylabel("next tokens right, %")
        figure.legend(
            *figure.axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=7
        )

    return Picture("rerope", "Next tokens right in % against the length of the text", says, (8, 2.6), draw)


# -- one point a line --------------------------------------------------------------------------------------------------


def every_scheme():
    ranked = rows("every-scheme/ranking.csv", task="mean")
    none = next(i for i, r in enumerate(ranked) if r["encoding"] == "none")
    chosen = ranked[:14] + ranked[none : none + 1]
    lines = [(r["encoding"], *of_row(r)) for r in chosen]
    says = f"The first 14 of {len(ranked)}, and no positions: " + ", ".join(f"{n} {m}" for n, m, *_ in lines) + "."

    def draw(figure):
        axes = figure.subplots()
        for y, (name, mean, low, high) in enumerate(lines):
            colour = GREY if name == "none" else BLUE
            axes.plot([low, high], [y, y], color=colour, linewidth=1.5)
            axes.plot(mean, y, "D", color=colour, markersize=5)
        axes.set(yticks=range(len(lines)), xlabel="accuracy in %, mean of three tasks, lengths 21 to 100")
        axes.set_yticklabels([n for n, *_ in lines])
        axes.set_ylim(len(lines) - 0.5, -0.5)

    return Picture("every_scheme", "Mean accuracy in % of schemes on unseen lengths", says, (7, 3.4), draw)


def gaps():
    found = {(r["task"], r["encoding"], r["change"]): r for r in rows("gap_shift-tiny/first.csv", length="20")}
    settings = list(dict.fromkeys((task, encoding) for task, encoding, _ in found))
    lines = [
        (
            f"{in_words(task)}, {SCHEMES[encoding]}",
            *(percent(found[task, encoding, c]["loss"]) for c in ("gap", "length")),
        )
        for task, encoding in settings
    ]
    says = ", ".join(f"{label}: gap {gap}, length {length}" for label, gap, length in lines) + "."

    def draw(figure):
        axes = figure.subplots()
        for y, (_, gap, length) in enumerate(lines):
            axes.barh(y - 0.19, gap, 0.36, color=BLUE, label="" if y else "gap alone")
            axes.barh(y + 0.19, length, 0.36, color=YELLOW, label="" if y else "length alone")
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set(yticks=range(len(lines)), xlabel="points lost from length 20 to 80")
        axes.set_yticklabels([label for label, *_ in lines])
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.legend(loc="lower left", frameon=False, fontsize=7)

    return Picture("gaps", "Points lost when only the gap, or only the length, changes", says, (8, 3.2), draw)


ALL = (randomized, in_order, alignment, rerope, every_scheme, gaps)


def description(path):
    """What a picture that is there says."""
    text = path.read_text() if path.exists() else ""
    start, end = "<dc:description>", "</dc:description>"
    return text[text.index(start) + len(start) : text.index(end)] if start in text else ""


def main(names):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "poslab", "font.size": 8, "font.family": "sans-serif",
         "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 8, "figure.facecolor": "white"}
    )  # fmt: skip
    from matplotlib.figure import Figure

    FOLDER.mkdir(exist_ok=True)
    for picture in (one() for one in ALL):
        if names and picture.name not in names:
            continue
        figure = Figure(figsize=picture.size, layout="constrained")
        picture.draw(figure)
        path = FOLDER / f"{picture.name}.svg"
        figure.savefig(path, metadata={"Title": picture.title, "Description": picture.says, "Date": None})
        path.write_text("".join(line.rstrip() + "\n" for line in path.read_text().splitlines()))


if __name__ == "__main__":
    main(sys.argv[1:])

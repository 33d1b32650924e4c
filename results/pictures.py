#!/usr/bin/env python3
"""Draws the pictures of docs/results.md into docs/results/, from results/*/*.csv.

    .venv-python/bin/python results/pictures.py [NAME...]

All are as wide as a small screen, with letters that can be read there. Each SVG says its numbers in words, for who
cannot see it; results/sentences.py compares these with the tables, without matplotlib.
"""

import sys
from dataclasses import dataclass
from typing import Callable

from experiments import SETTINGS
from findings import BLURS, DECAY, bare
from query import NAMES, ROOT, in_words, one, row, table

sys.path.append(str(ROOT / "python/poslab/figures"))
import style  # noqa: E402: of all figures; it takes no matplotlib before one is drawn

FOLDER = ROOT / "docs/results"
WIDTH = 5  # inches: 480 pixels
(BLUE, ORANGE, GREEN, PINK, YELLOW, *_), GREY = style.COLOURS, style.GREY


@dataclass
class Picture:
    name: str
    title: str
    says: str  # what it shows, with its numbers
    height: float  # inches
    draw: Callable  # of a figure of matplotlib


def percent(text):
    return round(100 * float(text), 1)


def interval(r, mean="mean"):
    """Its ends in %, or the mean twice where one seed has none."""
    return [percent(r[end] or r[mean]) for end in ("interval_low", "interval_high")]


def of_row(r, mean="mean"):
    return percent(r[mean]), *interval(r, mean)


def lines_of(axes, labels):
    axes.set(yticks=range(len(labels)), ylim=(len(labels) - 0.4, -0.6))
    axes.set_yticklabels(labels)
    axes.tick_params(axis="y", length=0)


# -- two points a line: what one change does ---------------------------------------------------------------------------


def pairs(axes, lines, names, limits):
    """lines: (label, first, second), each (mean, low, high); the second is what the picture is about."""
    for y, (_, first, second) in enumerate(lines):
        axes.plot([first[0], second[0]], [y, y], color="#cccccc", linewidth=3, zorder=1)
        for (mean, low, high), colour, marker in ((first, GREY, "o"), (second, BLUE, "D")):
            axes.plot([low, high], [y, y], color=colour, linewidth=1.2, zorder=2)
            label = "" if y else names[colour == BLUE]
            axes.plot(mean, y, marker, color=colour, markeredgecolor="white", markersize=7, zorder=3, label=label)
    lines_of(axes, [label for label, *_ in lines])
    axes.set_xlim(limits)


def randomized():
    tasks = ("even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort")
    found = {(r["task"], r["encoding"], r["positions"]): r for r in table("table1-tiny/table1.csv")}
    panels = {
        task: [
            (name, *(of_row(found[task, scheme, positions]) for positions in ("sequential", "randomized")))
            for scheme, name in NAMES.items()
            if scheme != "none"
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
        grid = figure.subplots(2, 2, sharex=True, sharey=True)
        for axes, (task, lines) in zip(grid.flat, panels.items()):
            axes.axvline(majority[task], color=ORANGE, linestyle="--", linewidth=1.2, zorder=0, label="majority")
            pairs(axes, lines, ("counted", "randomized"), (14, 103))
            axes.set_title(in_words(task))
        legend(figure, grid.flat[0])

    title = "Accuracy in % on unseen lengths, from counted to randomized positions"
    return Picture("randomized", title, says, 2.6, draw)


def legend(figure, axes, columns=5):
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=columns, frameon=False)


def in_order():
    found = {(r["task"], r["order"]): r for r in table("sorted-tiny/table3.csv")}
    lines = [
        (in_words(task), *(of_row(found[task, order]) for order in ("unsorted", "sorted")))
        for task in dict.fromkeys(task for task, _ in found)
    ]
    without = [
        percent(one("table1-tiny/table1.csv", "mean", task=task, encoding="none", positions="sequential"))
        for task in dict.fromkeys(task for task, _ in found)
    ]
    says = ", ".join(f"{t} {lost[0]} to {kept[0]}, without positions {n}" for (t, lost, kept), n in zip(lines, without))

    def draw(figure):
        axes = figure.subplots()
        pairs(axes, lines, ("shuffled", "in order"), (14, 103))
        axes.plot(without, range(len(lines)), "|", color=ORANGE, markersize=16, markeredgewidth=2, label="no positions")
        axes.set_xlabel("accuracy in %")
        legend(figure, axes)

    title = "Accuracy in % on unseen lengths, from shuffled to sorted random positions"
    return Picture("sorted", title, says + ".", 2.2, draw)


def ladder():
    found = table("ladder/verdict.csv", family="each task's")
    told = [r["structure"] != "nothing" for r in found]
    lines = [(in_words(r["task"]), percent(r["opponent_mean"]), percent(r["mean"])) for r in found]
    says = ", ".join(
        f"{task}: opponent {theirs}, candidate {ours}{'' if tell else ' (told nothing)'}"
        for (task, theirs, ours), tell in zip(lines, told)
    )

    def draw(figure):
        axes = figure.subplots()
        labels = dict(enumerate(("best of tables 1 and 5", "candidate, told the segments", "candidate, told nothing")))
        for y, ((_, theirs, ours), tell) in enumerate(zip(lines, told)):
            axes.plot([theirs, ours], [y, y], color="#cccccc", linewidth=3, zorder=1)
            axes.plot(theirs, y, "o", color=GREY, markersize=7, label=labels.pop(0, ""))
            axes.plot(ours, y, "D", color=BLUE, markersize=7, markerfacecolor=BLUE if tell else "white",
                      label=labels.pop(1 if tell else 2, ""))  # fmt: skip
        lines_of(axes, [task for task, *_ in lines])
        axes.set(xlim=(14, 103), xlabel="accuracy in % at lengths 41 to 100")
        legend(figure, axes, 1)

    return Picture("ladder", "Accuracy in % of candidates and of the best scheme of tables 1 and 5", says + ".",
                   1.35 + 0.21 * len(lines), draw)  # fmt: skip


# -- curves against the length -----------------------------------------------------------------------------------------


def curves(axes, lines):
    """lines: {label: [(length, mean, low, high), ...]}; side by side where they coincide."""
    for k, ((label, points), colour, style) in enumerate(
        zip(lines.items(), (GREY, BLUE, GREEN, ORANGE, PINK), ("--", "-", "-.", ":", "-"))
    ):
        at = [length * 2 ** (0.09 * (k - (len(lines) - 1) / 2)) for length, *_ in points]
        _, means, lows, highs = zip(*points)
        axes.vlines(at, lows, highs, color=colour, linewidth=1.2)
        axes.plot(at, means, color=colour, linestyle=style, marker="o", markersize=4, linewidth=1.8, label=label)
    lengths = [length for length, *_ in next(iter(lines.values()))]
    axes.set_xscale("log", base=2)
    axes.set(xticks=lengths)
    axes.set_xticklabels([str(length) if length < 1000 else f"{length // 1024}k" for length in lengths])
    axes.minorticks_off()


def said(lines):
    return "; ".join(
        f"{label} " + ", ".join(f"{y} at {x} ({low} to {high})" for x, y, low, high in points)
        for label, points in lines.items()
    )


def alignment():
    modes = {"original": "as trained", "maximum probability": "aligned", "log rule": "log rule"}
    tasks = {
        task: {
            label: [
                (int(r["length"]), *of_row(r, "value")) for r in table("chi2023-tiny/table4.csv", task=task, mode=mode)
            ]
            for mode, label in modes.items()
        }
        for task in ("topic", "line", "passkey")
    }
    says = " ".join(f"{task}: {said(lines)}." for task, lines in tasks.items())

    def draw(figure):
        grid = figure.subplots(1, 2, sharey=True)
        for axes, task in zip(grid, ("topic", "line")):
            curves(axes, tasks[task])
            axes.set(title=task, ylim=(-4, 104), xlabel="symbols of context")
        grid[0].set_ylabel("answers right, %")
        legend(figure, grid[0])

    return Picture("alignment", "Answers right in % against the length of the context", says, 2.6, draw)


def rerope():
    methods = {"Baseline": "RoPE", "ReRoPE-w32": "ReRoPE", "NTK-RoPE-mixed": "NTK", "PI-RoPE": "PI", "HFWA": "HFWA"}
    sets = {
        kind: {
            label: [
                (int(r["length"]), *of_row(r, "accuracy"))
                for r in table("su2023-tiny/lengths.csv", method=method, set=kind)
            ]
            for method, label in methods.items()
        }
        for kind in ("repeated", "plain")
    }
    says = " ".join(f"{kind} texts: {said(lines)}." for kind, lines in sets.items())

    def draw(figure):
        grid = figure.subplots(1, 2, sharey=True)
        for axes, kind, title in zip(grid, sets, ("texts that repeat", "other texts")):
            curves(axes, sets[kind])
            axes.set(title=title, xlabel="tokens of text")
        grid[0].set_ylabel("next tokens right, %")
        legend(figure, grid[0])

    return Picture("rerope", "Next tokens right in % against the length of the text", says, 2.6, draw)


# -- one point a line --------------------------------------------------------------------------------------------------


def every_scheme():
    ranked = table("every-scheme/ranking.csv", task="mean")
    chosen = [(k, bare(r["encoding"]), r) for k, r in enumerate(ranked, 1)]
    lines = [(f"{k}. {name}", "*" * (name in DECAY) + "+" * (name in BLURS), *of_row(r)) for k, name, r in chosen
             if k <= 10 or name in ("alibi", "rope", "none")]  # fmt: skip
    tasks = ("even_pairs", "reverse_string", "missing_duplicate_string")
    level = {
        name: round(sum(percent(row("every-scheme/ranking.csv", task=t, encoding="none")[name]) for t in tasks) / 3, 1)
        for name in ("content_only", "majority")
    }
    says = (
        f"Of {len(ranked)}, those that prefer near keys with a *, those that blur far distances with a +: "
        + ", ".join(f"{name}{mark} {mean} ({low} to {high})" for name, mark, mean, low, high in lines)
        + f". Content only {level['content_only']}, majority {level['majority']}."
    )

    def draw(figure):
        axes = figure.subplots()
        labels = {"*": "prefers near keys", "+": "blurs far distances", "": "neither"}
        fill = {"*": BLUE, "+": YELLOW, "": "white"}
        axes.axvline(level["content_only"], color=ORANGE, linestyle="--", linewidth=1.2, zorder=0, label="content only")
        axes.axvline(level["majority"], color=ORANGE, linestyle=":", linewidth=1.2, zorder=0, label="majority")
        for y, (_, mark, mean, low, high) in enumerate(lines):
            axes.plot([low, high], [y, y], color=BLUE, linewidth=1.5)
            axes.plot(mean, y, "D", color=BLUE, markerfacecolor=fill[mark], markersize=6, label=labels.pop(mark, ""))
        lines_of(axes, [name for name, *_ in lines])
        axes.set_xlabel("accuracy in %, mean of three tasks")
        legend(figure, axes, 2)

    return Picture("every_scheme", "Mean accuracy in % of schemes on unseen lengths", says, 3.2, draw)


def gaps():
    found = {(r["task"], r["encoding"], r["change"]): r for r in table("gap_shift-tiny/first.csv", length="10")}
    lines = [
        (f"{in_words(task)}, {NAMES[encoding]}", *(of_row(found[task, encoding, c], "loss") for c in ("gap", "length")))
        for task, encoding in SETTINGS
    ]
    says = ", ".join(
        f"{label}: gap {gap[0]} ({gap[1]} to {gap[2]}), length {length[0]} ({length[1]} to {length[2]})"
        for label, gap, length in lines
    )

    def draw(figure):
        axes = figure.subplots()
        left, right = -70, 112
        for y, (_, gap, length) in enumerate(lines):
            for (mean, low, high), colour, marker, shift, name in (
                (gap, BLUE, "D", -0.17, "narrower gaps alone"), (length, YELLOW, "o", 0.17, "the length alone")
            ):  # fmt: skip
                axes.plot([max(low, left), min(high, right)], [y + shift] * 2, color=colour, linewidth=1.5)
                if left < mean < right:
                    axes.plot(mean, y + shift, marker, color=colour, markersize=6, label="" if y else name)
                else:  # beyond the edge, with its number
                    edge, side = (right - 2, "right") if mean > right else (left + 4, "left")
                    axes.plot(edge, y + shift, ">" if mean > right else "<", color=colour, clip_on=False)
                    axes.text(edge + (-4 if mean > right else 4), y + shift, f"{mean:.0f}", ha=side, va="center")
        axes.axvline(0, color="black", linewidth=0.8, zorder=0)
        lines_of(axes, [label for label, *_ in lines])
        axes.set(xlim=(left, right), xlabel="cost from length 10 to 80, %")
        legend(figure, axes)

    title = "What is lost when only the gap, or only the length, changes, in % of the way to the majority"
    return Picture("gaps", title, says + ".", 2.9, draw)


def cross():
    rows = {"none": [], "scale-invariant, trained": [], "SSMax, trained": [], "log rule": [], "log n, trained": [],
            "maximum probability": [], "entropy": []}  # fmt: skip
    for what in rows:
        for positions in ("sequential", "randomized"):
            cells = table("cross-tiny/cross.csv", positions=positions, what=what)
            rows[what].append(sum(float(r["value"]) for r in cells) / len(cells))
    none = rows.pop("none")
    lines = [(what, *(round(100 * (a - b), 1) + 0.0 for a, b in zip(ours, none))) for what, ours in rows.items()]
    says = ", ".join(f"{what}: counted {a:+}, randomized {b:+}" for what, a, b in lines) + "."

    def draw(figure):
        axes = figure.subplots()
        for y, (_, counted, random) in enumerate(lines):
            axes.plot(counted, y, "o", color=GREY, markersize=7, label="" if y else "counted positions")
            axes.plot(random, y, "D", color=BLUE, markersize=6, label="" if y else "randomized positions")
        axes.axvline(0, color="black", linewidth=0.8, zorder=0)
        lines_of(axes, [what for what, *_ in lines])
        axes.set_xlabel("points of accuracy that it adds, mean")
        legend(figure, axes)

    return Picture("cross", "Points of accuracy that sharper attention adds", says, 2.3, draw)


def example():
    kinds = {
        ("relative", "sequential"): ("relative", GREY, "o"),
        ("rope", "sequential"): ("RoPE", GREY, "s"),
        ("relative", "randomized"): ("R-relative", BLUE, "o"),
        ("rope", "randomized"): ("R-RoPE", BLUE, "s"),
    }
    found = [r for r in table("ruoss2023-example/table1.csv") if (r["encoding"], r["positions"]) in kinds]
    dots = [(r["task"], kinds[r["encoding"], r["positions"]], percent(r["paper"]), percent(r["best"])) for r in found]
    says = ", ".join(f"{in_words(task)}, {kind[0]}: paper {theirs}, here {ours}" for task, kind, theirs, ours in dots)

    def draw(figure):
        axes = figure.subplots()
        axes.plot([0, 100], [0, 100], color="#999999", linewidth=1, zorder=0)
        axes.fill_between([0, 100], [-5, 95], [5, 105], color="#eeeeee", zorder=-1)
        named = set()
        for task, (name, colour, marker), theirs, ours in dots:
            axes.plot(theirs, ours, marker, color=colour, markersize=6, markerfacecolor="none", markeredgewidth=1.5,
                      label="" if name in named else name)  # fmt: skip
            named.add(name)
            if theirs - ours > 30:
                axes.text(theirs - 2, ours, in_words(task), ha="right", va="center")
        axes.set(xlim=(15, 103), ylim=(0, 103), xlabel="the paper's accuracy in %", ylabel="ours, in %")
        legend(figure, axes)

    return Picture("example", "Accuracy in % here and in the paper, six tasks", says + ".", 2.45, draw)


ALL = (randomized, in_order, alignment, rerope, every_scheme, gaps, ladder, cross, example)


def description(path):
    """What a picture that is there says."""
    text = path.read_text() if path.exists() else ""
    start, end = "<dc:description>", "</dc:description>"
    return text[text.index(start) + len(start) : text.index(end)] if start in text else ""


def main(names):
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(
        style.settings(10) | {"legend.handlelength": 1.8, "legend.columnspacing": 1.2, "legend.handletextpad": 0.4}
    )

    FOLDER.mkdir(exist_ok=True)
    for picture in (make() for make in ALL):
        if names and picture.name not in names:
            continue
        figure = Figure(figsize=(WIDTH, picture.height), layout="constrained")
        picture.draw(figure)
        path = FOLDER / f"{picture.name}.svg"
        drawing = style.saved(figure, "svg", Title=picture.title, Description=picture.says).decode()
        path.write_text("".join(line.rstrip() + "\n" for line in drawing.splitlines()))


if __name__ == "__main__":
    main(sys.argv[1:])

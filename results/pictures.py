#!/usr/bin/env python3
"""Draws the pictures of docs/results.md and README.md into docs/results/, from results/*/*.csv and docs/demo.csv.

    .venv-python/bin/python results/pictures.py [NAME...]

All are as wide as a small screen, in a font that can be read there. Each SVG has its numbers in words, for readers
who cannot see it; results/sentences.py compares these with the tables, without matplotlib. """

import html
import sys
from dataclasses import dataclass, field

from findings import BLURS, DECAY, SETTINGS, TABLE1, adds, bare, lost_row, ranked, verdicts
from query import ENCODINGS, NAMES, ROOT, TASKS, by, in_words, mean, one, row, table

FOLDER = ROOT / "docs/results"
WIDTH, LETTERS = 127, 10  # mm, points: 480 pixels
POSITIONS = {"sequential": "counted", "randomized": "randomized"}
LIMITS = {"x_low": 0.14, "x_high": 1.03, "percent": True}  # of accuracies


@dataclass
class Picture:
    name: str
    title: str
    says: str  # a description, with the numbers that poslab.figures.draw writes
    figures: list = field(default_factory=list)  # in the format of poslab.figures.draw


def percent(x):
    return round(100.0 * x, 1)


def ends(r, column="mean"):
    """The mean and the ends of its interval; with one seed both are the mean."""
    return [r[column], *(r[column] if r[end] == "" else r[end] for end in ("interval_low", "interval_high"))]


def series(name, color, rows, **more):
    """A series of marks. rows: (mean, low, high) for each line."""
    return {"name": name, "color": color, "points": [[n, *row] for n, row in enumerate(rows)]} | more


def marks(title, rows, all, x="accuracy", **more):
    return {"kind": "marks", "title": title, "rows": rows, "series": all, "x": x, "least": 45} | LIMITS | more


def joined(first, second):
    return [[n, a[0], b[0]] for n, (a, b) in enumerate(zip(first, second))]


# -- two marks a line: what one change does ----------------------------------------------------------------------------


def randomized():
    def of(task, positions):
        return [ends(row(TABLE1, task=task, encoding=e, positions=positions)) for e in ENCODINGS]

    figures, says, names = [], [], [NAMES[e] for e in ENCODINGS]
    for task in TASKS:
        plain, random = (of(task, positions) for positions in POSITIONS)
        level = one(TABLE1, "majority", task=task, encoding="none")
        all = [series("counted", "base", plain, marker="o"), series("randomized", "c0", random, marker="D")]
        levels = [{"name": "majority", "x": level}]
        figures.append(marks(in_words(task), names, all, joined=joined(plain, random), levels=levels))
        pairs = ", ".join(f"{n} {percent(a[0])} to {percent(b[0])}" for n, a, b in zip(names, plain, random))
        says.append(f"{in_words(task)} (most frequent symbol {percent(level)}): {pairs}.")
    title = "Accuracy in % on unseen lengths, from counted to randomized positions"
    return Picture("randomized", title, " ".join(says), figures)


def in_order():
    tasks = list(dict.fromkeys(r["task"] for r in table("sorted-tiny/table3.csv")))
    lost, kept = ([ends(row("sorted-tiny/table3.csv", task=task, order=order)) for task in tasks]
                  for order in ("unsorted", "sorted"))  # fmt: skip
    without = [one(TABLE1, "mean", task=task, encoding="none") for task in tasks]
    all = [series("shuffled", "base", lost, marker="o"), series("in order", "c0", kept, marker="D"),
           series("no positions", "c1", [[x] * 3 for x in without], marker="|")]  # fmt: skip
    says = ", ".join(f"{in_words(task)} {percent(a[0])} to {percent(b[0])}, without positions {percent(n)}"
                     for task, a, b, n in zip(tasks, lost, kept, without))  # fmt: skip
    title = "Accuracy in % on unseen lengths, from shuffled to sorted random positions"
    return Picture("sorted", title, says + ".", [marks("", list(map(in_words, tasks)), all, joined=joined(lost, kept))])


def ladder():
    told = [r["structure"] != "nothing" for r in verdicts]
    names = [in_words(r["task"]) for r in verdicts]
    candidates = {tell: [[n, *[r["mean"]] * 3] for n, r in enumerate(verdicts) if told[n] == tell]
                  for tell in (True, False)}  # fmt: skip
    opponents = [[n, *[r["opponent_mean"]] * 3] for n, r in enumerate(verdicts)]
    all = [{"name": "best of tables 1 and 5", "color": "base", "points": opponents, "marker": "o"},
           {"name": "candidate, told the segments", "color": "c0", "points": candidates[True], "marker": "D"},
           {"name": "candidate, told nothing", "color": "c0", "points": candidates[False], "marker": "D",
            "hollow": True}]  # fmt: skip
    says = ", ".join(
        f"{name}: opponent {percent(r['opponent_mean'])}, candidate {percent(r['mean'])}"
        + " (told nothing)" * (not tell)
        for name, r, tell in zip(names, verdicts, told)
    )
    title = "Accuracy in % of candidates and of the best scheme of tables 1 and 5"
    apart = [[n, r["opponent_mean"], r["mean"]] for n, r in enumerate(verdicts)]
    figure = marks("", names, all, "accuracy at lengths 41 to 100", joined=apart)
    return Picture("ladder", title, says + ".", [figure])


def gaps():
    names = [f"{in_words(task)}, {NAMES[encoding]}" for task, encoding in SETTINGS]
    gap, length = ([ends(lost_row(*setting, change), "loss") for setting in SETTINGS] for change in ("gap", "length"))
    says = ", ".join(
        f"{name}: " + ", ".join(f"{what} {x} ({low} to {high})" for what, (x, low, high) in
                                (("gap", map(percent, a)), ("length", map(percent, b))))
        for name, a, b in zip(names, gap, length)
    )  # fmt: skip
    all = [series("narrower gaps alone", "c0", gap, marker="D"), series("the length alone", "c4", length, marker="o")]
    title = "What is lost when only the gap, or only the length, changes, in % of the way to the majority"
    figure = marks("", names, all, "cost from length 10 to 80", apart=0.34, x_low=-0.7, x_high=1.12)
    return Picture("gaps", title, says + ".", [figure])


def cross():
    policies = ("scale-invariant, trained", "SSMax, trained", "log rule", "log n, trained", "maximum probability",
                "entropy")  # fmt: skip
    more = {positions: [adds(positions, what) for what in policies] for positions in POSITIONS}
    says = ", ".join(f"{what}: counted {percent(a) + 0.0:+}, randomized {percent(b) + 0.0:+}"
                     for what, a, b in zip(policies, *more.values()))  # fmt: skip
    all = [series(f"{name} positions", color, [[x] * 3 for x in more[positions]], marker=marker)
           for (positions, name), color, marker in zip(POSITIONS.items(), ("base", "c0"), "oD")]  # fmt: skip
    low, high = min(map(min, more.values())), max(map(max, more.values()))
    figure = marks("", policies, all, "accuracy that it adds, mean", x_low=low - 0.004, x_high=high + 0.004)
    return Picture("cross", "Points of accuracy that sharper attention adds", says + ".", [figure])


def every_scheme():
    names = [bare(r["encoding"]) for r in ranked]
    shown = [n for n, name in enumerate(names) if n < 10 or name in ("alibi", "rope", "none")]
    kinds = {"*": ("prefers near keys", "c0"), "+": ("blurs far distances", "c4"), "": ("neither", "c0")}
    mark = {name: "*" * (name in DECAY) + "+" * (name in BLURS) for name in names}
    all = [{"name": text, "color": color, "marker": "D", "hollow": not kind,
            "points": [[y, *ends(ranked[n])] for y, n in enumerate(shown) if mark[names[n]] == kind]}
           for kind, (text, color) in kinds.items()]  # fmt: skip
    level = {text: mean(one("every-scheme/ranking.csv", name, task=task, encoding="none") for task in TASKS[:3])
             for text, name in (("content only", "content_only"), ("majority", "majority"))}  # fmt: skip
    says = ", ".join(f"{n + 1}. {names[n]}{mark[names[n]]} {x} ({low} to {high})"
                     for n in shown for x, low, high in [map(percent, ends(ranked[n]))])  # fmt: skip
    says = (
        f"Of {len(ranked)}, those that prefer near keys with a *, those that blur far distances with a +: {says}. "
        f"Content only {percent(level['content only'])}, majority {percent(level['majority'])}."
    )
    low, high = min(ranked[n]["interval_low"] for n in shown), max(ranked[n]["interval_high"] for n in shown)
    figure = marks("", [f"{n + 1}. {names[n]}" for n in shown], all, "accuracy, mean of three tasks",
                   levels=[{"name": text, "x": x} for text, x in level.items()],
                   x_low=min(low, level["majority"]) - 0.01, x_high=high + 0.01)  # fmt: skip
    return Picture("every_scheme", "Mean accuracy in % of schemes on unseen lengths", says, [figure])


# -- curves against the length -----------------------------------------------------------------------------------------


def curve(name, color, rows, column):
    points = [(r["length"], *ends(r, column)) for r in rows]
    return {"name": name, "color": color, "points": [[x, y] for x, y, *_ in points],
            "band": [[x, low, high] for x, _, low, high in points]}  # fmt: skip


def charts(name, title, of, x, y, panels):
    """of: the curves by panel."""
    def words(c):
        both = zip(c["points"], c["band"])
        return f"{c['name']} " + ", ".join(f"{percent(y)} at {x} ({percent(low)} to {percent(high)})"
                                           for (x, y), (_, low, high) in both)  # fmt: skip

    said = (f"{panel}: {'; '.join(map(words, curves))}." for panel, curves in of.items())
    xs = [x for curves in of.values() for c in curves for x, _ in c["points"]]
    ends = {"x_low": min(xs), "x_high": max(xs), "y_low": 0, "y_high": 1.03}
    look = {"x": x, "y": y, "percent": True, "doubling": True, "least": 45} | ends
    figures = [{"title": text, "curves": of[panel]} | look for panel, text in panels.items()]
    return Picture(name, title, " ".join(said), figures)


def alignment():
    modes = {"original": ("as trained", "base"), "maximum probability": ("aligned", "c0"),
             "log rule": ("log rule", "c2")}  # fmt: skip
    of = {task: [curve(*look, table("chi2023-tiny/table4.csv", task=task, mode=mode), "value")
                 for mode, look in modes.items()] for task in ("topic", "line", "passkey")}  # fmt: skip
    title = "Answers right in % against the length of the context"
    return charts("alignment", title, of, "symbols of context", "answers right", {"topic": "topic", "line": "line"})


def rerope():
    methods = {"Baseline": ("RoPE", "base"), "ReRoPE-w32": ("ReRoPE", "c0"), "NTK-RoPE-mixed": ("NTK", "c2"),
               "PI-RoPE": ("PI", "c1"), "HFWA": ("HFWA", "c3")}  # fmt: skip
    panels = {"repeated texts": "texts that repeat", "plain texts": "other texts"}
    of = {kind: [curve(*look, table("su2023-tiny/lengths.csv", method=method, set=kind.split()[0]), "accuracy")
                 for method, look in methods.items()] for kind in panels}  # fmt: skip
    title = "Next tokens right in % against the length of the text"
    return charts("rerope", title, of, "tokens of text", "next tokens right", panels)


def example():
    kinds = {("relative", "sequential"): "relative", ("rope", "sequential"): "RoPE",
             ("relative", "randomized"): "R-relative", ("rope", "randomized"): "R-RoPE"}  # fmt: skip
    found = [r for r in table("ruoss2023-example/table1.csv") if (r["encoding"], r["positions"]) in kinds]
    says = ", ".join(f"{in_words(r['task'])}, {kinds[r['encoding'], r['positions']]}: paper {percent(r['paper'])}, "
                     f"here {percent(r['best'])}" for r in found)  # fmt: skip
    curves = [{"name": name, "color": color, "dots": 6,
               "points": [[100 * r["paper"], r["best"]] for r in found if (r["encoding"], r["positions"]) == kind]}
              for (kind, name), color in zip(kinds.items(), ("c7", "c7 again1", "c0", "c0 again1"))]  # fmt: skip
    near = {"name": "within five points", "color": "base", "points": [[0, 0], [100, 1]],
            "band": [[0, -0.05, 0.05], [100, 0.95, 1.05]]}  # fmt: skip
    notes = [[100 * r["paper"], r["best"], in_words(r["task"])] for r in found if r["paper"] - r["best"] > 0.3]
    figure = {"title": "", "x": "the paper's accuracy (%)", "y": "ours", "percent": True, "curves": [near, *curves],
              "notes": notes, "x_low": 15, "x_high": 103, "y_low": 0, "y_high": 1.03}  # fmt: skip
    return Picture("example", "Accuracy in % here and in the paper, six tasks", says + ".", [figure])


def demo():
    lines = by("series", table("../docs/demo.csv"))
    colors = {"positions=sequential": "c0", "positions=randomized": "c1"}
    curves = [{"name": name, "color": colors.get(name, "base"), "points": [[r["x"], r["y"]] for r in line]}
              for name, line in lines.items()]  # fmt: skip
    says = "; ".join(f"{name} " + ", ".join(f"{percent(r['y'])} at {r['x']}" for r in line[19::20])
                     for name, line in lines.items())  # fmt: skip
    figure = {"title": "", "x": "length of the input", "y": "accuracy", "shaded": 20, "curves": curves}
    figure |= LIMITS | {"x_low": 1, "x_high": 100, "y_low": 0.1, "y_high": 1.02}
    return Picture("demo", "Accuracy in % against length: bucket sort, trained to length 20", says + ".", [figure])


ALL = (demo, randomized, in_order, alignment, rerope, every_scheme, gaps, ladder, cross, example)


def description(name):
    """The description in an existing picture."""
    path = FOLDER / f"{name}.svg"
    _, _, rest = (path.read_text() if path.exists() else "").partition("<dc:description>")
    return html.unescape(rest.partition("</dc:description>")[0])


def main(names):
    sys.path.append(str(ROOT / "python/poslab"))
    import matplotlib
    from figures import draw, style

    matplotlib.rcParams.update(style.settings(LETTERS) | {"legend.handlelength": 1.8, "legend.columnspacing": 1.2})
    FOLDER.mkdir(exist_ok=True)
    for picture in (make() for make in ALL):
        if names and picture.name not in names:
            continue
        canvas = draw.canvas(picture.figures, WIDTH, size=LETTERS, shared=True)
        drawing = style.saved(canvas, "svg", Title=picture.title, Description=picture.says).decode()
        path = FOLDER / f"{picture.name}.svg"
        path.write_text("".join(line.rstrip() + "\n" for line in drawing.splitlines()))


if __name__ == "__main__":
    main(sys.argv[1:])

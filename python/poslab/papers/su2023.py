"""Su 2023, kexue.fm/archives/9708 (spec C.3): ways of stretching RoPE to unseen lengths. `poslab reproduce su2023`
trains a few language models and tests each with many schemes; lab/papers/artifacts.toml has the lists."""

import functools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..figures.draw import curves
from .claims import JUDGED, judged, judged_cell, reading
from .notes import notes, text
from .page import Cell, Figure, Grid, Section
from .seeds import NAN, counted, difference, interval, number, span
from .trials import printed, published



@dataclass
class Column:
    times: int  # the trained length
    set: str
    printed: str = ""  # the source's column


COLUMNS = [Column(1, "plain", "acc_512_train"), Column(8, "repeated", "acc_4096_repeated"),
           Column(8, "plain", "acc_4096_nonrepeated")]  # fmt: skip
LOSSES = [Column(1, "plain", "len4096_train"), Column(2, "plain", "len8192"), Column(4, "plain", "len16384")]
TERMS: dict[str, tuple] = {
    name: (c, "accuracy", 100, ("main", "window", "leaky"))
    for name, c in zip(("trained", "repeated", "plain"), COLUMNS)
}
TERMS |= {name: (c, "loss", 1, ("llama",)) for name, c in zip(("1x", "2x", "4x"), LOSSES)}
TEXTS = {"repeated": "repeated", "long": "plain"}


def trained_length(trials):
    return trials.about["options"]["train_length"]


def tested(trials, method, column, of="accuracy"):
    return trials.by_seed(method["model"], method["file"], column.times * trained_length(trials), column.set, of)


def measured(trials, artifact, columns, table, of="accuracy", scale=100):
    """A row for each method and column: our number, and the source's as a fraction."""
    rows = []
    for method in artifact["methods"]:
        fields = {name: method[name] for name in ("method", "model", "encoding", "temperature")}
        for c in columns:
            x = tested(trials, method, c, of)
            low, high = interval(x)
            rows.append({**fields, "length": c.times * trained_length(trials), "set": c.set, "seeds": len(x),
                         of: x.mean(), "interval_low": low, "interval_high": high,
                         "source": printed(table, method["row"], c.printed) / scale})  # fmt: skip
    return pd.DataFrame(rows)


def beside(row, of="accuracy", digits=1, scale=100, ends=1, source_digits=2):
    """A cell with our mean, and below it its interval and the source's printed number."""
    source = [] if pd.isna(row["source"]) else [f"source {number(row['source'], source_digits, scale)}"]
    below = span((row["interval_low"], row["interval_high"]), digits=ends, scale=scale) + source
    return Cell(number(row[of], digits, scale), below)


def rows_of(data, cell):
    """The notes of a table with a row for each method."""
    for method, rows in data.groupby("method", sort=False):
        yield [Cell(method), *(cell(row) for _, row in rows.iterrows())]


def accuracies(trials, artifact, table):
    """A table in the layout of the source: a row for each method, three columns."""
    length, data = trained_length(trials), measured(trials, artifact, COLUMNS, table)
    head = ["method", f"{length} (trained)", f"{8 * length} (repeated)", f"{8 * length} (not repeated)"]
    grid = Grid("Accuracy in %, and the source's", head, list(rows_of(data, beside)))
    grid.mark_best(data["accuracy"].to_numpy().reshape(-1, 3))
    return Section(grids=[grid], notes=notes(trials, "su2023:about"), data=data)


def main(trials, artifact):
    section = accuracies(trials, artifact, "su2023_main")
    section.notes += filter(None, [trials.about["note"]])
    return section


def trained(trials, artifact):
    section = accuracies(trials, artifact, "su2023_trained")
    section.notes += notes(trials, "su2023:trained")
    if trials.about["options"]["unit"] == "gau":
        section.notes += notes(trials, "su2023:gau")
    return section


def methods(trials, artifact):
    """A table with three methods in a row: log n off, at test only, trained."""
    data = measured(trials, artifact, COLUMNS[1:], "su2023_methods")
    pairs = [rows for _, rows in data.groupby("method", sort=False)]
    means = [rows["accuracy"].iloc[0] for rows in pairs]

    def cell(rows):
        (ours, far), (source, source_far) = rows["accuracy"], 100 * rows["source"]
        below = [] if pd.isna(source) else [f"source {source:.2f}", f"long {source_far:.2f}"]
        return Cell(number(ours), [f"long: {number(far)}", *below])

    grid = Grid(
        f"Accuracy in % at length {8 * trained_length(trials)}: repeated texts, below that long ones, then "
        "the source's for YaRN",
        ["method", "no log n", "log n at test only", "log n trained"],
        [[Cell(pairs[n]["method"].iloc[0]), *map(cell, pairs[n : n + 3])] for n in range(0, len(pairs), 3)],
    )
    grid.mark_best(np.reshape(means, (-1, 3)))
    return Section(grids=[grid], notes=notes(trials, "su2023:methods"), data=data)


def llama(trials, artifact):
    length, options = trained_length(trials), trials.about["llama"]
    data = measured(trials, artifact, LOSSES, "su2023_llama", "loss", scale=1)
    cell = functools.partial(beside, of="loss", digits=4, scale=1, ends=3, source_digits=4)
    head = ["method", f"{length} (trained)", f"{2 * length}", f"{4 * length}"]
    grid = Grid(f"Loss in nats a token on the last {length} tokens, and the source's", head, list(rows_of(data, cell)))
    below = notes(trials, "su2023:llama", layers=options["layers"], d_model=options["d_model"], length=length)
    return Section(grids=[grid], notes=below, data=data.drop(columns=["model", "set"]))


def by_length(trials, artifact, times):
    """For both sets of texts, a table of the methods by length, with curves."""
    length, section = trained_length(trials), Section()
    columns = [Column(n, set) for set in TEXTS.values() for n in times]
    data = measured(trials, artifact, columns, "su2023_main").drop(
        columns=["model", "encoding", "temperature", "source"]
    )
    for texts, kind in TEXTS.items():
        these = data[data["set"] == kind]
        head = ["method", *(f"{n * length}" for n in times)]
        rows = list(rows_of(these, lambda row: Cell(number(row["accuracy"]))))
        section.grids.append(Grid(f"Accuracy in % on {texts} texts", head, rows))
        drawn = these.dropna(subset="accuracy")
        ends = (
            f"{method}: {number(line['accuracy'].iloc[0])} % at {line['length'].iloc[0]}, "
            f"{number(line['accuracy'].iloc[-1])} % at {line['length'].iloc[-1]}."
            for method, line in drawn.groupby("method", sort=False)
        )
        caption = f"{texts.capitalize()} texts. Mean over the seeds, with its interval. The shaded length was trained."
        alt = f"Accuracy against length, {texts} texts. {' '.join(ends)}"
        if len(drawn):
            bands = ("interval_low", "interval_high")
            chart = {"x": "tokens of a window", "y": "accuracy", "percent": True, "shaded": length, "x_low": 0,
                     "x_high": times[-1] * length, "y_low": 0, "y_high": 1,
                     "curves": list(curves(drawn, "method", "length", "accuracy", bands))}  # fmt: skip
            section.figures.append(Figure(f"lengths-{texts}", caption, alt, [chart], drawn))
    section.notes = notes(trials, "su2023:lengths")
    order = ["method", "set", "length", "seeds", "accuracy", "interval_low", "interval_high"]
    section.data = pd.concat(data[data["set"] == kind] for kind in TEXTS.values())[order].dropna(subset="accuracy")
    return section


def lengths(trials, artifact):
    return by_length(trials, artifact, (1, 2, 4, 8))


def far(trials, artifact):
    """by_length(), and the lead of the first method, ReRoPE, over the others at the last length, over paired seeds."""
    times = (1, trials.about["stretch"], trials.about["far"])
    section, (first, *others) = by_length(trials, artifact, times), artifact["methods"]
    ahead, cells = {}, []
    for method in others:
        cells.append([Cell(method["method"])])
        for set in TEXTS.values():
            column = Column(times[-1], set)
            x = difference(tested(trials, first, column), tested(trials, method, column))
            ahead[method["method"], set] = (x.mean(), *interval(x)) if len(x) else (NAN,) * 3
            mean, *ends = ahead[method["method"], set]
            cells[-1].append(Cell(number(mean, sign="+"), span(ends, sign="+")))
    caption = f"How many points {first['method']} is ahead at {times[-1] * trained_length(trials)}, and the interval"
    section.grids.append(Grid(caption, ["method", *(f"{texts} texts" for texts in TEXTS)], cells))
    last = section.data["length"] == times[-1] * trained_length(trials)
    keys = list(zip(section.data["method"], section.data["set"]))
    for n, name in enumerate(("ahead", "ahead_low", "ahead_high")):
        section.data[name] = [ahead.get(key, (NAN,) * 3)[n] if at_end else NAN for key, at_end in zip(keys, last)]
    section.notes += notes(trials, "su2023:far", far=times[-1], twice_far=2 * times[-1], stretch=times[1],
                           twice_stretch=2 * times[1])  # fmt: skip
    return section


def matrices(trials, artifact):
    """The relative position of a query and a key in each scheme."""
    rows = [
        (scheme, i, j, x)
        for scheme, matrix in artifact["matrices"].items()
        for i, row in enumerate(matrix)
        for j, x in enumerate(row)
    ]
    data = pd.DataFrame(rows, columns=["scheme", "query", "key", "relative_position"])
    charts = [{"kind": "matrix", "title": scheme.replace(":", ": "), "row": "query", "col": "key",
               "cells": one.pivot(index="query", columns="key", values="relative_position").to_numpy().tolist()}
              for scheme, one in data.groupby("scheme", sort=False)]  # fmt: skip
    alt = "Six matrices: which relative position each scheme makes of a query (row) and a key (column)."
    return Section(figures=[Figure("matrices", artifact["reading"], alt, charts, data)],
                   notes=notes(trials, "su2023:matrices"), data=data)  # fmt: skip


def weighted(trials, artifact, formula, set):
    """The value of a formula such as "0.75 Baseline trained, -1 Baseline": weights, methods and perhaps a column, which
    replaces the one for the set of texts. Our value by seed and, as "source", the source's."""
    windows = {f"w{eighths}": eighths * trained_length(trials) // 8 for eighths in (2, 4, 8)}
    all = {m["method"]: m for m in artifact["methods"]}
    terms = []
    for term in formula.format(**windows).split(", "):
        weight, method, *column = term.split()
        c, of, scale, tables = TERMS[column[0] if column else set]
        sources = [printed(f"su2023_{table}", all[method]["row"], c.printed) / scale for table in tables]
        x = tested(trials, all[method], c, of)
        terms.append(float(weight) * pd.concat([x, pd.Series({"source": next(filter(pd.notna, sources), NAN)})]))
    value = sum(terms[1:], terms[0])
    return value.drop("source").dropna().astype(float), float(value["source"])


def claims(trials, artifact):
    """Each row of published/su2023_claims.csv on both sets of texts, on one (plain), or on both at once (both)."""
    rows, cells = [], []
    for claim in published("su2023_claims").reset_index().itertuples():
        cells.append([Cell(claim.claim, [claim.difference])])
        for set in ("repeated", "plain"):
            x, source = weighted(trials, artifact, claim.formula, set)
            if set == "plain" and claim.set != "each":
                cells[-1].append(Cell(""))
            elif len(x) == 0:
                cells[-1].append(Cell("–"))
            else:
                texts = set if claim.set == "each" else claim.set
                rows.append({"claim": claim.claim, "difference": claim.difference, "set": texts})
                rows[-1] |= judged(x, claim.within, source)
                cells[-1].append(judged_cell(rows[-1], nats=claim.set == "plain"))
    grid = Grid(text("su2023:claims caption"), ["claim", "repeated", "long"], cells)
    return Section([reading(rows)], [grid], notes=notes(trials, "su2023:claims", judged=JUDGED),
                   data=pd.DataFrame(rows))  # fmt: skip


def how(about):
    c = about["options"]
    unit = "gated attention units" if c["unit"] == "gau" else "blocks of LLaMA's"
    merges = f" (bytes and {c['merges']} pairs)" * bool(c["merges"])
    repeats = f"{100 * c['repeats']:.3g} % of these windows repeat their beginning; " * (c["repeats"] > 0)
    corpus, seeds = c["text"] or "the C++ headers of the compiler", counted(about["seeds"])
    words = c | {"unit": unit, "merges": merges, "repeats": repeats, "text": corpus, "seeds": seeds}
    return text("su2023:how", **words)


DRAW = {"main": main, "window": functools.partial(accuracies, table="su2023_window"),
        "leaky": functools.partial(accuracies, table="su2023_leaky"), "llama": llama, "methods": methods,
        "trained": trained, "lengths": lengths, "far": far, "matrices": matrices, "claims": claims}  # fmt: skip

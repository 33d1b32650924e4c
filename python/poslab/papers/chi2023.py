"""Chi, Fan and Rudnicky 2023 (spec C.2): attention disperses over long inputs, and a temperature corrects it.
`poslab reproduce chi2023` trains and measures (lab/papers/chi2023), and this module draws the results. Here are tables
1 (dispersion), 5 (temperatures) and 7 (logits)."""

import pandas as pd

from . import chi2023_answers, chi2023_figures
from .chi2023_cross import cross
from .chi2023_data import attention, columns, guarded, length_names, source_grid, temperature, value_cell, verdict_on
from .notes import notes, text
from .page import Cell, Grid, Section
from .seeds import counted, mean
from .trials import printed

DISPERSED = {"largest_weight": ("pmax", "maximum probability", 3), "entropy": ("entropy", "entropy, nats", 2)}
LOGITS = {"largest_logit": ("lmax", "largest logit", 2)}


def at_both_ends(trials, table, figures, first_layer):
    """Each figure of each task at the trained length and at the longest. figures: for each name in an alignment, the
    source's column, a title and the number of digits."""
    rows, cells, ends = [], [], (trials.about["length"], trials.about["longer"][-1])
    for task in trials.about["tasks"]:
        for length, theirs in zip(ends, (512, 15000)):
            cells.append([Cell(f"{task}, {length}")])
            for name, (column, _, digits) in figures.items():
                ours = attention(trials, task, length, name, first_layer)
                source = printed("chi2023_dispersion", f"{task} {theirs}", column)
                rows.append({"task": task, "length": length, "figure": column} | columns(ours, source))
                cells[-1].append(value_cell(ours, digits, source))
    caption = "Ours, its interval, and the source's at 512 and 15,000 tokens"
    grid = Grid(caption, ["task, tokens", *(title for _, title, _ in figures.values())], cells)
    data = pd.DataFrame(rows)
    changes = pd.DataFrame([changed(trials, task, column, of["value"].tolist())
                            for (task, column), of in data.groupby(["task", "figure"], sort=False)])  # fmt: skip
    return Section(grids=[grid], notes=notes(trials, f"chi2023:{table}"), data=data, more={"verdicts": changes})


def changed(trials, task, figure, ends):
    """The change of means from the trained length to the longest."""
    verdict = "rises" if ends[1] > ends[0] else "falls" if ends[1] < ends[0] else "stays"
    return {"task": task, "figure": figure, "short": ends[0], "long": ends[1],
            "verdict": verdict_on(trials, task, verdict)}  # fmt: skip


def counts(changes, figure):
    """The numbers of learned tasks in which the figure rises and in which it falls."""
    count = changes.loc[changes["figure"] == figure, "verdict"].tolist().count
    up, down = count("rises"), count("falls")
    return f"rises in {up} of {up + down + count('stays')} tasks and falls in {down}"


def dispersed(trials, artifact):
    section = at_both_ends(trials, "table1", DISPERSED, False)
    changes = section.more["verdicts"]
    says = text("chi2023:dispersed", first=trials.about["length"], last=trials.about["longer"][-1],
                pmax=counts(changes, "pmax"), entropy=counts(changes, "entropy"))  # fmt: skip
    section.readings = [guarded(trials, says)]
    return section


def largest_logits(trials, artifact):
    section = at_both_ends(trials, "table7", LOGITS, True)
    says = text("chi2023:logits", first=trials.about["length"], last=trials.about["longer"][-1],
                lmax=counts(section.more["verdicts"], "lmax"))  # fmt: skip
    section.readings = [guarded(trials, says)]
    return section


CLOSE = 1e-9  # tolerance in comparing temperatures, which are multiples of a twentieth


def order(trials, task, mode, means):
    """Whether the temperatures of a row fall as the length grows and, for entropy, how many do not exceed those of
    maximum probability."""
    ends = [1, *means]
    rises = any(b > a + CLOSE for a, b in zip(ends, means))
    row = {"task": task, "mode": mode, "cells": sum(not pd.isna(x) for x in means), "ordered": 0, "compared": 0}
    if mode == "entropy":
        pmax = [mean(temperature(trials, task, "maximum probability", n)) for n in trials.about["longer"]]
        row["compared"], row["ordered"] = row["cells"], sum(x <= y + CLOSE for x, y in zip(means, pmax))
    row["at_end"] = sum(x <= trials.about["grid"][-1] + CLOSE for x in means)
    return row | {"verdict": verdict_on(trials, task, "rises" if rises else "never rises")}


def temperatures(trials, artifact):
    rows, cells, orders, longer = [], [], [], trials.about["longer"]
    for task in trials.about["tasks"]:
        for mode in ("maximum probability", "entropy"):
            found = [temperature(trials, task, mode, length) for length in longer]
            rows += [{"task": task, "mode": mode, "length": n} | columns(x) for n, x in zip(longer, found)]
            cells.append([Cell(f"{task}, {mode}"), *map(value_cell, found)])
            orders.append(order(trials, task, mode, list(map(mean, found))))
    orders = pd.DataFrame(orders)
    judged = orders[orders["verdict"].isin(["rises", "never rises"])]
    says = text("chi2023:order", never=(judged["verdict"] == "never rises").sum(), rows=len(judged),
                ordered=judged["ordered"].sum(), compared=judged["compared"].sum())  # fmt: skip
    readings = [guarded(trials, says)]
    if at_end := orders["at_end"].sum():
        readings.append(
            f"In {at_end} of {orders['cells'].sum()} cells it is {trials.about['grid'][-1]}, the grid's lowest "
            "temperature: a lower one might be better."
        )
    ours = Grid("Temperatures that algorithm 1 finds, mean over the seeds",
                ["task, mode", *length_names(longer, None)], cells)  # fmt: skip
    names = {f"Flan-T5-{size}, {task}, {mode}": f"{size} {mode} {task}" for size in ("large", "xl", "xxl")
             for task in ("topic", "line", "passkey") for mode in ("pmax", "entropy")}  # fmt: skip
    theirs = source_grid("chi2023_temperatures", "The source's, for inputs that grow from left to right",
                         "model, task, mode", names, 2)  # fmt: skip
    return Section(readings, [ours, theirs], notes=notes(trials, "chi2023:table5"), data=pd.DataFrame(rows),
                   more={"verdicts": orders})


def how(about):
    return text("chi2023:how", seeds=counted(about["seeds"]), aligned=about["aligned_samples"], **about["t5"])


DRAW = {"table1": dispersed, "table2": chi2023_answers.encodings, "table3": chi2023_answers.perplexity,
        "table4": chi2023_answers.retrieval, "table5": temperatures, "table6": chi2023_answers.documents,
        "table7": largest_logits, "fig1": chi2023_figures.biases, "fig2": chi2023_figures.quantiles,
        "fig3": chi2023_figures.curves, "propositions": chi2023_figures.propositions, "cross": cross}  # fmt: skip

"""Tables 2 (encodings), 4 (retrieval) and 6 (documents) of chi2023, shares of right answers, and table 3,
perplexity."""

import numpy as np
import pandas as pd

from .chi2023_data import (accuracy_cell, answers, change, columns, guess, length_names, of_task, over_all,
                           source_grid, stated, value_cell)  # fmt: skip
from .notes import notes, text
from .page import Cell, Grid, Section
from .seeds import difference, mean, number

ENCODINGS = {"T5's biases": "t5", "RoPE": "rope", "ALiBi": "alibi", "learned positions": "learned"}


def lengths_of(trials):
    return [trials.about["length"], *trials.about["longer"]]


def answer_grid(trials, caption, corner, rows):
    """A grid of accuracies. Each row has a name, its cells of the .csv file, and answers(mode, length) of one task."""
    lengths, cells, data = lengths_of(trials), [], []
    for name, fields, of in rows:
        mode, plain = fields["mode"], [of("original", length) for length in lengths]
        ours = plain if mode == "original" else [of(mode, length) for length in lengths]
        data += [fields | {"length": length} | columns(x) for length, x in zip(lengths, ours)]
        cells.append([Cell(name)])
        cells[-1] += [accuracy_cell(x, None if mode == "original" else y) for x, y in zip(ours, plain)]
    grid = Grid(caption, [corner, *length_names(lengths, trials.about["length"])], cells)
    return Section(grids=[grid], data=pd.DataFrame(data))


def gain(trials, tasks, mode, model=""):
    """The verdict on a mode beyond the trained length, against the unchanged model; None if they cannot be compared."""
    longer = trials.about["longer"]
    home, plain, ours = (over_all(trials, tasks, lengths, of, model)
                         for lengths, of in (([trials.about["length"]], "original"), (longer, "original"),
                                             (longer, mode)))  # fmt: skip
    if not (len(home) and len(plain) and len(ours)):
        return None
    row = {"mode": mode, "trained": mean(home), "beyond": mean(plain), "guess": guess(trials, tasks, longer)}
    return row | change(difference(ours, plain), (ours, plain), row["guess"])


def encodings(trials, artifact):
    tasks = trials.about["together"]
    rows = [
        (f"{task}, {name}, {mode}", {"encoding": name, "task": task, "mode": mode},
         lambda of, length, model=model, task=task: answers(trials, model, task, of, length))
        for task in tasks for name, model in ENCODINGS.items() for mode in ("original", "maximum probability")
    ]  # fmt: skip
    section = answer_grid(trials, "Answers that are right, in %: as trained, and aligned by maximum probability",
                          "task, encoding, mode", rows)  # fmt: skip
    gains = {name: gain(trials, tasks, "maximum probability", model) for name, model in ENCODINGS.items()}
    gains = {name: row for name, row in gains.items() if row}
    section.readings = [
        f"{name}: {number(row['trained'])} % at the trained length, {number(row['beyond'])} % beyond it, aligned "
        f"{stated(row)}."
        for name, row in gains.items()
    ]
    section.more = {"verdicts": pd.DataFrame([{"encoding": name} | row for name, row in gains.items()])}
    section.notes = notes(trials, "chi2023:table2")
    return section


def retrieval(trials, artifact):
    tasks, modes = list(trials.about["tasks"]), ("log rule", "maximum probability", "entropy")
    rows = [
        (f"{task}, {mode}", {"task": task, "mode": mode},
         lambda of, length, task=task: of_task(trials, task, of, length))
        for task in tasks for mode in ("original", *modes)
    ]  # fmt: skip
    section = answer_grid(trials, "Answers that are right, in %, and how many more than without alignment",
                          "task, mode", rows)  # fmt: skip
    plain = over_all(trials, tasks, trials.about["longer"], "original")
    gains = [row for row in (gain(trials, tasks, mode) for mode in modes) if row]
    if len(plain):
        home = over_all(trials, tasks, [trials.about["length"]], "original")
        says = text("chi2023:unaligned", home=number(mean(home)), beyond=number(mean(plain)))
        section.readings = [says, *(f"{row['mode']}: {stated(row)}." for row in gains)]
    section.more = {"verdicts": pd.DataFrame(gains)}
    section.notes = notes(trials, "chi2023:table4")
    return section


PLACES = 8  # places are counted by eighths of the context


def middle(trials):
    """Right answers at both ends of the longest context against those in its middle."""
    length = trials.about["longer"][-1]
    at = [answers(trials, "documents", "documents", "original", length, f"accuracy_{n + 1}") for n in range(PLACES)]
    ends, between = (at[0] + at[-1]) / 2, (at[PLACES // 2 - 1] + at[PLACES // 2]) / 2
    row = {"length": length, "ends": (mean(at[0]) + mean(at[-1])) / 2,
           "middle": (mean(at[PLACES // 2 - 1]) + mean(at[PLACES // 2])) / 2}  # fmt: skip
    baseline, sides = guess(trials, ["documents"], [length]), (ends.dropna(), between.dropna())
    return row | {"guess": baseline} | change(difference(ends, between), sides, baseline, ("lost", "found"))


def documents(trials, artifact):
    section, rows, modes = Section(), [], ("original", "maximum probability", "entropy")
    columns_of = {**{f"{n + 1}/{PLACES}": (n, f"accuracy_{n + 1}") for n in range(PLACES)}, "all": ("all", "accuracy")}
    for length in lengths_of(trials):
        cells = []
        for mode in modes:
            cells.append([Cell(mode)])
            for place, column in columns_of.values():
                plain, ours = (answers(trials, "documents", "documents", of, length, column)
                               for of in ("original", mode))  # fmt: skip
                rows.append({"mode": mode, "length": length, "place": place} | columns(ours))
                cells[-1].append(accuracy_cell(ours, None if mode == "original" else plain))
        caption = f"{length} tokens: right answers in %, by the place of the answer, from the first eighth to the last"
        section.grids.append(Grid(caption, ["mode", *columns_of], cells))
    names = {f"{size}, {mode}, {n}": f"{size} {mode} {n}" for size in ("large", "xl", "xxl")
             for mode in ("original", "pmax", "entropy") for n in (10, 20, 30)}  # fmt: skip
    section.grids.append(
        source_grid("chi2023_documents", "The source's, by the place of the document with the answer",
                    "Flan-T5, mode, documents", names, 1)
    )  # fmt: skip
    row = middle(trials)
    if not np.isnan(row["ends"] + row["middle"]):
        unlearned = " It is not learned: neither is above guesses by more than its interval."
        section.readings = [
            f"At {row['length']} tokens {number(row['ends'])} % are right if the answer is at either end, and "
            f"{number(row['middle'])} % if it is in the middle.{unlearned * (row['verdict'] == 'not learned')}"
        ]
        section.more = {"verdicts": pd.DataFrame([row])}
    section.notes = notes(trials, "chi2023:table6")
    section.data = pd.DataFrame(rows)
    return section


def perplexity(trials, artifact):
    lm, lengths = trials.about["lm"], trials.about["lm_lengths"]
    modes, rows, cells = ("original", "maximum probability", "entropy"), [], []
    for mode in modes:
        ours = [np.exp(answers(trials, "lm", "", mode, length, "loss")) for length in lengths]
        rows += [{"mode": mode, "length": length} | columns(x) for length, x in zip(lengths, ours)]
        cells.append([Cell(mode), *map(value_cell, ours)])
    grid = Grid("Perplexity, exp of the loss", ["mode", *length_names(lengths, lm["train_length"])], cells)
    section = Section(grids=[grid], data=pd.DataFrame(rows))
    plain, pmax, entropy = (row["value"] for row in rows[len(lengths) - 1 :: len(lengths)])
    if not np.isnan(plain + pmax):
        section.readings = [text("chi2023:perplexity", length=lengths[-1], plain=plain, pmax=pmax, entropy=entropy)]
    section.notes = notes(trials, "chi2023:table3", **lm | {"text": lm["text"] or "the C++ headers of the compiler"})
    return section

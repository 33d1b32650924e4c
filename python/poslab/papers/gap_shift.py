"""The gap shift, an experiment of poslab: do models fail on longer strings because of the length, or because of the
smaller gaps between randomized positions? lab/papers/gap_shift measures trained models, and this module draws the
results."""

import pandas as pd

from ..figures.draw import curves
from .notes import notes, text
from .page import Cell, Figure, Grid, Section
from .ruoss2023_figures import titled
from .seeds import NAN, above, average, by_seed, difference, interval, mean, number, span, summary
from .setting import Setting, difference_cell, strong, tasks
from .sweep import BASELINES

NO_LENGTH = "No length beyond the trained ones is tested; raise eval_lengths."


def tested(trials, artifact):
    """Each setting with a model: its Setting, and a function that returns its accuracies by length and other fields."""
    for one in artifact["settings"]:
        models = Setting.of(trials, **{name: one[name] for name in ("task", "encoding", "positions")})
        if models.runs:
            yield one, models


def test_of(setting, length, **fields):
    (found,) = [t for t in setting["tests"] if t["length"] == length and all(t[f] == x for f, x in fields.items())]
    return by_seed(found["accuracy"])


# -- the gaps themselves: nothing is trained ---------------------------------------------------------------------------


def spread(counts):
    """The mean gap, and the share of gaps of 1 or less."""
    all = sum(n for _, n in counts)
    return sum(gap * n for gap, n in counts) / all, sum(n for gap, n in counts if gap <= 1) / all


def stated(gap, close):
    return [f"mean gap {gap:.3g}", f"1 or less: {number(close)} %"]


MOST = 40  # the largest gap that is drawn


def shares(counts):
    all = dict(counts)
    return {gap: all.get(gap, 0) / sum(all.values()) for gap in range(0 if 0 in all else 1, MOST + 1)}


def histogram(sampler):
    all = {"training": shares(sampler["gaps"])}
    all |= {f"length {test['length']}": shares(test["gaps"]) for test in sampler["tests"]}
    alt = f"How often neighbouring slots are so many positions apart, {sampler['trained']}, {sampler['task']}."
    caption = f"{sampler['trained'].capitalize()}. Gaps up to {MOST}, rounded to whole numbers."
    data = pd.DataFrame([(name, *one) for name, share in all.items() for one in share.items()],
                        columns=["curve", "gap", "share"])  # fmt: skip
    chart = {"x": "gap", "y": "share of neighbours", "curves": list(curves(data, "curve", "gap", "share"))}
    limits = {"x_low": 0, "x_high": MOST, "y_low": 0, "y_high": min(1, max(0.1, 1.05 * data["share"].max()))}
    return Figure(f"gaps-{sampler['positions'].split(':')[0]}", caption, alt, [chart | limits], data)


def gaps(trials, artifact):
    section, rows, data = Section(), {}, []
    for one in artifact["samplers"]:
        task, trained, last = one["task"], spread(one["gaps"]), one["tests"][-1]
        fields = {"task": task, "trained": one["positions"]}
        names = ["test_positions", "length", "mean_gap", "share_of_1_or_less", "overlap"]
        name = one["trained"] + ", in equal steps at test" * one["even"]
        rows.setdefault(task, []).append([Cell(name), Cell("", stated(*trained))])
        if not one["even"]:
            data.append(fields | dict(zip(names, ("", NAN, *trained, 1.0))))
        for test in one["tests"]:
            at = spread(test["gaps"])
            rows[task][-1].append(Cell(number(test["overlap"]), stated(*at)))
            data.append(fields | dict(zip(names, (one["test_positions"], test["length"], *at, test["overlap"]))))
        if one["even"]:
            continue
        far = spread(last["gaps"])
        section.readings.append(
            text("gap_shift:gaps reading", task=task, sampler=one["trained"], near=trained[0], far=far[0],
                 length=last["length"], close_near=number(trained[1]), close_far=number(far[1]),
                 common=number(last["overlap"]))
        )  # fmt: skip
        if task == "reverse_string":
            section.figures.append(histogram(one))
    head = ["positions", "training", *(f"length {length}" for length in artifact["lengths"])]
    section.grids = [Grid(text("gap_shift:gaps caption", task=task), head, of) for task, of in rows.items()]
    section.data = pd.DataFrame(data)
    section.notes = notes(trials, "gap_shift:gaps", train_length=artifact["train_length"], pool=artifact["pool"])
    return section


# -- accuracy by length and by gap -------------------------------------------------------------------------------------


def spacing_cells(tests):
    """Cells with one number, or with two: for random spacing, and below it for even spacing."""
    cells = {}
    for test in tests:
        accuracy = number(mean(by_seed(test["accuracy"]))) + "†" * (not test["inside"])
        if test["column"] in cells:
            cells[test["column"]].below.append(f"even {accuracy}")
        else:
            cells[test["column"]] = Cell(accuracy)
    return cells


def grid_figure(setting, data):
    """The grid with random spacing, as in training; gap 1 has only one spacing. Faint cells are beyond the pool."""
    data = data[(data["spacing"] == "random") | (data["test_positions"] == "stretched:gap=1")]
    data = data.sort_values(["length", "mean_gap"], kind="stable")
    inside = data[data["within_pool"]].assign(curve="length " + data["length"].astype(str))
    ends = ("interval_low", "interval_high")
    chart = {"x": "mean gap between neighbours at test", "y": "accuracy", "percent": True, "y_low": 0, "y_high": 1,
             "x_low": 1, "x_high": data["mean_gap"].max()}  # fmt: skip
    chart["curves"] = list(curves(inside, "curve", "mean_gap", "accuracy", ends))
    for curve, (_, rows) in zip(chart["curves"], data.groupby("length")):
        beyond = rows[~rows["within_pool"]]
        edge = rows[rows["within_pool"] & (rows["mean_gap"] < beyond["mean_gap"].min())].tail(1)
        curve["behind"] = pd.concat([edge, beyond])[["mean_gap", "accuracy"]].to_numpy().tolist()
    caption = text("gap_shift:grid figure", task=titled(setting["task"]), encoding=setting["encoding"])
    lengths = ", ".join(map(str, data["length"].unique()))
    alt = f"Accuracy of strings of lengths {lengths} against the mean gap, {setting['task']}, {setting['encoding']}."
    return Figure(f"grid-{setting['task']}-{setting['encoding']}", caption, alt, [chart], data)


def grid(trials, artifact):
    section, grids, frames = Section(), {}, []
    home = max((length for length in artifact["lengths"] if length <= artifact["train_length"]), default=0)
    for one, models in tested(trials, artifact):
        task, encoding, rows = one["task"], one["encoding"], []
        for n, length in enumerate(artifact["lengths"]):
            majority = artifact["majority"][task][n]
            tests = [test for test in one["tests"] if test["length"] == length]
            cells = spacing_cells(tests)
            caption = text("gap_shift:grid caption", task=task)
            table = grids.setdefault(task, Grid(caption, ["encoding, length", *cells], []))
            below = [*models.partly, f"majority {number(majority)}"]
            table.rows.append([Cell(f"{encoding}, {length}", below), *cells.values()])
            rows += [
                {"task": task, "encoding": encoding, "length": length, "spacing": test["kind"],
                 "test_positions": test["positions"], "mean_gap": test["gap"], "within_pool": test["inside"]}
                | summary(by_seed(test["accuracy"]), "accuracy") | {"majority": majority}
                for test in tests
            ]  # fmt: skip
            if length == home:
                same, counted, even = (
                    number(mean(test_of(one, length, positions=positions)))
                    for positions in ("same", "contiguous", "evenly_spread")
                )
                section.readings.append(
                    text("gap_shift:grid reading", encoding=encoding, task=task, length=length, same=same,
                         gap=artifact["own_gap"][task][n], counted=counted, even=even)
                )  # fmt: skip
        frames.append(pd.DataFrame(rows))
        section.figures.append(grid_figure(one, frames[-1]))
    section.grids = list(grids.values())
    if frames:
        section.data = pd.concat(frames)
    else:
        section.readings.append("No model can be tested yet.")
    names = ("strings", "pool", "train_length")
    section.notes = notes(trials, "gap_shift:grid", **{name: artifact[name] for name in names})
    return section


# -- which comes first, the gap or the length? -------------------------------------------------------------------------

LEARNED = 0.25  # a skill, the share of the way from majority to all right: below it there is little to lose
CHANGES = {
    "with uniform sampling": ("gap", "length"),
    "with the gap all the way down to 1": ("gap to 1", "length at gap 1"),
}


def which_first(gap, length):
    """A row with the costs, by seed, of another gap at the same length, and of another length at the same gap. The
    verdict names the more expensive change if the interval of their difference over seeds excludes zero."""
    more, less = (gap, length) if mean(gap) > mean(length) else (length, gap)
    x = difference(more, less)
    row = {"seeds": len(x)}
    for name, of in (("gap", gap), ("length", length), ("difference", x)):
        row |= {name: mean(of)} | dict(zip((f"{name}_low", f"{name}_high"), interval(of)))
    names = ("gap", "length") if more is gap else ("length", "gap")
    verdict = (
        "untested" if not len(x) else "neither" if mean(more) <= 0
        else names[0] if strong(interval(x)) else "inconclusive"
    )  # fmt: skip
    return row | {"verdict": verdict}


def one_by_one(gap, length):
    """The numbers of settings that lose more to the gap, more to the length, and are inconclusive."""
    ends = [interval(difference(*both)) for both in zip(gap, length)]
    counts = sum(low > 0 for low, _ in ends), sum(high < 0 for _, high in ends)
    return {"gap_more": counts[0], "length_more": counts[1], "inconclusive": len(ends) - sum(counts)}


def points(row, name):
    return " ".join([f"{number(row[name])} points", *span((row[f"{name}_low"], row[f"{name}_high"]))])


def first_reading(row):
    """The notes of which_first() and one_by_one()."""
    if row["verdict"] == "untested":
        says = "No setting has been tested both ways yet."
    else:
        by = points(row, "difference")
        says = f"The gap alone costs {points(row, 'gap')}, the length alone {points(row, 'length')}. " + {
            "neither": "Neither loses accuracy.",
            "inconclusive": f"Which comes first is inconclusive: they differ by {by}.",
        }.get(row["verdict"], f"The {row['verdict']} comes first: it costs more by {by}.")
    return (
        f"{says} Setting by setting: the gap costs more in {row['gap_more']}, the length in {row['length_more']}, and "
        f"{row['inconclusive']} are inconclusive."
    )


def losses(artifact, setting, length, longest):
    """The skill at the trained setting, and the cost of each change, by seed. A skill is 0 for the most frequent symbol
    of each slot and 1 for all right, so that lengths with different baselines can be compared."""

    def skill(length, gap):
        majority = artifact["majority"][setting["task"]][artifact["lengths"].index(length)]
        return (test_of(setting, length, gap=gap) - majority) / (1 - majority)

    home, squeezed, counted = (skill(length, gap) for gap in ("trained", "squeezed", "1"))
    far, far_counted = (skill(longest, gap) for gap in ("trained", "1"))
    pairs = [(home, squeezed), (squeezed, far), (home, counted), (counted, far_counted)]
    names = [name for both in CHANGES.values() for name in both]
    return home, {name: difference(*pair) for name, pair in zip(names, pairs)}


def first_from(artifact, all, length, longest):
    """For all settings, from one trained length: readings, a table, and the rows of both files."""
    rows, data, verdicts, unlearned = [], [], [], []
    lost = {name: [] for both in CHANGES.values() for name in both}
    for one, models in all:
        home, of = losses(artifact, one, length, longest)
        gap, gap_there = (artifact["own_gap"][one["task"]][artifact["lengths"].index(n)] for n in (length, longest))
        name = f"{one['task']}, {one['encoding']}"
        below = [*models.partly, f"mean gap {gap:.3g}, at length {longest} {gap_there:.3g}"]
        cells = [difference_cell(mean(x), interval(x)) for x in of.values()]
        rows.append([Cell(name, below), Cell(number(mean(home))), *cells])
        fields = {"task": one["task"], "encoding": one["encoding"], "length": length, "longest": longest,
                  "gap": gap, "gap_at_longest": gap_there}  # fmt: skip
        data += [fields | {"change": change} | summary(x, "loss") for change, x in of.items()]
        if mean(home) < LEARNED:
            unlearned.append(name)
            continue
        for change, x in of.items():
            lost[change].append(x)
    if not lost["gap"]:
        readings = [f"No setting has learned the strings of length {length} well enough to lose anything."]
    else:
        readings = []
        for how, names in CHANGES.items():
            gap, by_length = (lost[name] for name in names)
            row = which_first(average(gap), average(by_length)) | one_by_one(gap, by_length)
            verdicts.append({"from": length, "to": longest, "change": names[0], "settings": len(gap)} | row)
            count = f", mean of {len(gap)} setting{'s' * (len(gap) != 1)}" if names[0] == "gap" else ""
            readings.append(f"From length {length} to {longest} {how}{count}: {first_reading(row)}")
        if unlearned:
            listed = "; ".join(unlearned)
            readings.append(text("gap_shift:unlearned", least=100 * LEARNED, length=length, listed=listed))
    head = ["task, encoding", f"as trained, length {length}", "gap alone", "length alone", "gap alone, to 1",
            "length alone, at gap 1"]  # fmt: skip
    caption = f"From length {length} to {longest}: points lost when only the gap or only the length changes, and their "
    return readings, Grid(f"{caption}intervals", head, rows), data, verdicts


def first(trials, artifact):
    lengths, data, verdicts = artifact["lengths"], [], []
    homes = [length for length in lengths[:-1] if length <= artifact["train_length"]]
    if not homes:
        return Section([NO_LENGTH])
    section, all = Section(), list(tested(trials, artifact))
    for length in homes:
        readings, table, rows, judged = first_from(artifact, all, length, lengths[-1])
        section.readings += readings
        section.grids.append(table)
        data += rows
        verdicts += judged
    places = {(one["task"], one["encoding"]): n for n, (one, _) in enumerate(all)}
    section.data = pd.DataFrame(sorted(data, key=lambda row: places[row["task"], row["encoding"]]))
    if verdicts:
        section.more["verdicts"] = pd.DataFrame(verdicts)
    section.notes = notes(trials, "gap_shift:first")
    return section


# -- matching the gaps in training -------------------------------------------------------------------------------------

RULES = ("as trained", "equal steps", "counted")


def baselines_at(trials, ids, lengths):
    """Baselines by name, over these lengths: means over the seeds of these trials."""
    ids = trials.asked.loc[ids].drop_duplicates("seed").sort_values("seed").index
    return {
        name: mean([mean(list(trials.by_length(name).loc[id].reindex(lengths).dropna())) for id in ids])
        for name in BASELINES
    }


def ahead(name, x):
    """A row of the verdicts: the lead of a sampler over uniform sampling."""
    ends, m = interval(x), mean(x)
    verdict = "inconclusive" if not strong(ends) else "ahead" if m > 0 else "behind"
    return {"trained": name, "minus_uniform": m, "difference_low": ends[0], "difference_high": ends[1],
            "verdict": verdict if len(x) else "untested"}  # fmt: skip


def ahead_reading(row):
    more = f", {row['unlearned']} more not learned" * (row["unlearned"] > 0)
    name = f"{row['trained']} ({row['settings']} setting{'s' * (row['settings'] != 1)}{more})"
    if row["verdict"] == "untested":
        return f"{name} is not {'learned' if more else 'tested yet'}"
    ends = span((row["difference_low"], row["difference_high"]), sign="+")
    return f"{' '.join([name, number(row['minus_uniform'], sign='+'), 'points', *ends])}: {row['verdict']}"


def matched_row(one, trained_length, far):
    """A setting's accuracies at the trained length and, for each rule (rule, lengths, positions, x), beyond it."""
    yield "", [trained_length], "same", test_of(one, trained_length, rule="as trained")
    for rule in RULES:
        tests = [t for t in one["tests"] if t["rule"] == rule and t["length"] in far]
        yield rule, far, tests[0]["positions"], average([by_seed(test["accuracy"]) for test in tests])


def matched(trials, artifact):
    far, home = artifact["lengths"], artifact["train_length"]
    if not far:
        return Section([NO_LENGTH])
    beyond, grids, data, more = f"{far[0]} to {far[-1]}", {}, [], {}
    none, reference = pd.Series(dtype=float), {}  # of uniform sampling
    for one in artifact["settings"]:
        task, encoding, trained = one["task"], one["encoding"], one["trained"]
        models = Setting.of(trials, task=task, encoding=encoding, positions=one["positions"])
        caption = f"{task}: accuracy in %, and minus that of uniform sampling in points with its interval"
        head = ["encoding, trained with", f"length {home}, as trained", *(f"{beyond}, {rule}" for rule in RULES)]
        row = [Cell(f"{encoding}, {trained}", models.partly)]
        grids.setdefault(task, Grid(caption, head, [])).rows.append(row)
        for rule, lengths, positions, ours in matched_row(one, home, far):
            x = none if trained == "uniform" else difference(ours, reference.get((task, encoding, rule), none))
            ends = interval(x)
            below = " ".join([number(mean(x), sign="+"), *span(ends, sign="+")]) if len(x) else ""
            row.append(Cell(number(mean(ours)), [below] if below else [], strong(ends)))
            at = baselines_at(trials, models.at_lr.index, lengths) if len(ours) else dict.fromkeys(BASELINES, NAN)
            data.append(
                {"task": task, "encoding": encoding, "trained": one["positions"], "test_positions": positions,
                 "lengths": beyond if rule else str(home)} | summary(ours, "accuracy")
                | {"minus_uniform": mean(x), "difference_low": ends[0], "difference_high": ends[1]} | at
            )  # fmt: skip
            if trained == "uniform":
                reference[task, encoding, rule] = ours
            learned = any(above(side, max(at.values())) for side in (ours, reference.get((task, encoding, rule), none)))
            if rule and len(x):
                more.setdefault((rule, trained), ([], []))[not learned].append(x)
    verdicts = [
        {"lengths": beyond, "rule": rule} | ahead(trained, average(of))
        | {"settings": len(of), "unlearned": len(unlearned)}
        for (rule, trained), (of, unlearned) in sorted(
            more.items(), key=lambda one: (RULES.index(one[0][0]), one[0][1])
        )
    ]
    readings = [
        f"Lengths {beyond}, {rule}, against uniform sampling tested the same way: {'; '.join(said)}."
        for rule in RULES
        if (said := [ahead_reading(v) for v in verdicts if v["rule"] == rule])
    ]
    lengths = ", ".join(map(str, far))
    below = notes(trials, "gap_shift:matched", beyond=beyond, lengths=lengths, strings=artifact["strings"])
    for task in tasks(trials):
        of = trials.asked[(trials.asked["task"] == task) & trials.asked["done"]]
        if len(of):
            at = baselines_at(trials, of.index, far)
            listed = ", ".join(f"{title} {number(at[name])}" for name, title in BASELINES.items())
            below.append(f"{task}, without reading the order of the symbols, at these lengths: {listed}.")
    return Section(
        readings or ["No comparison can be made of the runs that are done."],
        list(grids.values()),
        notes=below + notes(trials, "gap_shift:sources"),
        data=pd.DataFrame(data),
        more={"verdicts": pd.DataFrame(verdicts)} if verdicts else {},
    )


DRAW = {"gaps": gaps, "grid": grid, "first": first, "matched": matched}

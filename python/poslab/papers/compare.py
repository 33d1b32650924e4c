"""`poslab compare`: encodings side by side, ranked by their accuracy on unseen lengths. about["schemes"] has the
spelling of the encoding of each possible trial, about["windows"] the window of each encoding that has one."""

import functools
import itertools

import numpy as np
import pandas as pd

from .notes import text
from .page import Cell, Figure, Grid, Section
from .ruoss2023_figures import against_length
from .seeds import NAN, difference, interval, mean, number, span
from .setting import Setting, baselines, strong, tasks, worth
from .sweep import BASELINES, done, ends, how_many, mean_at, trained_lengths

LEARNED = 0.9  # with less accuracy at trained lengths, accuracy beyond them means little
FEW = 5  # the most curves in a chart
NAMES = 8  # the most names in a sentence


class Entry:
    """An encoding with its results. Scores are fractions, means over the lengths beyond training."""

    def __init__(self, trials, name):
        asked = trials.asked[trials.asked["scheme"] == name]
        self.trials, self.name, self.options = trials, name, asked.iloc[0]
        self.tasks = {task: Setting.of(trials, scheme=name, task=task) for task in tasks(trials)}
        failed = asked[asked.index.isin(trials.about["failed"])]["task"]
        self.failed = any(not self.tasks[task].runs for task in failed)

    @property
    def runs(self):
        return sum(setting.runs for setting in self.tasks.values())

    def rank_by(self, counted):
        """The entry's means over these tasks, for each seed that is done on all of them."""
        scores = pd.DataFrame({task: self.tasks[task].by_seed for task in counted}).dropna()
        self.scores = pd.Series({seed: mean(row) for seed, row in scores.iterrows()}, dtype=float)
        self.mean, self.interval = mean(self.scores), interval(self.scores)

    def over_runs(self, value, counted):
        """The mean over runs for each of these tasks, then over tasks."""
        return mean([mean([value(id) for id in self.tasks[task].at_lr.index]) for task in counted])

    def trained(self, counted):
        """Accuracy at the trained lengths."""
        at = mean_at(self.trials, "accuracy", trained_lengths(self.options))
        return self.over_runs(at.get, counted)

    def step(self, counted):
        """Seconds of a training step."""
        results, steps = self.trials.results, self.options["steps"]
        return self.over_runs(lambda id: results[id].get("seconds", NAN) / steps, counted)

    @functools.cached_property
    def parameters(self):
        ids = (id for task in sorted(self.tasks) for id in self.tasks[task].at_lr.index)
        return next(filter(None, (self.trials.results[id].get("parameters") for id in ids)), NAN)


class Ranking:
    """`counted` are the tasks with a result of every encoding, except encodings that failed on one; `ranked` are the
    encodings that were tested on all of these tasks, the best first, and `unranked` the others, as planned."""

    def __init__(self, trials):
        asked = trials.asked[trials.asked.index.isin(trials.about["schemes"])]
        self.trials = trials = trials.of({"trials": asked.index})
        trials.asked = trials.asked.assign(scheme=trials.asked.index.map(trials.about["schemes"]))
        entries = [Entry(trials, name) for name in trials.asked["scheme"].unique()]
        voters = [entry for entry in entries if entry.runs and not entry.failed]
        self.all_tasks = tasks(trials)
        self.counted = [t for t in self.all_tasks if voters and all(entry.tasks[t].runs for entry in voters)]
        for entry in entries:
            entry.rank_by(self.counted)
        self.ranked = sorted((e for e in entries if len(e.scores)), key=lambda entry: -entry.mean)
        self.unranked = [entry for entry in entries if not len(entry.scores)]
        self.none = next((entry for entry in self.ranked if entry.name == "none"), None)
        self.tested = [task for task in self.all_tasks if self.baselines(task)]

    @functools.cache    # noqa: B019 (one object for a page, which lives as long as the program)
    def baselines(self, task):
        return baselines(self.trials, done(self.trials, task=task))

    @functools.cached_property
    def mean_baselines(self):
        if not self.counted:
            return {}
        return {name: mean([self.baselines(task)[name] for task in self.counted]) for name in BASELINES}

    def ahead(self, entry, task=None):
        """The entry's differences to `none`, by seed; empty for `none` itself."""
        if self.none in (None, entry):
            return pd.Series(dtype=float)
        first, second = (e.tasks[task].by_seed if task else e.scores for e in (entry, self.none))
        return difference(first, second)

    def time(self, entry, counted):
        """The time of a step relative to that of `none`."""
        return entry.step(counted) / self.none.step(counted) if self.none else NAN

    def place(self, entry):
        """Means that are equal up to rounding share a rank."""
        return 1 + sum(round(e.mean, 9) > round(entry.mean, 9) for e in self.ranked)

    def places(self):
        return [list(equal) for _, equal in itertools.groupby(self.ranked, self.place)]

    def ties(self, entry):
        return bool(entry.interval[1] >= self.ranked[0].interval[0])  # false for one seed, whose interval is NaN


def on_task(setting):
    return Cell(number(setting.mean), span(setting.interval))


def ranked_grid(r):
    """A row for each encoding, with the baselines where they would rank."""
    head = ["encoding", "rank", "seeds", "mean", "minus none", *r.tested, "at trained lengths", "parameters",
            "time of a step"]  # fmt: skip
    rows = []
    for e in r.ranked:
        ahead = r.ahead(e)
        time, parameters = r.time(e, r.counted), e.parameters
        cells = [
            Cell(e.name),
            Cell(str(r.place(e))),
            Cell(str(len(e.scores))),
            Cell(number(e.mean), span(e.interval), r.ties(e)),
            Cell(number(mean(ahead), sign="+"), span(interval(ahead), sign="+"), strong(interval(ahead))),
            *(on_task(e.tasks[task]) for task in r.tested),
            Cell(number(e.trained(r.counted))),
            Cell("–" if np.isnan(parameters) else str(parameters)),
            Cell(number(time, scale=1)),
        ]
        rows.append((-e.mean, cells))
    for name, value in r.mean_baselines.items():
        of_tasks, dash = [Cell(number(r.baselines(task)[name])) for task in r.tested], Cell("–")
        cells = [Cell(BASELINES[name]), dash, dash, Cell(number(value)), dash, *of_tasks, dash, dash, dash]
        rows.append((-value, cells))
    rows.sort(key=lambda row: row[0])
    return Grid("Accuracy in % on unseen lengths, with its interval over the seeds", head, [cells for _, cells in rows])


def row(r, entry, task, setting_or_entry, ahead, counted, **more):
    low, high = setting_or_entry.interval
    (ahead_low, ahead_high), options = interval(ahead), entry.options
    return {"encoding": entry.name, "positions": options["positions"], "causal": "on" if options["causal"] else "off",
            "task": task, **more, "mean": setting_or_entry.mean, "interval_low": low, "interval_high": high,
            "minus_none": mean(ahead), "minus_none_low": ahead_low, "minus_none_high": ahead_high,
            "trained": entry.trained(counted), "parameters": entry.parameters,
            "time_of_none": r.time(entry, counted)}  # fmt: skip


def data(r):
    """A row for each encoding and task, and one for the mean over counted tasks, which has the rank."""
    rows = []
    for e in r.ranked + r.unranked:
        for task in r.tested:
            s, ahead = e.tasks[task], r.ahead(e, task)
            counts = {"rank": NAN, "runs": s.runs, "planned": s.planned, "seeds": len(s.by_seed)}
            rows.append(row(r, e, task, s, ahead, [task], **counts) | s.baselines)
        if e in r.ranked:
            runs, planned = (sum(getattr(e.tasks[t], name) for t in r.counted) for name in ("runs", "planned"))
            counts = {"rank": r.place(e), "runs": runs, "planned": planned, "seeds": len(e.scores)}
            rows.append(row(r, e, "mean", e, r.ahead(e), r.counted, **counts) | r.mean_baselines)
    return pd.DataFrame(rows)


# -- words -------------------------------------------------------------------------------------------------------------


def listed(names):
    return ", ".join(names[:NAMES]) + (f" and {len(names) - NAMES} more" if len(names) > NAMES else "")


def first_places(r):
    best, options, count = r.ranked[0], r.ranked[0].options, len(r.ranked)
    (first, *rest), others = r.places(), [e for e in r.ranked if r.place(e) > 1]
    says = (
        f"{count} encoding{'s' * (count != 1)} ranked by mean accuracy on the lengths {options['train_length'] + 1} to "
        f"{ends(options['eval_lengths'])[1]} of {', '.join(r.counted)}: {listed([e.name for e in first])} "
        + ("is first with " if len(first) == 1 else "are first, equal, with ")
        + " ".join([f"{number(best.mean)} %", *span(best.interval)])
    )
    for word, group in zip((", then", " and"), rest):
        says += f"{word} {listed([e.name for e in group])} ({number(group[0].mean)} %{' each' * (len(group) > 1)})"
    if np.isnan(best.interval[0]):
        has = "It has" if len(first) == 1 else "Each has"
        return f"{says}. {has} one seed and so no interval: which of the differences are luck remains open."
    ties = [e.name for e in others if r.ties(e)]
    if not ties:
        return f"{says}. No other has an interval that overlaps its own."
    return f"{says}. Not distinguishable from it, because intervals overlap: {listed(ties)}."


def beside_none(r):
    differences = [r.ahead(e) for e in r.ranked if e is not r.none]
    means, intervals = [mean(x) for x in differences], [interval(x) for x in differences]
    above, below = sum(x > 0 for x in means), sum(x < 0 for x in means)
    if not r.none or not above + below:
        return
    says = f"{above} are ahead of no positions at all ({number(r.none.mean)} %), {below} behind."
    if not np.isnan(r.none.interval[0]):
        firm = sum(low > 0 for low, _ in intervals), sum(high < 0 for _, high in intervals)
        says += f" Of these, {firm[0]} and {firm[1]} have an interval that excludes zero."
    yield says


def of_task(r, task):
    mean_of = {e.name: e.tasks[task].mean for e in r.ranked}
    low, high = min(mean_of, key=mean_of.get), max(reversed(mean_of), key=mean_of.get)
    b = r.baselines(task)
    above = sum(x > max(b.values()) for x in mean_of.values())
    at = ", ".join(f"{text} {number(b[name])}" for name, text in BASELINES.items())
    firm = sum(e.tasks[task].learned for e in r.ranked)
    ends = {"low": low, "at_low": number(mean_of[low]), "high": high, "at_high": number(mean_of[high])}
    return text("compare:task", task=task, baselines=at, above=above, firm=firm, all=len(r.ranked), **ends)


def not_learned(r):
    trained = {e.name: e.trained(r.counted) for e in r.ranked}
    below, lowest = [name for name, x in trained.items() if x < LEARNED], min(trained, key=trained.get)
    if not below:
        return f"At the lengths of training all have at least {100 * LEARNED:.0f} %."
    return text("compare:trained", below=len(below), all=len(r.ranked), least=100 * LEARNED, names=listed(below),
                lowest=lowest, accuracy=number(trained[lowest]))  # fmt: skip


def windows(r):
    """Encodings whose window is longer than all strings here."""
    slots, all = r.trials.about["slots"], r.trials.about["windows"]
    wide = [e.name for e in r.ranked + r.unranked if all.get(e.name, 0) >= slots]
    if wide:
        spelled = ", ".join(f"{name} ({all[name]})" for name in wide)
        yield text("compare:windows", slots=slots, wide=spelled, first=wide[0].split(":")[0].split()[0])


def twins(r):
    """Encodings with equal results, including the loss."""
    same, losses = {}, r.trials.by_length("loss")
    for e in r.ranked:
        results = tuple(tuple(losses.loc[s.at_lr.index].to_numpy().ravel()) for s in e.tasks.values())
        same.setdefault(results, []).append(e.name)
    for names in same.values():
        if len(names) > 1:
            yield f"Equal to the last digit: {', '.join(names)}. With these options they are the same at these lengths."


def remarks(r):
    yield how_many(r.trials)
    yield worth(r.trials)
    left = [task for task in r.all_tasks if task not in r.counted]
    if r.ranked:
        yield text("compare:rank")
        if not np.isnan(r.ranked[0].interval[0]):
            yield text("compare:bold")
        if left:
            yield f"Tasks that do not count yet, because not all encodings are done: {', '.join(left)}."
    if open := [e.name for e in r.unranked if not e.runs]:
        yield f"Without any result yet: {', '.join(open)}."
    if any(not np.isnan(r.time(e, r.counted)) for e in r.ranked):
        yield text("compare:time")
    yield from windows(r)
    yield from twins(r)


# -- pictures ----------------------------------------------------------------------------------------------------------


def dots(r, name):
    ends = [(e.mean if np.isnan(x) else x for x in e.interval) for e in r.ranked]  # with one seed the mean itself
    mean = {"name": "mean", "color": "c7", "marker": "|",
            "points": [[n, e.mean, *both] for n, (e, both) in enumerate(zip(r.ranked, ends))]}  # fmt: skip
    tasks = [{"name": task, "points": [[n, *[e.tasks[task].mean] * 3] for n, e in enumerate(r.ranked)]}
             for task in r.counted]  # fmt: skip
    levels = [{"name": BASELINES[name], "x": x} for name, x in r.mean_baselines.items()]
    chart = {"kind": "marks", "rows": [e.name for e in r.ranked], "series": [*tasks, mean], "levels": levels,
             "x": "accuracy on unseen lengths", "percent": True, "x_low": 0, "x_high": 1}  # fmt: skip
    best = " ".join(f"{e.name}: {number(e.mean)} %." for e in r.ranked[:FEW])
    rows = [
        {"encoding": e.name, "mean": e.mean, "interval_low": e.interval[0], "interval_high": e.interval[1]}
        | {task: e.tasks[task].mean for task in r.counted}
        for e in r.ranked
    ]
    alt = f"Accuracy on unseen lengths, by encoding. {best}"
    return Figure(f"{name}-dots", text("compare:dots"), alt, [chart], pd.DataFrame(rows))


def lengths(r, name, task):
    """Accuracy against length of the best few on a task, and of `none`; nothing if none was tested on it."""
    shown = sorted((e for e in r.ranked + r.unranked if e.tasks[task].runs), key=lambda e: -e.tasks[task].mean)
    none = [e for e in shown[FEW:] if e.name == "none"]
    shown = shown[:FEW] + none
    at = {column: r.trials.by_length(column) for column in ("accuracy", *BASELINES)}
    curves = {e.name: at["accuracy"].loc[e.tasks[task].at_lr.index].mean() for e in shown}
    of = shown[0].tasks[task].at_lr.index
    baselines = {text: at[column].loc[of].mean() for column, text in BASELINES.items()}

    last = ", and none" if shown[-1].name == "none" else ""
    low, high = trained_lengths(shown[0].options)
    trained = "The shaded lengths were" if low == 1 else f"Length {high} alone was"
    caption = text("compare:lengths", task=task, last=last, trained=trained)
    ends = (
        f"{label}: {number(curve.iloc[0])} % at length {curve.index[0]}, {number(curve.iloc[-1])} % at "
        f"{curve.index[-1]}."
        for label, curve in curves.items()
    )
    frame = pd.DataFrame(curves | baselines).rename_axis("length").reset_index()
    alt = f"Accuracy against length, {task}. {' '.join(ends)}"
    named = frame.rename(columns={text: column for column, text in BASELINES.items()})
    ours = [({"name": label}, frame[["length"]].assign(accuracy=curve.to_numpy())) for label, curve in curves.items()]
    chart = against_length(ours, named, high if low == 1 else 0)
    return Figure(f"{name}-lengths-{task}", caption, alt, [chart], frame)


def ranking(trials, artifact):
    r, name = Ranking(trials), artifact["name"].split(":")[1]
    section = Section(["Nothing can be ranked yet."], notes=list(remarks(r)), data=data(r))
    if r.ranked:
        section.readings = [first_places(r), *beside_none(r), *(of_task(r, task) for task in r.counted), not_learned(r)]
        section.grids, section.figures = [ranked_grid(r)], [dots(r, name)]
    if others := [e for e in r.unranked if e.runs]:
        rows = [[Cell(e.name), *(on_task(e.tasks[task]) for task in r.tested)] for e in others]
        caption = "Not ranked, because not all of the tasks that count are done"
        section.grids.append(Grid(caption, ["encoding", *r.tested], rows))
    section.figures += [lengths(r, name, task) for task in r.tested]
    return section


DRAW = {"ranking": ranking, "causal": ranking}

"""Figures 2 to 4 of Ruoss et al. 2023, the table of times, and a comparison of the paper with its released code."""

import pandas as pd

from . import ruoss2023_inside
from .notes import notes, text
from .page import Cell, Figure, Grid, Section
from .ruoss2023_columns import COLORS, COLUMNS, columns_of, setting
from .seeds import NAN, difference, interval, mean, number, span, summary
from .setting import Setting, asked, difference_cell, named, not_learned, strong, tasks
from .sweep import BASELINES, done, how_many


def without_order(trials):
    """A note for each task: its baselines."""
    cells = [named(trials, task) for task in tasks(trials)]
    return [f"{c.text}, without reading the order of the symbols: {', '.join(c.below)}." for c in cells if c.below]


def titled(task):
    return task.replace("_", " ").capitalize()


# -- table 2 and figure 2: what training costs -------------------------------------------------------------------------


def upper_median(x):
    return sorted(x)[len(x) // 2] if len(x) else NAN


def made_on(trials):
    results = [trials.results[id] for id in done(trials).index]
    machines = sorted({
        f"{r.get('isa', '?')}, {r.get('threads', 0)} thread{'s' * (r.get('threads', 0) != 1)}" for r in results
    })  # fmt: skip
    if not machines:
        return []
    return [
        f"Made on {'; '.join(machines)}. Runs that share a machine with others slow each other down: for fair times "
        "use --jobs 1."
    ]


def table2(trials, artifact):
    across, rows, data = columns_of(trials), [], []
    for task in tasks(trials):
        rows.append([Cell(task)])
        for c in across:
            took = {id: trials.results[id].get("seconds") for id in c.done(trials, task).index}
            of = pd.DataFrame({"seconds": took, "steps": trials.asked["steps"]}, dtype=float).dropna()
            rate, seconds = upper_median(of["steps"] / of["seconds"]), upper_median(of["seconds"])
            rows[-1].append(Cell(number(rate, scale=1), [f"{seconds:.0f} s"] if len(of) else []))
            data.append(c.row(task) | {"runs": len(of), "steps_per_second": rate, "seconds": seconds})
    grid = Grid("Training steps a second, median over the runs", ["task", *(c.name for c in across)], rows)
    below = [how_many(trials), *made_on(trials), *notes(trials, "ruoss2023:table2")]
    return Section(grids=[grid], notes=below, data=pd.DataFrame(data))


GOOD, IN_A_ROW = 0.9, 3  # this many tests must be above GOOD: a single small test may be above by luck


def small_tests(trials, artifact, id):
    """Step, seconds and mean accuracy beyond the randomized runs' trained lengths; nothing for a run whose clock is
    lost."""
    trained = trials.asked["train_length"].min()
    rows = [
        (test["step"], test["seconds"],
         mean([a for length, a in zip(test["lengths"], test["accuracies"]) if length > trained]))
        for test in artifact["tests"].get(id, [])
        if test["seconds"] is not None
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["step", "seconds", "accuracy"])


def fig2(trials, artifact):
    section = Section(notes=[how_many(trials), *made_on(trials), *notes(trials, "ruoss2023:fig2"),
                             *without_order(trials)], data=pd.DataFrame())  # fmt: skip
    data = []
    for task in tasks(trials):
        curves, rate, reached, said = {}, {}, {}, {}
        for name, positions in (("randomized", "randomized"), ("naive", "sequential")):
            said[name] = "not yet run"
            for id, run in done(trials, task=task, positions=positions).iterrows():
                tests = small_tests(trials, artifact, id)
                fields = {"task": task, "positions": positions, "train_length": run.train_length, "seed": run.seed}
                data.append(tests.assign(**fields)[[*fields, "step", "seconds", "accuracy"]])
                said[name] = "not in this run"
                if tests.empty:
                    continue
                label = f"{'R-' * (name == 'randomized')}Relative to length {run.train_length}"
                curves[name] = (label, tests)
                last, every = tests.iloc[-1], tests["seconds"].iloc[-1] / len(tests)
                rate[name] = last.step / last.seconds
                good = (tests["accuracy"] > GOOD).rolling(IN_A_ROW).sum() == IN_A_ROW
                if good.any():
                    reached[name] = tests["seconds"][good.idxmax() - IN_A_ROW + 1]
                    said[name] = f"after {reached[name]:.3g} s (a test every {every:.2g} s)"
        if not curves:
            continue
        if len(rate) == 2:
            ratio = rate["randomized"] / rate["naive"]
            section.readings.append(text("ruoss2023:fig2 rate", task=task, ratio=ratio, **rate))
        later = f", {reached['naive'] / reached['randomized']:.1f} times later" if len(reached) == 2 else ""
        section.readings.append(
            f"More than 90 % right in three tests in a row: randomized {said['randomized']}, naive "
            f"{said['naive']}{later} (paper: 35.4 times sooner)."
        )
        trained = trials.asked["train_length"].min()
        caption = text("ruoss2023:fig2 figure", task=titled(task), trained=trained)
        alt = f"Accuracy on unseen lengths against seconds of training, {task}. {' '.join(section.readings[-2:])}"
        chart = {"x": "seconds of training", "y": "accuracy", "percent": True, "x_low": 0, "y_low": 0, "y_high": 1}
        chart["x_high"] = max(tests["seconds"].max() for _, tests in curves.values())
        chart["curves"] = [{"name": label, "points": tests[["seconds", "accuracy"]].to_numpy().tolist()}
                           for label, tests in curves.values()]  # fmt: skip
        section.figures.append(Figure(f"time-{task}", caption, alt, [chart], data[-1]))
    section.data = pd.concat(data) if data else pd.DataFrame()
    for figure in section.figures:
        figure.data = section.data[section.data["task"] == figure.name.removeprefix("time-")]
    return section


# -- figures 3 and 4: pools, and lengths -------------------------------------------------------------------------------


def fig3(trials, artifact):
    pools, usual = sorted(done(trials)["max_position"].unique()), artifact["max_position"]
    rows, data, says = [], [], []
    for task in tasks(trials):
        of = {pool: Setting.of(trials, task=task, max_position=pool) for pool in (*pools, usual)}
        rows.append([named(trials, task)])
        for pool in pools:
            ours = of[pool]
            more = (NAN, NAN) if pool == usual else interval(difference(ours.by_seed, of[usual].by_seed))
            rows[-1].append(
                Cell(number(ours.mean), span(ours.interval) + span(more, sign="+"), strong(more))
            )
            data.append({"task": task, "max_position": pool, "runs": ours.runs, "best": ours.best}
                        | summary(ours.by_seed)
                        | {name: ours.baselines.get(name, NAN) for name in BASELINES})  # fmt: skip
        means = [of[pool].mean for pool in pools if of[pool].runs]
        if len(means) > 1:
            says.append(f"{task}: between {number(min(means))} and {number(max(means))} % over pools of {pools[0]} to "
                        f"{pools[-1]} positions.")  # fmt: skip
    grid = Grid(text("ruoss2023:fig3 caption", usual=usual), ["task", *map(str, pools)], rows)
    return Section(says, [grid], notes=notes(trials, "ruoss2023:fig3"), data=pd.DataFrame(data))


def mean_curve(trials, of):
    """Accuracy and baselines by length: the mean over the runs, all tested at the same lengths."""
    if of.at_lr.empty:
        return pd.DataFrame()
    ids = of.at_lr.index
    table = {name: sum(trials.by_length(name).loc[id] for id in ids) / len(ids) for name in ("accuracy", *BASELINES)}
    return pd.DataFrame(table).dropna(subset="accuracy").rename_axis("length").reset_index()


def fig4(trials, artifact):
    section = Section(notes=notes(trials, "ruoss2023:fig4"))
    data = []
    for task in tasks(trials):
        for positions in ("sequential", "randomized"):
            curves, alt = [], f"Accuracy against length, {task}, positions {positions}."
            for c in COLUMNS:
                of = setting(trials, task, c)
                curve = mean_curve(trials, of)
                if c.positions != positions or curve.empty:
                    continue
                fields = c.row(task) | {"seeds": len(of.at_lr)}
                curves.append((c, curve.assign(**fields)))
                (first, from_), (last, to) = (curve.iloc[n][["accuracy", "length"]] for n in (0, -1))
                alt += f" {c.name}: {number(first)} % at {from_:.0f}, {number(last)} % at {to:.0f}."
            if not curves:
                continue
            data += [curve for _, curve in curves]
            caption = text("ruoss2023:fig4 figure", task=titled(task), positions=positions)
            chart = against_length([({"name": c.name, "color": COLORS[c.encoding]}, of) for c, of in curves],
                                   max((of for _, of in curves), key=len),
                                   trials.asked["train_length"].iloc[0])  # fmt: skip
            drawn = pd.concat(curve for _, curve in curves)
            section.figures.append(Figure(f"lengths-{task}-{positions}", caption, alt, [chart], drawn))
    order = ["task", "encoding", "positions", "length", "accuracy", "seeds", *BASELINES]
    section.data = pd.concat(data)[order] if data else pd.DataFrame(columns=order)
    return section


def against_length(curves, baselines, trained):
    """Accuracy by length, and in grey the baselines. curves: (fields, a DataFrame)."""
    all = [fields | {"points": of[["length", "accuracy"]].to_numpy().tolist()} for fields, of in curves]
    all += [{"name": text, "color": "base", "points": baselines[["length", name]].to_numpy().tolist()}
            for name, text in BASELINES.items()]  # fmt: skip
    limits = {"x_low": baselines["length"].iloc[0], "x_high": baselines["length"].iloc[-1], "y_low": 0, "y_high": 1}
    return {"x": "length of the input", "y": "accuracy", "percent": True, "shaded": trained, "curves": all} | limits


# -- the paper against its released code (spec 0 and A.2): each difference trained both ways --------------------------


def code(trials, artifact):
    usual, rows, data, matters, unlearned = artifact["usual"], [], [], [], 0
    for choice in artifact["choices"]:
        scheme = {name: choice[name] for name in ("encoding", "positions")}
        ways = [scheme | usual | options for options in ({}, choice["options"])]
        if not len(asked(trials, **ways[1])):
            continue
        rows.append([Cell(choice[name]) for name in ("encoding", "positions", "base", "other")])
        for task in tasks(trials):
            base, other = (Setting.of(trials, task=task, **way) for way in ways)
            x = difference(other.by_seed, base.by_seed)
            ends, more = interval(x), mean(x)
            means = f"{number(base.mean)} → {number(other.mean)}"
            rows[-1].append(difference_cell(more, ends, after=[means]))
            names, values = choice["options"], map(word, choice["options"].values())
            options = {"option": ", ".join(names), "value": ", ".join(values)}
            data.append(scheme | options | {"task": task, "seeds": len(x), "base": base.mean, "other": other.mean,
                                  "difference": more, "interval_low": ends[0], "interval_high": ends[1]})  # fmt: skip
            learned = base.learned or other.learned
            unlearned += len(x) > 0 and not learned
            if learned and strong(ends) and abs(more) >= 0.02:
                matters.append(f"{choice['positions']} {choice['encoding']}, {choice['other']} on {task} "
                               f"({number(more, sign='+')} points)")  # fmt: skip
    data = pd.DataFrame(data)
    compared = data.dropna(subset="difference") if len(data) else data
    if not len(compared):
        says = "No comparison can be made of the runs that are done."
    elif matters:
        says = f"Differences of 2 points or more whose interval excludes zero: {'; '.join(matters)}."
    else:
        lone = "" if compared["interval_low"].notna().any() else ", because one seed has no interval"
        says = (
            f"No difference of 2 points or more has an interval that excludes zero{lone}; the largest is "
            f"{number(compared['difference'].abs().max())} points."
        )
    head = ["encoding", "positions", "here", "the other way", *tasks(trials)]
    grid = Grid(text("ruoss2023:code caption"), head, rows)
    below = notes(trials, "ruoss2023:code") + without_order(trials)
    return Section([says + not_learned(unlearned)], [grid], notes=below, data=data)


def word(value):
    return {True: "on", False: "off"}.get(value, value)


DRAW = {"table2": table2, "fig2": fig2, "fig3": fig3, "fig4": fig4, "code": code} | ruoss2023_inside.DRAW

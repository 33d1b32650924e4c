"""The ladder: encodings that are meant to beat the best of tables 1 and 5 of Ruoss et al. 2023, at the same budget.
about["registered"] is lab/papers/ladder/ladder.toml, which states the candidates, the rules that choose and judge them,
and the expectations. `poslab reproduce ladder` trains by that file, and about["chosen"] has its choice after the first
stage."""

import numpy as np
import pandas as pd

from .notes import notes, text
from .page import Cell, Grid, Section
from .seeds import above, difference, flip_interval, flip_test, holm, interval, mean, number, span, t_interval
from .setting import UNLEARNED
from .sweep import baselines, done, ends, mean_at, task_cell
from .trials import printed, published

FAMILIES = {"own": "each task's", "same": "one for all"}
HEAD = ["task", "candidate", "accuracy", "opponent", "accuracy", "difference", "p after Holm", "expected", "verdict"]
COLUMNS = ["family", "task", "candidate", "structure", "opponent", "seeds", "mean", "median", "opponent_mean",
           "opponent_median", "difference", "bootstrap_low", "bootstrap_high", "t_low", "t_high", "permutation_low",
           "permutation_high", "p", "p_holm", "learned", "verdict", "expected_above", "expected_accuracy",
           "paper"]  # fmt: skip


def rungs(trials, kind):
    """Candidates or opponents, by name."""
    usual = {"positions": "sequential", "temperature": "none"}
    return {one["name"]: usual | one for one in trials.about["registered"][kind]}


def seeds(trials, stage):
    first, last = trials.about["registered"][f"{stage}_seeds"]
    return range(first, last + 1)


def lengths(trials, which):
    return ends(trials.about["registered"][which])


def expected(trials):
    """A row for each task: the probability that its candidate is above, its accuracy, and the best printed one."""
    all = pd.DataFrame(trials.about["registered"]["prediction"]).set_index("task")
    table1 = published("ruoss2023_table1").drop(columns="level").max(axis=1)
    best = [max(table1[task], printed("ruoss2023_table5", task, "geometric")) for task in all.index]
    return all.assign(accuracy=all["accuracy"] / 100, paper=np.array(best) / 100)[["above", "accuracy", "paper", "why"]]


def scores(trials, task, rung, which, stage):
    """The mean accuracy of a scheme, by seed."""
    options = {name: rung[name] for name in ("encoding", "positions", "temperature")}
    of = done(trials, task=task, **options)
    of = of[of["seed"].isin(seeds(trials, stage))].sort_values("seed")
    return mean_at(trials, "accuracy", lengths(trials, which)).reindex(of.index).set_axis(of["seed"]).dropna()


def contests(trials, family):
    """A row for each task: its candidate against its opponent in the second stage, once both are chosen. Holm's
    correction is over all tasks; unfinished tasks have p = 1."""
    candidates, rows = rungs(trials, "candidate"), []
    for task, e in expected(trials).iterrows():
        rows.append({"family": FAMILIES[family], "task": task, "p": 1.0, "verdict": "not done"})
        rows[-1] |= {"expected_above": e["above"], "expected_accuracy": e["accuracy"], "paper": e["paper"]}
        if task not in trials.about["chosen"][family]:
            continue
        candidate, opponent = trials.about["chosen"][family][task]
        rows[-1] |= {"candidate": candidate, "structure": candidates[candidate]["structure"], "opponent": opponent}
        ours = scores(trials, task, candidates[candidate], "judge", "second")
        theirs = scores(trials, task, rungs(trials, "opponent")[opponent], "judge", "second")
        for x, prefix in ((ours, ""), (theirs, "opponent_")):
            for name, value in (("mean", mean(x)), ("median", x.median()), ("best", x.max()), ("seeds", len(x))):
                rows[-1][prefix + name] = value
        d = difference(ours, theirs)
        rows[-1] |= {"seeds": len(d), "own_seeds": len(ours), "difference": mean(d)}
        for name, of in (("bootstrap", interval), ("t", t_interval), ("permutation", flip_interval)):
            rows[-1][f"{name}_low"], rows[-1][f"{name}_high"] = of(d)
        if len(ours) == len(theirs) == len(seeds(trials, "second")):
            of = done(trials, task=task)
            at = baselines(trials, of[of["seed"].isin(seeds(trials, "second"))], lengths(trials, "judge"))
            learned = any(above(side, max(at.values())) for side in (ours, theirs))
            rows[-1] |= {"p": flip_test(d), "learned": learned, "verdict": "not above" if learned else "not learned"}
    more = ["best", "opponent_best", "own_seeds", "opponent_seeds"]
    all = pd.DataFrame(rows).reindex(columns=COLUMNS + more)
    all["p_holm"] = holm(all["p"])
    ahead = (all["verdict"] == "not above") & (all["difference"] > 0)
    all.loc[ahead & (all["p_holm"] < trials.about["registered"]["level"]), "verdict"] = "above"
    return all


def to(range):
    return f"{range[0]} to {range[-1]}"


def plan(trials, artifact):
    r, data = trials.about["registered"], expected(trials)
    columns = ["name", "encoding", "positions", "temperature", "structure"]
    rows = [[Cell(one[name]) for name in columns] for one in rungs(trials, "candidate").values()]
    head = ["name", "--encoding", "--positions", "--temperature", "told of the task"]
    candidates = Grid("The candidates", head, rows)
    rows = [
        [Cell(task), Cell(f"{e['above']:.2f}"), Cell(number(e["accuracy"])), Cell(e["why"]), Cell(number(e["paper"]))]
        for task, e in data.iterrows()
    ]
    caption = text("ladder:expected", lengths=to(lengths(trials, "judge")))
    predictions = Grid(caption, ["task", "probability", "accuracy", "why", "best that the paper prints"], rows)
    reading = text("ladder:registered", candidates=len(r["candidate"]), opponents=len(r["opponent"]), goal=r["goal"],
                   tasks=len(data), expected=data["above"].sum())  # fmt: skip
    return Section([reading], [candidates, predictions], notes=notes(trials, "ladder:plan"), data=data.reset_index())


def unlike(trials):
    """Names the differences from the registered runs, so that other runs are not mistaken for them."""
    steps = trials.about["registered"]["steps"]
    for other in trials.asked[["preset", "steps"]].drop_duplicates().itertuples():
        if (other.preset, other.steps) != ("tiny", steps):
            yield (
                f"This is not the registered experiment: preset {other.preset} and {other.steps} steps in place of "
                f"tiny and {steps}."
            )


def chosen(trials, artifact):
    own, same = (trials.about["chosen"][family] for family in FAMILIES)
    grids, rows = [], []
    for place, (kind, which) in enumerate({"candidate": ("choose", "judge"), "opponent": ("judge", "choose")}.items()):
        first, second = (lengths(trials, one) for one in which)
        caption = text("ladder:first stage", kind=kind, first=to(first), second=to(second))
        grids.append(Grid(caption, ["task", *rungs(trials, kind)], []))
        for task in trials.asked["task"].unique():
            of = done(trials, task=task)
            cells = [task_cell(trials, of, first, second) if len(of) else Cell(task)]
            for name, rung in rungs(trials, kind).items():
                at = {one: scores(trials, task, rung, one, "first") for one in which}
                means, strong = {one: mean(x) for one, x in at.items()}, task in own and own[task][place] == name
                ours, other = means.values()
                cells.append(Cell("–") if at["judge"].empty else Cell(number(ours), [number(other)], strong))
                row = {"task": task, "name": name, "is": kind, "seeds": len(at["judge"]), "at_choose": means["choose"],
                       "at_judge": means["judge"], "chosen": strong}  # fmt: skip
                rows += [row] if row["seeds"] else []
            grids[-1].rows.append(cells)
    listed = "; ".join(f"{task}: {candidate} against {opponent}" for task, (candidate, opponent) in own.items())
    tasks, (of_all, *_) = len(trials.about["registered"]["prediction"]), [*same.values(), (None, None)][0]
    readings = [
        f"Chosen on {len(own)} of {tasks} tasks: {listed}."
        if own
        else "No task has all of its runs yet, so nothing is chosen.",
        f"One configuration for all tasks: {of_all}."
        if of_all
        else "One configuration for all tasks is chosen when all tasks are done.",
    ]
    below = [*notes(trials, "ladder:chosen"), *unlike(trials)]
    return Section(readings, grids, notes=below, data=pd.DataFrame(rows))


def stated(all):
    """Sentences on the tasks above, the others, and the unfinished ones."""

    def listed(verdict):
        rows = all[all["verdict"] == verdict].itertuples()
        return [f"{c.task} ({c.candidate}, {number(c.mean - c.opponent_mean, sign='+')} points)" for c in rows]

    above, level, low = map(listed, ("above", "not above", "not learned"))
    open = all[all["verdict"] == "not done"]["task"]
    if len(open) == len(all):
        return ["No task has a verdict yet."]
    judged = len(all) - len(open)
    readings = [
        f"{judged} of {len(all)} tasks {'has' if judged == 1 else 'have'} a verdict. The candidate is above the best "
        "scheme of tables 1 and 5, trained at the same budget, on "
        + (f"{len(above)} of them: {'; '.join(above)}." if above else "none of them.")
        + (f" Not above: {'; '.join(level)}." if level else "")
        + (f" Not learned, because {UNLEARNED}: {'; '.join(low)}." if low else "")
    ]
    return readings + ([f"Not done, and in the family with p = 1: {', '.join(open)}."] if len(open) else [])


def calibration(all):
    """The quality of the registered probabilities, over the tasks with a verdict."""
    these = all[all["verdict"] != "not done"]
    above, expected = these["verdict"] == "above", these["expected_above"]
    if len(these):
        error = (these["expected_accuracy"] - these["mean"]).abs().mean()
        yield text("ladder:calibration", expected=expected.sum(), above=above.sum(), error=number(error),
                   brier=((expected - above) ** 2).mean())  # fmt: skip


def price(trials, all):
    """The missing runs for all verdicts, at the mean time of the finished ones."""
    these = trials.asked["done"]
    seconds = [trials.results[id].get("seconds", 0) for id in these.index[these]]
    missing = int((~these).sum())
    if seconds and missing:
        runs = missing + 2 * len(seeds(trials, "second")) * int(all["candidate"].isna().sum())
        yield text("ladder:price", runs=f"{runs} run{'s' * (runs != 1)}", hours=np.mean(seconds) * runs / 3600)


def contest_grid(trials, all, caption):
    fresh, rows = list(seeds(trials, "second")), []
    for c in all.dropna(subset="candidate").itertuples():
        above, judged = c.verdict == "above", c.verdict != "not done"
        of = done(trials, task=c.task)
        of = of[of["seed"].isin(fresh)]
        accuracies = [
            Cell(number(average), [f"median {number(median)}", f"best {number(best)}"] if count else [])
            for average, median, best, count in (
                (c.mean, c.median, c.best, c.own_seeds),
                (c.opponent_mean, c.opponent_median, c.opponent_best, c.opponent_seeds),
            )
        ]
        rows.append([
            task_cell(trials, of, lengths(trials, "judge")) if len(of) else Cell(c.task),
            Cell(c.candidate, [f"told: {c.structure}"]),
            accuracies[0],
            Cell(c.opponent),
            accuracies[1],
            Cell(number(c.difference, sign="+"), span((c.t_low, c.t_high), sign="+"), above),
            Cell("–" if not judged else "< 0.001" if c.p_holm < 0.001 else f"{c.p_holm:.3f}"),
            Cell(number(c.expected_accuracy), [f"above with {c.expected_above:.2f}"]),
            Cell(c.verdict, [], above) if judged
            else Cell(f"{c.own_seeds:.0f} and {c.opponent_seeds:.0f} of {len(fresh)} seeds"),
        ])  # fmt: skip
    return Grid(caption, HEAD, rows)


def verdict(trials, artifact):
    r, own, same = trials.about["registered"], contests(trials, "own"), contests(trials, "same")
    above, open = ((own["verdict"] == answer).sum() for answer in ("above", "not done"))
    goal = "reached" if above >= r["goal"] else "still open" if above + open >= r["goal"] else "missed"
    readings = [*unlike(trials), *stated(own), f"The goal, {r['goal']} tasks above, is {goal}.", *calibration(own)]
    if trials.about["chosen"]["same"]:
        readings += [f"One configuration for all tasks. {reading}" for reading in stated(same)]
    where = f"accuracy in % at lengths {to(lengths(trials, 'judge'))}, seeds {to(seeds(trials, 'second'))}"
    captions = ("Each task's candidate against its opponent", "One configuration for all tasks")
    grids = [contest_grid(trials, all, f"{caption}: {where}") for all, caption in zip((own, same), captions)]
    below = [*price(trials, own), *notes(trials, "ladder:verdict", level=r["level"], tasks=len(own))]
    data = pd.concat([own, same])[COLUMNS].dropna(subset="candidate")
    return Section(readings, [grid for grid in grids if grid.rows], notes=below, data=data)


DRAW = {"plan": plan, "chosen": chosen, "verdict": verdict}

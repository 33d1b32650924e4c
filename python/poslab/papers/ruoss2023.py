"""Ruoss et al. 2023, "Randomized Positional Encodings Boost Length Generalization of Transformers": its tables. Claims,
figures and columns are in the other ruoss2023_*.py files, and the runs in lab/papers/ruoss2023."""

import itertools

import numpy as np
import pandas as pd
from scipy import stats

from . import ruoss2023_claims, ruoss2023_figures
from .notes import notes, text
from .page import Cell, Grid, Section
from .ruoss2023_columns import COLUMNS, ORDERS, PAIRS, columns_of, paper, setting
from .seeds import NAN, difference, flip_interval, flip_test, holm, mean, number, span, t_interval
from .setting import SEEN, Comparison, Setting, comparison_grid, named, not_learned, readings, tasks
from .sweep import done, ends, mean_at, task_cell


def beside(ours, theirs, before=()):
    """A cell with our best run, and below it the paper's and the difference."""
    return Cell(number(ours.best), [*before, *ours.partly, number(theirs), number(ours.best - theirs, sign="+")])


def against_plain(trials, task, plain, random):
    more = paper(task, random.paper) - paper(task, plain.paper)
    of = (setting(trials, task, c) for c in (random, plain))
    return Comparison(task, f"{random.name} - {plain.name}", more, *of)


def with_paper(trials, table, head, rows, data, says, pairs, minus):
    """Our numbers next to the paper's, and comparisons."""
    grid, below = Grid(text(f"ruoss2023:{table} caption"), ["task", *head], rows), notes(trials, f"ruoss2023:{table}")
    section = Section(says, [grid], notes=below, data=pd.DataFrame(data))
    if pairs:
        section.grids.append(comparison_grid(pairs, text("ruoss2023:comparison", minus=minus)))
        section.more["verdicts"] = pd.DataFrame([c.row() for c in pairs])
    return section


def table1(trials, artifact):
    across, rows, data = columns_of(trials), [], []
    for task in tasks(trials):
        of = [setting(trials, task, c) for c in across]
        rows.append([named(trials, task), *(beside(s, paper(task, c.paper)) for s, c in zip(of, across))])
        best = number(max((s.best for s in of if s.runs), default=NAN))
        for cell in rows[-1][1:]:
            cell.strong = all(s.whole for s in of) and cell.text == best
        data += [c.row(task) | s.row(paper(task, c.paper)) for s, c in zip(of, across)]
    pairs = [
        pair
        for task in tasks(trials)
        for plain, random in PAIRS
        if (pair := against_plain(trials, task, plain, random)).first.planned and pair.second.planned
    ]
    says = readings(pairs, "randomized positions", "plain ones")
    return with_paper(trials, "table1", [c.name for c in across], rows, data, says, pairs, "Randomized minus plain")


def table3(trials, artifact):
    pairs, rows, data = [], [], []
    for task in tasks(trials):
        of = {order: Setting.of(trials, task=task, positions=positions) for order, positions in ORDERS.items()}
        theirs = {order: paper(task, f"rand_sincos_{order}", "table3") for order in of}
        rows.append([named(trials, task), *(beside(of[order], theirs[order]) for order in of)])
        data += [{"task": task, "order": order} | of[order].row(theirs[order]) for order in of]
        more = theirs["sorted"] - theirs["unsorted"]
        pairs.append(Comparison(task, "sorted - unsorted", more, of["sorted"], of["unsorted"]))
    says = readings(pairs, "sorted positions", "the same positions in random order")
    return with_paper(trials, "table3", ORDERS, rows, data, says, pairs, "Sorted minus unsorted")


def table4(trials, artifact):
    across, rows, data = columns_of(trials), [], []
    for task in tasks(trials):
        rows.append([named(trials, task)])
        for c in across:
            ours = setting(trials, task, c)
            spread = "" if np.isnan(ours.deviation) else f" ± {number(ours.deviation)}"
            rows[-1].append(Cell(number(ours.mean) + spread, [*ours.partly, *span(ours.interval)]))
            data.append(c.row(task) | ours.row())
    return with_paper(trials, "table4", [c.name for c in across], rows, data, [], [], "")


def table5(trials, artifact):
    """The paper states the best of all runs; the comparison is between the best means."""
    pairs, rows, data = [], [], []
    for task in tasks(trials):
        of = {c: s for c in COLUMNS[6:] if (s := setting(trials, task, c)).planned}
        data += [c.row(task) | s.row(paper(task, c.paper)) for c, s in of.items()]
        geometric = Setting.of(trials, task=task, encoding="geometric")
        none = (None, Setting.of(trials, task=""))
        some = {c: s for c, s in of.items() if s.runs}
        lucky, best = max(some.items(), key=lambda one: one[1].best, default=none)
        steady, high = max(some.items(), key=lambda one: one[1].mean, default=none)
        theirs, other = (paper(task, c, "table5") for c in ("best_of_table1_as_printed", "geometric"))
        rows.append([named(trials, task), beside(best, theirs, [lucky.name] if lucky else []),
                     beside(geometric, other)])  # fmt: skip
        data.append({"task": task, "encoding": "geometric", "positions": "sequential"} | geometric.row(other))
        whole, names = all(s.whole for s in of.values()), (steady.name,) if steady else ()
        pairs.append(Comparison(task, "best randomized - geometric", theirs - other, high, geometric, whole, names))
    sides = "the best randomized scheme", "geometric attention"
    says = readings(pairs, *sides) + readings(pairs, *sides[::-1], sign=-1)
    head = ["best of the randomized", "geometric"]
    return with_paper(trials, "table5", head, rows, data, says, pairs, "Best randomized minus geometric")


# -- table 1, more strictly --------------------------------------------------------------------------------------------

ENOUGH = 3  # the fewest seeds of a test: two can be close by luck


def t_test(x):
    """Student's p for a mean of zero."""
    return float(stats.ttest_1samp(x, 0).pvalue) if np.any(x) else 1.0


TESTS = {"t_holm": t_test, "permutation_holm": flip_test}


def signs(trials, artifact):
    """Each comparison over its seeds, by the bootstrap, Student's interval and sign flips, and all as one family."""
    rows = []
    for task, (plain, random) in itertools.product(tasks(trials), PAIRS):
        c = against_plain(trials, task, plain, random)
        x = difference(c.first.by_seed, c.second.by_seed).to_numpy()
        ways = {"bootstrap": c.interval, "t": t_interval(x), "permutation": flip_interval(x)}
        rows.append({"task": task, "encoding": plain.name, "paper": c.paper, "seeds": len(x), "mean": c.mean,
                     "median": np.median(x) if len(x) else NAN})  # fmt: skip
        rows[-1] |= {f"{way}_{end}": at for way, both in ways.items() for end, at in zip(("low", "high"), both)}
        rows[-1] |= {name: test(x) if len(x) >= ENOUGH else NAN for name, test in TESTS.items()}
        rows[-1]["learned"] = c.learned
    data = pd.DataFrame(rows)
    data = data[data["seeds"] > 0] if len(data) else data
    for name in TESTS:
        tested = data[name].notna()
        data.loc[tested, name] = holm(data.loc[tested, name])
    grid = Grid(
        "Randomized minus plain in points, at tested lengths beyond the trained ones",
        ["task", "encoding", "paper", "seeds", "mean", "t interval", "p after Holm, t", "p after Holm, signs"],
        [
            [Cell(r.task), Cell(r.encoding), Cell(number(r.paper, sign="+")), Cell(str(r.seeds)),
             Cell(number(r.mean, sign="+"), strong=r.t_holm < 0.05), Cell("".join(span((r.t_low, r.t_high), sign="+"))),
             Cell(p_text(r.t_holm)), Cell(p_text(r.permutation_holm))]
            for r in data.itertuples()
        ],
    )  # fmt: skip
    return Section(signs_say(data), [grid], notes=notes(trials, "ruoss2023:signs"), data=data)


def p_text(p):
    return "–" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def signs_say(data):
    claimed = data[data["paper"].abs() >= SEEN]
    if claimed.empty:
        return ["No comparison has a seed that both sides have."]
    learned = claimed[claimed["learned"]]
    same = learned["mean"] * learned["paper"] > 0
    firm = learned["t_holm"] < 0.05
    fewest, most = int(claimed["seeds"].min()), int(claimed["seeds"].max())
    seeds = f"{most} seed{'s' * (most != 1)}" if fewest == most else f"{fewest} to {most} seeds"
    says = (
        f"Of {len(learned)} comparison{'s' * (len(learned) != 1)} in which the paper's bests differ by 2 points or "
        f"more, {same.sum()} {'has' if same.sum() == 1 else 'have'} a mean with the paper's sign here. They have "
        f"{seeds} each."
    )
    says += not_learned(len(claimed) - len(learned))
    if claimed["t_holm"].isna().all():
        return [says, "With so few seeds there is no test: a sign may be luck."]
    return [says, text("ruoss2023:after holm", same=(same & firm).sum(), other=(~same & firm).sum())]


def expected_best(x, m):
    """The mean, over all choices of m values, of the best among them (Tang et al. 2020); NaN for fewer than m."""
    if len(x) < m:
        return NAN
    best, left, n = 0.0, m / len(x), len(x)  # left: the probability that the next value is the best
    for i, value in enumerate(sorted(x, reverse=True)[: n - m + 1]):
        best += left * value
        left *= (n - i - m) / (n - i - 1)
    return best


def chosen(trials, artifact):
    """Chooses a run just past the trained lengths, and scores it on all longer ones."""
    if not len(trials.asked):
        return Section()
    trained, last = (int(trials.asked["train_length"].iloc[0]), ends(trials.asked["eval_lengths"].iloc[0])[1])
    if last <= 2 * trained:
        return Section([f"No length beyond {2 * trained}, twice the trained ones, is tested; raise eval_lengths."])
    test, valid = (trained * 2 + 1, last), (trained + 1, trained * 2)
    scores = pd.DataFrame({"test": mean_at(trials, "accuracy", test), "valid": mean_at(trials, "accuracy", valid)})
    across, rows, data, gain = columns_of(trials), [], [], []
    for task in tasks(trials):
        of_task = done(trials, task=task)
        rows.append([task_cell(trials, of_task, test) if len(of_task) else Cell(task)])
        for c in across:
            of = scores.reindex(c.done(trials, task).index).dropna()
            if of.empty:
                rows[-1].append(Cell("–"))
                continue
            x, best = of["test"], of["test"].max()
            ours, validated = of.loc[of["valid"].idxmax()]
            gain += [best - ours] if len(of) > 1 else []
            rows[-1].append(Cell(number(ours), [number(best), number(mean(x))] if len(of) > 1 else ["1 run"]))
            fields = {"runs": len(of), "paper_way": best, "chosen": ours, "validation": validated, "mean": mean(x)}
            fields |= {"median": x.median(), "expected_best_of_2": expected_best(x, 2)}
            data.append(c.row(task) | fields)
    caption = text("ruoss2023:chosen caption", first=test[0], last=last, valid=f"{valid[0]} to {valid[1]}")
    cells = f"{len(gain)} cell{'s' * (len(gain) != 1)}"
    says = text(f"ruoss2023:{'gain' if gain else 'no gain'}", gain=number(mean(gain), sign="+"), cells=cells)
    grid = Grid(caption, ["task", *(c.name for c in across)], rows)
    return Section([says], [grid], notes=notes(trials, "ruoss2023:chosen"), data=pd.DataFrame(data))


DRAW = {"table1": table1, "table3": table3, "table4": table4, "table5": table5, "signs": signs, "chosen": chosen,
        "claims": ruoss2023_claims.claims} | ruoss2023_figures.DRAW  # fmt: skip

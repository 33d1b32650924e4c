"""Ruoss et al. 2023, "Randomized Positional Encodings Boost Length Generalization of Transformers": its tables and its
claims. Its figures are in ruoss2023_figures.py, and the runs that all of these take in lab/papers/ruoss2023."""

import functools
import itertools
from dataclasses import dataclass
from typing import Callable

import numpy as np
import pandas as pd
from scipy import stats

from . import ruoss2023_figures
from .claims import JUDGED, judged, judged_cell, reading
from .page import Cell, Grid, Section
from .ruoss2023_figures import COLUMNS, columns_of, setting
from .seeds import NAN, difference, flip_interval, flip_test, holm, mean, number, span, t_interval
from .setting import SEEN, Comparison, Setting, comparison_grid, named, not_learned, readings, tasks, worth
from .sweep import done, ends, how_many, mean_at, task_cell
from .trials import printed, published

UNLIKE = (
    "The paper's numbers are the best of 30 runs after 2 million steps, over the lengths 41 to 500. At any size but "
    "the paper's they show a direction only."
)
IN_POINTS = "in points: mean over paired seeds, interval, and the paper's difference of bests"
PAIRS = list(zip(COLUMNS[1:6], COLUMNS[6:]))  # plain and randomized


def paper(task, column, table="table1"):
    return printed(f"ruoss2023_{table}", task, column) / 100


def beside(ours, theirs, before=()):
    """The best of all, below it the paper's and the difference."""
    return Cell(number(ours.best), [*before, *ours.partly, number(theirs), number(ours.best - theirs, sign="+")])


def against_plain(trials, task, plain, random):
    more = paper(task, random.paper) - paper(task, plain.paper)
    of = (setting(trials, task, c) for c in (random, plain))
    return Comparison(task, f"{random.name} - {plain.name}", more, *of)


def verdicts(section, comparisons):
    section.more["verdicts"] = pd.DataFrame([c.row() for c in comparisons])


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
    caption = "Accuracy in %, best of all seeds and learning rates, as the paper counts: ours, then the paper's, then "
    section = Section(
        readings=readings(pairs, "randomized positions", "plain ones"),
        grids=[Grid(f"{caption}the difference", ["task", *(c.name for c in across)], rows)],
        notes=[
            how_many(trials),
            worth(trials),
            "Bold in the first table: the best of a row whose runs are all done. Bold in the second: the interval "
            "excludes zero.",
            UNLIKE,
        ],
        data=pd.DataFrame(data),
    )
    if pairs:
        section.grids.append(comparison_grid(pairs, f"Randomized minus plain {IN_POINTS}"))
        verdicts(section, pairs)
    return section


ORDERS = {"unsorted": "randomized:unsorted", "sorted": "randomized"}


def table3(trials, artifact):
    pairs, rows, data = [], [], []
    for task in tasks(trials):
        of = {order: Setting(trials, task=task, positions=positions) for order, positions in ORDERS.items()}
        theirs = {order: paper(task, f"rand_sincos_{order}", "table3") for order in of}
        rows.append([named(trials, task), *(beside(of[order], theirs[order]) for order in of)])
        data += [{"task": task, "order": order} | of[order].row(theirs[order]) for order in of]
        more = theirs["sorted"] - theirs["unsorted"]
        pairs.append(Comparison(task, "sorted - unsorted", more, of["sorted"], of["unsorted"]))
    caption = "R-sin/cos, accuracy in %, best of all runs: ours, then the paper's, then the difference"
    more = f"Sorted minus unsorted {IN_POINTS}"
    section = Section(
        readings=readings(pairs, "sorted positions", "the same positions in random order"),
        grids=[Grid(caption, ["task", "unsorted", "sorted"], rows), comparison_grid(pairs, more)],
        notes=[how_many(trials), worth(trials), UNLIKE],
        data=pd.DataFrame(data),
    )
    verdicts(section, pairs)
    return section


def table4(trials, artifact):
    across, rows, data = columns_of(trials), [], []
    for task in tasks(trials):
        rows.append([named(trials, task)])
        for c in across:
            ours = setting(trials, task, c)
            spread = "" if np.isnan(ours.deviation) else f" ± {number(ours.deviation)}"
            rows[-1].append(Cell(number(ours.mean) + spread, [*ours.partly, *span(ours.interval)]))
            data.append(c.row(task) | ours.row())
    caption = (
        "Accuracy in %, mean and standard deviation over seeds at the learning rate whose mean is best; then the "
        "interval of the mean"
    )
    notes = [
        how_many(trials),
        worth(trials),
        "The numbers of the paper's own table 4 are not in our copy of it, so none stand beside ours.",
    ]
    return Section(
        grids=[Grid(caption, ["task", *(c.name for c in across)], rows)], notes=notes, data=pd.DataFrame(data)
    )


def table5(trials, artifact):
    """The paper takes the best of all runs; what is compared is the best of the means."""
    pairs, rows, data = [], [], []
    for task in tasks(trials):
        of = {c: s for c in COLUMNS[6:] if (s := setting(trials, task, c)).planned}
        data += [c.row(task) | s.row(paper(task, c.paper)) for c, s in of.items()]
        geometric = Setting(trials, task=task, encoding="geometric")
        none = (None, Setting(trials, task=""))
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
    caption = "Accuracy in %, best of all runs: ours, then the paper's, then the difference"
    more = f"Best randomized minus geometric {IN_POINTS}"
    section = Section(
        readings=readings(pairs, *sides) + readings(pairs, *sides[::-1], sign=-1),
        grids=[Grid(caption, ["task", "best of the randomized", "geometric"], rows), comparison_grid(pairs, more)],
        notes=[
            how_many(trials),
            worth(trials),
            UNLIKE,
            "The first table has the scheme with the best run of a row, as in the paper; the comparison has the one "
            "with the highest mean. That one is chosen by the scores that are then compared, which favours it.",
            "The paper's own tables disagree on Binary Multiplication: its table 5 prints 50.1 as the best of table 1, "
            "which has 52.1 there. Here is what is printed. The means of its table 5 are not in our copy of it.",
        ],
        data=pd.DataFrame(data),
    )
    verdicts(section, pairs)
    return section


# -- table 1, more strictly --------------------------------------------------------------------------------------------

ENOUGH = 3  # seeds of a test: two can be close to each other by luck


def t_test(x):
    """Student's p of a mean of zero."""
    return float(stats.ttest_1samp(x, 0).pvalue) if np.any(x) else 1.0


TESTS = {"t_holm": t_test, "permutation_holm": flip_test}


def signs(trials, artifact):
    """Each comparison with its seeds, by the bootstrap, Student's interval and flipped signs, and all as one family."""
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
    notes = [
        how_many(trials),
        worth(trials),
        "Bold: p after Holm over the whole table is below 0.05, by Student's test. Flipped signs need 6 seeds to come "
        "below 0.05 alone, and more after Holm. The .csv has all three intervals.",
    ]
    return Section(readings=signs_say(data), grids=[grid], notes=notes, data=data)


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
    text = (
        f"Of {len(learned)} comparison{'s' * (len(learned) != 1)} in which the paper's bests differ by 2 points or "
        f"more, {same.sum()} {'has' if same.sum() == 1 else 'have'} the paper's sign in the mean here. They have "
        f"{seeds} each."
    )
    text += not_learned(len(claimed) - len(learned))
    if claimed["t_holm"].isna().all():
        return [text, "With so few seeds there is no test: a sign may be luck."]
    return [
        text,
        f"After Holm over all comparisons with three seeds or more, {(same & firm).sum()} of these differ from zero "
        f"with the paper's sign and {(~same & firm).sum()} with the other, by Student's test.",
    ]


def expected_best(x, m):
    """The mean over all choices of m of the values of the best among them (Tang et al. 2020); NaN of fewer than m."""
    if len(x) < m:
        return NAN
    best, left, n = 0.0, m / len(x), len(x)  # left: the probability that the next one is the best
    for i, value in enumerate(sorted(x, reverse=True)[: n - m + 1]):
        best += left * value
        left *= (n - i - m) / (n - i - 1)
    return best


def chosen(trials, artifact):
    """A run is chosen just past the trained lengths, and scored on all longer ones."""
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
    caption = (
        f"Accuracy in % at lengths {test[0]} to {last}: of the run that is best at lengths {valid[0]} to {valid[1]}; "
        "below it the paper's way, the best of all runs, and the mean"
    )
    says = (
        f"Choosing on the tested lengths, as the paper does, adds {number(mean(gain), sign='+')} points on average "
        f"over the {len(gain)} cell{'s' * (len(gain) != 1)} with two runs or more."
        if gain
        else "No cell has two runs to choose from yet, so the paper's way and this one are the same."
    )
    notes = [
        how_many(trials),
        "All seeds and learning rates of a cell are what is chosen from. The .csv also has the median, the score at "
        "validation, and the expected best of two runs.",
    ]
    grid = Grid(caption, ["task", *(c.name for c in across)], rows)
    return Section([says], [grid], notes=notes, data=pd.DataFrame(data))


# -- what the paper claims in sentences --------------------------------------------------------------------------------

FIFTEEN = list(published("ruoss2023_table1").index)
ARITHMETIC = ["modular_arithmetic", "modular_arithmetic_brackets", "solve_equation", "binary_multiplication",
              "compute_sqrt"]  # fmt: skip
SOURCE = -1  # among seeds: the paper's number


class Trained:
    """Numbers by seed, and the paper's. `used` are the settings beyond the trained lengths that they came from."""

    def __init__(self, trials, pool):
        self.trials, self.pool, self.used = trials, pool, []

    def setting(self, task, encoding, positions, pool=None):
        return Setting(self.trials, task=task, encoding=encoding, positions=positions,
                       max_position=pool or self.pool)  # fmt: skip

    def beyond(self, of, source=NAN):
        self.used.append(of)
        return pd.concat([of.by_seed, pd.Series({SOURCE: source})])

    def of(self, task, c):
        return self.beyond(self.setting(task, c.encoding, c.positions), paper(task, c.paper))

    def geometric(self, task):
        return self.beyond(self.setting(task, "geometric", "sequential"), paper(task, "geometric", "table5"))

    def in_order(self, task, order):
        of = self.setting(task, "sincos", ORDERS[order])
        return self.beyond(of, paper(task, f"rand_sincos_{order}", "table3"))

    def with_pool(self, task, factor):
        return self.beyond(self.setting(task, "relative", "randomized", pool=int(factor * self.pool)))

    def in_domain(self, task, c):
        """At the trained lengths: a figure in the paper, without numbers."""
        runs = self.setting(task, c.encoding, c.positions).at_lr
        if runs.empty:
            return pd.Series(dtype=float)
        at = mean_at(self.trials, "accuracy", (1, int(runs["train_length"].iloc[0])))
        return at[runs.index].set_axis(runs["seed"])

    def best(self, task, columns):
        """Seed by seed, so that luck counts on both sides of a difference."""
        return functools.reduce(np.maximum, (self.of(task, c) for c in columns))

    def gain(self, task):
        return self.best(task, COLUMNS[6:]) - self.best(task, COLUMNS[:6])

    def has_gain(self, task):
        gain = self.gain(task)
        return ((gain > 0) - 0.5).where(gain.notna())

    def relative_gain(self, task):
        return self.of(task, COLUMNS[7]) - self.best(task, COLUMNS[:6])

    def against_geometric(self, task):
        return self.best(task, COLUMNS[6:]) - self.geometric(task)


@dataclass
class Claim:
    """The mean over these tasks of a difference, which must be above zero or, with `within`, near it."""

    text: str
    difference: str
    tasks: list
    value: Callable  # of what was trained, and a task
    within: float = 0


CLAIMS = [
    Claim("Randomized positions raise accuracy on unseen lengths", "best randomized - best plain, mean of 15 tasks",
          FIFTEEN, Trained.gain),
    Claim("They do so on most tasks", "share of tasks with a gain - 1/2", FIFTEEN, Trained.has_gain),
    Claim("Randomized relative positions solve Reverse String, which was out of reach", "R-Relative - best plain",
          ["reverse_string"], Trained.relative_gain),
    Claim("They solve Missing Duplicate likewise", "R-Relative - best plain", ["missing_duplicate_string"],
          Trained.relative_gain),
    Claim("Positions must be in order", "sorted - unsorted R-sin/cos, mean of 15 tasks", FIFTEEN,
          lambda trained, task: trained.in_order(task, "sorted") - trained.in_order(task, "unsorted")),
    Claim("Geometric attention is ahead on five arithmetic tasks", "geometric - best randomized, mean of these",
          ARITHMETIC, lambda trained, task: -1 * trained.against_geometric(task)),
    Claim("On the others randomized positions are ahead", "best randomized - geometric, mean of these",
          [task for task in FIFTEEN if task not in ARITHMETIC], Trained.against_geometric),
    *(Claim(f"At trained lengths {plain.name} loses nothing by it: less than 2 points",
            f"{random.name} - {plain.name} at trained lengths, mean of 15 tasks", FIFTEEN,
            lambda trained, task, a=random, b=plain: trained.in_domain(task, a) - trained.in_domain(task, b), 0.02)
      for plain, random in PAIRS),
    *(Claim(f"On {name} the size of the pool hardly matters: less than 2 points",
            "pool of four times the size - of half the size, R-Relative", [task],
            lambda trained, task: trained.with_pool(task, 4) - trained.with_pool(task, 0.5), 0.02)
      for task, name in [("reverse_string", "Reverse String"), ("missing_duplicate_string", "Missing Duplicate")]),
]  # fmt: skip


def claims(trials, artifact):
    rows, cells = [], []
    for claim in CLAIMS:
        cells.append([Cell(claim.text, [claim.difference]), Cell("–")])
        learned, values, beyond = 0, [], False
        for task in claim.tasks:
            trained = Trained(trials, artifact["max_position"])
            values.append(claim.value(trained, task) / len(claim.tasks))
            learned, beyond = learned + any(of.learned for of in trained.used), bool(trained.used)
        value = sum(values)
        x = value.drop(SOURCE, errors="ignore").dropna()
        if x.empty:
            continue
        row = judged(x, claim.within, value.get(SOURCE, NAN)) | {"tasks": len(claim.tasks)}
        row["learned"] = learned if beyond else NAN
        cells[-1][1] = judged_cell(row)
        cells[-1][1].below += [f"learned: {learned} of {len(claim.tasks)}"] if beyond else []
        rows.append({"claim": claim.text, "difference": claim.difference} | row)
    caption = "Holds, does not, or is inconclusive; below that the difference in points, its interval, and the source's"
    notes = [
        f"{JUDGED} A best is the best of a seed, on both sides, so that luck counts on both.",
        "Learned: so many tasks on which some side is above its baselines by more than its interval.",
        how_many(trials),
        worth(trials),
        "What training costs, which the paper claims to save, is in table 2 and figure 2.",
    ]
    return Section([reading(rows)], [Grid(caption, ["claim", "here"], cells)], notes=notes, data=pd.DataFrame(rows))


DRAW = {"table1": table1, "table3": table3, "table4": table4, "table5": table5, "signs": signs, "chosen": chosen,
        "claims": claims} | ruoss2023_figures.DRAW  # fmt: skip

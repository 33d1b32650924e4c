"""A setting is a task with a scheme: its trials differ only in seed and learning rate. Two settings are compared by
paired seeds, and a source's claim about them is judged if at least one of them has learned its task."""

import functools
from dataclasses import dataclass

import numpy as np

from .page import Cell, Grid
from .seeds import NAN, about_intervals, above, difference, interval, mean, number, span
from .sweep import BASELINES, asked, done

SEEN = 0.02  # a difference too large for a source's rounding and luck
COLUMNS = ["runs", "planned", "best", "best_lr", "lr", "seeds", "mean", "deviation", "interval_low", "interval_high",
           "paper", *BASELINES]  # fmt: skip


def tasks(trials):
    return list(dict.fromkeys(trials.asked["task"])) if len(trials.asked) else []


class Setting:
    """`best` is over all seeds and learning rates, for tables of bests. The other fields are for one learning rate, the
    one with the highest mean among those with the most finished seeds. Scores are fractions, beyond trained lengths."""

    @staticmethod
    def of(trials, **options):
        """The setting of these options, which several tables of the trials share."""
        key = tuple(sorted(options.items()))
        if key not in trials.settings:
            trials.settings[key] = Setting(trials, **options)
        return trials.settings[key]

    def __init__(self, trials, **options):
        all = asked(trials, **options)
        scores = [trials.results.get(id, {}).get("paper_score") for id in all.index]
        scored = all.assign(score=np.array(scores, dtype=float)).dropna(subset="score")
        self.runs, self.planned = len(scored), len(all)
        self.best = scored["score"].max() if len(scored) else NAN
        self.best_lr = scored["lr"].get(scored["score"].idxmax()) if len(scored) else NAN
        self.lr, self.at_lr, self.mean = NAN, scored.iloc[:0], NAN
        for lr, rows in scored.groupby("lr"):
            of_rate = mean(rows.sort_values("seed")["score"])
            if (len(rows), of_rate) > (len(self.at_lr), self.mean) or not len(self.at_lr):
                self.lr, self.at_lr, self.mean = lr, rows.sort_values("seed"), of_rate
        self.by_seed = self.at_lr.set_index("seed")["score"]
        if not self.by_seed.index.is_unique:
            raise ValueError(f"two trials of one setting, {options}, have the same seed and learning rate {self.lr}")
        squares = ((self.by_seed - self.mean) ** 2).cumsum()
        self.deviation = np.sqrt(squares.iloc[-1] / (len(squares) - 1)) if len(squares) > 1 else NAN
        self.baselines = baselines(trials, self.at_lr)

    @property
    def whole(self):
        return self.runs == self.planned

    @functools.cached_property
    def interval(self):
        return interval(self.by_seed)

    @functools.cached_property
    def learned(self):
        """Whether the mean is above each baseline by more than its interval."""
        return above(self.by_seed, max(self.baselines.values(), default=NAN))

    @property
    def partly(self):
        return [] if self.whole or not self.runs else [f"{self.runs} of {self.planned} runs"]

    def row(self, paper=NAN):
        """The columns of a .csv file; the source's number is a fraction."""
        values = [self.runs, self.planned, self.best, self.best_lr, self.lr, len(self.by_seed), self.mean,
                  self.deviation, *self.interval, paper]  # fmt: skip
        values += [self.baselines.get(name, NAN) for name in BASELINES]
        return dict(zip(COLUMNS, values))


def baselines(trials, of):
    """Baselines by name, over the lengths of the scores: means over the seeds of these trials. Empty if no trial is
    done."""
    rows = [trials.results[id].get("baselines") for id in of.drop_duplicates("seed").sort_values("seed").index]
    rows = [row for row in rows if row]
    return {name: mean([row[name] for row in rows]) for name in BASELINES} if rows else {}


def named(trials, task):
    """The task, and below it the baselines of its finished trials, at the lengths of their scores."""
    at = baselines(trials, done(trials, task=task))
    return Cell(task, [f"{text} {number(at[name])}" for name, text in BASELINES.items()] if at else [])


def worth(trials):
    """A sentence or two on intervals with so many seeds."""
    these = done(trials)
    text = about_intervals(these["seed"].nunique())
    if these["lr"].nunique() < 2:
        return text
    return (
        f"{text} Means, differences and tests are at the learning rate whose mean is best on these tested lengths, "
        "chosen for each setting separately, as in table 4 of Ruoss et al. (2023). So means are on the high side, and "
        "intervals and p ignore this choice."
    )


def strong(ends):
    """Whether an interval excludes zero."""
    return bool(ends[0] > 0 or ends[1] < 0)


def difference_cell(x, ends, before=(), after=()):
    below = [*before, *span(ends, sign="+"), *after]
    return Cell(number(x, sign="+"), below, strong(ends))


@dataclass
class Comparison:
    """One setting against another, in fractions. The source's difference is between bests, ours between means."""

    task: str
    name: str  # "R-RoPE - RoPE"
    paper: float
    first: Setting
    second: Setting
    whole: bool = True  # all runs of both are done
    below: tuple = ()  # lines of its cell

    def __post_init__(self):
        x = difference(self.first.by_seed, self.second.by_seed)
        self.seeds, self.mean, self.interval = len(x), mean(x), interval(x)
        self.whole = self.whole and self.first.whole and self.second.whole

    @property
    def learned(self):
        return self.first.learned or self.second.learned

    @property
    def verdict(self):
        """"" if the source has no notable difference."""
        if not abs(self.paper) >= SEEN:
            return ""
        if np.isnan(self.mean) or not self.whole:
            return "incomplete"
        if not self.learned:
            return "not learned"
        low, high = np.multiply(np.sign(self.paper), self.interval)
        firm = min(low, high) > 0
        return "agrees" if firm else "agrees in sign" if self.mean * self.paper > 0 else "opposite"

    def row(self):
        low, high = self.interval
        return {"task": self.task, "comparison": self.name, "paper": self.paper, "seeds": self.seeds, "mean": self.mean,
                "interval_low": low, "interval_high": high, "verdict": self.verdict}  # fmt: skip


def comparison_grid(all, caption):
    """A row for each task, a column for each pair of schemes."""
    names = list(dict.fromkeys(c.name for c in all))
    rows = {}
    for c in all:
        before = [*c.below, *["not all runs"] * (not np.isnan(c.mean) and not c.whole)]
        after = [number(c.paper, sign="+"), *["not learned"] * (c.verdict == "not learned")]
        rows.setdefault(c.task, [Cell(c.task)]).append(difference_cell(c.mean, c.interval, before, after))
    return Grid(caption, ["task", *names], list(rows.values()))


def readings(all, winner, loser, sign=1):
    """Sentences on the verdicts of comparisons in which the source has the first one ahead; with sign=-1, behind."""
    claimed = [c for c in all if sign * c.paper >= SEEN]
    count = [c.verdict for c in claimed].count
    firm, only, unlearned, incomplete = map(count, ("agrees", "agrees in sign", "not learned", "incomplete"))
    judged = firm + only + count("opposite")
    if not all:
        return []
    if not claimed:
        return [f"In none of these comparisons does the paper have {winner} ahead of {loser} by 2 points or more."]
    if incomplete == len(claimed):
        return [f"No comparison of {winner} with {loser} is complete yet."]
    where = f"Where the paper has {winner} ahead of {loser} by 2 points or more"
    if not judged:
        return [f"{where}, none of {unlearned} complete comparisons is learned: {UNLEARNED}."]
    text = (
        f"{where}, {firm + only} of {judged} comparisons agree: {firm} with an interval above zero, {only} only in the "
        "sign of the mean."
    )
    text += not_learned(unlearned)
    text += f" Not complete yet: {incomplete} more." if incomplete else ""
    against = [
        f"{c.task}, {' - '.join(c.name.split(' - ')[::sign])} ({number(sign * c.mean, sign='+')} points; paper "
        f"{number(sign * c.paper, sign='+')})"
        for c in claimed
        if c.verdict == "opposite"
    ]
    return [text, f"The sign is opposite here: {'; '.join(against)}."] if against else [text]


UNLEARNED = "neither side is above its baselines by more than its interval"


def not_learned(count):
    return f" {count} more {'is' if count == 1 else 'are'} not learned: {UNLEARNED}." if count else ""

"""The claims of Ruoss et al. 2023 (abstract and sections 1 and 4), each as a difference over paired seeds."""

import functools
from dataclasses import dataclass
from collections.abc import Callable

import numpy as np
import pandas as pd

from .claims import JUDGED, judged, judged_cell, reading
from .notes import notes
from .page import Cell, Grid, Section
from .ruoss2023_columns import COLUMNS, ORDERS, PAIRS, paper
from .seeds import NAN
from .setting import Setting
from .sweep import mean_at, trained_lengths
from .trials import published

FIFTEEN = list(published("ruoss2023_table1").index)
ARITHMETIC = ["modular_arithmetic", "modular_arithmetic_brackets", "solve_equation", "binary_multiplication",
              "compute_sqrt"]  # fmt: skip
SOURCE = -1  # among seeds: the paper's number


class Trained:
    """Numbers by seed, and the paper's. `used` has the settings whose numbers are beyond the trained lengths."""

    def __init__(self, trials, pool):
        self.trials, self.pool, self.used = trials, pool, []

    def setting(self, task, encoding, positions, pool=None):
        return Setting.of(self.trials, task=task, encoding=encoding, positions=positions,
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
        at = mean_at(self.trials, "accuracy", trained_lengths(runs.iloc[0]))
        return at[runs.index].set_axis(runs["seed"])

    def best(self, task, columns):
        """The best by seed, so that luck counts on both sides of a difference."""
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
    value: Callable  # from a run's options and a task
    within: float = 0


CLAIMS = [
    Claim("Randomized positions raise accuracy on unseen lengths", "best randomized - best plain, mean of 15 tasks",
          FIFTEEN, Trained.gain),
    Claim("They do so on most tasks", "share of tasks with a gain - 1/2", FIFTEEN, Trained.has_gain),
    Claim("Randomized relative positions solve Reverse String, which was out of reach", "R-Relative - best plain",
          ["reverse_string"], Trained.relative_gain),
    Claim("They also solve Missing Duplicate", "R-Relative - best plain", ["missing_duplicate_string"],
          Trained.relative_gain),
    Claim("Positions must be in order", "sorted - unsorted R-sin/cos, mean of 15 tasks", FIFTEEN,
          lambda trained, task: trained.in_order(task, "sorted") - trained.in_order(task, "unsorted")),
    Claim("Geometric attention is ahead on five arithmetic tasks", "geometric - best randomized, mean of these",
          ARITHMETIC, lambda trained, task: -1 * trained.against_geometric(task)),
    Claim("On the others randomized positions are ahead", "best randomized - geometric, mean of these",
          [task for task in FIFTEEN if task not in ARITHMETIC], Trained.against_geometric),
    *(Claim(f"At trained lengths {plain.name} loses nothing with them: less than 2 points",
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
        if beyond and not learned:
            row["verdict"] = "not learned"
        cells[-1][1] = judged_cell(row)
        cells[-1][1].below += [f"learned: {learned} of {len(claim.tasks)}"] if beyond else []
        rows.append({"claim": claim.text, "difference": claim.difference} | row)
    caption = "Holds, does not, or is inconclusive; below that the difference in points, its interval, and the source's"
    return Section([reading(rows)], [Grid(caption, ["claim", "here"], cells)],
                   notes=notes(trials, "ruoss2023:claims", judged=JUDGED), data=pd.DataFrame(rows))  # fmt: skip

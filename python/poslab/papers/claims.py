"""Claims of a source: a difference that must be above zero or, with `within`, near it, over paired seeds."""

import pandas as pd

from .page import Cell
from .seeds import interval, number, span
from .setting import not_learned

JUDGED = (
    "A claim holds if the whole interval of its difference over the seeds is above zero (or, for a claim of no "
    "effect, within 2 points), does not if the interval is wholly on the other side, and is inconclusive otherwise."
)


def verdict(difference, within=0.0):
    low, high = interval(difference)
    if within:
        holds, not_so = -within < low and high < within, low > within or high < -within
    else:
        holds, not_so = low > 0, high < 0
    return "holds" if holds else "does not" if not_so else "inconclusive"


def judged(difference, within, source):
    """A claim's row of a .csv file."""
    low, high = interval(difference)
    return {"seeds": len(difference), "mean": difference.mean(), "interval_low": low, "interval_high": high,
            "within": within, "source": source, "verdict": verdict(difference, within)}  # fmt: skip


def judged_cell(row, nats=False):
    """The verdict, and below it the difference, its interval and the source's difference, in points or nats."""
    how = {"digits": 3, "scale": 1, "sign": "+"} if nats else {"sign": "+"}
    ours = [number(row["mean"], **how), *["nats"][:nats], *span((row["interval_low"], row["interval_high"]), **how)]
    source = [] if pd.isna(row["source"]) else [f"source {number(row['source'], **how)}"]
    return Cell(row["verdict"], [" ".join(ours), *source], row["verdict"] == "holds")


def reading(rows):
    count = [row["verdict"] for row in rows].count
    holds, not_so, open, unlearned = map(count, ("holds", "does not", "inconclusive", "not learned"))
    if not rows:
        return "No comparison can be made of the runs that are done."
    judged = len(rows) - unlearned
    return (
        f"Of {judged} comparison{'s' if judged != 1 else ''} {holds} hold{'s' if holds == 1 else ''}, {not_so} "
        f"do{'es' if not_so == 1 else ''} not, and {open} {'is' if open == 1 else 'are'} inconclusive."
    ) + not_learned(unlearned)

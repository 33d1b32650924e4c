"""Numbers of several seeds, a pandas Series by seed: intervals, verdicts, and how they are written."""

import math

import numpy as np
from scipy import stats

NAN = float("nan")


def interval(x):
    """Of the mean, at 95 %, by the percentile bootstrap (Efron & Tibshirani 1993, 13); NaN of fewer than two."""
    if len(x) < 2:
        return NAN, NAN
    return tuple(
        stats.bootstrap(
            (np.asarray(x),), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(0)
        ).confidence_interval
    )


def about_intervals(seeds):
    """What intervals of so few seeds are worth. How often luck excludes zero was measured on normal values."""
    if seeds < 2:
        return "With one seed there are no intervals: any difference here may be luck."
    text = "Intervals: 95 %, of the mean over seeds, by the bootstrap."
    if seeds > 20:
        return text
    luck = {2: 50, 3: 25, 4: 20, 5: 16, 6: 14}.get(seeds, 11 if seeds <= 10 else 8)
    few = (
        "hardly more than their range: it excludes zero when all seeds agree on the sign, which luck alone does"
        if seeds <= 3
        else "too narrow: luck alone makes it exclude zero"
    )
    return f"{text} With {seeds} seeds it is {few} in {luck} % of cells."


def number(x, digits=1, scale=100.0, sign=""):
    """0.937 as "93.7", and with sign="+" as "+93.7"; a dash for NaN."""
    if math.isnan(x):
        return "–"
    text = f"{scale * x:{sign}.{digits}f}"
    return text if text.strip("+-0.") else text.lstrip("+-")


def span(ends, **how):
    """Its ends in brackets, as lines of a cell: none where there is no interval."""
    return [] if math.isnan(ends[0]) else [f"[{number(ends[0], **how)}, {number(ends[1], **how)}]"]

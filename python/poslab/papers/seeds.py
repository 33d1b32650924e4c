"""Numbers of several seeds, a pandas Series by seed: intervals, verdicts, and formats."""

import math

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

NAN = float("nan")


def interval(x):
    """The 95 % interval of the mean by the percentile bootstrap (Efron & Tibshirani 1993, 13); NaN for fewer than
    two."""
    if len(x) < 2:
        return NAN, NAN
    return tuple(
        stats.bootstrap(
            (np.asarray(x),), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(0)
        ).confidence_interval
    )


def mean(x):
    """The mean, summed in order, as in the program; NaN without values."""
    return float(np.cumsum(np.asarray(x))[-1] / len(x)) if len(x) else NAN


def above(x, baseline):
    """Whether a mean is above a baseline by more than its interval; false for one seed, which has none."""
    low = interval(x)[0]
    return bool((mean(x) if math.isnan(low) else low) > baseline)


def counted(n):
    return f"{n} seed{'s' * (n != 1)}"


def summary(x, name="mean"):
    """Fields of a row: the number of seeds, their mean under this name, and its interval."""
    return {"seeds": len(x), name: mean(x)} | dict(zip(("interval_low", "interval_high"), interval(x)))


def by_seed(found):
    """A Series of the numbers of a record, {"0": 0.5, ...}."""
    return pd.Series({int(seed): x for seed, x in found.items()}, dtype=float)


def average(all):
    """The mean over common seeds."""
    whole = pd.concat(all, axis=1, join="inner") if all else pd.DataFrame()
    return pd.Series({seed: mean(row) for seed, row in whole.iterrows()}, dtype=float)


def difference(first, second):
    """The difference over common seeds."""
    return (first - second).dropna()


def t_interval(x):
    """Student's interval, for normal values; NaN for fewer than two."""
    half = stats.t.ppf(0.975, len(x) - 1) * stats.sem(x) if len(x) > 1 else NAN
    return mean(x) - half, mean(x) + half


def flip_test(x):
    """p for a mean of zero, for a symmetric distribution: signs are flipped in all 2^n ways, or for many values in
    about 65,000 ways."""
    flipped = stats.permutation_test((np.asarray(x),), np.sum, permutation_type="samples", n_resamples=2**16,
                                     rng=np.random.default_rng(0))  # fmt: skip
    return float(flipped.pvalue)


def flip_interval(x):
    """The 95 % interval between means of subsets (Hartigan 1969), for many values of about 65,000 subsets; fewer than 6
    values have none."""
    n = len(x)
    if n <= 16:
        sets = np.arange(1, 2**n)[:, None] >> np.arange(n) & 1
    else:
        sets = np.random.default_rng(0).integers(2, size=(2**16 - 1, n))
    means = np.sort((sets * np.asarray(x)).cumsum(axis=1)[:, -1] / sets.sum(axis=1)) if n else []
    outside = 2 ** min(n, 16) // 40
    return (float(means[outside - 1]), float(means[-outside])) if outside else (NAN, NAN)


def holm(p):
    """The corrected p of a family: with probability 0.95 or more, none of those below 0.05 is wrong (Holm 1979)."""
    return multipletests(p, method="holm")[1] if len(p) else np.asarray(p)


def about_intervals(seeds):
    """A sentence on the reliability of intervals from so few seeds. How often luck excludes zero was measured on normal
    values."""
    if seeds < 2:
        return "With one seed there are no intervals: any difference here may be luck."
    text = "Intervals are 95 % bootstrap intervals of the mean over seeds."
    if seeds > 20:
        return text
    luck = {2: 50, 3: 25, 4: 20, 5: 16, 6: 14}.get(seeds, 11 if seeds <= 10 else 8)
    few = (
        "hardly exceed the range of seeds: they exclude zero when all seeds agree on the sign, as happens by luck"
        if seeds <= 3
        else "are too narrow: they exclude zero by luck"
    )
    return f"{text} With {seeds} seeds they {few} in {luck} % of cells."


def number(x, digits=1, scale=100.0, sign=""):
    """0.937 as "93.7", and with sign="+" as "+93.7"; a dash for NaN."""
    if math.isnan(x):
        return "–"
    text = f"{scale * x:{sign}.{digits}f}"
    return text if text.strip("+-0.") else text.lstrip("+-")


def span(ends, **how):
    """The ends of an interval in brackets, as lines of a cell; none without an interval."""
    return [] if math.isnan(ends[0]) else [f"[{number(ends[0], **how)}, {number(ends[1], **how)}]"]

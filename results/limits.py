"""The measured figures of docs/results-limits.md, as results/findings.py has those of docs/results.md, and what was cut
and would cost how much."""

import math
import re

from findings import REROPE, RETRIEVAL, bare, seconds_of
from query import HERE, at_trained, done, hours, listed, mean, one, points, row, signed, table, whole


def in_domain():
    yield (
        "on Reverse String RoPE has "
        f"{points(at_trained('reverse_string', 'rope', 'sequential'))} % at lengths 1 to 20 with counted positions and "
        f"{points(at_trained('reverse_string', 'rope', 'randomized'))} with randomized ones"
    )
    yield (
        f"learned positions have {points(at_trained('even_pairs', 'learned', 'randomized'))} % at the trained lengths "
        f"of Even Pairs, where counted ones have {points(at_trained('even_pairs', 'learned', 'sequential'))}"
    )


def cause():
    met = one("sorted-tiny/coverage.csv", "seen", encoding="rope", positions="sequential", length="75")
    alibi = row("ten-seeds-tiny/signs.csv", task="even_pairs", encoding="ALiBi")
    yield (
        f"A model trained to 20 symbols with counted positions has met {whole(met)} % of the distances in a string of "
        "75, and with randomized ones all. ALiBi has the same distances, and changes by "
        f"{signed(float(alibi['mean']))} [{signed(float(alibi['t_low']))}, {signed(float(alibi['t_high']))}] points on "
        "Even Pairs"
    )


def normal_max(n):
    """The expected largest of n standard normal numbers: the integral of x d(Phi^n), by the midpoint rule."""
    phi = lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2)))  # noqa: E731
    step = 0.001
    return sum((k + 0.5) * step * (phi((k + 1) * step) ** n - phi(k * step) ** n) for k in range(-8000, 8000))


def winner():
    """Of the ranking: what the best of so many equal schemes would be ahead by, from what seeds do."""
    tasks = ("even_pairs", "reverse_string", "missing_duplicate_string")
    ranked = [bare(r["encoding"]) for r in table("every-scheme/ranking.csv", task="mean")]
    scores = {}
    for r in done("every-scheme", causal="off"):
        if bare(r["encoding"]) in ranked:
            scores.setdefault((bare(r["encoding"]), r["seed"]), {})[r["task"]] = float(r["paper_score"])
    by_scheme = {}
    for (encoding, _), of in scores.items():
        by_scheme.setdefault(encoding, []).append(sum(of[t] for t in tasks) / len(tasks))
    assert by_scheme.keys() == set(ranked)
    variances, means = [], []
    for values in by_scheme.values():
        m = sum(values) / len(values)
        means.append(m)
        variances.append(sum((x - m) ** 2 for x in values) / (len(values) - 1) / len(values))
    error = math.sqrt(sum(variances) / len(variances))
    luck = error * normal_max(len(ranked))
    lead = max(means) - sum(means) / len(means)
    yield f"Is the first of {len(ranked)} encodings first by luck?"
    yield (
        f"Seeds give a mean of three a standard error of {points(error)} points, so the best of {len(ranked)} equal "
        f"encodings would be about {points(luck)} points above their mean by luck; the first is {points(lead)} above "
        "it."
    )
    fresh = row("ladder/verdict.csv", family="each task's", task="even_pairs")
    assert fresh["opponent"] == "Geometric"
    yield (
        f"On Even Pairs geometric attention has been trained on {fresh['seeds']} fresh seeds, and has "
        f"{points(float(fresh['opponent_mean']))} % at lengths 41 to 100."
    )
    rates = 2 * hours(done("every-scheme"))
    yield f"At the paper's two other learning rates it costs {rates:.0f} core-hours more"


def numerics():
    new = {r["id"]: float(r["paper_score"]) for r in done("table1-tiny")}

    def beside(folder):
        old = {r["id"]: float(r["paper_score"]) for r in done(folder) if r["paper_score"]}
        return [100 * abs(old[i] - new[i]) for i in sorted(old.keys() & new.keys())]

    moved = beside("ruoss2023-tiny")
    yield (
        f"Of the {len(moved)} trials that `ruoss2023-tiny` shares with `table1-tiny`, {sum(x > 0 for x in moved)} have "
        f"another accuracy, by {sum(moved) / len(moved):.1f} points in the mean and {max(moved):.1f} at most."
    )
    trials = done("ladder")
    here = [
        r for r in trials if r["temperature"] == "ssmax" or r["encoding"].startswith("ids") or int(r["seed"]) >= 100
    ]
    yield (
        f"All {len(here)} trainings of candidates and of fresh seeds are by "
        f"{listed(sorted({r['commit'][:8] for r in here}))}"
    )
    same = [beside(folder) for folder in ("gap_shift-tiny", "cross-tiny")]
    if any(x > 0 for folder in same for x in folder):
        yield "(the folders without numerics differ from table1-tiny)"
    yield (
        f"`gap_shift-tiny` and `cross-tiny` have the same accuracies as `table1-tiny` in all {len(same[0])} and "
        f"{len(same[1])} trials that they share with it"
    )


def explained(task, encoding, what):
    """How much of the variance of accuracy the logarithm of the length, of the mean gap, or of their product has, R2:
    over all tests within the pool of positions."""
    rows = [r for r in table("gap_shift-tiny/grid.csv", task=task, encoding=encoding, within_pool="true")
            if r["mean_gap"]]  # fmt: skip
    log = {
        "length": lambda r: math.log(float(r["length"])),
        "gap": lambda r: math.log(float(r["mean_gap"])),
        "span": lambda r: math.log(float(r["length"]) * float(r["mean_gap"])),
    }[what]
    x, y = [log(r) for r in rows], [float(r["accuracy"]) for r in rows]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    both = sum((a - mx) * (b - my) for a, b in zip(x, y))
    return both**2 / sum((a - mx) ** 2 for a in x) / sum((b - my) ** 2 for b in y)


def by_fit():
    def r2(task, what, encodings=("sincos", "relative", "rope")):
        values = [explained(task, e, what) for e in encodings]
        return f"{min(values):.2f} to {max(values):.2f}"

    yield (
        "over all tests in which positions stay within the pool, the logarithm of the gap explains "
        f"{r2('reverse_string', 'gap')} of the variance of accuracy on Reverse String, that of the length "
        f"{r2('missing_duplicate_string', 'length', ('relative', 'rope'))} on Missing Duplicate (relative and RoPE), "
        f"and that of the range a string covers {r2('bucket_sort', 'span')} on Bucket Sort."
    )
    other = one("gap_shift-tiny/first.csv", "loss", task="missing_duplicate_string", encoding="sincos", length="10",
                change="gap"), one("gap_shift-tiny/first.csv", "loss", task="missing_duplicate_string",
                                   encoding="sincos", length="10", change="length")  # fmt: skip
    yield f"sin/cos loses {points(other[0])} points to the gap and {points(other[1])} to the length there"


def alignment():
    gain = {
        r["encoding"]: float(r["value"])
        for r in table("chi2023-tiny/table2.csv", task="line", mode="maximum probability", length="512")
    }
    base = {
        r["encoding"]: float(r["value"])
        for r in table("chi2023-tiny/table2.csv", task="line", mode="original", length="512")
    }
    yield (
        f"RoPE ({signed(gain['RoPE'] - base['RoPE'])} points) and learned positions "
        f"({signed(gain['learned positions'] - base['learned positions'])}) are there already"
    )


def of_duplicate():
    found = [r for r in table("every-scheme/ranking.csv", task="missing_duplicate_string")]
    yield f"the best of all schemes in finding 5 has {points(max(float(r['mean']) for r in found))} %"


def learned():
    signs = {r["task"]: r for r in table("table1-tiny/signs.csv", encoding="Learned")}
    elsewhere = [float(r["mean"]) for task, r in signs.items() if task != "bucket_sort"]
    yield (
        f"gain {points(float(signs['bucket_sort']['mean']))} points on Bucket Sort and at most "
        f"{points(max(elsewhere))} elsewhere; the paper has {points(float(signs['even_pairs']['paper']))} on Even "
        "Pairs."
    )


ALL = (in_domain, cause, winner, numerics, by_fit, alignment, of_duplicate, learned)


# -- what was cut ------------------------------------------------------------------------------------------------------


def seconds(folder, **wanted):
    return mean(done(folder, **wanted), "seconds")


def cut():
    """What issue 34 asked for and was cut: (what, number of trainings, seconds at the mean time of those like it)."""
    four = ("even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort")
    per = {r["task"]: seconds("table1-tiny", task=r["task"]) for r in done("table1-tiny")}
    tiny = sum(per.values()) / len(per)
    eleven = 11
    every = seconds("every-scheme")
    duplicate = seconds("ruoss2023-example", task="missing_duplicate_string")
    rows = [
        ("Table 1, ten seeds on its eleven other tasks", 11 * 7 * eleven,
         7 * eleven * (sum(per.values()) - sum(per[t] for t in four))),
        ("Table 1 on eight unlearnt tasks after 10,000 and 30,000 steps, for each of four curricula",
         2 * 8 * 3 * eleven, 8 * 3 * eleven * tiny * (10000 + 30000) / 3000),
        ("Table 1 at the paper's two other learning rates", 2 * 495, 2 * 3600 * hours(done("table1-tiny"))),
        ("Finding 2 for the four other encodings, ten seeds", 2 * 4 * 10 * 4, 2 * 4 * 10 * sum(per[t] for t in four)),
        ("Finding 3 with 200 questions a cell, and temperatures from others than those, below 0.5 too", 15,
         3 * seconds_of(*RETRIEVAL, tests=200 / 32)),
        ("Finding 4 with ReRoPE in training, four windows", 4 * 3, 4 * 3 * seconds_of(*REROPE) / 5),
        ("Finding 5, its first five schemes on ten fresh seeds", 5 * 3 * 10, 5 * 3 * 10 * every),
        ("Finding 5 after 10,000 steps", len(done("every-scheme")), 3600 * hours(done("every-scheme")) * 10000 / 3000),
        ("Finding 6 with ten seeds, and on Duplicate, Odds First and Stack", 7 * 108 // 3 + 10 * 36,
         (7 * 108 // 3 + 10 * 36) * seconds("gap_shift-tiny")),
        ("Finding 8 with a third seed", 192, 192 * seconds("cross-tiny")),
        ("Finding 8 with ten seeds", 8 * 192, 8 * 192 * seconds("cross-tiny")),
        ("ReRoPE in training, windows 5, 10, 20 and 40, counted and randomized, four tasks, ten seeds",
         4 * 2 * 4 * 10, 4 * 2 * 4 * 10 * seconds("cross-tiny", encoding="rerope:window=10")),
        ("Ten roundings of ten cells beside ten seeds", 100, 100 * tiny),
        ("At the paper's size: randomized RoPE on Missing Duplicate, two seeds, 100,000 steps", 2,
         2 * duplicate * 100000 / 10001),
        ("At the paper's size: relative and randomized relative on Reverse String, 60,000 steps", 2,
         2 * seconds("ruoss2023-example", task="bucket_sort", encoding="relative") * 60000 / 10001),  # as many slots
        ("At the paper's size: table 1, 2 million steps, ten seeds, three rates, 15 tasks", 15 * 11 * 30,
         15 * 11 * 30 * seconds("ruoss2023-example") * 2e6 / 10001),
    ]  # fmt: skip
    return rows

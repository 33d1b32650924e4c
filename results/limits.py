"""The values of the names in docs/results-limits.md.in, like findings.py for docs/results.md.in, and the costs of
missing results."""

import math
import statistics

from findings import REROPE, RETRIEVAL, bare, lost, on_duplicate, ranks, seconds_of  # noqa: F401 (of the template)
from query import (ENCODINGS, NAMES, TASKS, at_trained, by, column, done, folders, markdown, mean, one, page, points,
                   row, signed, table)  # fmt: skip


def trained(task, encoding, positions):
    return points(at_trained(task, encoding, positions))


seen = one("sorted-tiny/coverage.csv", "seen", encoding="rope", positions="sequential", length=75)
alibi = row("ten-seeds-tiny/signs.csv", task="even_pairs", encoding="ALiBi")

# -- is the first encoding first by luck? ------------------------------------------------------------------------------


def normal_max(n):
    """The expected largest of n standard normal numbers: the integral of x d(Phi^n), by the midpoint rule."""
    phi, step = statistics.NormalDist().cdf, 0.001
    return sum((k + 0.5) * step * (phi((k + 1) * step) ** n - phi(k * step) ** n) for k in range(-8000, 8000))


def means_by_seed():
    """For each ranked encoding, its mean over the three tasks by seed."""
    for encoding, rows in by("encoding", done("every-scheme", causal="off")).items():
        if bare(encoding) in ranks:
            yield [mean(r["paper_score"] for r in of_seed) for of_seed in by("seed", rows).values()]


of_schemes = list(means_by_seed())
assert len(of_schemes) == len(ranks)
error = mean(statistics.variance(x) / len(x) for x in of_schemes) ** 0.5
luck = error * normal_max(len(ranks))
lead = max(map(mean, of_schemes)) - mean(map(mean, of_schemes))
fresh = row("ladder/verdict.csv", family="each task's", task="even_pairs")
assert fresh["opponent"] == "Geometric"

# -- numerics, and who trained what ------------------------------------------------------------------------------------


def moved(folder):
    """The differences in accuracy, in points, between a folder and table1-tiny, for the trials that both have."""
    new, old = ({r["id"]: r["paper_score"] for r in done(one) if r["paper_score"] != ""}
                for one in ("table1-tiny", folder))  # fmt: skip
    return [100 * abs(old[id] - new[id]) for id in sorted(old.keys() & new.keys())]


others = moved("ruoss2023-tiny")
same = [moved(folder) for folder in ("gap_shift-tiny", "cross-tiny")]
assert not any(x > 0 for folder in same for x in folder)
registered = [r for r in done("ladder")
              if r["temperature"] == "ssmax" or r["encoding"].startswith("ids") or r["seed"] >= 100]  # fmt: skip

# -- what is learned in gap_shift:matched ------------------------------------------------------------------------------

settings = {}
for r in table("gap_shift-tiny/matched.csv", test_positions="same", lengths="30 to 100"):
    settings.setdefault((r["task"], r["encoding"]), []).append(r)
unlearned = sum(all(r["interval_low"] <= max(r["chance"], r["majority"], r["content_only"]) for r in rows)
                for rows in settings.values())  # fmt: skip

# -- a fit, and single figures -----------------------------------------------------------------------------------------

LOGS = {"length": lambda r: r["length"], "gap": lambda r: r["mean_gap"], "span": lambda r: r["length"] * r["mean_gap"]}


def explained(task, what, encodings=("sincos", "relative", "rope")):
    """R2: the share of the variance of accuracy that the logarithm of the length, of the mean gap, or of their product
    explains, over all tests within the pool of positions."""
    shares = []
    for encoding in encodings:
        rows = table("gap_shift-tiny/grid.csv", task=task, encoding=encoding, within_pool="true")
        rows = [r for r in rows if r["mean_gap"] != ""]
        logs = [math.log(LOGS[what](r)) for r in rows]
        shares.append(statistics.correlation(logs, [r["accuracy"] for r in rows]) ** 2)
    return f"{min(shares):.2f} to {max(shares):.2f}"


def aligned(encoding):
    before, after = (one("chi2023-tiny/table2.csv", "value", task="line", mode=mode, length=512, encoding=encoding)
                     for mode in ("original", "maximum probability"))  # fmt: skip
    return signed(after - before)


learned = {r["task"]: r for r in table("table1-tiny/signs.csv", encoding="Learned")}

# -- tables ------------------------------------------------------------------------------------------------------------


def runs_of(numbers):
    """[0, 1, 2, 100, 101] as "0 to 2, 100 to 101"."""
    parts = []
    for n in sorted(numbers):
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in parts)


def experiments():
    """The runs of each folder."""
    rows = []
    for folder in folders():
        of = page(folder)
        rows.append([
            f"[{folder}](../results/{folder}/README.md)",
            f"{of['done']} of {of['planned']} {of['unit']}" + (f", {of['hours']:.1f} hours" if of["hours"] else ""),
            f"{len(of['seeds'])} ({runs_of(of['seeds'])})",
            ", ".join(filter(None, of["numerics"])) or "not recorded",
            ", ".join(sorted(commit[:8] for commit in of["commits"])) or "not recorded",
        ])
    return markdown(["folder", "trained", "seeds", "numerics", "trained by"], rows)


def seconds(folder, **wanted):
    return mean(column(f"{folder}/trials.csv", "seconds", state="done", **wanted))


def cut():
    """Missing results and their cost on one core: the number of runs, and their seconds at the mean time of
    similar runs."""
    per = {task: seconds("table1-tiny", task=task) for task in by("task", done("table1-tiny"))}
    four, tiny, eleven = sum(per[task] for task in TASKS), mean(per.values()), 11
    total = {folder: 3600 * page(folder)["hours"] for folder in folders()}
    duplicate = seconds("ruoss2023-example", task="missing_duplicate_string")
    rows = [
        ("Table 1, ten seeds on its eleven other tasks", 11 * 7 * eleven, 7 * eleven * (sum(per.values()) - four)),
        ("Table 1 on eight unlearnt tasks after 10,000 and 30,000 steps, for each of four curricula",
         2 * 8 * 3 * eleven, 8 * 3 * eleven * tiny * (10000 + 30000) / 3000),
        ("Table 1 at the paper's two other learning rates", 2 * 495, 2 * total["table1-tiny"]),
        ("Finding 2 for the four other encodings, ten seeds", 2 * 4 * 10 * 4, 2 * 4 * 10 * four),
        ("Finding 3 with 200 questions a cell, and temperatures from other questions, also below 0.5", 15,
         3 * seconds_of(*RETRIEVAL, tests=200 / 32)),
        ("Finding 4 with ReRoPE in training, four windows", 4 * 3, 4 * 3 * seconds_of(*REROPE) / 5),
        ("Finding 5, its first five schemes on ten fresh seeds", 5 * 3 * 10, 5 * 3 * 10 * seconds("every-scheme")),
        ("Finding 5 after 10,000 steps", len(done("every-scheme")), total["every-scheme"] * 10000 / 3000),
        ("Finding 6 with ten seeds, and on Duplicate, Odds First and Stack", 7 * 108 // 3 + 10 * 36,
         (7 * 108 // 3 + 10 * 36) * seconds("gap_shift-tiny")),
        ("Finding 8 with a third seed", 192, 192 * seconds("cross-tiny")),
        ("Finding 8 with ten seeds", 8 * 192, 8 * 192 * seconds("cross-tiny")),
        ("ReRoPE in training, windows 5, 10, 20 and 40, counted and randomized, four tasks, ten seeds",
         4 * 2 * 4 * 10, 4 * 2 * 4 * 10 * seconds("cross-tiny", encoding="rerope:window=10")),
        ("Ten cells, each with ten other roundings, to compare with ten seeds", 100, 100 * tiny),
        ("At the paper's size: randomized RoPE on Missing Duplicate, two seeds, 100,000 steps", 2,
         2 * duplicate * 100000 / 10001),
        ("At the paper's size: relative and randomized relative on Reverse String, 60,000 steps", 2,
         2 * seconds("ruoss2023-example", task="bucket_sort", encoding="relative") * 60000 / 10001),  # as many slots
        ("At the paper's size: table 1, 2 million steps, ten seeds, three rates, 15 tasks", 15 * 11 * 30,
         15 * 11 * 30 * seconds("ruoss2023-example") * 2e6 / 10001),
    ]  # fmt: skip
    return markdown(["not done", "runs", "core-hours"],
                    [[what, f"{number:,}", f"{seconds / 3600:,.1f}"] for what, number, seconds in rows])  # fmt: skip


def all_tables():
    """Every table of every folder, with a link."""
    lines = []
    for folder in folders():
        here = f"../results/{folder}/README.md"
        lines += ["", f"**[{folder}]({here})**: {page(folder)['title']}", ""]
        lines += (f"- [{title}]({here}#{anchor(title)})" for title in page(folder)["tables"].values())
    return lines[1:]


def anchor(heading):
    return "".join(c for c in heading.lower().replace(" ", "-") if c in "-_" or c.isascii() and c.isalnum())


def trained_lengths():
    """Table 1 at size tiny at the trained lengths: counted, then randomized positions."""
    rows = [[task, *(", ".join(trained(task, e, p) for p in ("sequential", "randomized")) for e in ENCODINGS)]
            for task in by("task", table("table1-tiny/table1.csv"))]  # fmt: skip
    return markdown(["task", *(NAMES[e] for e in ENCODINGS)], rows)


def in_short():
    """Means over seeds of table 1 at size tiny, on four tasks: two schemes, each with counted and with randomized
    positions."""
    rows = []
    for task in TASKS:
        of = [row("table1-tiny/table1.csv", task=task, encoding=e, positions=p)
              for e in ("rope", "relative") for p in ("sequential", "randomized")]  # fmt: skip
        baselines = (of[0][name] for name in ("chance", "majority", "content_only"))
        rows.append([f"`{task}`", *(points(r["mean"]) for r in of), *map(points, baselines)])
    return markdown(["task", "RoPE", "randomized RoPE", "relative", "randomized relative", "chance", "majority",
                     "content only"], rows)  # fmt: skip

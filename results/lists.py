"""The lists of docs/results-tables.md and docs/results-limits.md, and table 1 in short, for results/readme.py."""

import re

import limits
from findings import NAMES
from query import HERE, about, at_trained, done, head, hours, numerics, one, points, table

TASKS = ("even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort")
ENCODINGS = [e for e in NAMES if e != "none"]


def folders():
    return [page.parent for page in sorted(HERE.glob("*/README.md"))]


def anchor(heading):
    return re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")


def all_tables():
    """Every table of every folder, with a link; where a folder's runs come from is in the other list."""
    lines = []
    for folder in folders():
        text = (folder / "README.md").read_text()
        title = re.search(r"^# (.*): size", text, re.M)[1]
        lines += [f"**[{folder.name}](../results/{folder.name}/README.md)**: {title}", ""]
        headings = re.findall(r"^## (.*)", text, re.M)
        lines += [f"- [{h}](../results/{folder.name}/README.md#{anchor(h)})" for h in headings]
        lines.append("")
    return lines[:-1]


def trained_lengths():
    """Table 1 at size tiny where it was trained: counted, then randomized positions."""
    lines = [f"| task | {' | '.join(NAMES[e] for e in ENCODINGS)} |", "|---" * (1 + len(ENCODINGS)) + "|"]
    for task in dict.fromkeys(r["task"] for r in table("table1-tiny/table1.csv")):
        cells = [", ".join(points(at_trained(task, e, p)) for p in ("sequential", "randomized")) for e in ENCODINGS]
        lines.append(f"| {task} | {' | '.join(cells)} |")
    return lines


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
    """How much each folder is of: from its trials or, of T5s, from the head of its page."""
    lines = ["| folder | trained | seeds | numerics | trained by |", "|---|---|---|---|---|"]
    for folder in folders():
        name = folder.name
        rows = [r for path in folder.glob("*.csv") for r in table(f"{name}/{path.name}")]
        seeds = {int(r["seeds"]) for r in rows if r.get("seeds")}
        seeds, commits = str(max(seeds)), ""
        if (folder / "trials.csv").exists():
            trials = done(name)
            trained = f"{len(trials)} of {len(table(f'{name}/trials.csv'))} trials, {hours(trials):.1f} hours"
            if "seed" in trials[0]:
                seeds = runs_of({int(r["seed"]) for r in trials})
                seeds = f"{len({r['seed'] for r in trials})} ({seeds})"
            commits = ", ".join(sorted({r["commit"][:8] for r in trials}))
        elif (folder / "about.json").exists():
            asked, runs = about(name)
            trained = f"{len(runs)} of {asked} runs"
            if commits := ", ".join(sorted({r["commit"][:8] for r in runs if "commit" in r})):
                trained += f", {sum(r['seconds'] * r['threads'] for r in runs) / 3600:.1f} hours"
        else:
            trained = re.match(r"(?:No|\d+) of \d+ runs", head(name))[0]
            if by := re.search(r"Trained by ([0-9a-f, ]+);.* took ([\d.]+) hours", head(name)):
                trained += f", {by[2]} hours"
                commits = ", ".join(sorted(commit[:8] for commit in by[1].split(", ")))
        number = ", ".join(sorted(numerics(name) - {""}))
        cells = (trained, seeds, number or "not recorded", commits or "not recorded")
        lines.append(f"| [{name}](../results/{name}/README.md) | {' | '.join(cells)} |")
    return lines


def cut():
    """What was asked of these results and is not there, with what it would take on one core of theirs."""
    lines = ["| not done | trainings | core-hours |", "|---|---|---|"]
    return lines + [f"| {what} | {number:,} | {seconds / 3600:,.1f} |" for what, number, seconds in limits.cut()]


def in_short():
    """Means over seeds of table 1 at size tiny, on four tasks: two schemes, each with counted and with randomized
    positions."""
    shown = [("rope", "sequential"), ("rope", "randomized"), ("relative", "sequential"), ("relative", "randomized")]
    lines = [
        "| task | RoPE | randomized RoPE | relative | randomized relative | chance | majority | content only |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for task in TASKS:

        def of(column, encoding="rope", positions="sequential"):
            return points(one("table1-tiny/table1.csv", column, task=task, encoding=encoding, positions=positions))

        cells = [of("mean", *key) for key in shown] + [of(name) for name in ("chance", "majority", "content_only")]
        lines.append(f"| `{task}` | {' | '.join(cells)} |")
    return lines

#!/usr/bin/env python3
"""Writes the table of docs/gpu.md that says what --matmul costs in accuracy, from the trials of matmul.toml.

    build/release/poslab sweep plan results/matmul.toml > plan.jsonl
    build/release/poslab sweep run plan.jsonl --out runs/matmul --jobs 2
    results/matmul.py runs/matmul

Keeps the scores of each trial in matmul.csv beside it; without a folder the table is made from these. Standard library
only.
"""

import csv
import itertools
import json
import pathlib
import re
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
SCORES, PAGE = HERE / "matmul.csv", HERE.parent / "docs/gpu.md"
FORMS = ["fp32", "tf32x3", "tf32", "bf16"]
MARKS = "<!-- matmul: results/matmul.py makes what stands between these lines -->", "<!-- end of matmul -->"


def scores_of(folder):
    """Of each trial the mean accuracy over the lengths that it was trained on, and over the longer ones."""
    rows = []
    for result in sorted(pathlib.Path(folder).glob("*/result.json")):
        config = json.loads(result.read_text())["config"]
        parts = {"trained": [], "unseen": []}
        for row in csv.DictReader((result.parent / "eval.csv").open()):
            unseen = int(row["length"]) > config["train_length"]
            parts["unseen" if unseen else "trained"].append(float(row["accuracy"]))
        means = {name: f"{statistics.mean(x):.6f}" for name, x in parts.items()}
        rows.append({"task": config["task"], "matmul": config.get("matmul", "fp32"), "seed": config["seed"], **means})
    return sorted(rows, key=lambda r: (r["task"], FORMS.index(r["matmul"]), r["seed"]))


def interval(values):
    """The percentile bootstrap of the mean (lab/statistics.h), exactly: of all ways to draw, the middle 95 %."""
    means = sorted(statistics.mean(drawn) for drawn in itertools.product(values, repeat=len(values)))
    tail = int(0.025 * len(means))
    return means[tail], means[-1 - tail]


def table(scores):
    lines = [
        "| task | `--matmul` | seeds | at trained lengths | on unseen lengths | minus fp32 |",
        "|---|---|---|---|---|---|",
    ]
    for task, matmul in dict.fromkeys((s["task"], s["matmul"]) for s in scores):
        of = {(s["matmul"], s["seed"]): s for s in scores if s["task"] == task}
        seeds = [seed for name, seed in of if name == matmul]
        trained, unseen = ([100 * float(of[matmul, seed][name]) for seed in seeds] for name in ("trained", "unseen"))
        ahead = [100 * (float(of[matmul, seed]["unseen"]) - float(of["fp32", seed]["unseen"])) for seed in seeds]
        cells = [f"`{task}`", matmul, str(len(seeds))]
        for values in trained, unseen:
            low, high = interval(values)
            cells.append(f"{statistics.mean(values):.1f} ([{low:.1f}, {high:.1f}])")
        low, high = interval(ahead)
        cells.append("–" if matmul == "fp32" else f"{statistics.mean(ahead):+.1f} ([{low:+.1f}, {high:+.1f}])")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if len(sys.argv) > 1:
    rows = scores_of(sys.argv[1])
    with SCORES.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader(), writer.writerows(rows)
made = table(list(csv.DictReader(SCORES.open())))
page, (begin, end) = PAGE.read_text(), MARKS
new, found = re.subn(f"{begin}.*?{end}", lambda _: f"{begin}\n{made}\n{end}", page, flags=re.DOTALL)
if not found:
    sys.exit(f"{PAGE} lacks the lines {begin} and {end}; put them back")
PAGE.write_text(new)
print(made)

#!/usr/bin/env python3
"""The cost of --matmul in accuracy, from the trials of matmul.toml and matmul_lm.toml: matmul.csv, from which readme.py
makes tables of docs/gpu.md.

    build/release/poslab sweep plan results/matmul.toml > plan.jsonl
    build/release/poslab sweep run plan.jsonl --out runs/matmul --jobs 2 --threads 1
    build/release/poslab sweep plan results/matmul_lm.toml > plan-lm.jsonl
    build/release/poslab sweep run plan-lm.jsonl --out runs/matmul-lm --jobs 2 --threads 1
    results/matmul.py runs/matmul runs/matmul-lm     # writes matmul.csv
    results/readme.py --write                        # and the tables

Standard library only.
"""

import csv
import json
import pathlib
import statistics
import sys

from query import write

HERE = pathlib.Path(__file__).resolve().parent
FORMS = ["fp32", "tf32x3", "tf32", "bf16"]
T_975 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]  # Student's t for 1 to 9 degrees of freedom


def scores_of(folder):
    """For each trial the mean accuracy over the trained lengths, and over the longer lengths."""
    rows = []
    for result in sorted(pathlib.Path(folder).glob("*/result.json")):
        config = json.loads(result.read_text())["config"]
        parts = {"trained": [], "unseen": []}
        for row in csv.DictReader((result.parent / "eval.csv").open()):
            unseen = int(row["length"]) > config["train_length"]
            if row.get("set", "plain") == "plain":  # a language model's other set has windows that repeat themselves
                parts["unseen" if unseen else "trained"].append(float(row["accuracy"]))
        means = {name: f"{statistics.mean(x):.6f}" for name, x in parts.items()}
        task = config.get("task", "language model")
        row = {"task": task, "steps": config["steps"], "matmul": config.get("matmul", "fp32"), "seed": config["seed"]}
        rows.append(row | means)
    return sorted(rows, key=lambda r: (-r["steps"], r["task"], FORMS.index(r["matmul"]), r["seed"]))


def interval(values):
    """The mean, and half the width of its 95 % interval by Student's t."""
    return statistics.mean(values), T_975[len(values) - 2] * statistics.stdev(values) / len(values) ** 0.5


def matmul_lines():
    with (HERE / "matmul.csv").open() as file:
        scores = list(csv.DictReader(file))
    head = ["trained on", "steps", "`--matmul`", "seeds", "trained lengths", "minus fp32", "longer ones", "minus fp32"]
    lines, apart = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"], []
    for work in dict.fromkeys((s["task"], s["steps"], s["matmul"]) for s in scores):
        task, steps, matmul = work
        of = {(s["matmul"], s["seed"]): s for s in scores if (s["task"], s["steps"]) == work[:2]}
        seeds = [seed for name, seed in of if name == matmul]
        score = lambda name, part: [100 * float(of[name, seed][part]) for seed in seeds]
        cells = [task if " " in task else f"`{task}`", f"{int(steps):,}", matmul, str(len(seeds))]
        for part in "trained", "unseen":
            mean, half = interval(score(matmul, part))
            cells.append(f"{mean:.1f} ± {half:.1f}")
            mean, half = interval([x - y for x, y in zip(score(matmul, part), score("fp32", part), strict=True)])
            cells.append("–" if matmul == "fp32" else f"{mean:+.1f} ± {half:.1f}")
            apart += [] if matmul == "fp32" else [abs(mean) > half]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", f"Of the intervals of {len(apart)} differences, {sum(apart)} exclude zero."]


if __name__ == "__main__":
    write("matmul.csv", [row for folder in sys.argv[1:] for row in scores_of(folder)], "those of `poslab sweep run`")

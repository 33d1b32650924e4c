#!/usr/bin/env python3
"""A looped block compared with three blocks on parity and addition: loops.csv, from which readme.py makes the table of
docs/loops.md. That page has the commands. Standard library only.
"""

import csv
import json
import pathlib
import statistics
import sys

from query import by, markdown, table, write

FILE = "loops.csv"
RANGES = {"trained": (1, 20), "validation": (21, 30), "test": (31, 100)}  # of lengths
NAMES = {("rope", 3): "three blocks, randomized RoPE", ("relative", 3): "three blocks, randomized relative",
         ("hard_alibi", 3): "three blocks, hard ALiBi", ("shaw:clip=2", 3): "three blocks, Shaw, Abacus",
         ("hard_alibi:windowed=2", 1): "a looped block, hard ALiBi",
         ("shaw:clip=2", 1): "a looped block, Shaw, Abacus"}  # fmt: skip
KEYS = ("task", "encoding", "layers", "loops", "seed")  # of a run


def mean_of(rows, name, part):
    first, last = RANGES[part]
    return statistics.mean(float(r[name]) for r in rows if first <= int(r["length"]) <= last)


def rows_of(folder):
    """A row for each run and tested number of loops."""
    rows = []
    for result in sorted(pathlib.Path(folder).glob("*/result.json")):
        config = json.loads(result.read_text())["config"]
        for path in (result.parent / "eval.csv", *sorted(result.parent.glob("eval-loops-*.csv"))):
            tested = path.stem.removeprefix("eval-loops-") if "loops" in path.stem else config["loops"]
            lengths = list(csv.DictReader(path.open()))
            guess = max(mean_of(lengths, name, "test") for name in ("chance", "majority"))
            rows.append({name: config[name] for name in KEYS} | {"tested_loops": tested} |
                        {part: f"{mean_of(lengths, 'accuracy', part):.4f}" for part in RANGES} |
                        {"guess": f"{guess:.4f}"})  # fmt: skip
    return sorted(rows, key=lambda r: [str(r[name]) for name in (*KEYS, "tested_loops")])


def chosen(rows):
    """For each seed, the row with the best accuracy on validation lengths; ties go to the trained number of loops."""
    best = lambda r: (r["validation"], r["tested_loops"] == r["loops"])
    return [max(of, key=best) for of in by("seed", rows).values()]


def loops_lines():
    head = ["task", "model", "trained lengths", "21 to 30", "31 to 100", "loops at test", "learned"]
    cells = []
    for task, all in by("task", table(FILE)).items():
        for (encoding, layers), name in NAMES.items():
            picked = chosen([r for r in all if (r["encoding"], r["layers"]) == (encoding, layers)])
            if not picked:
                continue
            score = lambda part: (f"{100 * statistics.mean(r[part] for r in picked):.1f} "
                                  f"({', '.join(f'{100 * r[part]:.0f}' for r in picked)})")  # fmt: skip
            counts = ", ".join(str(r["tested_loops"]) for r in picked) if layers == 1 else "–"
            cells.append([f"`{task}`", name, *map(score, RANGES), counts, learned(picked)])
    return [*markdown(head, cells), "", on_parity(), ""]


def learned(rows):
    return f"{sum(r['test'] > r['guess'] + 0.05 for r in rows)} of {len(rows)}"


def on_parity():
    """The table's sentences on parity, from its data."""
    looped, plain = ([r for r in table(FILE) if r["task"] == "parity_check" and r["layers"] == n] for n in (1, 3))
    best, fixed = chosen(looped), [r for r in looped if r["tested_loops"] != "length"]
    perfect = sum(min(r["validation"], r["test"]) == 1 for r in best)
    return (f"On parity, {learned(plain)} models of three blocks have learned, and {learned(best)} looped ones; "
            f"{perfect} of these have no error at 21 to 100 symbols. With the same number of loops at all lengths, "
            f"{learned(fixed)} tests of looped models show learning.")  # fmt: skip


if __name__ == "__main__":
    write(FILE, rows_of(sys.argv[1]) if len(sys.argv) == 2 else None, "that of loops.toml")

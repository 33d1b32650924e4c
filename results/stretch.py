#!/usr/bin/env python3
"""Small LLaMAs stretched to 8 times their trained length, as they are and trained for 200 steps more: stretch.csv, and
the table of docs/stretch.md that readme.py makes of it.

    build/release/poslab sweep plan results/stretch_base.toml > base.jsonl
    build/release/poslab sweep run base.jsonl --out runs/base --threads 1
    for n in 0 1 2; do
      build/release/poslab lm eval runs/base/named/base-$n --times 8 -o runs/base/as-is-$n.csv \\
        --encoding rope,pi:factor=8,ntk:factor=8,yarn:factor=8,longrope:factor=8,rope:base=500000,rerope:window=64,none
    done
    build/release/poslab sweep plan results/stretch.toml > stretch.jsonl
    build/release/poslab sweep run stretch.jsonl --out runs/stretch --threads 1
    results/stretch.py runs/base runs/stretch        # writes stretch.csv
    results/readme.py --write                        # and the table

Standard library only.
"""

import csv
import json
import pathlib
import statistics
import sys

from query import markdown, table

HERE = pathlib.Path(__file__).resolve().parent
FILE = "stretch.csv"
PARTS = ("loss_1", "loss")  # of a window of 1,024 tokens: its first 128, and all
CLAIMS = {  # of the sources, as shared by the papers that propose the methods
    "rope": "fails beyond the trained length",
    "pi": "needs training: 1,000 steps stretch LLaMA to 32,768 tokens (Chen et al. 2023)",
    "ntk": "better than PI as it is (bloc97 2023); PI is better after training (Peng et al. 2023)",
    "yarn": "best of the rotations, as it is and after 400 steps (Peng et al. 2023)",
    "longrope": "as it is to 8 times, when its factors are searched (Ding et al. 2024); ours are not",
    "abf": "better than PI after training on long texts (Xiong et al. 2023)",
    "rerope": "needs no training (Su 2023)",
    "none": "DroPE: little training at the trained length is enough (Gelberg et al. 2025)",
}
TITLES = {"rope": "RoPE, as trained", "pi": "PI", "ntk": "NTK", "yarn": "YaRN", "longrope": "LongRoPE", "abf": "ABF",
          "rerope": "ReRoPE, window 64", "none": "DroPE: no positions"}  # fmt: skip


def name_of(encoding):
    spelled = encoding.removeprefix("encoding=").partition(" ")[0]
    return "abf" if spelled.startswith("rope:base=") else spelled.partition(":")[0]  # ABF is RoPE of another base


def rows_of(base, stretched):
    """A row for each model, encoding and set: as it is, and trained on."""
    rows = []
    for path in sorted(pathlib.Path(base).glob("as-is-*.csv")):
        for r in csv.DictReader(path.open()):
            rows.append({"encoding": name_of(r["name"]), "steps": 0, "seed": r["seed"]} | r)
    for result in sorted(pathlib.Path(stretched).glob("*/result.json")):
        config = json.loads(result.read_text())["config"]
        for r in csv.DictReader((result.parent / "eval.csv").open()):
            steps = {"encoding": name_of(config["encoding"]), "steps": config["steps"], "seed": config["seed"]}
            rows.append(r | steps)
    keep = ("encoding", "steps", "seed", "length", "set", "samples", *PARTS, "accuracy")
    order = list(CLAIMS)
    return sorted(({name: r[name] for name in keep} for r in rows),
                  key=lambda r: (order.index(r["encoding"]), int(r["steps"]), int(r["seed"]), r["set"]))  # fmt: skip


def cell_of(encoding, steps, set, part):
    values = [r[part] for r in table(FILE, encoding=encoding, steps=steps, set=set)]
    return f"{statistics.mean(values):.2f} ({min(values):.2f}–{max(values):.2f})" if values else "–"


def stretch_lines():
    head = ["method", "as it is: first 128", "all 1,024", "repeated", "200 steps on: first 128", "all 1,024",
            "repeated", "the sources' claim"]  # fmt: skip
    cells = [[TITLES[e], *(cell_of(e, steps, set, part) for steps in (0, 200)
                           for set, part in (("plain", "loss_1"), ("plain", "loss"), ("repeated", "loss"))), claim]
             for e, claim in CLAIMS.items()]  # fmt: skip
    return markdown(head, cells)


if __name__ == "__main__":
    if len(sys.argv) != 3 or not (rows := rows_of(*sys.argv[1:])):
        sys.exit("results/stretch.py: no finished trial in the folders given; name those of stretch_base.toml and of "
                 "stretch.toml")  # fmt: skip
    with (HERE / FILE).open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader(), writer.writerows(rows)

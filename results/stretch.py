#!/usr/bin/env python3
"""Small LLaMAs stretched to 8 times their trained length, as they are and after 200 steps more: stretch.csv, from which
readme.py makes the table of docs/stretch.md. That page has the commands. Standard library only.
"""

import csv
import json
import pathlib
import statistics
import sys

from query import markdown, table, write

FILE = "stretch.csv"
PARTS = ("loss_1", "loss")  # of a window of 1,024 tokens: its first 128, and all
CLAIMS = {  # of the sources; figures are in python/poslab/papers/published
    "rope": "23 and 24 % as it is (Su 2023)",
    "pi": "14 and 15 % as it is; needs training, but far less than RoPE (Su 2023)",
    "ntk": "39 and 51 % as it is, in the form `old`; needs no training (Su 2023)",
    "yarn": "47 and 80 % as it is (Su, part 16); proposed with brief training (Peng et al. 2024)",
    "longrope": "its factors are searched (Ding et al. 2024); ours are not",
    "abf": "the base is raised, and the model trained on (Xiong et al. 2023)",
    "rerope": "48 and 78 % as it is; needs no training (Su 2023)",
    "none": "DroPE: brief training at the same length is enough (Gelberg et al. 2025)",
}
TITLES = {"rope": "RoPE, as trained", "pi": "PI", "ntk": "NTK", "yarn": "YaRN", "longrope": "LongRoPE", "abf": "ABF",
          "rerope": "ReRoPE, window 64", "none": "DroPE: no positions"}  # fmt: skip


def name_of(encoding):
    spelled = encoding.removeprefix("encoding=").partition(" ")[0]
    return "abf" if spelled.startswith("rope:base=") else spelled.partition(":")[0]  # ABF is RoPE of another base


def rows_of(base, stretched):
    """Rows for each model, encoding and set: for the model as it is, and after further training."""
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
    head = ["method", "as it is: first 128", "all 1,024", "repeated", "200 steps later: first 128", "all 1,024",
            "repeated", "the sources"]  # fmt: skip
    cells = [[TITLES[e], *(cell_of(e, steps, set, part) for steps in (0, 200)
                           for set, part in (("plain", "loss_1"), ("plain", "loss"), ("repeated", "loss"))), claim]
             for e, claim in CLAIMS.items()]  # fmt: skip
    return markdown(head, cells)


if __name__ == "__main__":
    rows = rows_of(*sys.argv[1:]) if len(sys.argv) == 3 else None
    write(FILE, rows, "those of stretch_base.toml and of stretch.toml")

"""A folder of `poslab reproduce`: about.json says what was asked for, kept.jsonl what came of it, a line a trial
(lab/runs/sweep/kept.h). Sources print their own numbers in published/*.csv."""

import functools
import json
import pathlib

import pandas as pd


@functools.cache
def published(table):
    """A row for each method, numbers as printed; NaN where the source has a dash."""
    return pd.read_csv(pathlib.Path(__file__).parent / f"published/{table}.csv", index_col=0, na_values="-")


def printed(table, row, column):
    """A number of a source; NaN where it has none."""
    frame = published(table)
    return frame[column].get(row, float("nan")) if column in frame else float("nan")


def tests(lines):
    """Each test of each line: (trial, file, columns). "= ID COLUMN" is a column of a test before."""
    known = {}
    for line in lines:
        for file, columns in {"eval.csv": line["tested"], **line.get("tests", {})}.items():
            of = line["id"] if file == "eval.csv" else f"{line['id']} {file}"
            for name, cells in columns.items():
                known[f"{of} {name}"] = known[cells[2:]] if cells.startswith("= ") else cells
            yield line["id"], file, {name: known[f"{of} {name}"].split() for name in columns}


class Trials:
    """`tested` has a row for each test at each length, on each set of texts, with each seed."""

    def __init__(self, about, lines):
        self.about, self.tested = about, pd.DataFrame()
        asked = pd.DataFrame(about["trials"]).set_index("id")
        frames = [pd.DataFrame(columns).assign(id=id, file=file) for id, file, columns in tests(lines)]
        if frames:
            all = pd.concat(frames).join(asked, on="id", how="inner").drop(columns="id").astype({"length": int})
            index = ["model", "file", "length", "set", "seed"]
            self.tested = all.set_index(index).astype(float).sort_index()

    @classmethod
    def read(cls, folder):
        about = json.loads((folder / "about.json").read_text())
        return cls(about, [json.loads(line) for line in (folder / "kept.jsonl").read_text().splitlines()])

    def by_seed(self, model, file, length, set, column="accuracy"):
        """A number of a test, by seed."""
        key = (model, file, length, set)
        return self.tested.loc[key, column].dropna() if key in self.tested.index else pd.Series(dtype=float)

"""A folder of `poslab reproduce`: about.json has the request, kept.jsonl the results, a line for each trial
(lab/runs/sweep/kept.h). Sources print their own numbers in published/*.csv."""

import copy
import functools
import json
import pathlib

import pandas as pd


@functools.cache
def published(table):
    """A row for each method, with numbers as printed; NaN for a dash in the source."""
    return pd.read_csv(pathlib.Path(__file__).parent / f"published/{table}.csv", index_col=0, na_values="-")


def printed(table, row, column):
    """A number of a source; NaN if it has none."""
    frame = published(table)
    return frame[column].get(row, float("nan")) if column in frame else float("nan")


def tests(lines):
    """Each table of each line: (trial, file, columns). "= ID COLUMN" refers to a column of an earlier trial's table."""
    known = {}
    for line in lines:
        tables = {file: one for file, one in line.get("tests", {}).items() if not file.endswith(".json")}
        for file, columns in {"eval.csv": line["tested"], **tables}.items():
            of = line["id"] if file == "eval.csv" else f"{line['id']} {file}"
            for name, cells in columns.items():
                known[f"{of} {name}"] = known[cells[2:]] if cells.startswith("= ") else cells
            yield line["id"], file, {name: known[f"{of} {name}"].split() for name in columns}


class Trials:
    """`asked` has a row for each trial: its options by name, and whether it is done. The index is its id."""

    def __init__(self, about, lines, folder=None):
        self.about, self.tables, self.frames, self.settings = about, list(tests(lines)), {}, {}
        self.folder = folder  # it may also have arrays
        self.results = {line["id"]: line.get("result", {}) for line in lines}  # "seconds", ..., by id
        self.kept = {line["id"]: line.get("tests", {}) for line in lines}  # by id and file
        trials = pd.DataFrame([about.get("common", {}) | trial for trial in about["trials"]] or {"id": []})
        self.asked = trials.set_index("id").assign(done=lambda all: all.index.isin(self.results))

    @classmethod
    def read(cls, folder):
        about = json.loads((folder / "about.json").read_text())
        return cls(about, [json.loads(line) for line in (folder / "kept.jsonl").read_text().splitlines()], folder)

    def of(self, artifact):
        """The trials of an artifact that names them."""
        if "trials" not in artifact:
            return self
        some = copy.copy(self)
        some.asked, some.settings = self.asked.loc[artifact["trials"]], {}
        return some

    def origin(self):
        """The number of finished runs, their seeds, commits and numerics (null: not recorded), and their hours on
        one core."""
        models = {method["model"] for one in self.about["artifacts"] for method in one.get("methods", [])}
        asked = self.asked[self.asked["model"].isin(models)] if models else self.asked
        done = asked[asked["done"]]
        results = [self.results[id] for id in done.index]
        named = {name: sorted({r.get(name) for r in results}, key=str) for name in ("numerics", "commit")}
        hours = sum(r.get("seconds", 0) * r.get("threads", 1) for r in results) / 3600
        return {"done": len(done), "planned": len(asked), "unit": "runs" if "model" in asked else "trials",
                "seeds": sorted(map(int, done["seed"].unique())) if len(done) else [], "numerics": named["numerics"],
                "commits": list(filter(None, named["commit"])), "hours": round(hours, 4)}  # fmt: skip

    def provenance(self):
        """A sentence on the program that trained these runs, on their time, and on that of missing runs. It begins with
        "Old" if another program draws them."""
        done = list(self.results.values())
        if not done:
            return ""

        def named(*names):
            return [", ".join(sorted({r[name] for r in done if r.get(name)})) for name in names]

        commits, isas, processors, days, numbers = named("commit", "isa", "processor", "date", "numerics")
        ours = self.about["numerics"]
        now = ", ".join(sorted({ours.get((r.get("isa") or "").split("/")[-1]) or "" for r in done} - {""}))
        unnamed = sum(not r.get("numerics") for r in done)
        text = f"Old: {f'{unnamed} of ' * (unnamed < len(done))}these runs do not record their numerics number. "
        if not unnamed:
            here = now or "none for their instruction set"
            text = f"Old: these runs have the numerics {numbers}, and this program has {here}. "
            text *= numbers != now or "," in numbers
        if not commits:
            return text
        text += "; ".join(filter(None, [f"Trained by {commits}", isas, processors, days]))
        text += f"; numerics {numbers}" * bool(numbers)
        spent = {id: r.get("seconds", 0) * r.get("threads", 1) for id, r in self.results.items()}
        text += f". Training took {sum(spent.values()) / 3600:.1f} hours of clock time, summed over threads."
        if missing := self.about.get("missing"):
            of_task = pd.Series(spent)[lambda x: x > 0].groupby(self.asked["task"]).median()
            priced = [of_task[task] for task in missing if task in of_task]
            of_missing = f" {len(priced)} of the {len(missing)} trials that are missing take about "
            text += f"{of_missing}{sum(priced) / 3600:.1f} more, by the median of their tasks." * bool(priced)
        return text

    @functools.cached_property
    def tested(self):
        """For sources with models: a row for each test at each length, on each set of texts or task, by seed."""
        frames = [
            pd.DataFrame(columns).rename(columns={"task": "set"}).assign(id=id, file=file)
            for id, file, columns in self.tables
        ]
        if not frames:
            return pd.DataFrame()
        all = pd.concat(frames).join(self.asked[["model", "seed"]], on="id", how="inner").drop(columns="id")
        index = ["model", "file", "length", "set", "seed"]
        return all.astype({"length": int}).set_index(index).astype(float).sort_index()

    def by_length(self, column):
        """For tasks, a column of eval.csv: a row for each finished trial, a column for each length."""
        if column not in self.frames:
            rows = {id: dict(zip(map(int, all["length"]), map(float, all[column]))) for id, _, all in self.tables}
            self.frames[column] = pd.DataFrame.from_dict(rows, orient="index", dtype=float).sort_index(axis=1)
        return self.frames[column]

    def records(self, model, file):
        """The measurements of a model (lab/papers/measured.h), in the order of seeds."""
        seeds = self.asked.loc[self.asked["model"] == model, "seed"].sort_values()
        return {seed: self.kept[id][file] for id, seed in seeds.items() if file in self.kept.get(id, {})}

    def by_seed(self, model, file, length, set, column="accuracy"):
        """A number of a test, by seed."""
        key = (model, file, length, set)
        return self.tested.loc[key, column].dropna() if key in self.tested.index else pd.Series(dtype=float)

#!/usr/bin/env python3
"""The sentences of README.md and docs/results.md that say measured figures, each with the figures as they follow from
results/*/ and bench/results/. Fails, naming the sentence, where a page says another one, and where a page of results is
of other numerics than experiment/numerics.def and does not begin with "Old". Standard library only.
"""

import csv
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def table(path, **wanted):
    """The rows of a table that have these cells."""
    rows = csv.DictReader((HERE / path).open())
    return [r for r in rows if all(r[name] == value for name, value in wanted.items())]


def mean(rows, column):
    values = [float(r[column]) for r in rows if r[column]]
    return sum(values) / len(values)


def points(x):
    return f"{100 * x:.1f}"


def whole(x):
    return f"{100 * x:.0f}"


def one(path, column, **wanted):
    (row,) = table(path, **wanted)
    return float(row[column])


def speed():
    rows = json.loads((ROOT / "bench/results/train.json").read_text())
    ratios = [r["ratio"] for r in rows["results"]]
    yield "README.md", (
        f"a training step is {min(ratios):.1f} to {max(ratios):.1f} times as fast as that of the fastest of PyTorch, "
        f"compiled PyTorch and JAX on the same cores of an {rows['cpu']}"
    )


def every_scheme():
    trials = table("every-scheme/trials.csv")
    encodings = {r["encoding"] for r in trials}
    ranked = table("every-scheme/ranking.csv", task="mean")
    of = {r["encoding"]: r for r in ranked}
    best = of["geometric"]
    yield "docs/results.md", (
        f"{len(encodings)} encodings were trained on Even Pairs, Reverse String and Missing Duplicate to length 20"
    )
    yield "docs/results.md", (
        f"Where attention sees both sides, {len(ranked)} are ranked: geometric attention has "
        f"{points(float(best['mean']))} % ({points(float(best['interval_low']))} to "
        f"{points(float(best['interval_high']))}), forgetting gates {points(float(of['forgetting']['mean']))}, DAPE "
        f"{points(float(of['dape']['mean']))} and hard ALiBi {points(float(of['hard_alibi']['mean']))}, where no "
        f"positions have {points(float(of['none']['mean']))}."
    )


def alignment():
    gains = [
        one("chi2023-tiny/table4.csv", "value", task="line", mode="maximum probability", length=n)
        - one("chi2023-tiny/table4.csv", "value", task="line", mode="original", length=n)
        for n in ("512", "1024", "2048", "4096")
    ]
    yield "docs/results.md", (
        f"`topic` is then right at all lengths, with maximum probability `line` gains {points(min(gains))} to "
        f"{points(max(gains))} points at each of them"
    )


def loss(positions, what):
    return whole(mean(table("cross-tiny/cross.csv", positions=positions, what=f"loss: {what}"), "value"))


def cross():
    yield "docs/results.md", (
        f"With plain positions the new positions alone cost {loss('sequential', 'positions')} of them, keys that say "
        f"nothing {loss('sequential', 'number of keys')}, and attention as flat as at length 100 costs "
        f"{loss('sequential', 'dispersion')}. With randomized positions narrower gaps cost "
        f"{loss('randomized', 'gaps')}, the keys {loss('randomized', 'number of keys')} and the flatness "
        f"{loss('randomized', 'dispersion')}, while the longer strings themselves cost "
        f"{loss('randomized', 'the length itself')}"
    )


def rerope():
    def accuracy(method, length, kind):
        return one("su2023-tiny/lengths.csv", "accuracy", method=method, length=length, set=kind)

    def plain(method, length):
        return whole(one("su2023-tiny/main.csv", "accuracy", method=method, length=length, set="plain"))

    yield "docs/results.md", (
        f"RoPE falls from {points(accuracy('Baseline', '64', 'repeated'))} to "
        f"{points(accuracy('Baseline', '512', 'repeated'))} % on repeated texts and from "
        f"{points(accuracy('Baseline', '64', 'plain'))} to {points(accuracy('Baseline', '512', 'plain'))} % on others."
    )
    yield "README.md", (
        f"ReRoPE goes from {plain('ReRoPE-w32', '64')} to {plain('ReRoPE-w32', '512')} % of next tokens right, where "
        f"RoPE falls to {plain('Baseline', '512')}."
    )


def gaps():
    """Of length 20 with the gaps of length 80, where the answer in words counts a setting (first.md)."""
    left_out = {("missing_duplicate_string", "sincos"), ("missing_duplicate_string", "rope")}
    rows = [r for r in table("gap_shift-tiny/first.csv", length="20") if (r["task"], r["encoding"]) not in left_out]
    extreme = ("bucket_sort", "sincos")
    others = [r for r in rows if (r["task"], r["encoding"]) != extreme]

    def loss_of(some, change):
        return whole(mean([r for r in some if r["change"] == change], "loss"))

    settings = sum(r["change"] == "gap" for r in rows)
    (most,) = (r for r in rows if (r["task"], r["encoding"]) == extreme and r["change"] == "gap")
    yield "docs/results.md", (
        f"loses {loss_of(rows, 'gap')} points on average when strings of length 20 get the gaps of length 80, at the "
        f"trained length. One of {settings} settings makes most of that: sin/cos on Bucket Sort, with "
        f"{whole(float(most['loss']))}. Without it the gap costs {loss_of(others, 'gap')} points and the length alone "
        f"{loss_of(others, 'length')}"
    )


def arithmetic():
    def at(task, length):
        rows = table("ruoss2023-example/fig4.csv", task=task, length=length)
        values = [float(r["accuracy"]) for r in rows]
        return f"{whole(min(values))} to {whole(max(values))} %"

    yield "docs/results.md", (
        f"On the two arithmetic tasks accuracy falls within the trained lengths: at length 9 the four models have "
        f"{at('modular_arithmetic', '9')}, with brackets {at('modular_arithmetic_brackets', '9')}, and from 30 on they "
        "are near their baselines."
    )


def table1():
    trials = table("table1-tiny/trials.csv")
    done = [r for r in trials if r["state"] == "done"]
    tasks = {r["task"] for r in done}
    hours = sum(float(r["seconds"]) for r in done) / 3600
    yield "README.md", (
        f"All {len(tasks)} tasks, with {len(done)} of {len(trials)} trials so far, are in "
        "[results/table1-tiny](results/table1-tiny/README.md)"
    )
    yield "docs/results.md", (
        f"{len(done)} of {len(trials)} trials are done, of {len(tasks)} tasks, in {hours:.1f} hours of clock time"
    )


def old_pages():
    """Pages that are of other numerics than the committed ones, or of none, and do not say so at their head."""
    numbers = re.findall(r'"([0-9a-f]{8})"', (ROOT / "experiment/numerics.def").read_text())
    for page in sorted(HERE.glob("*/README.md")):
        trials = page.parent / "trials.csv"
        rows = [r for r in csv.DictReader(trials.open()) if r["state"] == "done"] if trials.exists() else []
        present = {r.get("numerics") for r in rows}
        new = len(present) == 1 and present <= set(numbers)
        head = page.read_text().split("\n\n")[1]
        if new == ("Old: " in head):
            yield page.relative_to(ROOT), "is of the committed numerics" if new else "is not of the committed numerics"


def main():
    wrong = 0
    for page, why in old_pages():
        print(f"{page} {why}, and its head says otherwise", file=sys.stderr)
        wrong += 1
    texts = {}
    for part in (speed, every_scheme, alignment, cross, rerope, gaps, arithmetic, table1):
        for page, sentence in part():
            texts.setdefault(page, " ".join((ROOT / page).read_text().split()))
            if sentence not in texts[page]:
                print(f"{page} does not say what the data says: {sentence}", file=sys.stderr)
                wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

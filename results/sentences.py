#!/usr/bin/env python3
"""The sentences of README.md and docs/results.md that say measured figures, each with the figures as they follow from
results/*/ and bench/results/. Fails, naming the sentence, where a page says another one, and where a page of results is
of other numerics than experiment/numerics.def and does not begin with "Old", or a picture shows other numbers. Standard
library only.
"""

import csv
import html
import json
import pathlib
import re
import sys

import pictures

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


def range_of(values):
    return f"{whole(min(values))} to {whole(max(values))} %"


def randomized():
    found = [r for r in table("table1-tiny/table1.csv", task="bucket_sort") if r["encoding"] != "none"]
    plain, random = ([float(r["mean"]) for r in found if r["positions"] == p] for p in ("sequential", "randomized"))
    yield "docs/results.md", (
        f"On Bucket Sort five encodings are right in {range_of(plain)} of the symbols of unseen lengths with counted "
        f"positions, and in {range_of(random)} with randomized ones. The majority gives "
        f"{whole(float(found[0]['majority']))} %, so the learned table, the lowest, is hardly better than that."
    )
    met = one("ruoss2023-tiny/coverage.csv", "seen", encoding="rope", positions="sequential", length="75")
    yield "docs/results.md", (
        f"Trained to 20 symbols with counted positions, a model has met {whole(met)} % of the distances that occur in "
        "a string of 75. With randomized positions it has met all of them."
    )
    (said,) = re.findall(r"Where the paper .*", (HERE / "table1-tiny/table1.md").read_text())
    yield "docs/results.md", said.replace("Where", "Three seeds, 15 tasks. Where", 1)


def in_order():
    def of(task, order):
        return points(one("ruoss2023-tiny/table3.csv", "mean", task=task, order=order))

    yield "docs/results.md", (
        f"On Bucket Sort shuffling the same positions takes sin/cos from {of('bucket_sort', 'sorted')} to "
        f"{of('bucket_sort', 'unsorted')} %, on Even Pairs from {of('even_pairs', 'sorted')} to "
        f"{of('even_pairs', 'unsorted')}, and on Reverse String from {of('reverse_string', 'sorted')} to "
        f"{of('reverse_string', 'unsorted')}: what a model without positions reaches."
    )
    (said,) = re.findall(r"Where the paper .*", (HERE / "ruoss2023-tiny/table3.md").read_text())
    yield "docs/results.md", said


def in_domain():
    def at_trained(positions):
        rows = table("ruoss2023-tiny/fig4.csv", task="reverse_string", encoding="rope", positions=positions)
        return points(mean([r for r in rows if int(r["length"]) <= 20], "accuracy"))

    yield "docs/results-limits.md", (
        f"on Reverse String RoPE has {at_trained('sequential')} % at lengths 1 to 20 with counted positions and "
        f"{at_trained('randomized')} with randomized ones"
    )


def every_scheme():
    trials = table("every-scheme/trials.csv")
    encodings = {r["encoding"] for r in trials}
    ranked = table("every-scheme/ranking.csv", task="mean")
    of = {r["encoding"]: float(r["mean"]) for r in ranked}
    reverse = max(float(r["mean"]) for r in table("every-scheme/ranking.csv", task="reverse_string"))
    yield "docs/results.md", (
        f"{len(encodings)} encodings were trained to length 20 and tested to 100. Where attention sees both sides, "
        f"{len(ranked)} are ranked: geometric attention has {points(of['geometric'])} %, forgetting gates "
        f"{points(of['forgetting'])}, DAPE {points(of['dape'])} and hard ALiBi {points(of['hard_alibi'])}, where no "
        f"positions have {points(of['none'])} and RoPE {points(of['rope'])}; on Reverse String the best has "
        f"{points(reverse)}."
    )
    causal = {r["encoding"]: float(r["mean"]) for r in table("every-scheme/causal.csv", task="mean")}
    first, second, third = sorted(causal, key=causal.get, reverse=True)[:3]
    names = {"path": "PaTH", "stick_breaking": "stick-breaking", "alibi": "ALiBi"}
    yield "docs/results.md", (
        f"With a causal mask {names[first]} has {points(causal[first])} %, {names[second]} "
        f"{points(causal[second])} and {names[third]} {points(causal[third])}, no positions "
        f"{points(causal['none'])} and RoPE {points(causal['rope'])}."
    )


def alignment():
    def right(task, mode, length="4096"):
        return one("chi2023-tiny/table4.csv", "value", task=task, mode=mode, length=length)

    def all_tasks(mode):
        return sum(right(task, mode) for task in ("topic", "line", "passkey")) / 3

    gains = [
        right("line", "maximum probability", n) - right("line", "original", n) for n in ("512", "1024", "2048", "4096")
    ]
    yield "docs/results.md", (
        f"At 4096 symbols {points(all_tasks('original'))} % of the answers are right as trained, and "
        f"{points(all_tasks('maximum probability'))} % at temperatures that bring the largest attention weights back "
        f"to those of short contexts. `topic` is then right at all lengths, and `line` gains {points(min(gains))} to "
        f"{points(max(gains))} points at each of them."
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
    policies = ["log n, trained", "log rule", "maximum probability", "entropy", "SSMax, trained",
                "scale-invariant, trained"]  # fmt: skip

    def adds(positions, policy):
        with_it, without = (
            mean(table("cross-tiny/cross.csv", positions=positions, what=w), "value") for w in (policy, "none")
        )
        return with_it - without

    best = max(adds("randomized", p) for p in policies)
    yield "docs/results.md", (
        "Six encodings with plain and with randomized positions were crossed with six temperatures on four tasks, "
        "trained to length 20 and tested to 100. With randomized positions none is worth more than "
        f"{points(best)} points in the mean; alignment costs {points(-adds('randomized', 'maximum probability'))} "
        f"(maximum probability) and {points(-adds('randomized', 'entropy'))} (entropy). With plain positions "
        f"scale-invariant attention adds {points(adds('sequential', 'scale-invariant, trained'))} points."
    )


def rerope():
    def accuracy(method, length, kind):
        return points(one("su2023-tiny/lengths.csv", "accuracy", method=method, length=length, set=kind))

    def plain(method, length):
        return whole(one("su2023-tiny/main.csv", "accuracy", method=method, length=length, set="plain"))

    yield "docs/results.md", (
        f"From 64 to 512 tokens RoPE falls from {accuracy('Baseline', '64', 'repeated')} to "
        f"{accuracy('Baseline', '512', 'repeated')} % on repeated texts and from {accuracy('Baseline', '64', 'plain')} "
        f"to {accuracy('Baseline', '512', 'plain')} % on others. ReRoPE, the same weights with a window of 32, is at "
        f"{accuracy('ReRoPE-w32', '512', 'repeated')} and {accuracy('ReRoPE-w32', '512', 'plain')} %."
    )
    verdicts = [r["verdict"] for r in table("su2023-tiny/claims.csv")]
    count = verdicts.count
    yield "docs/results.md", (
        f"Three seeds. Of the source's {len(verdicts)} comparisons {count('holds')} hold, {count('does not')} "
        f"do not, and {count('inconclusive')} are inconclusive."
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
        f"{loss_of(others, 'length')}."
    )


def arithmetic():
    def at(task, length):
        rows = table("ruoss2023-example/fig4.csv", task=task, length=length)
        return range_of([float(r["accuracy"]) for r in rows])

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
    seeds = len({r["seed"] for r in done})
    trained = f"{len(done)} of {len(trials)} trials"
    yield "README.md", f"All {len(tasks)} tasks, {trained}, are in [results/table1-tiny](results/table1-tiny/README.md)"
    page = "(../results/table1-tiny/README.md)"
    yield "docs/results.md", f"All tasks are in [a table]{page}, {trained}, {hours:.1f} hours"
    holm = re.search(r"After Holm [^,]*, (\d+) differ", (HERE / "table1-tiny/signs.md").read_text())
    yield "docs/results.md", (
        f"After Holm over all comparisons with {seeds} seeds, {holm[1]} differ from zero as in the paper."
    )


def ten_seeds():
    found = {r["encoding"]: r for r in table("even-pairs-tiny/signs.csv")}

    def of(name, r):
        low, high = (f"{100 * float(r[end]):+.1f}" for end in ("t_low", "t_high"))
        return f"{name} by {100 * float(r['mean']):+.1f} ({low} to {high})"

    first = ", ".join(of(name, found[name]) for name in ("sin/cos", "Relative", "RoPE"))
    yield "docs/results.md", (
        f"With [ten seeds on Even Pairs](../results/even-pairs-tiny/README.md) randomized positions change {first} "
        f"and {of('ALiBi', found['ALiBi'])} points (95 % intervals)."
    )


def ladder():
    """What its page says first, whichever way it came out, and what the registered probabilities add up to."""
    text = (HERE / "ladder/verdict.md").read_text()
    (said,) = re.findall(r"^(?:\d+ of 15 tasks ha|No task has ).*", text, re.MULTILINE)
    (goal,) = re.findall(r"^The goal, .*", text, re.MULTILINE)
    yield "docs/results.md", f"{said} {goal}"
    expected = sum(float(r["above"]) for r in table("ladder/plan.csv"))
    yield "docs/results.md", f"the probabilities of a verdict above add up to {expected:.1f} of 15 tasks"


def old_pictures():
    for picture in (one() for one in pictures.ALL):
        if html.unescape(pictures.description(pictures.FOLDER / f"{picture.name}.svg")) != picture.says:
            yield f"docs/results/{picture.name}.svg"


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
    for picture in old_pictures():
        print(f"{picture} shows other numbers than the tables: results/pictures.py draws it anew", file=sys.stderr)
        wrong += 1
    parts = [speed, randomized, ten_seeds, in_order, every_scheme, alignment, cross, rerope, gaps, arithmetic, table1]
    for part in [*parts, in_domain, ladder]:
        for page, sentence in part():
            texts.setdefault(page, " ".join((ROOT / page).read_text().split()))
            if sentence not in texts[page]:
                print(f"{page} does not say what the data says: {sentence}", file=sys.stderr)
                wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

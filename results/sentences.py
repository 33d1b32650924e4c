#!/usr/bin/env python3
"""Fails, naming the sentence, where README.md, docs/results.md or docs/results-limits.md says another figure than
follows from results/*/ and bench/results/, or a figure that no table is asked for; where a page of results is of other
numerics than experiment/numerics.def and does not begin with "Old"; and where a picture shows other numbers. Standard
library only.
"""

import csv
import html
import json
import re
import statistics
import sys

import findings
import in_short
import limits
import pictures
import readme
from query import HERE, ROOT, done, head, hours, numerics, one, table, whole

FINDINGS, LIMITS = "docs/results.md", "docs/results-limits.md"


def speed():
    """The sentence on speed, from the rows of README.md's table."""
    cpu = json.loads((ROOT / "bench/results/train.json").read_text())["cpu"]
    cpu = re.sub(r"\(R\)| Processor.*", "", cpu)
    shown = list(readme.in_short())
    ratios = [r["ratio"] for *_, rows in shown for r in rows if r["what"] == "train"]
    number = ("no", "one", "two", "three", "four", "five", "six")[len(shown)]
    yield (
        f"on the {number} encodings below, a training step is {min(ratios):.1f} to {max(ratios):.1f} times as fast "
        f"as that of the fastest of PyTorch, compiled PyTorch and JAX on the same two cores of an {cpu}"
    )
    yield f"Milliseconds of a step on two cores of an {cpu}"


def rerope():
    def plain(method, length):
        return whole(one("su2023-tiny/main.csv", "accuracy", method=method, length=length, set="plain"))

    yield (
        f"ReRoPE goes from {plain('ReRoPE-w32', '64')} to {plain('ReRoPE-w32', '512')} % of next tokens right, where "
        f"RoPE falls to {plain('Baseline', '512')}."
    )


def compared():
    trained = done("every-scheme")
    yield f"the {len(trained)} trials of results.md took {hours(trained):.1f} hours, one core each"


def table1():
    trained = done("table1-tiny")
    trials = f"{len(trained)} of {len(table('table1-tiny/trials.csv'))} trials"
    yield f"All {len({r['task'] for r in trained})} tasks, {trials}, are in results/table1-tiny"


def demo():
    """Sentences on docs/demo.csv, which `poslab demo` wrote with docs/demo.svg, and on further trainings."""
    unseen = {}
    for r in csv.DictReader((ROOT / "docs/demo.csv").read_text().splitlines()):
        unseen.setdefault(r["series"], {})[int(r["x"])] = 100 * float(r["y"])
    last = max(unseen["chance"])

    def mean(series):
        return statistics.mean(y for x, y in unseen[series].items() if x > 20)

    plain, randomized = "positions=sequential", "positions=randomized"
    picture = (ROOT / "docs/demo.svg").read_text()
    for series in (plain, randomized):
        if f"{unseen[series][last]:.1f} % at length {last}" not in picture:
            sys.exit("docs/demo.svg and docs/demo.csv are not of one demo")
    yield (
        f"On strings of 21 to {last}, it gets {mean(plain):.0f} % of the symbols right with plain positions, and "
        f"{mean(randomized):.0f} % with randomized ones. Guessing gets {mean('chance'):.0f} %, and naming the most "
        f"frequent symbol of each place {mean('majority'):.0f} %."
    )
    trials = [
        r
        for r in [*done("table1-tiny"), *csv.DictReader((HERE / "demo.csv").read_text().splitlines())]
        if r["task"] == "bucket_sort" and r["encoding"] == "rope"
    ]
    low, high = (
        [100 * float(r["paper_score"]) for r in trials if r["positions"] == name.split("=")[1]]
        for name in (plain, randomized)
    )
    sets, seeds = ({r[name] for r in trials} for name in ("isa", "seed"))
    yield (
        f"In {len(trials)} such trainings, with {len(seeds)} seeds on {len(sets)} instruction sets, it was "
        f"{min(low):.0f} to {max(low):.0f} % and {min(high):.0f} to {max(high):.0f} %."
    )


SENTENCES = {
    "README.md": (demo, speed, rerope, table1),
    "docs/compare.md": (compared,),
    FINDINGS: (in_short.in_short, *findings.ALL),
    LIMITS: limits.ALL,
}

# Figures that are no measurements, on pages that have no other typed ones: how something was trained and tested, what
# it is called, and what a source says.
SETTINGS = (
    r"arXiv \d+\.\d+|\b20\d\d\b|Findings? \d(, \d)*( and \d)?|## \d\.|tables? \d( and \d)?",
    r"seed=\[[\d,]*\]|seeds=2|lr=3e-4|learning rate 1e-3|at 3e-4",
    r"lengths? \d+( to \d+)?|at \d+ to \d+|tested to \d+|trained to 20|20 symbols|a string of 75",
    r"(at )?(128|512|4096) symbols|at (512|4096)|64 tokens|64 texts|a window of 32|n0",
    r"95 %|baseline of 100 %|2 points or more|0, 1, 2|15 tasks|p = 1",
    r"3 layers|width 64|3,000 steps|10,001( steps)?|2 million steps|2,000,000 steps|32 questions|200 questions",
    r"100 points are|100 all right|above 100 % ends|where 100 %|unseen lengths, 21 to 100",
    r"length 10 become|of length 80|best of 30|100 million parameters|these 0\.6",
    r"10-million-parameter|32 times",
)


def flat(text):
    """Without the marks that a reader does not see, on one line: links are their text."""
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).split())


def typed(page, sentences):
    """The figures of a page that are in none of its sentences, tables between marks, commands or settings."""
    text = (ROOT / page).read_text()
    text = re.sub(r"<!-- \w+: .*?<!-- end of \w+ -->", "", text, flags=re.S)
    text = flat(re.sub(r"`[^`\n]*`", "", text))
    for known in sorted(sentences, key=len, reverse=True):
        text = text.replace(flat(re.sub(r"`[^`]*`", "", known)), "...").replace(flat(known), "...")
    text = re.sub(rf"(?<![\d.,+-])({'|'.join(SETTINGS)})(?!\d|\.\d)", "...", text, flags=re.I)
    return [text[max(0, m.start() - 30) : m.end() + 20] for m in re.finditer(r"(?<![\w-])[-+]?\d[\d.,]*", text)]


def old_pictures():
    for picture in (make() for make in pictures.ALL):
        if html.unescape(pictures.description(pictures.FOLDER / f"{picture.name}.svg")) != picture.says:
            yield f"docs/results/{picture.name}.svg"


def old_pages():
    """Pages that are of other numerics than the committed ones, or of none, and do not say so at their head."""
    numbers = re.findall(r'"([0-9a-f]{8})"', (ROOT / "experiment/numerics.def").read_text())
    for page in sorted(HERE.glob("*/README.md")):
        present = numerics(page.parent.name)
        new = len(present) == 1 and present <= set(numbers)
        if new == ("Old: " in head(page.parent.name)):
            yield page.relative_to(ROOT), "is of the committed numerics" if new else "is not of the committed numerics"


def main():
    wrong = 0
    for page, why in old_pages():
        print(f"{page} {why}, and its head says otherwise", file=sys.stderr)
        wrong += 1
    for picture in old_pictures():
        print(f"{picture} shows other numbers than the tables: results/pictures.py draws it anew", file=sys.stderr)
        wrong += 1
    for page, parts in SENTENCES.items():
        text = flat((ROOT / page).read_text())
        sentences = [sentence for part in parts for sentence in part()]
        for sentence in sentences:
            if flat(sentence) not in text:
                print(f"{page} does not say what the data says: {sentence}", file=sys.stderr)
                wrong += 1
        for figure in typed(page, sentences) if page in (FINDINGS, LIMITS) else []:
            print(f"{page} has a figure that results/*.py do not ask the data for: {figure}", file=sys.stderr)
            wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

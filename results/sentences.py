#!/usr/bin/env python3
"""Checks figures, and prints each fault: sentences of README.md that do not follow from results/*/ and bench/results/;
figures typed into the templates of docs/results.md and docs/results-limits.md; pages of results that do not begin with
"Old", although experiment/numerics.def lacks their numerics; and pictures with other numbers than the tables. Standard
library only.
"""

import json
import re
import sys

import pictures
import readme
import speed
from query import HERE, ROOT, by, done, folders, mean, one, page, table, whole


def demo():
    """README.md's sentences on docs/demo.csv, which `poslab demo` wrote, and on further runs."""
    lines = by("series", table("../docs/demo.csv"))
    last, plain, randomized = lines["chance"][-1]["x"], "positions=sequential", "positions=randomized"
    means = {name: f"{100 * mean(r['y'] for r in line if r['x'] > 20):.0f} %" for name, line in lines.items()}
    yield (
        f"On strings of 21 to {last}, it gets {means[plain]} of the symbols right with plain positions, and "
        f"{means[randomized]} with randomized ones. Guessing gets {means['chance']}, and always naming the most "
        f"frequent symbol of each place gets {means['majority']}."
    )
    trials = done("table1-tiny", task="bucket_sort", encoding="rope") + table("demo.csv")
    low, high = ([100 * r["paper_score"] for r in trials if name.endswith(r["positions"])]
                 for name in (plain, randomized))  # fmt: skip
    sets, seeds = ({r[name] for r in trials} for name in ("isa", "seed"))
    yield (
        f"In {len(trials)} such runs, with {len(seeds)} seeds on {len(sets)} instruction sets, plain positions "
        f"scored {min(low):.0f} to {max(low):.0f} %, and randomized ones {min(high):.0f} to {max(high):.0f} %."
    )


def speeds():
    """Sentences from the rows of README.md's table."""
    cpu = json.loads((ROOT / "bench/results/train.json").read_text())["cpu"]
    cpu = cpu.replace("(R)", "").split(" Processor")[0]
    shown = list(speed.in_short())
    ratios = [r["ratio"] for *_, rows in shown for r in rows if r["what"] == "train"]
    yield (
        f"on the {('no', 'one', 'two', 'three', 'four', 'five', 'six')[len(shown)]} encodings below, a training step "
        f"is {min(ratios):.1f} to {max(ratios):.1f} times as fast as in the fastest of PyTorch, compiled PyTorch "
        f"and JAX on the same two cores of an {cpu}"
    )
    yield f"Milliseconds per step on two cores of an {cpu}"


def results():
    first, last, rope = (
        whole(one("su2023-tiny/main.csv", "accuracy", method=method, length=length, set="plain"))
        for method, length in (("ReRoPE-w32", 64), ("ReRoPE-w32", 512), ("Baseline", 512))
    )
    yield f"ReRoPE's accuracy on the next token rises from {first} to {last} %, while RoPE's falls to {rope} %."
    of, tasks = page("table1-tiny"), {r["task"] for r in done("table1-tiny")}
    yield f"All {len(tasks)} tasks, {of['done']} of {of['planned']} trials, are in results/table1-tiny"


SENTENCES = {"README.md": (demo, speeds, results)}

# Only these figures may be typed on the pages, because they are not measurements: settings of runs and tests,
# names, and quotations of sources.
SETTINGS = (
    r"arXiv \d+\.\d+|\b20\d\d\b|Findings? \d(, \d)*( and \d)?|## \d\.|tables? \d( and \d)?",
    r"seed=\[[\d,]*\]|seeds=2|lr=3e-4|learning rate 1e-3|at 3e-4",
    r"lengths? \d+( to \d+)?|at \d+ to \d+|tested to \d+|trained to 20|20 symbols|a string of 75",
    r"(at )?(128|512|4096) symbols|at (512|4096)|64 tokens|64 texts|a window of 32|n0",
    r"95 %|baseline of 100 %|2 points or more|0, 1, 2|15 tasks|p = 1",
    r"3 layers|width 64|3,000 steps|10,001( steps)?|2 million steps|2,000,000 steps|32 questions|200 questions",
    r"100 points are|100 all right|above 100 % ends|between 100 %|unseen lengths, 21 to 100",
    r"length 10 become|of length 80|best of 30|100 million parameters|these 0\.6",
    r"10-million-parameter|32 times|8 times and at 32|64 to 512 tokens|one of 512|those for 512",
    r"less than 90 %|from 30 on|0\.5 % of its steps",
)


def flat(text):
    """The text on one line without invisible marks: links are replaced by their text."""
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).split())


def typed(text):
    """The figures of a template outside of {{...}}, commands and settings."""
    text = flat(re.sub(r"\{\{.*?\}\}|`[^`\n]*`", "...", text, flags=re.S))
    text = re.sub(rf"(?<![\d.,+-])({'|'.join(SETTINGS)})(?!\d|\.\d)", "...", text, flags=re.I)
    return [text[max(0, m.start() - 30) : m.end() + 20] for m in re.finditer(r"(?<![\w-])[-+]?\d[\d.,]*", text)]


def faults():
    numbers = re.findall(r'"([0-9a-f]{8})"', (ROOT / "experiment/numerics.def").read_text())
    for folder in folders():
        of = page(folder)
        new = len(of["numerics"]) == 1 and of["numerics"][0] in numbers
        if new == ("Old: " in of["summary"]) or of["summary"] not in (HERE / folder / "README.md").read_text():
            is_new = "is of the committed numerics" if new else "is not of the committed numerics"
            yield f"results/{folder}/README.md {is_new}, but its summary says otherwise"
    for picture in (make() for make in pictures.ALL):
        if pictures.description(picture.name) != picture.says:
            path = f"docs/results/{picture.name}.svg"
            yield f"{path} shows other numbers than the tables: results/pictures.py draws it again"
    for path, parts in SENTENCES.items():
        text = flat((ROOT / path).read_text())
        for sentence in (sentence for part in parts for sentence in part()):
            if flat(sentence) not in text:
                yield f"{path} does not say what the data says: {sentence}"
    for path in readme.TEMPLATES:
        for figure in typed((ROOT / f"{path}.in").read_text()):
            yield f"{path}.in has a figure that it does not ask the data for: {figure}"


if __name__ == "__main__":
    wrong = list(faults())
    print(*wrong, sep="\n", file=sys.stderr, end="\n" * bool(wrong))
    sys.exit(bool(wrong))

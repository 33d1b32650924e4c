"""A page of the site: all schemes, samplers and temperature policies as the program explains them, the cost of each
scheme (bench/results/schemes.csv), and what it is tested against, as the golden files say."""

import csv
import functools
import os
import re
import subprocess
import sys

import tree

PROGRAM = tree.ROOT / "build/release/poslab"
COSTS = "bench/results/schemes.csv"
INTRODUCTION = r"""# All schemes, samplers and temperature policies

This page says of each scheme what it does, by which formula, what it reads of the positions, and what it was tested
against. It is what the program itself says: `poslab explain encoding NAME` prints more, with a small matrix, and
`poslab show NAME` draws it ([Pictures](pictures.md)). How encodings are spelled and combined is in
[encodings.md](encodings.md), and where a paper and its code differ in [differences.md](differences.md).

Notation: i is the slot of a query and j that of a key, p_i the position of slot i, D the width of a head, H the number
of heads, C the width of the model. f_m = base^(-2m/D) is the frequency of pair m of the channels. The number in
parentheses after an option is its default.

- **The picture** has a row for each query and a column for each key, of 16 slots, in the first head, before training.
  `bias` is what is added to the logit of a pair, or, of rotations and embeddings, how alike two positions look;
  `relative` is the distance that the scheme makes of a pair. One colour everywhere means that it tells no positions, or
  none before it is trained. The text of the image is the command that draws it.
- **Doors.** Where positions enter: 1 at the embedding, 2 as rotated queries and keys, 3 as a term of the logits, 4 as
  weights of its own ([more](design.md#concepts)).
- **Learns.** Parameters of a model of 5 layers, width 64, 8 heads and 2048 positions.
- **Reads.** What the scheme reads of the positions: a position for each token, distances of positions, one offset for
  each distance of slots (the same for all pairs so far apart), the order of slots alone, or nothing. Samplers make a
  difference to the first three. A few options need a causal mask though the scheme does not; the program then says so.
- **Cost.** Of a training step of that model, at batch 128 with 20 input symbols and 20 output slots and with the
  scheme's defaults, beside the same step without positions (with a causal mask, both, where the scheme needs one): its
  processor time, the floating-point operations of its products, and the bytes that its kernels read and write, each
  array once. What is added to the embedding costs 73.7 kFLOP, because without it the first layer projects each symbol
  once and not each token. `./dev bench schemes` measures it.
- **Accuracy.** On strings longer than those trained on, of [every scheme beside the
  others](../results/every-scheme/README.md), a model of three layers. A window of 0.5L is 10 symbols
  there; `length`, where it is the trained one, was 40.
- **Independent models.** How many [golden files](../tests/reference/README.md) hold the scheme, in a whole transformer
  and with all gradients, against a model that was written from the formula with NumPy or PyTorch.
- **Published code.** Which implementations of others gave the same numbers
  ([how](../tests/published/README.md)). Where none is named, there was none to run.

`poslab check NAME` says how well a scheme passes the laws that every scheme is held to.

"""


def printed(*words, **environment):
    """The output of the program, run at the top of the tree."""
    return subprocess.run([PROGRAM, *words], cwd=tree.ROOT, check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **environment}).stdout


def names(kind):
    return re.findall("^[a-z0-9_]+", printed("list", kind), re.M)


def option(name, takes, help):
    takes = re.sub(r"^ *\S+ ", "", re.sub(" +", " ", takes).removesuffix(" "))
    takes = re.sub(r"^(on \| off|[-0-9.e]+ \.\. [^(]*) \(", "(", takes)     # a switch's or number's default
    return f"`{name}` {'' if takes.startswith('(') else '= '}{takes}: {help}"


@functools.cache
def fields(kind, name):
    """What `explain` prints, lines by their keys: summary, formula, doors, mask, option, ..."""
    head, rest = printed("explain", kind, name).split("\n\n", 1)
    found, key = {"summary": [head.replace("\n", " ").split(": ", 1)[1]]}, ""
    prose, _, options = rest.partition("\noptions, with")
    for line in prose.splitlines():
        if m := re.match(r"(formula|doors|reads|mask|learns|source|file) +(?<=^.{10})(?! )", line):   # no prose
            key = m[1]
        elif not line.startswith(" " * 10):
            key = ""
        if key:
            found.setdefault(key, []).append(line[10:])
    found["option"] = []
    for first, *more in (part.splitlines() for part in re.split(r"\n  (?! )", options)[1:]):
        takes = re.match(r".*\S  +", first)
        at = takes.end() if takes else 0
        texts = [line.removeprefix("  ") for line in more]
        found["option"].append(option(first.split()[0], " ".join([first[:at], *(line[:at] for line in texts)]),
                                      " ".join([first[at:], *(line[at:] for line in texts if line[at:])])))
    return found


def fold(text, width):
    """In lines of at most so many bytes."""
    lines = [""]
    for word in re.findall(r"\S* ?", text):
        if len((lines[-1] + word).encode()) > width:
            lines.append("")
        lines[-1] += word
    return [line.rstrip(" ") for line in lines]


def item(text):
    return "\n  ".join(fold(f"- {text}", 118)) + "\n"


@functools.cache
def golden(folder):
    """[(scheme, source)] of the golden files of a folder of tests/data."""
    texts = [path.read_text() for path in sorted((tree.ROOT / "tests/data" / folder).glob("*.json"))]
    return [(m[1], (re.findall(r'^"source": "(.*)",', text, re.M) or [""])[0]) for text in texts
            if (m := re.search(r'^"encoding": "([^":*|]*)[":*|]', text, re.M))]


# How `show` draws a scheme: with options that matter within 16 slots, in the view that says most.
DRAWN = {"rerope": ":window=5 --view relative", "self_extend": ":window=4,group=3 --view relative",
         "window": ":window=5 --view relative", "lambda": ":window=5,sinks=2 --view relative",
         "sinks": ":window=5,sinks=2 --view relative", "dual_chunk": ":chunk=6,window=3 --view relative",
         "hfwa": ":window=5", "hfwa2": ":window=5", "rnope": ":window=5", "hard_alibi": " --head 3",
         "entmax": ":base=alibi"}


def drawn(name):
    causal = " --causal" if fields("encoding", name)["mask"][0].startswith("causal only") else ""
    return f"{name}{DRAWN.get(name, '')} --length 16{causal}"


def draw(folder):
    """The data of a picture of each scheme, FOLDER/NAME.json."""
    for name in names("encodings"):                # POSLAB_ISA: the same bits on all machines
        printed("show", *drawn(name).split(), "-o", folder / f"{name}.json", POSLAB_ISA="baseline")


@functools.cache
def rows(path):
    lines = [line for line in (tree.ROOT / path).read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def many(n):
    size = abs(n)
    return f"{n:+.0f} " if size < 1e3 else f"{n / 1e3:+.1f} k" if size < 1e6 else f"{n / 1e6:+.1f} M"


def cost(name):
    for row in rows(COSTS):
        if row["scheme"] == name:
            ms, none, flops, bytes_ = (float(row[word]) for word in ("ms", "none_ms", "flops", "bytes"))
            return (f"a training step takes {ms / none:.2f} times that without positions ({ms:.1f} and {none:.1f} ms); "
                    f"a token adds {many(flops)}FLOP and {many(bytes_)}B")
    sys.exit(f"{COSTS} has no {name}; run ./dev bench schemes")


def accuracies(name):
    """Of results/every-scheme, where it has them: "even_pairs 58.1, bucket_sort 37.1 (3 seeds)"."""
    for file in "ranking", "causal":
        # rerope:window=10 is rerope at its default, a share of the trained length
        there = [row for row in rows(f"results/every-scheme/{file}.csv")
                 if row["encoding"].split(":")[0] == name and row["task"] != "mean" and row["mean"]]
        text, last = "", ""
        for row in there:
            seeds = f"{row['seeds']} seed{'s' * (row['seeds'] != '1')}"
            text += f" ({last})" if last and last != seeds else ""
            text += f"{', ' if text else ''}{row['task']} {100 * float(row['mean']):.1f}"
            last = seeds
        if there:
            mask = " with a causal mask" if there[-1]["causal"] == "on" else ""
            return item(f"Accuracy in %{mask}, lengths 21 to 100: {text} ({last}).")
    return ""


def entry(name):
    about = fields("encoding", name)
    said = {key: " ".join(lines) for key, lines in about.items()}
    mask = re.sub("^causal or none", "with a causal mask or without", said["mask"]).replace(" only", " mask only", 1)
    code = f"python/poslab/formulas/{name}.py"
    formula = "\n".join(f"    {line}" for line in fold(said["formula"], 112))
    published = "; ".join(sorted({source for scheme, source in golden("published") if scheme == name}))
    return (f"\n### {name}\n\n{said['summary'][0].upper()}{said['summary'][1:]}.\n\n{formula}\n\n"
            f"![poslab show {drawn(name)}](schemes/{name}.svg)\n\n" + "".join(item(each) for each in about["option"]) +
            item(f"Doors: {said['doors'].split(';')[0]}. Reads {said['reads']}. Works "
                 f"{re.sub('^causal', 'with a causal', mask)}.") +
            item(f"Learns {said['learns']}.") + item(f"Cost: {cost(name)}.") +
            item(f"Source: {said['source']}. File: [`{said['file']}`](../{said['file']}).") + accuracies(name) +
            item(f"Independent models: {sum(scheme == name for scheme, _ in golden('reference'))}." +
                 (f" Published code: {published}." if published else "")) +
            f"\n<details><summary>The formula as NumPy: poslab.formulas.{name}</summary>\n\n```python\n"
            f"{(tree.ROOT / code).read_text()}```\n\n[`{code}`](../{code})\n\n</details>\n")


def table(kind):
    out = "\n| name | what it does | options | source |\n|---|---|---|---|\n"
    for name in names(f"{kind}s"):
        about = {key: [line.replace("|", "\\|") for line in lines] for key, lines in fields(kind, name).items()}
        formula = "".join(f"<br>{' '.join(lines)}" for lines in [about.get("formula", [])] if lines)
        out += (f"| `{name}` | {' '.join(about['summary'])}{formula} | {'<br>'.join(about['option'])} | "
                f"{' '.join(about['source'])} |\n")
    return out


def groups():
    """[(title, schemes)] of encodings/all.cpp: a comment, and the declarations of its schemes."""
    found = []
    for line in (tree.ROOT / "encodings/all.cpp").read_text().split("\nstd::vector")[0].splitlines()[1:]:
        if line.startswith("// "):
            found.append((line[3].upper() + line[4:], []))
        elif found:
            found[-1][1].extend(re.findall(r"(\w+)\(\)", line))
    return found


def page():
    out = INTRODUCTION
    for title, schemes in groups():
        out += "\n  ".join(fold(f"- **{title}**:" + "".join(f" [{name}](#{name})" for name in schemes), 116)) + "\n"
    out += "- [**Samplers**](#samplers), [**temperature policies**](#temperature-policies)\n"
    out += f"\nTimes of steps: {', '.join(re.findall('^# (.*)', (tree.ROOT / COSTS).read_text(), re.M))}.\n"
    for title, schemes in groups():
        out += f"\n## {title}\n" + "".join(map(entry, schemes))
    return out + "\n## Samplers\n" + table("sampler") + "\n## Temperature policies\n" + table("temperature")

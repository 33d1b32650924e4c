#!/usr/bin/env python3
"""Writes the tables of docs/results-tables.md, results-limits.md, speed.md, gpu.md, gpu-measured.md, torch.md,
web.md, trust.md and README.md, from what measured runs left: results/*/ and bench/results/.

Prints them; with --write puts them between the marks of those pages, with --check fails where others stand there.
Standard library only.
"""

import csv
import json
import re
import statistics
import sys

import gpu
import lists
from matmul import matmul_lines
from query import ROOT
from rounded import bf16_lines, cell, ladder_lines

PEERS = {"torch": "PyTorch", "torch compiled": "compiled", "jax": "JAX"}


def share(r):
    return f"{100 * r['share_of_ceiling']:.0f} %" if r["share_of_ceiling"] else "-"


def speed_table(rows):
    """Of the peers that were measured; one that could not run a row has failed there. Where poslab without positions
    took its turns too, how many times as long a scheme takes."""
    peers = [name for name in PEERS if any(name in r["sides"] for r in rows)]
    measured = [name for name in ("torch", "jax") if name in peers]
    beside_none = any("none_ms" in r for r in rows)
    head = ["encoding", "positions", "threads", "poslab, ms", *(["times none"] if beside_none else [])]
    head += [*(PEERS[name] for name in peers), "ratio to the fastest", "share of ceiling"]
    head += [f"peak MB: {', '.join(['poslab', *(PEERS[name] for name in measured)])}"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for r in rows:
        ms = r["sides"]["poslab"]["median_ms"]
        memory = ", ".join(
            f"{r['sides'][name]['peak_mb']:.0f}" if name in r["sides"] else "-" for name in ("poslab", *measured)
        )
        cells = [r["encoding"], r["positions"], str(r["threads"]), f"{ms:.1f}"]
        cells += [f"{ms / r['none_ms']:.2f}" if "none_ms" in r else ""] if beside_none else []
        cells += [*(cell(r, name) for name in peers), f"**{r['ratio']:.2f}**", share(r), memory]
        lines.append(f"| {' | '.join(cells)} |")
    return lines + [""]


def example_lines(rows):
    lines = []
    for r in rows:
        minutes = ", ".join(f"{name} {side['example_seconds'] / 60:.1f}" for name, side in r["sides"].items())
        lines += [
            f"Minutes for the 10,001 steps of the example preset on Even Pairs ({r['encoding']}, {r['positions']}, "
            f"{r['threads']} threads, nothing compiled): {minutes}.",
            f"This is computed from the mean of {len(r['sides']['poslab']['ms'])} steps taken in turns.",
            "",
        ]
    return lines


def generate_lines(rows):
    """Tokens a second, from the same checkpoint."""
    names = {"poslab": "poslab", "transformers": "transformers", "transformers static": "with a static cache, compiled"}
    names["jax"] = "JAX"
    names = {name: title for name, title in names.items() if any(name in r["sides"] for r in rows)}
    read, written = rows[0]["size"].split("+")
    lines = [
        f"Tokens a second that a random LLaMA of 6 layers of width 256 writes, in float32: the {written} most probable",
        f"ones after {read}. All sides read the same checkpoint, and wrote the same tokens.",
        "",
        f"| threads | {' | '.join(names.values())} | ratio to the fastest |",
        "|---" * (2 + len(names)) + "|",
    ]
    for r in rows:
        rate = {name: f"{1e3 * int(written) / side['median_ms']:.0f}" for name, side in r["sides"].items()}
        lines.append(
            f"| {r['threads']} | {' | '.join(rate.get(name, 'failed') for name in names)} | **{r['ratio']:.2f}** |"
        )
    return lines + [""]


def scaling_lines(runs):
    """poslab alone: one step with one thread and with more, in turns; a number for each run."""
    rows = runs[0]
    least, most = min(rows[0]["median_ms"], key=int), max(rows[0]["median_ms"], key=int)
    sizes, ratio = list(dict.fromkeys(r["size"] for r in rows)), {}
    for r in (r for run in runs for r in run):
        ratio.setdefault((r["encoding"], r["positions"], r["size"]), []).append(
            r["median_ms"][least] / r["median_ms"][most]
        )
    lines = [
        f"How many times as fast a training step is with {most} threads as with {least}, measured in turns, in each of",
        f"{len(runs)} runs. Other programs shared the machine.",
        "",
        f"| encoding | positions | {' | '.join(sizes)} |",
        "|---" * (2 + len(sizes)) + "|",
    ]
    for encoding, positions in dict.fromkeys((r["encoding"], r["positions"]) for r in rows):
        cells = (", ".join(f"{x:.2f}" for x in ratio[encoding, positions, size]) for size in sizes)
        lines.append(f"| {encoding} | {positions} | {' | '.join(cells)} |")
    return lines + [""]


def product_lines():
    """The products of what `./dev bench kernels` printed, kept in bench/results/kernels.txt."""
    text = (ROOT / "bench/results/kernels.txt").read_text()
    return [
        f"Products beside OpenBLAS and oneDNN on 2 threads ({text.splitlines()[0]}).",
        "[kernels.txt](../bench/results/kernels.txt) has every op.",
        "",
        *("    " + line for line in text[text.index("products,") :].splitlines()),
        "",
    ]


def rerope_lines():
    """What `./dev bench decoder` printed, kept in bench/results/decoder.txt."""
    return [
        "What ReRoPE costs beside RoPE.",
        "",
        *("    " + line if line else "" for line in (ROOT / "bench/results/decoder.txt").read_text().splitlines()),
        "",
    ]


def engine_lines():
    """What `./dev bench products` left in bench/results/products.csv: two lines about the machine, and the table."""
    path = ROOT / "bench/results/products.csv"
    machine, how, *table = path.read_text().splitlines()
    lines = [
        "Milliseconds of a training step ([products.csv](../bench/results/products.csv)), on",
        "",
        *(f"- {each.strip('# ')}" for each in (machine, how)),
        "",
        "| model | slots | threads | own | openblas | naive | openblas / own | naive / own |",
        "|---" * 8 + "|",
    ]
    for r in csv.DictReader(table):
        ms = {name: float(r[f"{name}_ms"]) for name in ("own", "openblas", "naive") if r[f"{name}_ms"]}
        times = {name: f"{ms[name] / ms['own']:.2f}" if name in ms else "-" for name in ("openblas", "naive")}
        cells = [f"{ms[name]:.0f}" if name in ms else "-" for name in ("own", "openblas", "naive")]
        lines.append(f"| {' | '.join([r['model'], r['size'], r['threads'], *cells, *times.values()])} |")
    return lines


def step_of(what, size):
    inputs, outputs = size.split("+")
    step = "Training step" if what == "train" else "Evaluation"
    return f"{step} of the causal decoder, windows of {outputs} tokens" if inputs == "0" else f"{step}, {size} slots"


def scheme_lines():
    return [
        "The most used schemes. poslab without positions takes its turns with each of them; *times none* is how many",
        "times as long a step takes with the scheme. `cope` and `xpos` have a causal mask, on all sides.",
        "",
    ]


def load_lines(rows, cores):
    loads = [r["load"] for r in rows]
    if max(loads) <= cores:
        return []
    return [
        f"Other programs shared the machine: its load was up to {max(loads):.0f} on {cores} cores.",
        "All sides of a line took turns, so their ratio still means something. It favours poslab where there are",
        "several threads, because those of PyTorch wait for each other more often; the lines of one thread are the",
        "fairer ones.",
        "",
    ]


def speed():
    """From each file that bench/compare.py --out wrote: a table for each kind of step and size; the example's time.
    Those of earlier commits, NAME-zen4.json, come last."""
    lines, scaling = [], []
    for path in sorted((ROOT / "bench/results").glob("*.json"), key=lambda p: ("-zen" in p.name, p.name)):
        whole = json.loads(path.read_text())
        if path.name.startswith(("bf16-", "fp32-")):       # those of bf16_lines()
            continue
        if whole["results"][0]["what"] == "scaling":
            scaling.append(whole["results"])
            continue
        sides = whole["results"][0]["sides"]
        gpu = whole.get("device", "")
        lines += [
            f"Measured at commit {whole['commit']} ({whole['time'][:10]}), medians of turns, on",
            "",
            *([f"- {gpu}"] if "capability" in gpu else []),
            f"- {whole['cpu']}, {whole['cores']} cores, {sides['poslab']['isa']}",
            *(f"- {s['program']} ({s['isa']}, {s['blas']})" for name, s in sides.items() if name != "poslab"),
            "",
        ]
        results = whole["results"]
        for what, size in dict.fromkeys((r["what"], r.get("size")) for r in results):
            rows = [r for r in results if (r["what"], r.get("size")) == (what, size)]
            if what == "example":
                lines += example_lines(rows)
                continue
            if any("none_ms" in r for r in rows):
                lines += scheme_lines()
            lines += load_lines(rows, whole["cores"])
            if what == "generate":
                lines += generate_lines(rows)
                continue
            lines += [f"{step_of(what, size)}, batch {rows[0]['batch']}:", ""] + speed_table(rows)
    return lines + scaling_lines(scaling) + product_lines() + rerope_lines()


def web_lines():
    """What `./dev bench web` left in bench/results/web.csv: lines on the machine and the model, and its turns."""
    machine, model, *table = (ROOT / "bench/results/web.csv").read_text().splitlines()
    command, commit, day = model.removeprefix("# ").split("; ")
    lines = [
        f"Steps a second, measured at {commit} ({day}) on",
        f"{machine.removeprefix('# ')}, of",
        "",
        f"    {command}",
        "",
        "| engine of the page | in one Worker | the program, AVX2 kernels | the page's share | in processor time |",
        "|---|---|---|---|---|",
    ]
    rows, number = list(csv.DictReader(table)), 0
    for engine, words in {"relaxed": "relaxed SIMD", "plain": "plain SIMD"}.items():
        of_engine = [r for r in rows if r["engine"] == engine]
        sides = ["page_steps_a_second", "avx2_steps_a_second", "avx2_cpu_ms", "page_cpu_ms"]
        ours, theirs, *cpu = ([float(r[side]) for r in of_engine] for side in sides)
        clock, processor = (
            statistics.median(a / b for a, b in zip(*pair, strict=True)) for pair in ((ours, theirs), cpu)
        )
        rates = f"{statistics.median(ours):.0f} | {statistics.median(theirs):.0f}"
        lines.append(f"| {words} | {rates} | {clock:.2f} | {processor:.2f} |")
        number = len(of_engine)
    return [
        *lines,
        "",
        f"Medians of {number} turns of each side, one after the other; the share is the median of the turns' own.",
    ]


def llama_lines():
    """What `./dev bench llama` left in bench/results/llama.csv: a line on the machine, and a row for each work."""
    where, *table = (ROOT / "bench/results/llama.csv").read_text().splitlines()
    rows = list(csv.DictReader(table))
    sides = [name for name in rows[0] if name != "work"]
    lines = [
        f"Tokens a second: {where.removeprefix('# ')}. `sdpa` and `eager` are the model's own attention.",
        "",
        "| | " + " | ".join(f"`{side}`" for side in sides) + " |",
        "|---" * (len(sides) + 1) + "|",
    ]
    return lines + [f"| {row['work']} | " + " | ".join(row[side] for side in sides) + " |" for row in rows]


def seen_on(rows):
    days, where = sorted({r["day"] for r in rows}), sorted({r["processor"] for r in rows})
    return ["", f"On {', '.join(where)}, {' to '.join(dict.fromkeys((days[0], days[-1])))}, beside other work."]


def fuzz_lines():
    """What `./dev fuzz --inputs 1000000` left in bench/results/fuzz.csv: the last row of each target."""
    rows = list(csv.DictReader((ROOT / "bench/results/fuzz.csv").read_text().splitlines()))
    lines = [
        "| target | inputs tried | processor time | edges | lines of its sources | commit |",
        "|---" * 6 + "|",
    ]
    for r in rows:
        cells = [f"`{r['target']}`", f"{int(r['inputs']):,}", f"{r['seconds']} s", f"{int(r['edges']):,}"]
        lines.append(f"| {' | '.join([*cells, r['lines'] + ' %', '`' + r['commit'] + '`'])} |")
    return lines + seen_on(rows)


def sanitizer_lines():
    """What `./dev test asan tsan` left in bench/results/sanitizers.csv: the last row of each part."""
    rows = list(csv.DictReader((ROOT / "bench/results/sanitizers.csv").read_text().splitlines()))
    lines = ["| part | passed | failed | processor time | commit |", "|---" * 5 + "|"]
    for r in rows:
        lines.append(f"| `{r['part']}` | {r['passed']} | {r['failed']} | {r['seconds']} s | `{r['commit']}` |")
    return lines + seen_on(rows)


SHOWN = {
    ("train", "20+20"): "training, 20+20 slots",
    ("train", "40+40"): "training, 40+40 slots",
    ("eval", "500+500"): "evaluation, 500+500 slots",
}


def in_short():
    """The measurements in README.md, on two threads: one of each kind for each encoding."""
    files = [json.loads((ROOT / f"bench/results/{name}.json").read_text()) for name in ("train", "eval")]
    rows = [r for whole in files for r in whole["results"] if r["threads"] == 2]
    found = {(r["what"], r["size"], r["encoding"], r["positions"]): r for r in rows}
    for encoding in ("none", "alibi", "rope", "relative"):
        positions = "sequential" if encoding == "none" else "randomized"
        yield encoding, positions, [found[(*kind, encoding, positions)] for kind in SHOWN]


def speed_in_short():
    """Milliseconds, and by which factor the fastest peer is slower."""
    lines = [f"| encoding | {' | '.join(SHOWN.values())} |", "|---" * (1 + len(SHOWN)) + "|"]
    for encoding, positions, of_row in in_short():
        cells = [f"{r['sides']['poslab']['median_ms']:.0f} ms, **{r['ratio']:.1f}**" for r in of_row]
        lines.append(f"| {encoding}, {positions} | {' | '.join(cells)} |")
    return lines


def between(text, start, end, lines):
    new, count = re.subn(
        rf"(<!-- {start}.*?-->\n).*?(<!-- {end} -->)", lambda m: m[1] + "\n".join(lines) + "\n" + m[2], text, flags=re.S
    )
    if count != 1:
        sys.exit(f"there is no place, or more than one, marked {start!r} .. {end!r}")
    return new


def main():
    tables = {
        ROOT / "docs/results-tables.md": {"tables": lists.all_tables(), "trained": lists.trained_lengths()},
        ROOT / "docs/results-limits.md": {"experiments": lists.experiments(), "cut": lists.cut()},
        ROOT / "docs/speed.md": {"speed": speed(), "products": engine_lines(), "bf16": bf16_lines(),
                                  "ladder": ladder_lines()},
        ROOT / "docs/gpu-measured.md": {"tested": gpu.tested(), "rates": gpu.rates(), "peers": gpu.peers(),
                                         "profile": gpu.profile("kernels"), "samples": gpu.samples(),
                                         "variants": gpu.variants("variants"), "population": gpu.population(),
                                         "profile-randomized": gpu.profile("kernels-randomized"),
                                         "variants-randomized": gpu.variants("randomized"), "naive": gpu.naive(),
                                         "schemes": gpu.schemes(), "resample": gpu.resample(),
                                         "variants-pairs": gpu.variants("pairs"),
                                         "profile-shaw": gpu.profile("kernels-shaw")},
        ROOT / "docs/gpu.md": {"matmul": matmul_lines()},
        ROOT / "docs/torch.md": {"llama": llama_lines()},
        ROOT / "docs/web.md": {"web": web_lines()},
        ROOT / "docs/trust.md": {"fuzz": fuzz_lines(), "sanitizers": sanitizer_lines()},
        ROOT / "README.md": {"results": lists.in_short(), "speed": speed_in_short()},
    }
    old = []
    for page, parts in tables.items():
        text = new = page.read_text()
        for name, lines in parts.items():
            new = between(new, f"{name}:", f"end of {name}", lines)
            if not sys.argv[1:]:
                print("\n".join([*lines, ""]))
        if sys.argv[1:] == ["--write"]:
            page.write_text(new)
        elif new != text:
            old.append(str(page.relative_to(ROOT)))
    if sys.argv[1:] == ["--check"] and old:
        sys.exit(f"{', '.join(old)}: not what the data says; results/readme.py --write puts that there")


if __name__ == "__main__":
    main()

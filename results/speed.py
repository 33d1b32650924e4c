"""The tables of docs/speed.md, README.md, docs/torch.md, docs/web.md and docs/testing.md, from the results of
`./dev bench` and `./dev test` in bench/results/, for readme.py; and all of them for the page of measurements of the
site."""

import json
import re
import statistics
import textwrap

from query import ROOT, bench, by, markdown

RESULTS = ROOT / "bench/results"
PEERS = {"torch": "PyTorch", "torch compiled": "compiled", "jax": "JAX"}
WRITERS = {"poslab": "poslab", "transformers": "transformers", "transformers static": "with a static cache, compiled",
           "jax": "JAX"}  # fmt: skip


def cell(r, name):
    """Milliseconds of a side, in bold for the fastest peer."""
    if name not in r["sides"]:
        return "failed"
    text = f"{r['sides'][name]['median_ms']:.1f}"
    return f"**{text}**" if name == r["fastest_peer"] else text


def quoted(text):
    """A program's output as an indented code block."""
    return ["    " + line if line else "" for line in text.splitlines()]


def share(r):
    return f"{100 * r['share_of_ceiling']:.0f} %" if r["share_of_ceiling"] else "-"


# -- steps beside PyTorch and JAX --------------------------------------------------------------------------------------


def speed_table(rows):
    """A table with a column for each measured peer, and "failed" where it could not run. If poslab was also measured
    without positions, a column has the ratio of the scheme's time to that."""
    peers = [name for name in PEERS if any(name in r["sides"] for r in rows)]
    measured = ["poslab", *(name for name in ("torch", "jax") if name in peers)]
    beside_none, cells = any("none_ms" in r for r in rows), []
    for r in rows:
        ms = r["sides"]["poslab"]["median_ms"]
        memory = (f"{r['sides'][name]['peak_mb']:.0f}" if name in r["sides"] else "-" for name in measured)
        times = [f"{ms / r['none_ms']:.2f}" if "none_ms" in r else ""] * beside_none
        cells.append([r["encoding"], r["positions"], str(r["threads"]), f"{ms:.1f}", *times,
                      *(cell(r, name) for name in peers), f"**{r['ratio']:.2f}**", share(r),
                      ", ".join(memory)])  # fmt: skip
    titles = {"poslab": "poslab"} | PEERS
    head = ["encoding", "positions", "threads", "poslab, ms", *["times none"] * beside_none,
            *(PEERS[name] for name in peers), "ratio to the fastest", "share of ceiling",
            f"peak MB: {', '.join(titles[name] for name in measured)}"]  # fmt: skip
    return markdown(head, cells) + [""]


def example_lines(rows):
    for r in rows:
        minutes = ", ".join(f"{name} {side['example_seconds'] / 60:.1f}" for name, side in r["sides"].items())
        yield from (
            f"Minutes for the 10,001 steps of the example preset on Even Pairs ({r['encoding']}, {r['positions']}, "
            f"{r['threads']} threads, nothing compiled): {minutes}.",
            f"This is computed from the mean of {len(r['sides']['poslab']['ms'])} steps taken in turns.",
            "",
        )


def generate_lines(rows):
    """Tokens a second, from the same checkpoint."""
    names = {name: title for name, title in WRITERS.items() if any(name in r["sides"] for r in rows)}
    read, written = rows[0]["size"].split("+")
    cells = []
    for r in rows:
        rate = {name: f"{1e3 * int(written) / side['median_ms']:.0f}" for name, side in r["sides"].items()}
        cells.append([str(r["threads"]), *(rate.get(name, "failed") for name in names), f"**{r['ratio']:.2f}**"])
    return [
        f"Tokens a second that a random LLaMA of 6 layers of width 256 writes, in float32: the {written} most probable",
        f"ones after {read}. All sides read the same checkpoint, and wrote the same tokens.",
        "",
        *markdown(["threads", *names.values(), "ratio to the fastest"], cells),
        "",
    ]


def scaling_lines(runs):
    """poslab's speedup from several threads, measured in turns with one thread; a number for each run."""
    least, most = min(runs[0][0]["median_ms"], key=int), max(runs[0][0]["median_ms"], key=int)
    sizes, ratios = list(by("size", runs[0])), {}
    for r in (r for run in runs for r in run):
        ratios.setdefault((r["encoding"], r["positions"]), {}).setdefault(r["size"], []).append(
            r["median_ms"][least] / r["median_ms"][most]
        )
    cells = [[*key, *(", ".join(f"{x:.2f}" for x in of[size]) for size in sizes)] for key, of in ratios.items()]
    return [
        f"How many times as fast a training step is with {most} threads as with {least}, measured in turns, in each of",
        f"{len(runs)} runs. Other programs shared the machine.",
        "",
        *markdown(["encoding", "positions", *sizes], cells),
        "",
    ]


def load_lines(rows, cores):
    load = max(r["load"] for r in rows)
    if load <= cores:
        return []
    return [
        f"Other programs shared the machine: its load was up to {load:.0f} on {cores} cores.",
        "All sides of a line took turns, so their ratio still means something. It favours poslab where there are",
        "several threads, because those of PyTorch wait for each other more often; the lines of one thread are the",
        "fairer ones.",
        "",
    ]


SCHEMES = [
    "The most used schemes. poslab without positions takes its turns with each of them; *times none* is how many",
    "times as long a step takes with the scheme. `cope` and `xpos` have a causal mask, on all sides.",
    "",
]


def step_of(what, size):
    inputs, outputs = size.split("+")
    step = "Training step" if what == "train" else "Evaluation"
    return f"{step} of the causal decoder, windows of {outputs} tokens" if inputs == "0" else f"{step}, {size} slots"


def measured_lines(file):
    """The tables of a file by bench/compare.py --out: one for each kind of step and size, or the example's time."""
    sides, device = file["results"][0]["sides"], file.get("device", "")
    yield from (f"Measured at commit {file['commit']} ({file['time'][:10]}), medians of turns, on", "")
    yield from [f"- {device}"] * ("capability" in device)
    yield f"- {file['cpu']}, {file['cores']} cores, {sides['poslab']['isa']}"
    yield from (f"- {s['program']} ({s['isa']}, {s['blas']})" for name, s in sides.items() if name != "poslab")
    yield ""
    for (what, size) in dict.fromkeys((r["what"], r.get("size")) for r in file["results"]):
        rows = [r for r in file["results"] if (r["what"], r.get("size")) == (what, size)]
        if what == "example":
            yield from example_lines(rows)
            continue
        yield from SCHEMES * any("none_ms" in r for r in rows)
        yield from load_lines(rows, file["cores"])
        if what == "generate":
            yield from generate_lines(rows)
        else:
            yield from [f"{step_of(what, size)}, batch {rows[0]['batch']}:", "", *speed_table(rows)]


def speed():
    """All measurements in fp32. Those of earlier commits, NAME-zen4.json, come last."""
    paths = sorted(RESULTS.glob("*.json"), key=lambda path: ("-zen" in path.name, path.name))
    files = [json.loads(path.read_text()) for path in paths if not path.name.startswith(("bf16-", "fp32-"))]
    scaling = [file["results"] for file in files if file["results"][0]["what"] == "scaling"]
    lines = [line for file in files if file["results"] not in scaling for line in measured_lines(file)]
    kernels = (RESULTS / "kernels.txt").read_text()
    return [
        *lines,
        *scaling_lines(scaling),
        f"Products compared with OpenBLAS and oneDNN on 2 threads ({kernels.splitlines()[0]}).",
        "[kernels.txt](../bench/results/kernels.txt) has every op.",
        "",
        *quoted(kernels[kernels.index("products,") :]),
        "",
        "The cost of ReRoPE compared with RoPE:",
        "",
        *quoted((RESULTS / "decoder.txt").read_text()),
        "",
    ]


def work_of(r):
    if r["what"] == "t5":
        return f"T5-small's encoder, {r['size']} tokens"
    if r["what"] == "generate":
        read, written = r["size"].split("+")
        return f"{written} tokens written after {read}"
    if r["size"].startswith("0+"):
        return f"decoder, training, {r['size'][2:]} slots"
    return f"{r['encoding']}, {'training' if r['what'] == 'train' else 'evaluation'}, {r['size']} slots"


def ranges(values):
    low, high = (f"{x:.2f}" for x in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def speed_in_ranges():
    """Ratios of speed to the fastest peer, of memory to the leanest, and of bf16 to fp32: by work, rounding of products
    and processor."""
    groups = {}
    for path in sorted(RESULTS.glob("*.json")):
        file, form = json.loads(path.read_text()), "bf16" if path.name.startswith("bf16-") else "fp32"
        for r in (r for r in file["results"] if r["what"] in ("train", "eval", "t5", "generate")):
            work = work_of(r).removeprefix(f"{r.get('encoding')}, ")
            groups.setdefault((work, form, re.match(r"\w+", file["cpu"])[0]), []).append(r)
    cells = [[*key, ranges([r["ratio"] for r in of]),
              ranges([r["times_fp32"] for r in of]) if key[1] == "bf16" else "",
              ranges([min(r["peak_memory_ratio"].values()) for r in of])]
             for key, of in sorted(groups.items())]  # fmt: skip
    head = ["work", "products", "processor", "times as fast as the fastest peer", "as fp32", "peers' memory"]
    return markdown(head, cells)


SHOWN = {
    ("train", "20+20"): "training, 20+20 slots",
    ("train", "40+40"): "training, 40+40 slots",
    ("eval", "500+500"): "evaluation, 500+500 slots",
}


def in_short():
    """The measurements in README.md, on two threads: one of each kind for each encoding."""
    files = [json.loads((RESULTS / f"{name}.json").read_text()) for name in ("train", "eval")]
    rows = [r for file in files for r in file["results"] if r["threads"] == 2]
    found = {(r["what"], r["size"], r["encoding"], r["positions"]): r for r in rows}
    for encoding in ("none", "alibi", "rope", "relative"):
        positions = "sequential" if encoding == "none" else "randomized"
        yield encoding, positions, [found[(*kind, encoding, positions)] for kind in SHOWN]


def speed_in_short():
    """Milliseconds, and how many times as long the fastest peer takes."""
    rows = [[f"{encoding}, {positions}", *(f"{r['sides']['poslab']['median_ms']:.0f} ms, **{r['ratio']:.1f}**"
                                           for r in of)] for encoding, positions, of in in_short()]  # fmt: skip
    return markdown(["encoding", *SHOWN.values()], rows)


# -- the page, PyTorch's LLaMA, and what has been tested ---------------------------------------------------------------


def web():
    """The results of `./dev bench web`."""
    (machine, model), rows = bench("web.csv")
    command, commit, day = model.split("; ")
    cells = []
    for engine, words in {"relaxed": "relaxed SIMD", "plain": "plain SIMD"}.items():
        turns = by("engine", rows)[engine]
        ours, theirs, cpu, page_cpu = ([float(r[f"{side}"]) for r in turns] for side in (
            "page_steps_a_second", "avx2_steps_a_second", "avx2_cpu_ms", "page_cpu_ms"))  # fmt: skip
        shares = (statistics.median(a / b for a, b in zip(*pair)) for pair in ((ours, theirs), (cpu, page_cpu)))
        rates = (f"{statistics.median(side):.0f}" for side in (ours, theirs))
        cells.append([words, *rates, *(f"{share:.2f}" for share in shares)])
    head = ["engine of the page", "in one Worker", "the program, AVX2 kernels", "the page's share", "in processor time"]
    return [
        f"Steps a second, measured at {commit} ({day}) on",
        f"{machine}, of",
        "",
        f"    {command}",
        "",
        *markdown(head, cells),
        "",
        f"Medians of {len(turns)} turns of each side, one after the other; the share is the median over turns.",
    ]


def llama():
    """The results of `./dev bench llama`."""
    (where,), rows = bench("llama.csv")
    return [f"Tokens a second: {where}. `sdpa` and `eager` are the model's own attention.", "",
            *markdown(["", *(f"`{side}`" for side in list(rows[0])[1:])], [r.values() for r in rows])]  # fmt: skip


def rounded():
    """The errors of products in bf16, by op, from `./dev rounded`."""
    _, rows = bench("rounded.csv")
    cells = [[f"`{r['op']}`", f"{r['values_percent']} %", f"{r['gradients_percent']} %"] for r in rows]
    return markdown(["op", "values", "gradients"], cells)


def ulps():
    """A table for each instruction set, from the results of `tools/ulps`."""
    _, rows = bench("ulps.csv")
    head = ["kernel", "value", "tiny", "huge", "subnormal", "infinite", "NaN", "gradient", "from baseline"]
    for isa, of in by(next(iter(rows[0])), rows).items():
        cells = ([f"`{kernel}`", *rest] for _, kernel, *rest in (r.values() for r in of))
        yield from (f"### {isa}", "", *markdown(head, cells), "")


def resources():
    """The results of `tools/resources` for each kernel."""
    (about,), rows = bench("resources.csv")
    head = [name.replace("_", " ") for name in rows[0]]
    return [f"{about}. For a template with several instantiations, their maximum.", "",
            *markdown(head, [r.values() for r in rows])]  # fmt: skip


def seen_on(rows):
    days, where = sorted({r["day"] for r in rows}), sorted({r["processor"] for r in rows})
    return ["", f"On {', '.join(where)}, {' to '.join(dict.fromkeys((days[0], days[-1])))}, on busy machines."]


def last_rows(name, head, cells):
    """The rows of a file in which bench/command.py keeps the last row of each kind."""
    _, rows = bench(f"{name}.csv")
    return markdown(head, [cells(r) for r in rows]) + seen_on(rows)


def fuzz():
    """The results of `tools/fuzz --inputs 1000000`, for each target."""
    head = ["target", "inputs tried", "source lines reached"]
    return last_rows("fuzz", head, lambda r: [f"`{r['target']}`", f"{int(r['inputs']):,}", f"{r['lines']} %"])


def sanitizers():
    """The results of `./dev test asan tsan`: each part with its cases that passed, and those that failed."""
    _, rows = bench("sanitizers.csv")
    parts = [f"`{r['part']}` {r['passed']}" + f" ({r['failed']} failed)" * (r["failed"] != "0") for r in rows]
    return textwrap.wrap(f"Cases that passed: {', '.join(parts)}.", 120, break_on_hyphens=False) + seen_on(rows)


def coverage():
    """The results of `tools/coverage`, for each folder."""
    parts = ("lines", "branches", "forms")
    return last_rows("coverage", ["folder", "lines", "branches", "all forms"], lambda r: [
        f"`{r['folder']}/`", *(f"{r[n + '_percent']} % of {r[n]}" for n in parts)])  # fmt: skip

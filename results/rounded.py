"""The tables of docs/speed.md on products in bf16: beside fp32 and peers, and the ladder. For readme.py."""

import csv
import json

from query import ROOT


def cell(r, name):
    """Milliseconds of a side, the fastest peer's in bold."""
    if name not in r["sides"]:
        return "failed"
    text = f"{r['sides'][name]['median_ms']:.1f}"
    return f"**{text}**" if name == r["fastest_peer"] else text


# The columns of the table of bf16, and the sides that stand in them.
BF16_PEERS = {
    "PyTorch": ("torch", "transformers"),
    "compiled": ("torch compiled", "transformers compiled", "transformers static"),
    "JAX": ("jax",),
}


def work_of(r):
    if r["what"] == "t5":
        return f"T5-small's encoder, {r['size']} tokens"
    if r["what"] == "generate":
        read, written = r["size"].split("+")
        return f"{written} tokens written after {read}"
    if r["size"].startswith("0+"):
        return f"decoder, training, {r['size'][2:]} slots"
    return f"{r['encoding']}, {'training' if r['what'] == 'train' else 'evaluation'}, {r['size']} slots"


def reached(rows, key, goal):
    """How many rows of each processor reach a goal, and the least and the greatest of them."""
    parts = []
    for cpu in dict.fromkeys(r["cpu"] for r in rows):
        ratios = [r[key] for r in rows if r["cpu"] == cpu and key in r]
        count = f"{sum(x >= goal for x in ratios)} of {len(ratios)}"
        parts.append(f"{count} ({min(ratios):.2f} to {max(ratios):.2f}) on {cpu}")
    return "; ".join(parts)


def precision_table(form):
    """Lines of a table, and the results, of bench/results/FORM-PROCESSOR-*.json: a row for each work and number of
    threads."""
    files = [json.loads(path.read_text()) for path in sorted((ROOT / "bench/results").glob(f"{form}-*.json"))]
    ours_in = [f"poslab {form}, ms", *(["poslab fp32"] if form == "bf16" else [])]
    head = ["work", "threads", *ours_in, *BF16_PEERS, *(["of poslab fp32"] if form == "bf16" else [])]
    head += ["of the fastest peer", "processor, instructions, commit"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for whole, r in ((whole, r) for whole in files for r in whole["results"]):
        ours, cells = r["sides"]["poslab"], [work_of(r), str(r["threads"])]
        cells += [f"{ours['median_ms']:.1f}", *([f"{r['fp32_ms']:.1f}"] if form == "bf16" else [])]
        for names in BF16_PEERS.values():
            found = [name for name in names if name in r["sides"]]
            cells.append(cell(r, found[0]) if found else "failed" if set(names) & set(r.get("failed", {})) else "-")
        cells += [f"{r['times_fp32']:.2f}"] if form == "bf16" else []
        cells += [f"**{r['ratio']:.2f}**" if "ratio" in r else "-"]
        products = ours["products"].removeprefix("own, ").replace("own", "fp32")
        lines.append(f"| {' | '.join(cells)} | {whole['cpu']}, {ours['isa']}, {products}, {whole['commit']} |")
    return lines, [{**r, "cpu": whole["cpu"]} for whole in files for r in whole["results"]]


def beside_libraries():
    """What `./dev bench kernels matmul --threads 1` printed of products in bf16, kept with a line on the machine."""
    text = (ROOT / "bench/results/products-bf16.txt").read_text()
    table = text[text.index("products in bf16") :].rstrip().splitlines()
    return [
        f"Products beside oneDNN's in bf16 and OpenBLAS's `cblas_sbgemm`, on {text.splitlines()[0]}. The libraries are",
        "given factors that are rounded already; ours are rounded and packed within the time.",
        "",
        *("    " + line if line else "" for line in table),
    ]


def bf16_lines():
    """What `./dev bench bf16` left, on each processor."""
    lines, results = precision_table("bf16")
    in_fp32, fp32 = precision_table("fp32")
    kept = [side for r in results for side in r.get("agreement", {}).values()]
    programs = dict.fromkeys(s["program"] for r in results for name, s in r["sides"].items() if name != "poslab")
    off = {what: max(side[what] for side in kept if what in side) for what in ("loss", "logits", "worst")}
    beside = lambda *whats: [r for r in results if r["what"] in whats]
    deep = lambda rows: [r for r in rows if r["what"] == "t5" or r["size"].startswith("0+")]
    return [
        *lines,
        "",
        "Milliseconds, medians of turns; ratios are medians over steps of the same turn, above 1 where poslab in bf16",
        "is faster. The fastest peer is in bold. Peers:",
        "",
        *(f"- {program}" for program in programs),
        "",
        "Before anything is timed, all sides' bf16 is held to poslab's fp32 at equal weights. In training and",
        f"evaluation the first loss is off by at most {off['loss']:.1e} of itself, logits by {off['logits']:.1e} of",
        f"their norm, and the worst gradient by {off['worst']:.1e} of its.",
        "",
        "- *1.35 times poslab's fp32 in training at 40+40 slots*: reached in "
        f"{reached([r for r in beside('train') if r['size'] == '40+40'], 'times_fp32', 1.35)}.",
        f"- *2 times the fastest peer in bf16*: reached in {reached(results, 'ratio', 2)}.",
        f"- *1.5 times the fastest peer, decoder and T5, in bf16*: reached in {reached(deep(results), 'ratio', 1.5)}.",
        f"- *The same in fp32*: reached in {reached(deep(fp32), 'ratio', 1.5)}.",
        "",
        "All sides in fp32:",
        "",
        *in_fp32,
        "",
        *beside_libraries(),
    ]


RUNGS = {
    "dot": "three loops, a sum for each number of c",
    "rows": "the same, along rows",
    "blocks": "the same, a block of b at a time",
    "tiles": "vectors, a tile of c in registers",
    "pairs": "the same tile, factors in bf16 and two FMAs for a pair of them",
    "vdpbf16ps": "the same, an instruction for a pair",
}


def ladder_lines():
    """What `poslab_bench ladder` printed, kept in bench/results/ladder-PROCESSOR.csv: a line on the machine, and a row
    for each rung."""
    where, rates = [], []
    for path in sorted((ROOT / "bench/results").glob("ladder-*.csv")):
        line, *table = path.read_text().splitlines()
        where.append(line.removeprefix("# "))
        rates.append({r["rung"]: float(r["gflops"]) for r in csv.DictReader(table)})
    lines = ["| rung | |" + "".join(f" {w.split(';')[0]}, GFLOP/s | times the first |" for w in where)]
    lines.append("|---|---|" + "---|---|" * len(where))
    for name, what in ((name, what) for name, what in RUNGS.items() if any(name in rate for rate in rates)):
        cells = [f" {r[name]:.1f} | {r[name] / r['dot']:.0f} |" if name in r else " - | - |" for r in rates]
        lines.append(f"| `{name}` | {what} |" + "".join(cells))
    return [*lines, "", "Measured:", "", *(f"- {line}." for line in where)]

"""Tables of matrix products for docs/speed.md and the site's page of measurements: in bf16, by each engine, and the
ladder from three loops to an instruction for pairs of bf16. All are from results of `./dev bench` in bench/results/."""

import json

from query import bench, by, markdown
from speed import RESULTS, cell, quoted, work_of

# -- products in bf16 --------------------------------------------------------------------------------------------------

# The columns of the table of bf16, and their sides.
BF16_PEERS = {
    "PyTorch": ("torch", "transformers"),
    "compiled": ("torch compiled", "transformers compiled", "transformers static"),
    "JAX": ("jax",),
}


def reached(rows, key, goal):
    """The number of rows that reach a goal on each processor, and the minimum and maximum over its rows."""
    parts = []
    for cpu, of in by("cpu", rows).items():
        ratios = [r[key] for r in of if key in r]
        count = f"{sum(x >= goal for x in ratios)} of {len(ratios)}"
        parts.append(f"{count} ({min(ratios):.2f} to {max(ratios):.2f}) on {cpu}")
    return "; ".join(parts)


def precision_table(form):
    """Lines of a table, and the results, of bench/results/FORM-PROCESSOR-*.json: a row for each work and number of
    threads."""
    files = (json.loads(path.read_text()) for path in sorted(RESULTS.glob(f"{form}-*.json")))
    bf16, cells = form == "bf16", []
    rows = [r | {"cpu": file["cpu"], "commit": file["commit"]} for file in files for r in file["results"]]
    for r in rows:
        ours, row = r["sides"]["poslab"], [work_of(r), str(r["threads"])]
        row += [f"{ours['median_ms']:.1f}", *([f"{r['fp32_ms']:.1f}"] if bf16 else [])]
        for names in BF16_PEERS.values():
            found = [name for name in names if name in r["sides"]]
            row.append(cell(r, found[0]) if found else "failed" if set(names) & set(r.get("failed", {})) else "-")
        row += [f"{r['times_fp32']:.2f}"] if bf16 else []
        products = ours["products"].removeprefix("own, ").replace("own", "fp32")
        row += [f"**{r['ratio']:.2f}**" if "ratio" in r else "-"]
        row += [f"{r['cpu']}, {ours['isa']}, {products}, {r['commit']}"]
        cells.append(row)
    head = ["work", "threads", f"poslab {form}, ms", *["poslab fp32"] * bf16, *BF16_PEERS, *["of poslab fp32"] * bf16,
            "of the fastest peer", "processor, instructions, commit"]  # fmt: skip
    return markdown(head, cells), rows


def bf16():
    """The results of `./dev bench bf16` on each processor, and of `./dev bench kernels matmul --threads 1` for bf16."""
    lines, results = precision_table("bf16")
    in_fp32, fp32 = precision_table("fp32")
    kept = [side for r in results for side in r.get("agreement", {}).values()]
    programs = dict.fromkeys(s["program"] for r in results for name, s in r["sides"].items() if name != "poslab")
    off = {what: max(side[what] for side in kept if what in side) for what in ("loss", "logits", "worst")}
    wide = [r for r in results if (r["what"], r["size"]) == ("train", "40+40")]
    deep, deep_fp32 = ([r for r in rows if r["what"] == "t5" or r["size"].startswith("0+")] for rows in (results, fp32))
    products = (RESULTS / "products-bf16.txt").read_text()
    return [
        *lines,
        "",
        "Milliseconds, medians of turns; ratios are medians over steps of the same turn, above 1 where poslab in bf16",
        "is faster. The fastest peer is in bold. Peers:",
        "",
        *(f"- {program}" for program in programs),
        "",
        "Before anything is timed, all sides' bf16 is compared with poslab's fp32 at equal weights. In training and",
        f"evaluation the first loss is off by at most {off['loss']:.1e} of itself, logits by {off['logits']:.1e} of",
        f"their norm, and the worst gradient by {off['worst']:.1e} of its norm.",
        "",
        f"- *1.35 times poslab's fp32 in training at 40+40 slots*: reached in {reached(wide, 'times_fp32', 1.35)}.",
        f"- *2 times the fastest peer in bf16*: reached in {reached(results, 'ratio', 2)}.",
        f"- *1.5 times the fastest peer, decoder and T5, in bf16*: reached in {reached(deep, 'ratio', 1.5)}.",
        f"- *The same in fp32*: reached in {reached(deep_fp32, 'ratio', 1.5)}.",
        "",
        "All sides in fp32:",
        "",
        *in_fp32,
        "",
        "Products compared with oneDNN's in bf16 and OpenBLAS's `cblas_sbgemm`, on "
        f"{products.splitlines()[0]}. The libraries are",
        "given factors that are already rounded; poslab's times include rounding and packing.",
        "",
        *quoted(products[products.index("products in bf16") :].rstrip()),
    ]


# -- the engine's own products, and the ladder -------------------------------------------------------------------------


def engine():
    """The results of `./dev bench products`."""
    notes, rows = bench("products.csv")
    cells = []
    for r in rows:
        ms = {name: float(r[f"{name}_ms"]) for name in ("own", "openblas", "naive") if r[f"{name}_ms"]}
        times = (f"{ms[name] / ms['own']:.2f}" if name in ms else "-" for name in ("openblas", "naive"))
        own = (f"{ms[name]:.0f}" if name in ms else "-" for name in ("own", "openblas", "naive"))
        cells.append([r["model"], r["size"], r["threads"], *own, *times])
    head = ["model", "slots", "threads", "own", "openblas", "naive", "openblas / own", "naive / own"]
    return ["Milliseconds of a training step ([products.csv](../bench/results/products.csv)), on", "",
            *(f"- {note}" for note in notes), "", *markdown(head, cells)]  # fmt: skip


RUNGS = {
    "dot": "three loops, a sum for each number of c",
    "rows": "the same, along rows",
    "blocks": "the same, a block of b at a time",
    "tiles": "vectors, a tile of c in registers",
    "pairs": "the same tile, factors in bf16 and two FMAs for a pair of them",
    "vdpbf16ps": "the same, an instruction for a pair",
}


def ladder():
    """The output of `poslab_bench ladder`, kept in bench/results/ladder-PROCESSOR.csv."""
    tables = [bench(path.name) for path in sorted(RESULTS.glob("ladder-*.csv"))]
    where = [note for (note,), _ in tables]
    rates = [{r["rung"]: float(r["gflops"]) for r in rows} for _, rows in tables]
    cells = [[f"`{name}`", what, *(text for r in rates for text in (
        (f"{r[name]:.1f}", f"{r[name] / r['dot']:.0f}") if name in r else ("-", "-")))]
        for name, what in RUNGS.items() if any(name in r for r in rates)]  # fmt: skip
    head = ["rung", "", *(text for w in where for text in (f"{w.split(';')[0]}, GFLOP/s", "times the first"))]
    return [*markdown(head, cells), "", "Measured:", "", *(f"- {line}." for line in where)]

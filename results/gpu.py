"""Tables of docs/speed.md and of the site, from the results of `tools/cuda-test` on a GPU: bench/results/h200/."""

import json

from query import ROOT, bench, by, markdown, mean

MEASURED = ROOT / "bench/results/h200"
PEERS = {"torch": "PyTorch", "torch compiled": "compiled", "torch graph": "compiled, a step as one graph", "jax": "JAX"}


def stage(name):
    return json.loads((MEASURED / f"{name}.json").read_text())


def of_commit(lines, name):
    return [*lines, "", f"Commit {stage(name)['commit']}."]


def rates():
    """Steps a second: encoder blocks as one kernel, op by op, and with products on tensor cores."""
    found = {}
    for r in stage("rates")["rows"]:
        if "form" in r:
            found.setdefault(f"{r['encoding']} {r['positions']}", {})[r["size"], r["form"]] = str(r["steps"])
    columns = [(size, form) for size in ("20+20", "40+40") for form in ("fused", "op by op", "tf32x3", "tf32", "bf16")]
    head = ["encoding"] + [f"{size} {form}".replace(" fused", "") for size, form in columns]
    rows = [[name, *(forms.get(c, "") for c in columns)] for name, forms in found.items()]
    return of_commit(markdown(head, rows), "rates")


SPEEDS = [900, 800, 600, 400, 200, 0]   # steps a second, at least, for the schemes in a row of the table


def schemes():
    """The schemes by steps a second."""
    found, rows = [(r["steps"], r["encoding"]) for r in stage("schemes")["rows"] if "steps" in r], []
    for least, above in zip(SPEEDS, [float("inf"), *SPEEDS]):
        some = sorted((one for one in found if least <= one[0] < above), reverse=True)
        bounds = f"{least} and more" if not rows else f"{least} to {above}" if least else f"less than {above}"
        rows.append([bounds, ", ".join(f"{name} {n}" for n, name in some)])
    return of_commit(markdown(["steps a second", "schemes"], rows), "schemes")


def beside(r, *names):
    """Microseconds of a naive kernel and of the fast one, and their ratio."""
    naive, fast = (r[name] for name in names)
    return [f"{naive:,.1f}", f"{fast:,.1f}", f"{naive / fast:.1f}"]


def naive():
    rows = [[r["case"], *beside(r, "naive", "fast"), *beside(r, "naive_back", "fast_back")]
            for r in stage("naive")["rows"] if "case" in r]  # fmt: skip
    head = ["kernel and case", "forward: naive, µs", "fast", "times", "backward: naive, µs", "fast", "times"]
    return of_commit(markdown(head, rows), "naive")


def resample():
    """A step with separate positions for each sequence, compared with one with common positions."""
    _, rows = bench("h200/resample.csv")
    key = lambda r: (r["resample"], r["program"])
    columns = list(dict.fromkeys(map(key, rows)))
    cells = [[name, *(", ".join(f"{float(r['ms']):.1f}" for r in of if key(r) == c) or "–" for c in columns)]
             for name, of in by("encoding", rows).items()]  # fmt: skip
    return markdown(["encoding"] + [f"`{how}`, {commit}" for how, commit in columns], cells)


def peers():
    files, rows = [json.loads(path.read_text()) for path in sorted(MEASURED.glob("*-*.json"))], []
    for file, r in ((measured, r) for measured in files for r in measured.get("results", [])):
        ms = [f"{r['sides'][n]['median_ms']:.2f}" if n in r["sides"] else "failed" if n in r["failed"] else "–"
              for n in ("poslab", *PEERS)]  # fmt: skip
        what = f"{r['encoding']}, {r['positions']}, {r['size']}"
        rows.append([what, file["precision"], *ms, f"**{r['ratio']:.2f}**", file["commit"]])
    return markdown(["encoding", "products", "poslab", *PEERS.values(), "ratio to the fastest", "commit"], rows)


def profile(name):
    """ncu's counts for a step, for kernels that take at least a hundredth of its time."""
    of = stage(name)
    rows = [[f"`{k['kernel']}`", str(k["launches"]), f"{k['us']:.1f}", f"{k['us_each']:.2f}",
             f"{100 * k['us'] / of['us']:.0f}", *(str(k[share]) for share in ("warps", "issue", "fma", "shared"))]
            for k in of["kernels"] if k["us"] > of["us"] / 100]  # fmt: skip
    head = ["kernel", "launches", "µs", "µs each", "% of the time", "warps %", "issue %", "fma %", "shared %"]
    return of_commit(markdown(head, rows), name)


def samples():
    """The activity of warps in the two kernels of a block, by ncu's samples of instructions."""
    rows = [[f"`{r['kernel']}`", r["part"], f"{float(r['samples']):.0f}", r["waiting"]]
            for r in bench("h200/samples.csv")[1]]  # fmt: skip
    return markdown(["kernel", "part", "% of the samples", "waiting above all for"], rows)


def variants(name):
    (about,), rows = bench(f"h200/{name}.csv")
    found = {}
    for r in rows:
        what = f"{r['encoding']} {r['positions']} {r['length']}+{r['length']}, {r['matmul']}"
        found.setdefault(what, {})[r["program"]] = mean(float(r[f"{turn}_300_steps"]) for turn in ("first", "next"))
    programs = list(next(iter(found.values())))
    cells = [[what, *(f"{ms[p]:.3f}" for p in programs)] for what, ms in found.items()]
    return [*markdown(["ms a step", *programs], cells), "", f"Measured: {about}."]


def population():
    """Eight runs one after the other, and as one population."""
    steps = {r["at_once"]: r["steps"] for r in stage("population")["rows"]}
    return [f"- One run at a time: {steps[1]:,} steps a second. Eight at a time: {steps[8]:,}, "
            f"{steps[8] / steps[1]:.1f} times as many. Commit {stage('population')['commit']}."]  # fmt: skip


def tested():
    """Test cases, and the four tools of compute-sanitizer; memcheck was run again later."""
    tests = stage("tests")
    bad = [r for r in tests["rows"] if r["status"] != "ok"]
    lines = [f"- All {len(by('case', tests['rows']))} test cases of CUDA, commit {tests['commit']}: {len(bad)} failed."]
    last = {tool: (rows, of["commit"]) for of in map(stage, ("sanitize", "memcheck"))
            for tool, rows in by("tool", of["rows"]).items()}  # fmt: skip
    for tool, (rows, commit) in last.items():
        count = [r["status"] for r in rows].count
        late = f"; {count('not run')} did not end in time" * bool(count("not run"))
        lines.append(f"- `compute-sanitizer --tool {tool}`, commit {commit}: {count('ok')} of {len(rows)} runs ended "
                     f"without an error{late}.")  # fmt: skip
    return lines

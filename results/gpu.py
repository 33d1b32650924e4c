"""Tables of docs/gpu-measured.md, from what `./dev cuda-test` left on a GPU: bench/results/h200/."""

import csv
import json
import re

from query import ROOT

MEASURED = ROOT / "bench/results/h200"
PEERS = {"torch": "PyTorch", "torch compiled": "compiled", "torch graph": "compiled, a step as one graph", "jax": "JAX"}


def rows_of(stage):
    """(status or figure, what, details) of each line of a stage's table, and its commit."""
    head, *lines = (MEASURED / f"{stage}.txt").read_text().splitlines()
    rows = [re.fullmatch(r" *(ok|FAILED|not run|[\d.]+x [\d.]+x|\d+)  (\S.*?)(?:  (\S.*))?", line) for line in lines]
    return [m.groups("") for m in rows if m], head.split(", ")[2]


def table(head, rows):
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(cells)} |" for cells in rows)]


def rates():
    """Steps a second, encoder blocks as one kernel and op by op, and with products on tensor cores."""
    rows, commit = rows_of("rates")
    found = {}
    for figure, what, _ in rows:
        if m := re.fullmatch(r"steps/s, batch 128, (\w+ \w+) (\d+\+\d+)(?:, (.+))?", what):
            found.setdefault(m[1], {})[m[2], m[3] or "fused"] = figure
    columns = [(size, form) for size in ("20+20", "40+40") for form in ("fused", "op by op", "tf32x3", "tf32", "bf16")]
    head = ["encoding"] + [f"{size} {form}".replace(" fused", "") for size, form in columns]
    lines = table(head, [[name, *(forms.get(c, "") for c in columns)] for name, forms in found.items()])
    return [*lines, "", f"Commit {commit}."]


SPEEDS = [900, 800, 600, 400, 200, 0]   # steps a second, at least, of the schemes in a row of the table


def schemes():
    """Which schemes have how many steps a second."""
    rows, commit = rows_of("schemes")
    found = [(int(figure), re.fullmatch(r"steps/s, batch 128, (\w+) .*", what)[1])
             for figure, what, _ in rows if figure.isdigit()]
    lines = []
    for least, above in zip(SPEEDS, [None, *SPEEDS]):
        some = sorted(((n, name) for n, name in found if n >= least and (above is None or n < above)), reverse=True)
        bounds = f"{least} and more" if above is None else f"{least} to {above}" if least else f"less than {above}"
        lines.append([bounds, ", ".join(f"{name} {n}" for n, name in some)])
    return [*table(["steps a second", "schemes"], lines), "", f"Commit {commit}."]


def resample():
    """A step with positions that are drawn for each sequence, beside one whose sequences share them."""
    lines = (MEASURED / "resample.csv").read_text().splitlines()[1:]
    ms = {}
    for r in csv.DictReader(lines):
        ms.setdefault(r["encoding"], {}).setdefault((r["resample"], r["program"]), []).append(float(r["ms"]))
    columns = list(dict.fromkeys(key for of_one in ms.values() for key in of_one))
    head = ["encoding"] + [f"`{how}`, {commit}" for how, commit in columns]
    return table(head, [[name, *(", ".join(f"{x:.1f}" for x in of_one.get(c, [])) or "–" for c in columns)]
                        for name, of_one in ms.items()])  # fmt: skip


def peers():
    rows = []
    for path in sorted(MEASURED.glob("*.json")):
        whole = json.loads(path.read_text())
        for r in whole["results"]:
            ms = [f"{r['sides'][n]['median_ms']:.2f}" if n in r["sides"] else "failed" if n in r["failed"] else "–"
                  for n in ("poslab", *PEERS)]  # fmt: skip
            what = f"{r['encoding']}, {r['positions']}, {r['size']}"
            rows.append([what, whole["precision"], *ms, f"**{r['ratio']:.2f}**", whole["commit"]])
    return table(["encoding", "products", "poslab", *PEERS.values(), "ratio to the fastest", "commit"], rows)


def profile(name):
    """What ncu counted of a step, kernels of at least a hundredth."""
    about, *lines = (MEASURED / f"{name}.txt").read_text().splitlines()
    words = [line.removeprefix("unnamed>::").rsplit(maxsplit=8) for line in lines if line.startswith("unnamed>")]
    total = float(re.search(r"launches, (\d+) us of kernels", lines[0])[1])   # also of those that are not listed
    most = [w for w in words if float(w[2]) > total / 100]
    rows = [[f"`{w[0]}`", *w[1:4], f"{100 * float(w[2]) / total:.0f}", *w[5:]] for w in most]
    head = ["kernel", "launches", "µs", "µs each", "% of the time", "warps %", "issue %", "fma %", "shared %"]
    lines = table(head, rows)
    return [*lines, "", f"Commit {about.split(', ')[2]}."]


def samples():
    """What the warps of the two kernels of a block were doing, by ncu's samples of single instructions."""
    lines = (MEASURED / "samples.csv").read_text().splitlines()
    rows = [[f"`{r['kernel']}`", r["part"], f"{float(r['samples']):.0f}", r["waiting"]] for r in csv.DictReader(lines)]
    return table(["kernel", "part", "% of the samples", "waiting above all for"], rows)


def variants(name):
    about, *lines = (MEASURED / f"{name}.csv").read_text().splitlines()
    found = {}
    for r in csv.DictReader(lines):
        what = f"{r['encoding']} {r['positions']} {r['length']}+{r['length']}, {r['matmul']}"
        found.setdefault(what, {})[r["program"]] = (float(r["first_300_steps"]) + float(r["next_300_steps"])) / 2
    programs = list(next(iter(found.values())))
    rows = [[what, *(f"{ms[p]:.3f}" for p in programs)] for what, ms in found.items()]
    return [*table(["ms a step", *programs], rows), "", f"Measured: {about.removeprefix('# ')}."]


def population():
    """Eight trainings one after the other, and as one population."""
    rows, commit = rows_of("population")
    figures = {what.rsplit(", ", 1)[1]: int(figure) for figure, what, _ in rows}
    one, all_at_once = figures["1 at a time"], figures["8 at a time"]
    return [f"- One at a time: {one:,} steps a second. Eight at a time: {all_at_once:,}, "
            f"{all_at_once / one:.1f} times as many. Commit {commit}."]  # fmt: skip


def naive():
    rows, commit = rows_of("naive")
    lines = []
    for _, what, details in rows:
        if m := re.match(r"us: forward naive (\S+), fast (\S+); backward naive (\S+), fast (\S+); ", details):
            forward, fast, backward, fast_back = map(float, m.groups())
            lines.append([what.removeprefix("naive/fast, "), f"{forward:,.1f}", f"{fast:,.1f}", f"{forward / fast:.1f}",
                          f"{backward:,.1f}", f"{fast_back:,.1f}", f"{backward / fast_back:.1f}"])  # fmt: skip
    head = ["kernel and case", "forward: naive, µs", "fast", "times", "backward: naive, µs", "fast", "times"]
    return [*table(head, lines), "", f"Commit {commit}."]


def tested():
    """Test cases, and the four tools of compute-sanitizer."""
    rows, commit = rows_of("tests")
    cases = {re.sub(r", \d/\d$", "", what) for _, what, _ in rows}
    bad = [what for status, what, _ in rows if status != "ok"]
    lines = [f"- All {len(cases)} test cases of CUDA, commit {commit}: {len(bad)} failed."]
    last = {}
    for stage in ("sanitize", "memcheck"):   # memcheck was there again, later
        rows, commit = rows_of(stage)
        for tool in dict.fromkeys(what.split(",")[0] for _, what, _ in rows):
            last[tool] = [status for status, what, _ in rows if what.startswith(tool)], commit
    for tool, (runs, commit) in last.items():
        late = runs.count("not run")
        lines.append(f"- `compute-sanitizer --tool {tool}`, commit {commit}: {runs.count('ok')} of {len(runs)} runs "
                     "ended, without an error" + f"; {late} had no time" * bool(late) + ".")  # fmt: skip
    return lines


TABLES = {
    "tested": tested, "rates": rates, "peers": peers, "profile": lambda: profile("kernels"), "samples": samples,
    "variants": lambda: variants("variants"), "population": population,
    "profile-randomized": lambda: profile("kernels-randomized"), "variants-randomized": lambda: variants("randomized"),
    "naive": naive, "schemes": schemes, "resample": resample, "variants-pairs": lambda: variants("pairs"),
    "profile-shaw": lambda: profile("kernels-shaw"),
}  # fmt: skip

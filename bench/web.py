#!/usr/bin/env python3
"""Compares the page that trains (docs/web.md), in headless Chromium, with the program (AVX2 kernels, one thread), in
steps a second: the same model on the same strings, in turns. Fails if the page is slower than 0.4 of the program.

usage: ./dev bench web [--turns N] [--steps N]

The engine runs in a Worker of the page itself, with the page's own code for it. Like the program, it begins anew in
each turn, and both end with the same loss. Speed is measured by the clock and by processor time, which depends less on
other programs: all time of the program, and that of all threads of the page. If nothing is uncommitted, the results are
kept in bench/results/web.csv, and results/readme.py --write puts them into docs/web.md.
"""

import json
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

from command import commit, parser, processor

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/web"))
from visitor import Page, browser  # noqa: E402

LEAST = 0.4
MODEL = {"preset": "tiny", "task": "bucket_sort", "encoding": "rope", "positions": "randomized", "seed": 1}
ENGINES = {"relaxed": "wasm-relaxed", "plain": "wasm"}  # {engine: the id of its element in the page}

# A Worker of the page for each engine: ask(engine, call, ...parts)
START = """(async engines => {
  const held = id => document.getElementById(id).textContent, workers = {};
  for (const [engine, id] of Object.entries(engines)) {
    const bytes = Uint8Array.from(atob(held(id)), c => c.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    workers[engine] = new Worker(URL.createObjectURL(new Blob([held('worker')], {type: 'text/javascript'})));
    window.ask = (engine, call, ...parts) => new Promise((done, failed) => {
      workers[engine].onmessage = ({data}) => 'error' in data ? failed(new Error(data.error)) : done(data.value);
      workers[engine].postMessage({id: 0, call, parts});
    });
    await ask(engine, 'start', await WebAssembly.compile(await new Response(unpacked).arrayBuffer()));
  }
})(%s)"""
# [steps a second, the last loss, the program's line for the same model]
TURN = """(async (engine, model, steps) => {
  const {command} = await ask(engine, 'train_new', model), began = performance.now();
  const {loss} = (await ask(engine, 'step', steps)).at(-1);
  return [1000 * steps / (performance.now() - began), loss, command];
})(%s, %s, %d)"""


def program_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def page_seconds(page):
    """Processor seconds of the browser's processes that show pages."""
    session, page._session = page._session, None            # the browser's session, not the page's
    processes = page.call("SystemInfo.getProcessInfo")["processInfo"]
    page._session = session
    return sum(one["cpuTime"] for one in processes if one["type"] == "renderer")


def native(command, steps):
    """Runs the program, which times its training itself."""
    with tempfile.TemporaryDirectory() as folder:
        words = shlex.split(command)[1:-2]                 # without its name and --out
        words += ["--steps", str(steps), "--threads", "1", "--log-every", "1", "--eval-lengths", "1:1",
                  "--eval-samples", "1", "--out", f"{folder}/run"]
        subprocess.run([ROOT / "build/release/poslab", *words], check=True, capture_output=True,
                       env={**os.environ, "POSLAB_ISA": "avx2"})
        run = pathlib.Path(folder, "run")
        last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
        return json.loads((run / "result.json").read_text())["steps_per_second"], last["loss"]


def main():
    options = parser(__doc__)
    options.add_argument("--turns", type=int, default=30)
    options.add_argument("--steps", type=int, default=50, help="of each turn")
    options = options.parse_args()
    if not browser.program:
        sys.exit("there is no chromium; ./dev test web installs it, or with Debian: apt install chromium")
    rows, load = [], 0.0
    with Page(str(ROOT / "build/web/past-the-edge.html")) as page:
        page.show()
        version = page.call("Browser.getVersion")["product"].replace("/", " ")
        page.run(START % json.dumps(ENGINES))
        for turn in range(options.turns + 1):              # the first run compiles: WebAssembly is optimized as it runs
            for engine in ENGINES:
                before = page_seconds(page), program_seconds()
                ours, loss, command = page.run(TURN % (json.dumps(engine), json.dumps(MODEL), options.steps))
                theirs, native_loss = native(command, options.steps)
                spent = page_seconds(page) - before[0], program_seconds() - before[1]
                if abs(loss - native_loss) > 1e-3:
                    sys.exit(f"after {options.steps} steps the page's loss is {loss}, the program's {native_loss}")
                if turn:
                    rows.append((turn, engine, ours, theirs, *(1000 * one / options.steps for one in spent)))
            load = max(load, os.getloadavg()[0])
    where = f"{processor()}; {len(os.sched_getaffinity(0))} cores; load up to {load:.1f}; {version}"
    print(f"{where}\n{command} --threads 1; AVX2 kernels")
    shares = {}
    for engine in ENGINES:
        turns = [row[2:] for row in rows if row[1] == engine]
        ours, theirs, page_ms, program_ms = (statistics.median(side) for side in zip(*turns, strict=True))
        shares[engine] = statistics.median(turn[0] / turn[1] for turn in turns)
        print(f"{engine:8} {ours:6.1f} steps a second, the program {theirs:6.1f}: {shares[engine]:.2f} of it in the "
              f"median of the turns; {page_ms:.1f} and {program_ms:.1f} ms of processor time a step")
    if (here := commit()) and not here.endswith("-dirty"):
        lines = [f"# {where}", f"# {command} --threads 1; commit {here}; {time.strftime('%Y-%m-%d', time.gmtime())}",
                 "turn,engine,page_steps_a_second,avx2_steps_a_second,page_cpu_ms,avx2_cpu_ms"]
        lines += [",".join(f"{x:.2f}" if isinstance(x, float) else str(x) for x in row) for row in rows]
        (ROOT / "bench/results/web.csv").write_text("\n".join(lines) + "\n")
    if shares["relaxed"] < LEAST:
        sys.exit(f"the page's speed is below {LEAST} of the program's")


main()

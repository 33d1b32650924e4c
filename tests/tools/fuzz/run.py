#!/usr/bin/env python3
"""Runs libFuzzer on the targets of tests/tools/fuzz; tools/fuzz calls it when build/fuzz/poslab_fuzz is built.

Inputs that reach new code are kept in build/fuzz/corpus/TARGET and used again. An input that shows a defect is written
to tests/tools/fuzz/found/TARGET, where the tests of every build read it: commit it together with the fix. The table has
the number of inputs tried, seconds of processor time, and the share of the target's source lines that the kept inputs
reach. After a million inputs or more, from a clean commit, it replaces the target's row in bench/results/fuzz.csv, from
which results/readme.py writes the table in docs/testing.md.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "bench"))
from command import commit, keep_row  # noqa: E402

results = root / "bench/results/fuzz.csv"
program, corpora, found = root / "build/fuzz/poslab_fuzz", root / "build/fuzz/corpus", root / "tests/tools/fuzz/found"
tools = "/usr/lib/llvm-19/bin/"
quiet = {**os.environ, "LLVM_PROFILE_FILE": "/dev/null"}


def targets():
    """{target: its sources}, as the program lists them."""
    said = subprocess.run([program], capture_output=True, text=True, check=True, env=quiet)
    return {words[0]: words[1:] for words in map(str.split, said.stdout.splitlines())}


def processor_time():
    """The processor seconds of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fuzz(name, limit):
    """Runs one target up to a limit, which is an option of libFuzzer. Returns its executions, edges and defects."""
    (found / name).mkdir(parents=True, exist_ok=True)
    before = set((found / name).iterdir())
    log = root / f"build/fuzz/{name}.log"
    options = [limit, "-timeout=20", "-rss_limit_mb=3000", "-malloc_limit_mb=1000",
               "-close_fd_mask=1", "-print_final_stats=1", f"-artifact_prefix={found / name}/"]
    with open(log, "wb") as said:
        subprocess.run([program, name, corpora / name, *options], stderr=said, stdout=subprocess.DEVNULL, check=False,
                       env=quiet)
    text = log.read_text(errors="replace")
    runs = re.findall(r"^(?:stat::number_of_executed_units: |#)(\d+)", text, re.M)
    edges = re.findall(r"cov: (\d+)", text)
    new = sorted(set((found / name).iterdir()) - before)
    if not any((found / name).iterdir()):
        (found / name).rmdir()
    return int(runs[-1]) if runs else 0, int(edges[-1]) if edges else 0, new, log


def coverage(name, sources):
    """The percentage of these sources' lines that the kept inputs reach, rounded down."""
    raw, merged = root / f"build/fuzz/{name}.profraw", root / f"build/fuzz/{name}.profdata"
    subprocess.run([program, name, corpora / name, "-runs=0", "-close_fd_mask=1"], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "LLVM_PROFILE_FILE": str(raw)})
    subprocess.run([tools + "llvm-profdata", "merge", "-sparse", raw, "-o", merged], check=True)
    command = [tools + "llvm-cov", "export", program, f"-instr-profile={merged}", "-summary-only"]
    said = subprocess.run(command + sources, capture_output=True, check=True, cwd=root).stdout
    return int(json.loads(said)["data"][0]["totals"]["lines"]["percent"])


def main():
    all_targets = targets()
    parser = argparse.ArgumentParser(prog="tools/fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="*", help=f"one of {', '.join(all_targets)}; all of them, one after the other")
    how_long = parser.add_mutually_exclusive_group()
    how_long.add_argument("--seconds", type=int, default=60, help="how long each target runs (60)")
    how_long.add_argument("--inputs", type=int, help="how many inputs each target tries instead, however long it takes")
    wanted = parser.parse_args()
    for name in wanted.target:
        if name not in all_targets:
            parser.error(f"no target '{name}'; there are {', '.join(all_targets)}")
    corpora.mkdir(exist_ok=True)
    failed, tree = False, commit()
    print("| target | inputs tried | processor time | edges | lines of its sources |")
    print("|---|---|---|---|---|", flush=True)
    for name in wanted.target or all_targets:
        began = processor_time()
        limit = f"-runs={wanted.inputs}" if wanted.inputs else f"-max_total_time={wanted.seconds}"
        runs, edges, new, log = fuzz(name, limit)
        seconds = processor_time() - began
        percent = coverage(name, all_targets[name])
        print(f"| `{name}` | {runs:,} | {seconds:.0f} s | {edges:,} | {percent} % |", flush=True)
        if runs >= 1000000 and not new:
            keep_row(results, {"target": name, "inputs": runs, "seconds": round(seconds), "edges": edges,
                               "lines": percent}, tree)
        for path in new:
            failed = True
            print(f"found {path.relative_to(root)}: see {log.relative_to(root)}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

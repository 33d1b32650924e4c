#!/usr/bin/env python3
"""Training steps a second of poslab beside PyTorch, interleaved in one session. Standard library only.

First both sides compute loss, logits and all gradients of one batch from equal weights, and must agree; then each
takes a turn of a few steps while the other waits, A B, B A, A B, ..., so that both meet the same weather. Times are
medians over all steps.

    bench/steps.py                                              # six encodings, sequential and randomized
    bench/steps.py --encoding rope --positions randomized       # one of them
"""

import argparse
import array
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENCODINGS = ["none", "sincos", "learned", "relative", "alibi", "rope"]


class Side:
    """A program that answers each line with a line of JSON: bench/steps.cpp says which."""

    def __init__(self, command, threads):
        # OPENBLAS_CORETYPE would let OpenBLAS run kernels of another processor.
        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"} | {
            "OMP_NUM_THREADS": str(threads)
        }
        self.command = [str(word) for word in command]
        self.program = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.hello = self.answer()
        self.ms = []

    def answer(self):
        line = self.program.stdout.readline()
        if not line:
            sys.exit(f"bench: {' '.join(self.command)} ended with status {self.program.wait()}")
        return json.loads(line)

    def ask(self, line):
        self.program.stdin.write(line + "\n")
        self.program.stdin.flush()
        return self.answer()

    def tensors(self, folder):
        path = pathlib.Path(folder) / "tensors"
        sizes = self.ask(f"check {path}")["tensors"]
        values = array.array("f", path.read_bytes())
        found = {}
        for name, size in sizes:
            found[name], values = values[:size], values[size:]
        return found

    def close(self):
        self.program.stdin.close()
        self.program.wait()


def check(ours, peer):
    """|a - b| / |b| of loss, logits and each gradient, over all entries. Stops if more than rounding differs."""
    with tempfile.TemporaryDirectory() as folder:
        a, b = ours.tensors(folder), peer.tensors(folder)
    if a.keys() != b.keys():
        sys.exit(f"bench: the two sides have different tensors: {sorted(a.keys() ^ b.keys())}")
    errors = {}
    for name in a:
        if len(a[name]) != len(b[name]):
            sys.exit(f"bench: {name} has {len(a[name])} entries here and {len(b[name])} there")
        errors[name] = math.dist(a[name], b[name]) / math.hypot(*b[name])
        # Of millions of ReLU inputs a few are 0 but for rounding; where the sides differ on the sign, a gradient loses
        # or gains the share of one token in thousands. tests/reference/ holds gradients to 1e-4, with no input so near.
        if not errors[name] <= (1e-4 if name in ("loss", "logits") else 1e-3):
            sys.exit(f"bench: the two sides do not compute the same: {name} differs by {errors[name]:.1e} of its norm")
    where = max(errors, key=errors.get)
    return {"worst": errors[where], "where": where, "tensors": len(a), "numbers": sum(map(len, a.values()))}


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def measure(encoding, positions, options):
    common = [
        "--encoding",
        encoding,
        "--positions",
        positions,
        "--length",
        options.length,
        "--batch",
        options.batch,
        "--threads",
        options.threads,
    ]
    ours = Side([options.program, "steps", "--task", options.task, *common], options.threads)
    sizes = [
        word
        for key in ("outputs", "symbols_in", "symbols_out")
        for word in ("--" + key.replace("_", "-"), ours.hello[key])
    ]
    peer = Side(
        [options.python, ROOT / "bench/peers/torch_train.py", "--serve", *common, *sizes, *options.peer.split()],
        options.threads,
    )
    agreement = check(ours, peer)
    for side in (ours, peer):
        side.ask("steps 5")  # warm: memory, threads, compiled code
    end, turn = time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        for side in (ours, peer) if turn % 2 == 0 else (peer, ours):
            time.sleep(0.02)  # the other side's threads stop spinning
            side.ms += side.ask(f"steps {options.turn}")["ms"]
        turn += 1
    for side in (ours, peer):
        side.close()
    a, b = statistics.median(ours.ms), statistics.median(peer.ms)
    return {
        "encoding": encoding,
        "positions": positions,
        "agreement": agreement,
        "poslab_ms": a,
        "torch_ms": b,
        "ratio": b / a,
        "poslab": ours.hello | {"ms": ours.ms},
        "torch": peer.hello | {"ms": peer.ms},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--encoding", action="append", choices=ENCODINGS, help="may be repeated; default: all")
    parser.add_argument("--positions", action="append", choices=["sequential", "randomized"], help="default: both")
    parser.add_argument("--task", default="reverse_string", help="default: as many output slots as input symbols")
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="of both sides; default: all cores"
    )
    parser.add_argument("--seconds", type=float, default=10, help="for each pair")
    parser.add_argument("--turn", type=int, default=3, help="steps in one turn")
    parser.add_argument("--program", default=ROOT / "build/release/poslab_bench")
    parser.add_argument(
        "--python", default=ROOT / ".venv/bin/python", help="one that has torch; tests/reference/venv.sh makes it"
    )
    parser.add_argument(
        "--peer", default="", help="more options for the peer, such as '--compile' or '--attention plain'"
    )
    parser.add_argument("--out", help="a JSON file with all times")
    options = parser.parse_args()
    for path, remedy in (
        (options.program, "build the target poslab_bench"),
        (options.python, "run tests/reference/venv.sh"),
    ):
        if not pathlib.Path(path).exists():
            parser.error(f"{path} is not there; {remedy}")

    results = []
    for encoding in options.encoding or ENCODINGS:
        for positions in options.positions or ["sequential", "randomized"]:
            if encoding == "none" and positions == "randomized" and not options.positions:
                continue  # nothing reads them
            r = measure(encoding, positions, options)
            if not results:
                p, t = r["poslab"], r["torch"]
                print(
                    f"{processor()}, {options.threads} threads, load {os.getloadavg()[0]:.1f}; batch {options.batch}, "
                    f"{options.length} + {p['outputs']} slots; {p['program']} ({p['isa']}, {p['blas']}) against "
                    f"{t['program']} ({t['isa']}, {t['blas']})"
                )
                print(
                    f"{'encoding':10} {'positions':11} {'poslab ms':>10} {'torch ms':>9} {'steps/s':>8} "
                    f"{'faster by':>9} {'steps':>11}  equal to"
                )
            results.append(r)
            print(
                f"{encoding:10} {positions:11} {r['poslab_ms']:10.2f} {r['torch_ms']:9.2f} {1e3 / r['poslab_ms']:8.1f} "
                f"{r['ratio']:8.2f}x {len(r['poslab']['ms']):5}/{len(r['torch']['ms']):<5}  "
                f"{r['agreement']['worst']:.0e}",
                flush=True,
            )
    mean = math.exp(statistics.mean(math.log(r["ratio"]) for r in results))
    print(f"geometric mean of the ratios: {mean:.2f}x")
    if options.out:
        whole = {
            "cpu": processor(),
            "threads": options.threads,
            "batch": options.batch,
            "length": options.length,
            "task": options.task,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "results": results,
        }
        part = pathlib.Path(options.out + ".partial")
        part.write_text(json.dumps(whole, indent=1))
        part.replace(options.out)


if __name__ == "__main__":
    main()

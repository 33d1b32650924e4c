#!/usr/bin/env python3
"""Tokens a second that poslab writes, beside transformers with the same checkpoint: ./dev bench generate.

The checkpoint is a random LLaMA of the size of poslab's decoder, 6 layers of width 256, in float32; transformers writes
it. All sides read 32 tokens and write the 256 most probable ones behind them, and must write the same. Then they take
turns, A B C, C B A, ..., each alone on the cores while the others are stopped.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import compare
import table
from sides import COMPILED, ROOT, Ended, Side

PEER = ROOT / "bench/peers/transformers_generate.py"
PEERS = {"transformers": [], "transformers static": ["--static"]}


def parse():
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=compare.numbers, default=sorted({1, min(2, cores)}), help="default: 1,2")
    parser.add_argument("--size", default="32+256", help="tokens of the prompt, and behind it; default: 32+256")
    parser.add_argument("--seconds", type=float, default=60, help="of turns, at least 3 rounds")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=list(PEERS), help=", ".join(PEERS))
    parser.add_argument("--program", default=ROOT / "build/release/poslab_bench")
    parser.add_argument("--python", default=ROOT / ".venv-huggingface/bin/python", help="has transformers")
    parser.add_argument("--out", help="a JSON file with all times")
    options = parser.parse_args()
    options.task = "generate"
    if unknown := set(options.peers) - set(PEERS):
        parser.error(f"no peer {', '.join(unknown)}; there are {', '.join(PEERS)}")
    for path, remedy in ((options.program, "build the target poslab_bench"), (options.python, "run ./dev huggingface")):
        if not pathlib.Path(path).exists():
            parser.error(f"{path} is not there; {remedy}")
    return options


def commands(options, checkpoint, threads):
    yield "poslab", [options.program, "generate", "--hf", checkpoint, "--threads", threads]
    for name in options.peers:
        yield name, [options.python, PEER, checkpoint, "--threads", threads, *PEERS[name]]


def measure(options, checkpoint, threads):
    sides, texts, failed = [], {}, {}
    try:
        for name, command in commands(options, checkpoint, threads):
            try:
                begin = time.monotonic()
                side = Side(name, command, threads)
                sides.append(side)
                texts[name] = side.ask(f"write {options.size}")["tokens"]
                side.hello["warm_seconds"] = time.monotonic() - begin
                side.pin()
            except (Ended, BrokenPipeError) as e:
                if name == "poslab":
                    raise
                failed[name] = str(e)
                sides = [side for side in sides if side.name != name or side.close()]
        differ = [name for name, text in texts.items() if text != texts["poslab"]]
        if differ:
            sys.exit(f"{', '.join(differ)} and poslab write different tokens; nothing was timed")
        end, turn = time.monotonic() + options.seconds, 0
        while turn < 3 or time.monotonic() < end:
            for side in sides if turn % 2 == 0 else sides[::-1]:
                side.turn("write", [options.size])
            turn += 1
        told = {side.name: table.told(side) for side in sides}
    finally:
        for side in sides:
            side.close()
    return {
        "what": "generate",
        "size": options.size,
        "threads": threads,
        "load": os.getloadavg()[0],
        "failed": failed,
        "sides": told,
        **table.compare(told),
    }


def main():
    options, results = parse(), []
    read, written = map(int, options.size.split("+"))
    print(f"{compare.processor()}, load {os.getloadavg()[0]:.1f}; {written} tokens behind {read}, greedy", flush=True)
    with tempfile.TemporaryDirectory() as checkpoint:
        subprocess.run([options.python, PEER, checkpoint, "--write"], check=True, stdout=subprocess.DEVNULL)
        COMPILED.mkdir(parents=True, exist_ok=True)
        for threads in options.threads:
            r = measure(options, checkpoint, threads)
            results.append(r)
            rates = [f"{name} {1e3 * written / s['median_ms']:.0f}" for name, s in r["sides"].items()]
            print(f"{threads} threads, tokens a second: {', '.join(rates)}; the same tokens; ratio to the fastest "
                  f"{r.get('ratio', float('nan')):.2f}x", flush=True)  # fmt: skip
            for name, why in r["failed"].items():
                print(f"  {name} failed: {why}")
            if options.out:
                compare.save(options.out, options, results)


if __name__ == "__main__":
    main()

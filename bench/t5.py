#!/usr/bin/env python3
"""Time and peak memory of a T5's encoder, beside transformers with the same checkpoint: ./dev bench t5.

The checkpoint is a random T5 of the size of T5-small in float32; transformers writes it. All sides read the same tokens
and must give the same states, to 1e-4 of their norm. Then they take turns, A B C, C B A, ..., each alone on the cores
while the others are stopped. Peak memory is that of the whole process, libraries and weights included.
"""

import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import compare
import table
from sides import ROOT, Side

PEER = ROOT / "bench/peers/transformers_t5.py"
PEERS = {"transformers": [], "transformers eager": ["--eager"]}


def parse():
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=compare.numbers, default=sorted({1, min(2, cores)}), help="default: 1,2")
    parser.add_argument("--lengths", type=compare.numbers, default=[512, 4096], help="tokens; default: 512,4096")
    parser.add_argument("--seconds", type=float, default=30, help="of turns for each length, at least 3 rounds")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=list(PEERS), help=", ".join(PEERS))
    parser.add_argument("--program", default=ROOT / "build/release/poslab_bench")
    parser.add_argument("--python", default=ROOT / ".venv-huggingface/bin/python", help="has transformers")
    options = parser.parse_args()
    if unknown := set(options.peers) - set(PEERS):
        parser.error(f"no peer {', '.join(unknown)}; there are {', '.join(PEERS)}")
    for path, remedy in ((options.program, "build the target poslab_bench"), (options.python, "run ./dev huggingface")):
        if not pathlib.Path(path).exists():
            parser.error(f"{path} is not there; {remedy}")
    return options


def measure(options, checkpoint, threads, length):
    sides = []
    try:
        sides.append(Side("poslab", [options.program, "t5", "--hf", checkpoint, "--threads", threads], threads))
        for name in options.peers:
            words = [options.python, PEER, checkpoint, "--threads", threads, *PEERS[name]]
            sides.append(Side(name, words, threads))
        states = [side.ask(f"encode {length}")["states"] for side in sides]
        for side, theirs in zip(sides[1:], states[1:], strict=True):
            if not math.dist(states[0], theirs) <= 1e-4 * math.hypot(*theirs):
                sys.exit(f"{side.name} and poslab give different states of {length} tokens; nothing was timed")
        for side in sides:
            side.pin()
        end, turn = time.monotonic() + options.seconds, 0
        while turn < 3 or time.monotonic() < end:
            for side in sides if turn % 2 == 0 else sides[::-1]:
                side.turn("encode", [str(length)])
            turn += 1
        # Processor time tells more than the clock where other programs run beside.
        return {side.name: table.told(side) | {"cpu_ms": side.cpu_ms / len(side.ms)} for side in sides}
    finally:
        for side in sides:
            side.close()


def main():
    options = parse()
    print(f"{compare.processor()}, load {os.getloadavg()[0]:.1f}; a T5-small's encoder, batch 1", flush=True)
    with tempfile.TemporaryDirectory() as checkpoint:
        subprocess.run([options.python, PEER, checkpoint, "--write"], check=True, stdout=subprocess.DEVNULL)
        for threads in options.threads:
            for length in options.lengths:
                told = measure(options, checkpoint, threads, length)
                ours = told["poslab"]
                print(f"{threads} threads, {length} tokens, {len(ours['ms'])} rounds, {ours['isa']}")
                for name, side in told.items():
                    of_ours = {what: side[what] / ours[what] for what in ("median_ms", "cpu_ms", "peak_mb")}
                    print(f"  {name:20} median {side['median_ms']:8.1f} ms, least {min(side['ms']):8.1f}, of "
                          f"processors {side['cpu_ms']:8.1f}, peak {side['peak_mb']:6.0f} MB; of poslab's "
                          f"{of_ours['median_ms']:5.2f}x the time, {of_ours['cpu_ms']:5.2f}x that of processors, "
                          f"{of_ours['peak_mb']:5.2f}x the memory  ({side['program']})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()

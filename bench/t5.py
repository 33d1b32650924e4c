#!/usr/bin/env python3
"""Compares poslab with transformers on the same T5 checkpoint, in time and peak memory of its encoder: ./dev bench t5.

The checkpoint is a random T5 of the size of T5-small; transformers writes it. All sides read the same tokens and must
give the same states, to 1e-4 of their norm; in bf16, within 5e-2 of poslab's in fp32. Then they take turns, A B C,
C B A, ..., each alone on the cores while the others are stopped. Peak memory is that of the whole process, libraries
and weights included.
"""

import math
import os
import sys

import checkpoint
import command
import table
from sides import COMPILED, PRECISIONS, Side, take_turns

PEERS = {
    "transformers": ["transformers"],
    "transformers eager": ["transformers", "--eager"],
    "transformers compiled": ["transformers", "--compile"],
    "jax": ["jax"],
}


def parse():
    parser = checkpoint.parser(__doc__, PEERS, "turns for each length", seconds=30)
    parser.add_argument("--lengths", type=command.numbers, default=[512, 4096], help="tokens; default: 512,4096")
    parser.add_argument("--out", help="a JSON file with all times")
    return checkpoint.parse(parser, PEERS)


def measure(options, folder, threads, length):
    sides = []
    try:
        for name, words in checkpoint.commands(options, "t5", PEERS, folder, threads):
            sides.append(Side(name, words, threads))
        states = {side.name: side.ask(f"encode {length}")["states"] for side in sides}
        exact, most = states.get(checkpoint.FP32, states["poslab"]), PRECISIONS[options.precision][1]
        off = {name: math.dist(exact, theirs) / math.hypot(*exact) for name, theirs in states.items()}
        if far := [f"{name} by {off[name]:.1e}" for name in off if not off[name] <= most]:
            sys.exit(f"states of {length} tokens are not poslab's ({', '.join(far)} of the norm); nothing was timed")
        for side in sides:
            side.pin()
        take_turns(sides, options.seconds, "encode", [str(length)])
        # While other programs run, processor time is more reliable than the clock.
        return {side.name: table.summary(side) | {"cpu_ms": side.cpu_ms / len(side.ms)} for side in sides}
    finally:
        for side in sides:
            side.close()


def main():
    options, results = parse(), []
    COMPILED.mkdir(parents=True, exist_ok=True)
    print(f"{command.processor()}, load {os.getloadavg()[0]:.1f}; a T5-small's encoder, batch 1", flush=True)
    with checkpoint.written(options, "t5") as folder:
        for threads in options.threads:
            for length in options.lengths:
                found = measure(options, folder, threads, length)
                ours = found["poslab"]
                print(f"{threads} threads, {length} tokens, {len(ours['ms'])} rounds, {ours['isa']}")
                for name, side in found.items():
                    of_ours = {what: side[what] / ours[what] for what in ("median_ms", "cpu_ms", "peak_mb")}
                    print(f"  {name:20} median {side['median_ms']:8.1f} ms, least {min(side['ms']):8.1f}, of "
                          f"processors {side['cpu_ms']:8.1f}, peak {side['peak_mb']:6.0f} MB; of poslab's "
                          f"{of_ours['median_ms']:5.2f}x the time, {of_ours['cpu_ms']:5.2f}x that of processors, "
                          f"{of_ours['peak_mb']:5.2f}x the memory  ({side['program']})", flush=True)  # fmt: skip
                work = {"what": "t5", "size": str(length), "threads": threads, "load": os.getloadavg()[0]}
                results.append(work | checkpoint.result(found))
                if options.out:
                    command.save(options.out, "t5", results, precision=options.precision)


if __name__ == "__main__":
    command.run(main)

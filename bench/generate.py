#!/usr/bin/env python3
"""Compares poslab with transformers on the same checkpoint, in generated tokens a second: ./dev bench generate.

The checkpoint is a random LLaMA of the size of poslab's decoder, 6 layers of width 256; transformers writes it. All
sides read 32 tokens, continue them greedily by 256, and must generate the same tokens. In bf16 rounding may decide near
ties differently; there the logits after the prompt must be within 5 % of poslab's in fp32. Then the sides take turns, A
B C, C B A, ..., each alone on the cores while the others are stopped.
"""

import math
import os
import sys
import time

import checkpoint
import command
import table
from sides import COMPILED, PRECISIONS, Ended, Side, take_turns

PEERS = {"transformers": ["transformers"], "transformers static": ["transformers", "--static"], "jax": ["jax"]}


def parse():
    parser = checkpoint.parser(__doc__, PEERS, "turns", seconds=60)
    parser.add_argument("--size", default="32+256", help="tokens of the prompt + generated tokens; default: 32+256")
    parser.add_argument("--out", help="a JSON file with all times")
    return checkpoint.parse(parser, PEERS)


def measure(options, folder, threads):
    sides, said, failed = [], {}, {}
    try:
        for name, words in checkpoint.commands(options, "generate", PEERS, folder, threads):
            try:
                begin = time.monotonic()
                side = Side(name, words, threads)
                sides.append(side)
                said[name] = side.ask(f"write {options.size}")
                side.hello["warm_seconds"] = time.monotonic() - begin
                side.pin()
            except (Ended, BrokenPipeError) as e:
                if name.startswith("poslab"):
                    raise
                failed[name] = str(e)
                sides = [side for side in sides if side.name != name or side.close()]
        if options.precision == "fp32":
            if differ := [name for name, of in said.items() if of["tokens"] != said["poslab"]["tokens"]]:
                sys.exit(f"{', '.join(differ)} and poslab generate different tokens; nothing was timed")
        else:
            exact, most = said[checkpoint.FP32]["logits"], PRECISIONS[options.precision][1]
            off = {name: math.dist(of["logits"], exact) / math.hypot(*exact) for name, of in said.items()}
            if far := [f"{name} by {off[name]:.1e}" for name in off if not off[name] <= most]:
                sys.exit(f"logits differ from poslab's in fp32 ({', '.join(far)} of their norm); nothing was timed")
        take_turns(sides, options.seconds, "write", [options.size])
        summaries = {side.name: table.summary(side) for side in sides}
    finally:
        for side in sides:
            side.close()
    return {
        "what": "generate",
        "size": options.size,
        "threads": threads,
        "load": os.getloadavg()[0],
        "failed": failed,
        **checkpoint.result(summaries),
    }


def main():
    options, results = parse(), []
    read, written = map(int, options.size.split("+"))
    print(f"{command.processor()}, load {os.getloadavg()[0]:.1f}; {written} tokens after {read}, greedy", flush=True)
    with checkpoint.written(options, "generate") as folder:
        COMPILED.mkdir(parents=True, exist_ok=True)
        for threads in options.threads:
            r = measure(options, folder, threads)
            results.append(r)
            rates = [f"{name} {1e3 * written / s['median_ms']:.0f}" for name, s in r["sides"].items()]
            print(f"{threads} threads, tokens a second: {', '.join(rates)}; ratio to the fastest "
                  f"{r.get('ratio', float('nan')):.2f}x", flush=True)  # fmt: skip
            for name, why in r["failed"].items():
                print(f"  {name} failed: {why}")
            if options.out:
                command.save(options.out, "generate", results, precision=options.precision)


if __name__ == "__main__":
    command.run(main)

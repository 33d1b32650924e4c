#!/usr/bin/env python3
"""Tokens a second that poslab writes, beside transformers with the same checkpoint: ./dev bench generate.

The checkpoint is a random LLaMA of the size of poslab's decoder, 6 layers of width 256, in float32; transformers writes
it. All sides read 32 tokens and write the 256 most probable ones behind them, and must write the same. Then they take
turns, A B C, C B A, ..., each alone on the cores while the others are stopped.
"""

import os
import sys
import time

import checkpoint
import command
import table
from sides import COMPILED, Ended, Side, take_turns

PEERS = {"transformers": [], "transformers static": ["--static"]}


def parse():
    parser = checkpoint.parser(__doc__, PEERS, "turns", seconds=60)
    parser.add_argument("--size", default="32+256", help="tokens of the prompt, and behind it; default: 32+256")
    parser.add_argument("--out", help="a JSON file with all times")
    return checkpoint.parse(parser, PEERS)


def measure(options, folder, threads):
    sides, texts, failed = [], {}, {}
    try:
        for name, words in checkpoint.commands(options, "generate", PEERS, folder, threads):
            try:
                begin = time.monotonic()
                side = Side(name, words, threads)
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
        take_turns(sides, options.seconds, "write", [options.size])
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
    print(f"{command.processor()}, load {os.getloadavg()[0]:.1f}; {written} tokens behind {read}, greedy", flush=True)
    with checkpoint.written(options, "generate") as folder:
        COMPILED.mkdir(parents=True, exist_ok=True)
        for threads in options.threads:
            r = measure(options, folder, threads)
            results.append(r)
            rates = [f"{name} {1e3 * written / s['median_ms']:.0f}" for name, s in r["sides"].items()]
            print(f"{threads} threads, tokens a second: {', '.join(rates)}; the same tokens; ratio to the fastest "
                  f"{r.get('ratio', float('nan')):.2f}x", flush=True)  # fmt: skip
            for name, why in r["failed"].items():
                print(f"  {name} failed: {why}")
            if options.out:
                command.save(options.out, "generate", results)


if __name__ == "__main__":
    command.run(main)

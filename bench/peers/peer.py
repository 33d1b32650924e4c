"""The common part of the peers of bench/compare.py: their options, their random data, and their commands. A peer is a
class with `hello`, `warm`, `step`, `evaluate` and `tensors`, as in torch_base.py and jax_base.py. All draw data with
NumPy. Leaves out: tasks (targets are random, as the time of a step does not depend on them), per-layer and per-sequence
positions. bench/serve.h, poslab's side, explains the lines."""

import argparse
import json
import os
import pathlib
import sys
import time
from typing import NamedTuple

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/reference"))
sys.path.append(str(ROOT / "python/poslab"))  # for `import formulas`, which needs no engine
import formula


class Batch(NamedTuple):
    tokens: np.ndarray  # (B, T) int32: inputs, then as many "empty" tokens as the answer has
    positions: np.ndarray  # float32: (T), of tokens; or (2T - 1), offsets for j - i = 1 - T .. T - 1
    targets: np.ndarray  # (B, O) int32


def parse(about, encodings=("none", "sincos", "learned", "relative", "alibi", "rope")):
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.add_argument("--encoding", default="none", choices=encodings)
    parser.add_argument("--positions", default="sequential", choices=["sequential", "randomized"])
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--symbols-in", type=int, default=3, help="'empty' included")
    parser.add_argument("--symbols-out", type=int, default=2)
    parser.add_argument("--max-position", type=int, default=2048)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"], help="of the factors of products")
    parser.add_argument("--form", default="faster", help="of attention; 'faster': the winner of a trial of a few steps")
    parser.add_argument("--compile", action="store_true", help="torch.compile")
    parser.add_argument("--dynamic", action="store_true", help="torch.compile once for all lengths")
    options = parser.parse_args()
    # Sequential offsets, and random ones for ALiBi, are one table: pairs with the same j - i share an entry. With
    # random positions `relative` reads true differences. Both follow the paper's text (spec A.2).
    options.offsets = options.encoding in ("relative", "alibi") and (
        options.positions == "sequential" or options.encoding == "alibi"
    )
    options.differences = options.encoding == "relative" and not options.offsets
    return options


def sizes(words):
    """ "20+20" is 20 input symbols and 20 output slots."""
    return [tuple(map(int, word.split("+"))) for word in words]


class Data:
    def __init__(self, options):
        self.o, self.random = options, np.random.default_rng(1)

    def positions(self, slots):
        o = self.o
        if o.positions == "sequential":
            return np.arange(1 - slots if o.offsets else 0, slots, dtype=np.float32)
        if o.offsets:
            right = 1 + np.sort(self.random.permutation(o.max_position - 1)[: slots - 1]).astype(np.float32)
            return np.concatenate([-right[::-1], [np.float32(0)], right])
        return np.sort(self.random.permutation(o.max_position)[:slots]).astype(np.float32)

    def with_empty(self, symbols, outputs):
        empty = np.full((self.o.batch, outputs), self.o.symbols_in - 1, np.int32)
        return np.concatenate([symbols.reshape(self.o.batch, -1).astype(np.int32), empty], 1)

    def batch(self, length, outputs):
        o = self.o
        symbols = self.random.integers(0, o.symbols_in - 1, (o.batch, length), np.int32)
        targets = self.random.integers(0, o.symbols_out, (o.batch, outputs), np.int32)
        return Batch(self.with_empty(symbols, outputs), self.positions(length + outputs), targets)

    def check(self, length, outputs):
        """The batch that poslab's side has too, from tests/support/formula.h."""
        o, slots = self.o, length + outputs
        symbols = formula.integers("check.tokens", o.batch * length, o.symbols_in - 1)
        targets = formula.integers("check.targets", o.batch * outputs, o.symbols_out).reshape(o.batch, -1)
        positions = self.positions(slots)
        if o.positions == "randomized":
            positions = formula.increasing("check.positions", slots).astype(np.float32)
            positions = np.minimum(positions, o.max_position - slots + np.arange(slots, dtype=np.float32))
            if o.offsets:
                right = 1 + positions[:-1]
                positions = np.concatenate([-right[::-1], [np.float32(0)], right])
        return Batch(self.with_empty(symbols, outputs), positions, targets.astype(np.int32))


def weight(name, *shape):
    """The weight that poslab's side has too, from tests/support/formula.h."""
    return formula.weight(name, int(np.prod(shape))).reshape(shape).astype(np.float32)


def timed(run, batch_sizes, data):
    """The milliseconds to draw and run a batch, for each size, and the last result, a number. A GPU runs steps while
    the next ones are prepared, so there each step counts an equal share of the whole time."""
    times, begin, shared = [], time.perf_counter(), data.o.device != "cpu"
    for length, outputs in batch_sizes:
        start = time.perf_counter()
        last = run(data.batch(length, outputs))
        if not shared:
            last = float(last)
        times.append(1e3 * (time.perf_counter() - start))
    last = float(last)
    if shared:
        times = [1e3 * (time.perf_counter() - begin) / len(times)] * len(times)
    return times, last


def faster(forms, milliseconds):
    """The name of the fastest of several implementations. A child process tries them, so that they do not add to our
    peak memory. A fork does not copy threads, so before this call nothing may have run on several threads."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        best = min(forms, key=milliseconds)
        os.write(write, best.encode())
        os._exit(0)
    os.close(write)
    best = os.read(read, 100).decode()
    os.waitpid(child, 0)
    return best or sys.exit("the trial of the forms of attention failed")


def say(answer):
    print(json.dumps(answer), flush=True)


def serve(peer, data=None):
    data = data or Data(peer.options)
    say(peer.hello())
    for line in sys.stdin:
        command, *words = line.split()
        if command == "warm":
            say(peer.warm(words[0], sizes(words[1:]), data))
        elif command == "steps":
            times, loss = timed(peer.step, sizes(words), data)
            say({"ms": times, "loss": loss})
        elif command == "eval":
            times, accuracy = timed(peer.evaluate, sizes(words), data)
            say({"ms": times, "accuracy": accuracy})
        elif command == "check":
            what, size, path = words
            tensors = peer.tensors(what, data.check(*sizes([size])[0]))
            with open(path, "wb") as file:
                for _, x in tensors:
                    file.write(np.ascontiguousarray(x, "<f4").tobytes())
            say({"tensors": [[name, int(np.size(x))] for name, x in tensors]})
        else:
            sys.exit(f"unknown line: {line}")

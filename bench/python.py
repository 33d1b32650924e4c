#!/usr/bin/env python3
"""Compares training steps from Python and from the command line, encodings written in Python and their C++ twins, and
the strings of a task in either: ./dev bench python [PRESET] [STEPS] [ROUNDS]. Runs on one thread, in turns, and counts
processor time, because other programs may run."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path

import numpy as np

import poslab as pl

PROGRAM = Path(__file__).parents[1] / "build/release/poslab"
OPTIONS = {"task": "reverse_string", "positions": "randomized", "eval_lengths": "1:1", "eval_samples": 1, "threads": 1}


class OwnNone(pl.Encoding):
    """The twin of `none`."""


class OwnAlibi(pl.Encoding):
    """The twin of alibi:mode=differences."""

    def scores(self, q, k, positions):
        d = (positions[:, None, :] - positions[:, -q.shape[1]:, None]).astype(int)
        most = abs(d).max()
        n = np.arange(-most, most + 1)
        slopes = 2.0 ** (-8 * np.arange(1, self.heads + 1) / self.heads)
        bias = (-abs(n) + 0.5 * (n < 0))[:, None] * slopes
        return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5, bias=bias, pairs=d + most)


class OwnRope(pl.Encoding):
    """The twin of rope, except for the rounding of its angles."""

    def scores(self, q, k, positions):
        angles = positions[:, :, None] * 10000.0 ** (-np.arange(0, self.head_size, 2) / self.head_size)
        return pl.Scores([pl.Piece(pl.rotate(q, angles[:, -q.shape[1]:]), pl.rotate(k, angles))], self.head_size**-0.5)


class OwnPairs(pl.Task):
    """The twin of even_pairs."""

    def answer(self, x):
        return [x[0] != x[-1]]


def tasks(rounds, calls=10):
    """Times a batch of training, and the baselines at one length of a test."""
    pl.set_threads(1)
    twins = pl.tasks.even_pairs, pl.tasks.ownpairs
    for name, call in (("a batch of 128 strings of length 40", lambda task: task.batch(128, length=40)),
                       ("the baselines at length 40", lambda task: task.baselines(40))):
        first, then = (1e3 / calls * min(timeit.repeat(lambda: call(task), timer=time.process_time, number=calls,
                                                       repeat=rounds)) for task in twins)
        print(f"even_pairs in C++, then in Python: {name}: {first:.3f} and {then:.3f} ms")


def spent(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def in_python(encoding, options, folder):
    before = spent(resource.RUSAGE_SELF)
    pl.train(encoding=encoding, out=folder, progress=False, **options)
    return spent(resource.RUSAGE_SELF) - before


def on_command_line(encoding, options, folder):
    words = [w for name, value in options.items() for w in ("--" + name.replace("_", "-"), str(value))]
    before = spent(resource.RUSAGE_CHILDREN)
    subprocess.run([PROGRAM, "train", "--encoding", str(encoding), "--out", folder, *words], check=True,
                   capture_output=True)
    return spent(resource.RUSAGE_CHILDREN) - before


def main(preset="tiny", steps="100", rounds="8"):
    options = {**OPTIONS, "preset": preset, "steps": int(steps)}
    e = pl.encodings
    pairs = {"the program, then Python": ((on_command_line, e.rope), (in_python, e.rope))}
    for own, twin in ((OwnNone, e.none), (OwnAlibi, e.alibi(mode="differences")), (OwnRope, e.rope)):
        pairs[f"{twin} in C++, then in Python"] = ((in_python, twin), (in_python, own))
    about = pl.about()
    print(f"preset {preset}, one thread, {about['isa']}, {steps} steps, {rounds} runs of each in turn")
    for name, sides in pairs.items():
        took = ([], [])
        for n in range(int(rounds)):
            for side in (0, 1) if n % 2 == 0 else (1, 0):
                run, encoding = sides[side]
                with tempfile.TemporaryDirectory() as folder:
                    took[side].append(1e3 * run(encoding, options, os.path.join(folder, "run")) / int(steps))
        first, then = map(min, took)
        middle = statistics.median(took[1]) / statistics.median(took[0])
        print(f"{name}: {first:.2f} and {then:.2f} ms a step, {then / first:.3f} times as long; "
              f"by medians {middle:.3f}", flush=True)
    tasks(int(rounds))


if __name__ == "__main__":
    main(*sys.argv[1:])

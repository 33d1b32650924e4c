#!/usr/bin/env python3
"""Compares poslab with PyTorch (eager and compiled) and JAX in one run: training steps, evaluation and memory.

For each configuration all sides start and compute loss, logits and all gradients of one batch from equal weights. They
must agree: a side that disagrees is named and left out of all ratios, and the exit status is 1. Then the sides take
turns of a few steps, A B C D, D C B A, ..., each alone on the cores while the others are stopped, so that conditions
are the same for all. Large products take turns, too, and give the ceiling. Needs only the standard library.

    bench/compare.py                       # everything: training at 20+20 and 40+40, evaluation at 500+500
    bench/compare.py --quick               # three encodings at 20+20 slots
    bench/compare.py --schemes             # the most used schemes, compared with none and with PyTorch, at 20+20 slots
    bench/compare.py --decoder             # the causal decoder: 6 layers of width 256, windows of 256 tokens, batch 16
    bench/compare.py --decoder --sizes 12,768,12,2048 --length 4096 --batch 4 --encoding rerope:window=512
    bench/compare.py --encoding rope --positions randomized --length 40 --threads 2
    bench/compare.py --scaling             # poslab alone: a step with one thread and with more, in turns
    bench/compare.py --device cuda --precision tf32        # on a GPU, where products may round to TF32
    bench/compare.py --precision bf16 --positions sequential      # products of bf16 factors, and poslab's in fp32
    bench/compare.py --example             # how long the example preset takes: mixed lengths, extrapolated to its steps
"""

import os
import statistics
import sys
import time

import command
import table
from sides import (
    ON_GPU,
    PEERS,
    PRECISIONS,
    REROPE,
    ROOT,
    Disagree,
    Ended,
    Side,
    agreement,
    built,
    start_ours,
    start_peer,
    take_turns,
    turns,
)

ENCODINGS = ["none", "sincos", "learned", "relative", "alibi", "rope"]
SCHEMES = [*ENCODINGS, "t5", "shaw", "kerple", "fire", "cope", "xpos", "yarn", "partial_rope"]
EXAMPLE = {"task": "even_pairs", "batch": 128, "steps": 10001}


class Configuration:
    """All sides of one line of the table."""

    def __init__(self, options, task, batch, threads, encoding, positions, more=()):
        self.options, self.batch, self.sides, self.failed = options, batch, [], {}
        self.agreed, self.disagreed = {}, {}
        self.beside = {}  # poslab with other settings, in the same turns
        self.ceiling, self.ceiling_rates = None, []
        try:
            self.start(task, (batch, threads, encoding, positions), more)
        except BaseException:  # the started sides are paused, and would never end
            self.close()
            raise

    def start(self, task, wish, more):
        options, (batch, threads, encoding, positions) = self.options, wish
        self.ours = start_ours(options, task, *wish)
        self.sides.append(self.ours)
        for name in options.peers:
            flags = more if name == "torch compiled" else ()
            if peer := self.attempt(name, lambda: start_peer(name, options, self.ours, *wish, flags)):  # type: ignore
                self.sides.append(peer)
        if options.schemes and encoding != "none":
            self.beside["none"] = start_ours(options, task, batch, threads, "none", positions)
        if options.cublas:
            by_library = lambda: start_ours(options, task, *wish, products="cublas")  # type: ignore[misc]
            if side := self.attempt("poslab cublas", by_library):
                self.beside["cublas"] = side
        if options.precision == "bf16":
            self.beside["fp32"] = start_ours(options, task, *wish, precision="fp32")  # type: ignore[misc]
        if options.device == "cpu":
            self.ceiling = Side("ceiling", [options.program, "ceiling", "--threads", threads], threads)

    def attempt(self, name, act):
        """The result of act(). None if a peer exits: it is then left out. An exit of poslab itself is raised."""
        try:
            return act()
        except (Ended, BrokenPipeError) as e:
            if name == "poslab":
                raise
            self.failed[name] = str(e)
            self.sides = [side for side in self.sides if side.name != name or side.close()]

    def agree(self, what, size):
        """Compares all sides with poslab, or with poslab in fp32 if factors are bf16."""
        mine = self.beside.get("fp32", self.ours).tensors(what, size)
        for peer in self.sides if "fp32" in self.beside else self.sides[1:]:
            theirs = self.attempt(peer.name, lambda: peer.tensors(what, size))
            if not theirs:
                continue
            try:
                self.agreed[peer.name] = agreement(mine, theirs, peer.name, PRECISIONS[self.options.precision][1])
            except Disagree as e:
                self.disagreed[peer.name] = str(e)

    def warm(self, what, sizes):
        for side in list(self.sides):
            start = time.monotonic()
            said = self.attempt(side.name, lambda: side.ask(f"warm {what} {' '.join(sizes)}"))
            if said is not None:
                side.hello |= {"warm_seconds": time.monotonic() - start}
                side.hello |= {k: v for k, v in said.items() if k == "form"}
                side.pin()
        for side in self.beside.values():
            side.ask(f"warm {what} {' '.join(sizes)}")
            side.pin()
        if self.ceiling:
            self.ceiling.ask("ceiling")
            self.ceiling.pin()

    def take_turns(self, turn, what, sizes):
        order = self.all()
        for side in order if turn % 2 == 0 else order[::-1]:
            if side is self.ceiling:
                self.ceiling_rates.append(side.ask("ceiling"))
            else:
                side.turn(what, sizes)

    def all(self):
        return [*self.sides, *self.beside.values(), *filter(None, [self.ceiling])]

    def close(self):
        for side in self.all():
            side.close()

    def result(self):
        sides = {side.name: table.summary(side) for side in self.sides}
        kinds = {}
        if self.ceiling:
            kinds = {kind: statistics.median(r[kind] for r in self.ceiling_rates) for kind in ("blas", "ours")}
        return {
            "batch": self.batch,
            "load": os.getloadavg()[0],
            "agreement": self.agreed,
            "failed": self.failed,
            "disagreed": self.disagreed,
            "ceiling_gflops": kinds,
            "sides": sides,
            **table.compare(sides, self.disagreed),
            **{f"{form}_ms": statistics.median(side.ms) for form, side in self.beside.items()},
            **{f"times_{form}": table.times(side.ms, self.ours.ms) for form, side in self.beside.items()},
        }


def measure(options, what, length, threads, encoding, positions):
    verb, batch = ("steps", options.batch) if what == "train" else ("eval", options.eval_batch)
    c = Configuration(options, options.task, batch, threads, encoding, positions)
    try:
        size = c.ours.ask(f"size {length}")["size"]
        steps = 1 if what == "eval" else 3 if options.device == "cpu" else 5 if options.decoder else 200
        c.warm(verb, [size] * steps)
        c.agree(verb, size)
        for turn in turns(options.seconds):
            c.take_turns(turn, verb, [size] * steps)
        r = {"what": what, "size": size, "threads": threads, "encoding": encoding, "positions": positions, **c.result()}
    finally:
        c.close()
    flop = table.decoder_flop if options.decoder else table.encoder_flop
    work = flop(what, batch, *map(int, size.split("+")), encoding, c.ours.hello)  # type: ignore
    rate = work / r["sides"]["poslab"]["median_ms"] / 1e6
    ceiling = max(r["ceiling_gflops"].values(), default=c.ours.hello["peak_gflops"])
    return r | {"gflop": work / 1e9, "share_of_ceiling": rate / ceiling if ceiling else None}


def example(options, threads, encoding, positions):
    """The mean time of the first steps of the example preset's curriculum, extrapolated to all its steps."""
    task, batch = EXAMPLE["task"], EXAMPLE["batch"]
    # For 40 lengths torch would compile 40 times for a minute: --dynamic compiles once for all lengths.
    c = Configuration(options, task, batch, threads, encoding, positions, ["--dynamic"])
    try:
        sizes = c.ours.ask(f"lengths {options.example_steps}")["sizes"]
        c.warm("steps", sorted(set(sizes)))
        c.agree("steps", max(sizes))
        for turn, first in enumerate(range(0, len(sizes), 10)):
            c.take_turns(turn, "steps", sizes[first : first + 10])
        r = {"what": "example", "task": task, "threads": threads, "encoding": encoding, "positions": positions}
        r |= c.result()
    finally:
        c.close()
    print(f"example preset, {task}, {encoding} {positions}, {threads} threads: {EXAMPLE['steps']:,} steps,")
    print(f"from the mean of {len(sizes)} steps at lengths 1 .. 40")
    for name, side in r["sides"].items():
        side["example_seconds"] = statistics.mean(side["ms"]) * EXAMPLE["steps"] / 1e3
        minutes = side["example_seconds"] / 60
        print(f"  {name:15} {minutes:7.1f} min, and {side['warm_seconds']:.0f} s to compile and warm")
    peers = [side["example_seconds"] for name, side in r["sides"].items() if name not in ("poslab", *r["disagreed"])]
    if peers:
        r["ratio"] = min(peers) / r["sides"]["poslab"]["example_seconds"]
        print(f"  ratio to the fastest peer {r['ratio']:.2f}x", flush=True)
    for words in r["disagreed"].values():
        print(f"  {words}; it counts in no ratio", flush=True)
    return r


def scaling(options, length, encoding, positions):
    """The speedup of poslab with more threads: the same step with each number of threads, in turns."""
    sides = []
    try:
        for n in options.threads:
            sides.append(start_ours(options, options.task, options.batch, n, encoding, positions))
        size = sides[0].ask(f"size {length}")["size"]
        for side in sides:
            side.ask(f"warm steps {size} {size} {size}")
            side.pin()
        take_turns(sides, options.seconds, "steps", [size] * 3)
        ms = {side.threads: statistics.median(side.ms) for side in sides}
    finally:
        for side in sides:
            side.close()
    times = "".join(f"{n} threads {x:8.2f} ms   " if n > 1 else f"1 thread {x:8.2f} ms   " for n, x in ms.items())
    print(f"{size:>7} {encoding:8} {positions:10} {times}{ms[min(ms)] / ms[max(ms)]:.2f}x", flush=True)
    return {
        "what": "scaling",
        "size": size,
        "encoding": encoding,
        "positions": positions,
        "batch": options.batch,
        "median_ms": ms,
    }


def parse():
    cores = len(os.sched_getaffinity(0))
    all_threads = sorted({1, min(2, cores), cores})
    numbers, names = command.numbers, command.names
    parser = command.parser(__doc__)
    parser.add_argument("--encoding", action="append", help="may be repeated; default: the first six")
    parser.add_argument("--positions", action="append", choices=["sequential", "randomized"], help="default: both")
    parser.add_argument("--what", type=names, default=["train", "eval"], help="train,eval")
    parser.add_argument("--length", type=numbers, help="of training inputs; default: 20,40; for the decoder 256")
    parser.add_argument("--eval-length", type=numbers, default=[500])
    parser.add_argument("--threads", type=numbers, default=all_threads, help="for each side; default: 1, 2, all cores")
    parser.add_argument("--task", default="reverse_string", help="default: as many output slots as input symbols")
    parser.add_argument("--batch", type=int, help="default: 128; for the decoder 16")
    parser.add_argument("--eval-batch", type=int, default=8, help="the logits of 1000 slots take 32 MB a sequence")
    parser.add_argument("--seconds", type=float, default=5, help="time for a configuration's turns, at least 3 rounds")
    parser.add_argument("--peers", type=names, help="default: all; jax has only the first six encodings")
    parser.add_argument("--quick", action="store_true", help="none, relative and rope, sequential, 20+20, all cores")
    parser.add_argument("--schemes", action="store_true", help="all schemes, sequential, 20+20, compared with PyTorch")
    parser.add_argument("--decoder", action="store_true", help="the causal decoder with rope, windows of 256 tokens")
    parser.add_argument("--sizes", default="6,256,8,688", help="of the decoder: layers, width, heads, d_ff")
    parser.add_argument("--cublas", action="store_true", help="on a GPU: also poslab with --products cublas")
    parser.add_argument("--example", action="store_true", help="the example preset's wall time instead")
    parser.add_argument("--scaling", action="store_true", help="poslab alone, with each of --threads in turns")
    parser.add_argument("--example-steps", type=int, default=200, help="measured, of 10,001")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--precision", default="fp32", choices=PRECISIONS, help="of all matrix products; tf32 on a GPU")
    parser.add_argument("--program", help="default: poslab_bench of the preset release, or of cuda for --device cuda")
    parser.add_argument("--python", default=ROOT / ".venv/bin/python", help="has torch and jax; bench/venv.sh makes it")
    parser.add_argument("--out", help="a JSON file with all times, written anew after each configuration")
    options = parser.parse_args()
    options.program = options.program or built(options.device)
    if options.device == "cuda" and options.threads == all_threads:
        options.threads = [cores]  # threads only feed the GPU
    rerope = options.decoder and any(name.startswith("rerope:window=") for name in options.encoding or [])
    if unknown := [name for name in options.encoding or [] if name not in SCHEMES and not rerope]:
        parser.error(f"--encoding {', '.join(unknown)}: known are {', '.join(SCHEMES)}; with --decoder, rope and "
                     "rerope:window=N")  # fmt: skip
    known = PEERS | (ON_GPU if options.device == "cuda" else {}) | (REROPE if rerope else {})
    if options.peers is None:
        options.peers = [name for name in known if name != "jax" or not options.schemes]
    if options.precision == "tf32" and options.device == "cpu":
        parser.error("--precision tf32: the CPU has no TF32 products; add --device cuda, or choose fp32 or bf16")
    if others := set(options.what) - {"train", "eval"}:
        parser.error(f"--what {', '.join(others)}: known are train and eval")
    command.check(parser, options, known, "run bench/venv.sh")
    if options.scaling:
        options.what, options.peers = ["train"], []
    if options.quick:
        options.encoding, options.positions = options.encoding or ["none", "relative", "rope"], ["sequential"]
        options.what, options.length, options.threads = ["train"], [20], [max(options.threads)]
    if options.decoder:
        options.encoding, options.positions = options.encoding or ["rope"], ["sequential"]
        options.what, options.length = ["train"], options.length or [256]
    options.length = options.length or [20, 40]
    options.batch = options.batch or (16 if options.decoder else 128)
    if options.schemes:
        options.encoding, options.positions = options.encoding or SCHEMES, ["sequential"]
        options.what, options.length = ["train"], [20]
    return options


def configurations(options):
    for what in options.what:
        for length in options.length if what == "train" else options.eval_length:
            for threads in options.threads:
                for encoding in options.encoding or ENCODINGS:
                    for positions in options.positions or ["sequential", "randomized"]:
                        if encoding != "none" or positions == "sequential" or options.positions:  # `none` has none
                            yield what, length, threads, encoding, positions


def main():
    options, results = parse(), []
    print(f"{command.processor()}, load {os.getloadavg()[0]:.1f}", flush=True)
    if options.example:
        for threads in options.threads:
            for encoding in options.encoding or ["relative"]:
                for positions in options.positions or ["randomized"]:
                    results.append(example(options, threads, encoding, positions))
                    if options.out:
                        command.save(options.out, options.task, results, options.program, precision=options.precision)
        return
    if options.scaling:
        every = dict.fromkeys((length, *rest) for _, length, _, *rest in configurations(options))
        for length, encoding, positions in every:
            results.append(scaling(options, length, encoding, positions))
            if options.out:
                command.save(options.out, options.task, results, options.program, precision=options.precision)
        return
    wanted = list(configurations(options))
    minutes = len(wanted) * (options.seconds + 28) / 60
    print(f"{len(wanted)} configurations, each {options.seconds:.0f} s of turns, and 28 s to start, agree and compile:")
    print(f"{minutes:.0f} minutes, or less if torch has compiled some of it before")
    for number, wish in enumerate(wanted, 1):
        if sys.stderr.isatty():
            print(f"{number} of {len(wanted)}: {' '.join(map(str, wish))}", end="\033[K\r", file=sys.stderr, flush=True)
        r = measure(options, *wish)
        results.append(r)
        if number == 1:
            for name, side in r["sides"].items():
                print(f"{name}: {side['program']} ({side['isa']}, {side['blas']})")
            print(table.heading(options.peers))
        print(table.row(r, options.peers), flush=True)
        for name, words in r["failed"].items():
            print(f"      {name} failed: {words.splitlines()[-1] if words else 'without a message'}", flush=True)
        for words in r["disagreed"].values():
            print(f"      {words}; it counts in no ratio", flush=True)
        if options.out:
            command.save(options.out, options.task, results, options.program, precision=options.precision)
    print("\n".join(table.scaling(results)))
    bad = sum(len(r["disagreed"]) for r in results)
    if bad:
        sys.exit(f"bench: peers disagreed with poslab {bad} times, see above")


if __name__ == "__main__":
    command.run(main)

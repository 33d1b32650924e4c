"""Starts the compared programs, checks that they agree, and pauses each while another has its turn."""

import array
import json
import math
import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PEERS = {"torch": ["torch"], "torch compiled": ["torch", "--compile"], "jax": ["jax"]}  # bench/peers/NAME_MODEL.py
ON_GPU = {"torch graph": ["torch_graph", "--compile"]}  # an additional peer on a GPU
# An additional peer for ReRoPE in the decoder; the other peers compute both matrices of logits in full.
REROPE = {"torch flex": ["torch", "--form", "flex", "--compile"]}
# For each rounding of products: first the environment variables with which peers on a GPU allow TF32 or not (JAX has
# its own); then how far a side's loss and logits may be from poslab's, relative to their norm. Gradients may differ ten
# times as much. TF32 rounds to 11 bits, an error of 5e-4 in each product. bf16 rounds to 8: all sides, poslab's bf16
# too, are compared with poslab's fp32, and after the decoder's six layers logits are off by nearly 3e-2.
FULL = {"JAX_DEFAULT_MATMUL_PRECISION": "highest", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "0"}
PRECISIONS = {
    "fp32": (FULL, 1e-4),
    "tf32": ({"JAX_DEFAULT_MATMUL_PRECISION": "tensorfloat32", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1"}, 1e-2),
    "bf16": (FULL, 5e-2),
}
SHARE_OF_MEMORY = ".2"  # share of the GPU's memory for JAX, whose default is three quarters
# Compiled models are kept here: the first comparison compiles for minutes, later ones read them.
COMPILED = ROOT / "build/torch_compiled"
CAUSAL = ["cope", "xpos"]  # schemes that need a causal mask; all sides use one
PATIENCE = 600  # seconds for an answer: XLA compiles 40 lengths in two minutes


def built(device):
    """The path of the program that the device's preset builds."""
    return ROOT / ("build/release" if device == "cpu" else "build/cuda") / "poslab_bench"


class Ended(Exception):
    """A side has exited; the text is its last output."""


class Disagree(Exception):
    """Two sides compute different results; the text names them."""


class Side:
    """A program that answers each line with a command by a line of JSON (bench/serve.h). It is paused in between."""

    def __init__(self, name, command, threads, more_environment=()):
        # OPENBLAS_CORETYPE would make OpenBLAS run the kernels of another processor.
        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
        environment |= {"OMP_NUM_THREADS": str(threads), "TORCHINDUCTOR_CACHE_DIR": str(COMPILED)}
        environment |= dict(more_environment)
        self.name, self.threads, self.errors = name, threads, tempfile.TemporaryFile("w+")
        self.ms, self.cpu_ms, self.asked_ms = [], 0.0, 0.0
        self.program = subprocess.Popen(
            [str(word) for word in command], cwd=ROOT, env=environment, text=True, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
        )  # fmt: skip
        try:
            self.hello = self.answer()
        except BaseException:
            self.close()
            raise
        self.idle_mb = self.peak_mb()
        self.stand_still()

    def answer(self):
        if not select.select([self.program.stdout], [], [], PATIENCE)[0]:
            os.killpg(self.program.pid, signal.SIGKILL)
        line = self.program.stdout.readline()
        if line:
            return json.loads(line)
        status = self.program.wait()
        self.errors.seek(0)
        raise Ended(f"{self.name} ended with status {status}: {self.errors.read()[-1500:].strip()}")

    def ask(self, line):
        os.killpg(self.program.pid, signal.SIGCONT)
        self.program.stdin.write(line + "\n")
        self.program.stdin.flush()
        answer = self.answer()
        self.stand_still()
        return answer

    def stand_still(self):
        os.killpg(self.program.pid, signal.SIGSTOP)

    def turn(self, what, sizes):
        """Runs steps, and counts their time."""
        before = self.used_ms()
        ms = self.ask(f"{what} {' '.join(sizes)}")["ms"]
        self.ms += ms
        self.cpu_ms += self.used_ms() - before
        self.asked_ms += sum(ms)

    def pin(self):
        """Pins the process and its helper threads to as many cores as the side has threads."""
        cores = sorted(os.sched_getaffinity(0))[: self.threads]
        for task in pathlib.Path(f"/proc/{self.program.pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), cores)

    def used_ms(self):
        """Processor time so far, of all threads."""
        fields = pathlib.Path(f"/proc/{self.program.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return 1e3 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mb(self):
        """The peak of the process's resident memory, including libraries."""
        status = pathlib.Path(f"/proc/{self.program.pid}/status").read_text()
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))

    def tensors(self, what, size):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tensors"
            sizes = self.ask(f"check {what} {size} {path}")["tensors"]
            values = array.array("f", path.read_bytes())
        found, at = {}, 0
        for name, count in sizes:
            found[name] = values[at : at + count]
            at += count
        return found

    def close(self):
        if self.program.poll() is None:
            os.killpg(self.program.pid, signal.SIGKILL)
        self.program.wait()
        for stream in (self.program.stdin, self.program.stdout, self.errors):
            stream.close()


def turns(seconds):
    """Yields 0, 1, 2, ... until the time is over, but at least three numbers."""
    end, turn = time.monotonic() + seconds, 0
    while turn < 3 or time.monotonic() < end:
        yield turn
        turn += 1


def take_turns(sides, seconds, what, sizes):
    """The sides take turns: A B C, C B A, ..."""
    for turn in turns(seconds):
        for side in sides if turn % 2 == 0 else sides[::-1]:
            side.turn(what, sizes)


def start_ours(options, task, batch, threads, encoding, positions, precision=None, products=None):
    words = ["--batch", batch, "--encoding", encoding, "--threads", threads]
    words += ["--matmul", precision or options.precision, "--device", options.device]
    if products:
        words += ["--products", products]
    if options.decoder:
        words += ["--decoder", "--sizes", options.sizes]
    else:
        words += ["--task", task, "--positions", positions]
        words += ["--causal", "true"] if encoding in CAUSAL else []
    return Side("poslab", [options.program, "serve", *words], threads)


def start_peer(name, options, ours, batch, threads, encoding, positions, more=()):
    words = ["--batch", batch, "--encoding", encoding, "--positions", positions, "--threads", threads]
    for key in ("symbols_in", "symbols_out"):
        words += ["--" + key.replace("_", "-"), ours.hello[key]]
    words += ["--device", options.device, "--precision", "bf16" if options.precision == "bf16" else "fp32"]
    library, *own = (PEERS | ON_GPU | REROPE)[name]
    script = ROOT / f"bench/peers/{library}_{'decoder' if options.decoder else 'encoder'}.py"
    there = {"DECODER_SIZES": options.sizes} if options.decoder else {}
    if options.device == "cuda":
        there |= PRECISIONS[options.precision][0] | {"XLA_PYTHON_CLIENT_MEM_FRACTION": SHARE_OF_MEMORY}
    return Side(name, [options.python, script, *own, *words, *more], threads, there)


def agreement(ours, theirs, peer, most=PRECISIONS["fp32"][1]):
    """|a - b| / |b| of loss, logits and each gradient, over all entries. Raises Disagree if it is more than rounding
    explains: above `most` for loss and logits, above ten times that for a gradient."""
    if ours.keys() != theirs.keys():
        raise Disagree(f"{peer} and poslab have different tensors: {sorted(ours.keys() ^ theirs.keys())}")
    errors = {}
    for name, a in ours.items():
        b = theirs[name]
        if len(a) != len(b):
            raise Disagree(f"{name} has {len(a)} entries in poslab and {len(b)} in {peer}")
        errors[name] = math.dist(a, b) / math.hypot(*b)
        # Of millions of inputs of a ReLU a few are 0 up to rounding. If the sides differ in such a sign, a gradient
        # gains or loses one token's share of thousands. tests/reference/ checks gradients to 1e-4 without such inputs.
        if not errors[name] <= (most if name in ("loss", "logits") else 10 * most):
            raise Disagree(f"{peer} and poslab disagree: {name} differs by {errors[name]:.1e} of its norm")
    where = max(errors, key=errors.get)
    first = {name: errors[name] for name in ("loss", "logits") if name in errors}
    whole = {"tensors": len(errors), "numbers": sum(map(len, ours.values()))}
    return {**first, "worst": errors[where], "where": where, **whole}

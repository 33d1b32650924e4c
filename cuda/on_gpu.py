#!/usr/bin/env python3
"""tools/cuda-test: tests and measurements on a machine with a GPU. Standard library only; nothing is installed.

    rates       steps a second (encoder blocks of one kernel, op by op, and products on tensor cores), and the kernels
                of one step
    schemes     steps a second of every encoding
    tests       every test case in a process of its own, side by side
    naive       the kernels of cuda/naive compared with the fast ones
    population  eight runs one after the other, and as a population of eight
    sanitize    compute-sanitizer: memcheck, racecheck, synccheck and initcheck, side by side
    bench       steps compared with PyTorch (a step as one graph) and JAX of $PYTHON, in fp32, with TF32 and in bf16
    train       Reverse String with relative positions, sequential and randomized; resumes where it was stopped
    decoder     training steps of decoders, by our products and by cuBLAS, compared with PyTorch (eager, compiled and as
                one graph, with its flash attention) and JAX
    rerope      the same for ReRoPE at 4,096 tokens, compared with FlexAttention too
    t5          a T5's encoder at 2,048 tokens, compared with transformers and JAX
    generate    tokens that a checkpoint writes, compared with transformers and JAX

Without a stage, all twelve run; with DRY=1 in tiny sizes on the CPU, to see that they work. Each ends within 8 minutes
or $STAGE_SECONDS, reports parts it had no time for as `not run`, and prints a table last, even if stopped. Exit status
1 if anything failed or was not run, or if there is no usable GPU. Programs are those of build/cuda, or else of
.bundle/bin (tools/bundle). All output goes to $OUT (runs/cuda-test): STAGE.txt is the table, STAGE.json and STAGE.csv
the same for programs, STAGE.log all output. Results in docs/gpu-measured.md are kept in bench/results/h200/, and
results/readme.py makes that page's tables from them.
"""

import argparse
import json
import os
import re
import shutil
import signal
import sys
import time

import ncu
from peers import bench, decoder, generate, rerope, t5
from stage import AT_ONCE, BUDGET, DEVICE, DRY, OUT, Stage, how_it_ended, tail, tool

RATES = [("none", "sequential"), ("relative", "sequential"), ("relative", "randomized"), ("rope", "sequential"),
         ("learned", "randomized"), ("alibi", "randomized"), ("geometric", "sequential")]  # fmt: skip
ROUNDED = ["tf32x3", "tf32", "bf16"]
OP_BY_OP = {"POSLAB_BLOCK_KERNEL": "1000000"}  # no batch is large enough for encoder blocks of one kernel
SANITIZERS = ["memcheck", "racecheck", "synccheck", "initcheck"]
EVERY_KERNEL = "cuda: every kernel gives what the CPU's gives*"
SANITIZED = [EVERY_KERNEL, "cuda: a recorded step*", "cuda: a model whose blocks*"]


def usable(stage):
    """Whether the program can use a GPU; reports which one, or why not."""
    if DRY:
        stage.note("a dry run on the CPU, whose figures mean nothing")
        return True
    status, said = stage.run([stage.bin / "poslab_bench", "serve", "--device", "cuda"], 60)
    if status == 0:
        stage.note("GPU: " + json.loads(tail(said))["device"])
        if smi := tool("nvidia-smi"):
            query = "driver_version,memory.total,clocks.max.sm,compute_mode"
            stage.note(f"{query}: " + tail(stage.run([smi, f"--query-gpu={query}", "--format=csv,noheader"])[1]))
        return True
    stage.row("a usable GPU", "FAILED", tail(said) or how_it_ended(status))
    return False


def tests(stage, _):
    """Every case in a process of its own, side by side; the long one, every kernel, in shares."""
    program = stage.bin / ("poslab_tests" if DRY else "poslab_cuda_tests")
    listed = stage.run([program, "--list-test-cases"])[1]
    cases = [line for line in listed.splitlines() if line.startswith("cuda: sinusoids" if DRY else "cuda:")]
    if not cases:
        stage.row("test cases", "FAILED", "the test program lists none")
    jobs = []
    for name in cases:
        filter = name.split(",")[0] + "*"  # a comma would begin another filter
        words = [program, f"--test-case={filter}"]
        parts = [f"{n}/{AT_ONCE}" for n in range(1, 1 + AT_ONCE)] if filter == EVERY_KERNEL else ["1/1"]
        jobs += [(name if part == "1/1" else f"{name}, {part}", words, {"POSLAB_SHARE": part}) for part in parts]
    start = time.monotonic()
    for what, status, said in stage.side_by_side(jobs, 200):
        empty = "assertions: 0 " in " ".join(said.split())
        good = status == 0 and not empty
        took = f"after {time.monotonic() - start:.0f} s" + (", no assertion" if empty else "")
        how = "ok" if good else "not run" if status is None else "FAILED"
        case = next(name for name in cases if what in (name, f"{name}, {what.rpartition(', ')[2]}"))
        stage.row(what, how, took if good else f"{took}, {how_it_ended(status)}", case=case)
        worth = ("ERROR", "THREW", "terminate", "what()", "values:", "logged:")
        lines = [line for line in said.splitlines() if line.startswith("Worst") or any(w in line for w in worth)]
        if not good:
            print("\n".join(lines[:25]), flush=True)


def rate(stage, encoding, positions, length, matmul="fp32", environment=(), steps=300, more=(), limit=60):
    length, steps = (3, 1) if DRY else (length, steps)
    size = f"{length}+{length}"
    many = " ".join([size] * steps)
    lines = f"warm steps {' '.join([size] * 5)}\nsteps {many}\nsteps {many}\n"
    words = [stage.bin / "poslab_bench", "serve", "--device", DEVICE, "--encoding", encoding, "--positions", positions]
    words += ["--matmul", matmul, "--threads", min(8, os.cpu_count()), *more]
    what = f"steps/s, batch 128, {encoding} {positions} {size}"
    what += f", {matmul}" * (matmul != "fp32") + ", op by op" * bool(environment) + ", causal" * bool(more)
    if stage.left() < 5:
        return stage.row(what, "not run", "no time left")
    status, said = stage.run(words, limit, environment, lines)
    answers = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    ms = [sum(a["ms"]) / len(a["ms"]) for a in answers if a.get("ms")][1:]
    if status != 0 or not ms:
        return stage.row(what, "FAILED", tail(said))
    loss = f"; loss {answers[-1]['loss']:.4f}"
    form = matmul if matmul != "fp32" else "op by op" if environment else "causal" if more else "fused"
    fields = {"steps": round(1e3 / min(ms)), "encoding": encoding, "positions": positions, "size": size, "form": form}
    stage.row(what, str(fields["steps"]), "ms a step, twice: " + ", ".join(f"{x:.3f}" for x in ms) + loss, **fields)


def kernels_of_a_step(stage, positions):
    what = f"kernels of the last of 3 steps, relative {positions} 40+40"
    program, csv = tool("ncu"), OUT / "launches.csv"
    if not program:
        return stage.row(what, "skipped", "ncu is not installed; it comes with the CUDA toolkit")
    if stage.left() < 10:
        return stage.row(what, "not run", "no time left")
    csv.unlink(missing_ok=True)
    words = [program, *ncu.OPTIONS, "--log-file", csv, stage.bin / "poslab_bench", "serve", "--device", "cuda"]
    words += ["--encoding", "relative", "--positions", positions]
    _, said = stage.run(words, 75, lines="steps 40+40 40+40 40+40\n")
    step = ncu.last_step(csv) if csv.exists() else {}
    stage.row(what, "ok" if step else "FAILED", tail(said))
    if step:
        stage.write(f"kernels-{positions}", step)
        stage.notes += [f"relative {positions} 40+40", *ncu.lines(step)]


def naive_lines(said):
    """The columns of the table that `poslab_bench naive` prints, a tuple of words for each line."""
    line = re.compile(r"(\w+) {2,}(.*?)" + r" +(-?[\d.]+|-?inf|-?nan)" * 6 + r" +(\d\S*|inf)")
    return [m.groups() for m in map(line.fullmatch, said.splitlines()) if m]


def naive(stage, _):
    """A row for each line that `poslab_bench naive` has printed, even if it was stopped."""
    what = "kernels of cuda/naive compared with the fast ones"
    if DRY:
        return stage.row(what, "skipped", "a dry run")
    status, said = stage.run([stage.bin / "poslab_bench", "naive"])
    lines = naive_lines(said)
    for kernel, case, naive, fast, ratio, naive_back, fast_back, ratio_back, off in lines:
        agree = float(off) < 1e-4  # sums in another order are off by much less
        details = f"us: forward naive {naive}, fast {fast}; backward naive {naive_back}, fast {fast_back}; off by {off}"
        fields = {"naive": naive, "fast": fast, "naive_back": naive_back, "fast_back": fast_back}
        stage.row(f"naive/fast, {kernel} {case}", f"{ratio}x {ratio_back}x" if agree else "FAILED", details,
                  case=f"{kernel} {case}", **{name: float(us) for name, us in fields.items()})  # fmt: skip
    if status != 0 or not lines:
        stage.row(what, "not run" if status is None else "FAILED", f"{how_it_ended(status)}; {tail(said)}")


def rates(stage, _):
    for length in (40, 20):
        for encoding, positions in RATES:
            rate(stage, encoding, positions, length)
            if encoding in ("none", "relative"):
                rate(stage, encoding, positions, length, environment=OP_BY_OP)
        for matmul in ROUNDED:
            rate(stage, "relative", "sequential", length, matmul)
    for positions in ("sequential", "randomized"):
        kernels_of_a_step(stage, positions)


def schemes(stage, _):
    listed = stage.run([stage.bin / "poslab", "list", "encodings"])[1]
    for name in re.findall(r"^(\w+) ", listed, re.M):
        refused = stage.run([stage.bin / "poslab_bench", "serve", "--encoding", name])[0] != 0
        rate(stage, name, "sequential", 40, steps=40, more=["--causal", "on"] * refused, limit=20)


def population(stage, _):
    """Wall time of the paper's model trained by eight seeds, one after the other and at once."""
    toml, plan = OUT / "population.toml", OUT / "population.jsonl"
    steps = 1 if DRY else int(os.environ.get("STEPS", "1000"))
    sizes = 'batch = 2\ntrain_length = 3\neval_lengths = "3"\neval_samples = 1\n'
    toml.write_text(f'task = "reverse_string"\nencoding = "relative"\nseeds = 8\nsteps = {steps}\ndevice = "{DEVICE}"\n'
                    + (sizes if DRY else 'eval_lengths = "40"\neval_samples = 64\n'))  # fmt: skip
    words = ["sh", "-c", '"$0" sweep plan "$1" > "$2"', stage.bin / "poslab", toml, plan]
    status, said = stage.run(words)
    if status != 0:
        return stage.row("a plan of eight trials", "FAILED", tail(said))
    for count in (8, 1):
        run = OUT / f"population-{count}"
        shutil.rmtree(run, ignore_errors=True)
        start = time.monotonic()
        status, said = stage.run([stage.bin / "poslab", "sweep", "run", plan, "--out", run, "--population", count])
        seconds = time.monotonic() - start
        what = f"steps/s of eight runs of {steps} steps, relative, {count} at a time"
        rate = round(8 * steps / seconds)
        figure, details = str(rate) if status == 0 else "FAILED", f"{seconds:.1f} s; {tail(said)}"
        stage.row(what, figure, details, at_once=count, steps=rate)


def sanitize(stage, words):
    """The small cases of every kernel in four shares for each tool, and recorded steps replayed, side by side."""
    program = tool("compute-sanitizer")
    if DRY:
        return stage.row("compute-sanitizer", "skipped", "a dry run")
    if not program:
        return stage.row("compute-sanitizer", "FAILED", "it is not installed; it comes with the CUDA toolkit")
    jobs = []
    for name in words or SANITIZERS:
        for case in SANITIZED:
            for n in range(1, 1 + (AT_ONCE if case == EVERY_KERNEL else 1)):
                share = f"{n}/{AT_ONCE}" if case == EVERY_KERNEL else "1/1"
                words = [program, "--tool", name, "--error-exitcode", "9", "--print-limit", "20"]
                words += [stage.bin / "poslab_cuda_tests", f"--test-case={case}"]
                jobs.append((f"{name}, {case}, {share}", words, {"POSLAB_SHARE": share}))
    for what, status, said in stage.side_by_side(jobs, BUDGET):
        errors = [line for line in said.splitlines() if line.startswith("=========") and "SUMMARY:" in line]
        details = tail("\n".join(errors)).strip("= ") or tail(said)
        if status is None:
            stage.row(what, "not run", f"{how_it_ended(status)}; {details}", tool=what.split(",")[0])
        else:
            clean = status == 0 and "| 0 passed" not in said
            details = details if clean else f"{how_it_ended(status)}; {details}"
            stage.row(what, "ok" if clean else "FAILED", details, tool=what.split(",")[0])


def train(stage, words):
    seconds = int(words[0]) if words else 200
    steps, lengths, samples = ("2", "4", "1") if DRY else (os.environ.get("STEPS", "2000000"), "41:500", "64")
    sizes = ["--batch", "2", "--train-length", "3"] if DRY else []
    for positions in ("randomized", "sequential"):
        if stage.left() < 20:
            stage.row(positions, "not run", "no time left")
            continue
        run = OUT / f"reverse-string-{positions}"
        command = ["resume", run] if (run / "config.toml").exists() else [
            "train", "--task", "reverse_string", "--encoding", "relative", "--positions", positions, "--device", DEVICE,
            "--lr", "3e-4", "--steps", steps, "--eval-lengths", lengths, "--eval-samples", samples, *sizes,
            "--checkpoint-every", "5000", "--log-every", "200", "--out", run]  # fmt: skip
        _, said = stage.run([stage.bin / "poslab", *command], min(seconds, stage.left() - 25))
        metrics = run / "metrics.jsonl"
        last = json.loads(tail(metrics.read_text())) if metrics.exists() and metrics.stat().st_size else {}
        if not last:
            stage.row(f"training, {positions}", "FAILED", tail(said))
            continue
        stage.row(f"training, {positions}", f"step {last.get('step', '?')}", json.dumps(last))
        done, said = stage.run([stage.bin / "poslab", "eval", run, "--lengths", "41:42" if DRY else "41:60",
                                "--samples", samples, "--device", DEVICE], 60)  # fmt: skip
        stage.row(f"its accuracy, {positions}", "ok" if done == 0 else "FAILED", tail(said))


STAGES = {f.__name__: f for f in (rates, schemes, tests, naive, population, sanitize, bench, train, decoder, rerope,
                                 t5, generate)}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(prog="tools/cuda-test", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("stage", nargs="?", choices=STAGES, help="default: one after the other")
    parser.add_argument("words", nargs=argparse.REMAINDER, help="train: SECONDS for each of its two runs (200); "
                        "bench: options of bench/compare.py; sanitize: the tools")  # fmt: skip
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(1))
    good = True
    for name in [options.stage] if options.stage else STAGES:
        stage = Stage(name)
        try:
            if there := usable(stage):
                STAGES[name](stage, options.words)
        except SystemExit:
            stage.row("the rest", "not run", "the stage was stopped")
            raise
        finally:
            good = stage.finish() and good
        if not there:
            break
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

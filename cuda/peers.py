"""The stages of cuda/on_gpu.py that compare poslab with PyTorch, transformers and JAX, by the scripts of bench/."""

import json
import os
import shutil
import sys

from stage import DEVICE, DRY, OUT, ROOT, how_it_ended, tail

BESIDE = [("fp32", "relative", "randomized", "40"), ("fp32", "rope", "sequential", "40"),
          ("bf16", "relative", "sequential", "40"), ("fp32", "relative", "sequential", "40"),
          ("fp32", "relative", "sequential", "20"), ("tf32", "relative", "sequential", "40"),
          ("fp32", "none", "sequential", "40"), ("fp32", "relative", "randomized", "20")]  # fmt: skip
REMEMBERS = {"JAX_COMPILATION_CACHE_DIR": str(ROOT / "build/jax_compiled"),
             "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}  # fmt: skip
SMALL, LARGE = ("6,256,8,688", 256, 16), ("12,768,12,2048", 512, 32)  # layers, width, heads, d_ff; tokens; batch
LONG = ("12,768,12,2048", 4096, 1)  # peers that store all logits have no memory for more
DECODERS = [(form, "rope", *size) for size in (LARGE, SMALL) for form in ("bf16", "fp32", "tf32")]
REROPE = [(form, "rerope:window=512", *LONG) for form in ("bf16", "fp32")]
TINY = ("2,32,2,48", 16, 2)
CHECKPOINTS = {"t5": [("2048", ""), ("512", "")], "generate": [("32+256", SMALL[0]), ("32+256", LARGE[0])]}


def compared(stage, precision, path):
    """A row for each configuration that bench/compare.py has written."""
    for r in json.loads(path.read_text())["results"] if path.exists() else []:
        what = f"{precision} {r['encoding']} {r['positions']} {r['size']}, ms a step"
        ms = ", ".join(f"{name} {side['median_ms']:.3f}" for name, side in r["sides"].items())
        wrong = [*r["failed"], *r["disagreed"]]
        details = ms + "".join(f"; {name} failed or disagreed" for name in wrong)
        stage.row(what, "FAILED" if wrong else f"{r.get('ratio', 0):.2f}x", details)


def comparison(stage, script, peers, *more):
    """The words that start a script of bench/."""
    own = ROOT / (".venv" if script == "compare" else ".venv-huggingface") / "bin/python"
    python = shutil.which(os.environ.get("PYTHON") or (own if own.exists() else "python3")) or sys.executable
    if DRY:
        peers = ",".join(sorted({"torch", "jax", "transformers"} & set(peers.split(","))))
    return [python, f"bench/{script}.py", "--device", DEVICE, "--python", python, "--program",
            stage.bin / "poslab_bench", "--threads", min(8, os.cpu_count()), "--peers", peers, *more]  # fmt: skip


def compared_command(stage, wish, more):
    """The command that compares poslab with its peers in one configuration."""
    precision, encoding, positions, length = wish
    if DRY:
        length, more = "3", [*more, "--batch", "4"]
    return comparison(stage, "compare", "torch,jax" if DRY else "torch graph,jax", "--what", "train",
                      "--precision", precision, "--encoding", encoding, "--positions", positions,
                      "--length", length, *more)  # fmt: skip


def sides(stage, path, **about):
    """A row for each side of each configuration that a script of bench/ has written."""
    for r in json.loads(path.read_text())["results"] if path.exists() else []:
        of = ", ".join(map(str, about.values()))
        beside = {form: {"median_ms": r[f"{form}_ms"]} for form in ("cublas", "fp32") if f"{form}_ms" in r}
        for name, side in (r["sides"] | {f"poslab {form}": ms for form, ms in beside.items()}).items():
            wrong = name in r.get("disagreed", {})
            ms = side["median_ms"]
            rate = about["tokens"] * about["batch"] / ms * 1e3
            stage.row(f"{of}, {name}", "FAILED" if wrong else f"{rate:.0f}/s", f"{ms:.3f} ms", side=name, ms=ms,
                      tokens_a_second=round(rate), **about)
        for name, why in r.get("failed", {}).items():
            stage.row(f"{of}, {name}", "FAILED", tail(why), side=name, **about)


def compare_all(stage, commands):
    """Runs each of (name, words, fields) in turn, while there is time."""
    for name, words, about in commands:
        out = OUT / f"{stage.name}-{name}.json"
        if stage.left() < 30:
            stage.row(name, "not run", "no time left")
            continue
        out.unlink(missing_ok=True)
        try:
            status, said = stage.run([*words, "--seconds", 0 if DRY else 2, "--out", out], stage.left() - 5, REMEMBERS)
        finally:  # also when the stage is stopped
            sides(stage, out, **about)
        if status != 0 or not out.exists():
            stage.row(name, "not run" if status is None else "FAILED", tail(said))


def trained(stage, wishes, peers, *words):
    commands = []
    for precision, encoding, sizes, tokens, batch in wishes:
        name = f"{precision}-{encoding.partition(':')[0]}-{sizes.replace(',', '-')}-{tokens}"
        if DRY:
            (sizes, tokens, batch), encoding = TINY, encoding.replace("512", "8")
            if precision == "tf32":
                continue
        about = {"precision": precision, "encoding": encoding, "sizes": sizes, "tokens": tokens, "batch": batch}
        more = ["--decoder", "--precision", precision, "--encoding", encoding, "--sizes", sizes, "--length", tokens,
                "--batch", batch]  # fmt: skip
        commands.append((name, comparison(stage, "compare", peers, *more, *words), about))
    compare_all(stage, commands)


def decoder(stage, words):
    trained(stage, DECODERS, "torch,torch compiled,torch graph,jax", *[] if DRY else ["--cublas"], *words)


def rerope(stage, words):
    trained(stage, REROPE, "torch,torch compiled,torch flex,jax", *words)


def checkpoints(stage, words):
    peers = {"t5": "transformers,transformers compiled,jax", "generate": "transformers,transformers static,jax"}
    commands = []
    for size, sizes in CHECKPOINTS[stage.name]:
        for precision in ("bf16", "fp32"):
            name = "-".join(filter(None, (precision, size, sizes.replace(",", "-"))))
            tokens = int(size.partition("+")[2] or size)
            if DRY:
                size, sizes, tokens = ("4+4", TINY[0], 4) if "+" in size else ("16", "", 16)
            about = {"precision": precision, "sizes": sizes, "size": size, "tokens": tokens, "batch": 1}
            more = ["--lengths" if stage.name == "t5" else "--size", size, "--precision", precision]
            command = comparison(stage, stage.name, peers[stage.name], *more, *words)
            commands.append((name, ["env", f"DECODER_SIZES={sizes or SMALL[0]}", *command], about))
    compare_all(stage, commands)


def t5(stage, words):
    checkpoints(stage, words)


def generate(stage, words):
    checkpoints(stage, words)


def compile_peers(stage, words):
    """Runs all configurations side by side, untimed, so that the peers have compiled before they are timed."""
    shared = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TORCHINDUCTOR_COMPILE_THREADS": "4"}
    jobs = [("-".join(wish), compared_command(stage, wish, ["--seconds", 0, *words]), REMEMBERS | shared)
            for wish in BESIDE if not DRY]  # fmt: skip
    for what, status, said in stage.side_by_side(jobs, stage.left() / 2, at_once=len(jobs)):
        if status != 0:
            print(f"while its peers compiled, {what}: {how_it_ended(status)}; {tail(said)}", flush=True)


def bench(stage, words):
    compile_peers(stage, words)
    for wish in BESIDE[:1] if DRY else BESIDE:
        what, out = "-".join(wish), OUT / f"bench-{'-'.join(wish)}.json"
        if stage.left() < 20:
            stage.row(what, "not run", "no time left")
            continue
        out.unlink(missing_ok=True)
        try:
            command = compared_command(stage, wish, ["--seconds", 2, "--out", out, *words])
            status, said = stage.run(command, stage.left() - 5, REMEMBERS)
        finally:  # also when the stage is stopped
            compared(stage, wish[0], out)
        if status != 0:
            stage.row(what, "not run" if status is None else "FAILED", tail(said))

"""The common part of generate.py and t5.py: compares poslab and transformers on a checkpoint that transformers wrote.

`name` is the subcommand of poslab_bench, generate or t5; its peers are bench/peers/transformers_NAME.py and
jax_NAME.py. With --precision bf16 all sides read 16-bit weights, and poslab in fp32 takes turns with them.
"""

import contextlib
import os
import subprocess
import tempfile

import command
import table
from sides import ROOT, built


def parser(about, peers, turns, seconds):
    """The options of both programs. `turns` names the thing that --seconds limits, for its help text."""
    cores = len(os.sched_getaffinity(0))
    parser = command.parser(about)
    parser.add_argument("--threads", type=command.numbers, default=sorted({1, min(2, cores)}), help="default: 1,2")
    parser.add_argument("--seconds", type=float, default=seconds, help=f"time of {turns}, at least 3 rounds")
    parser.add_argument("--peers", type=command.names, default=list(peers), help=", ".join(peers))
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"], help="of all sides (fp32)")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--program", help="default: poslab_bench of the preset release, or of cuda for --device cuda")
    parser.add_argument("--python", default=ROOT / ".venv-huggingface/bin/python", help="has transformers")
    return parser


def parse(parser, peers):
    options = parser.parse_args()
    options.program = options.program or built(options.device)
    command.check(parser, options, peers, "run tools/huggingface")
    return options


FP32 = "poslab fp32"  # the name of the side that poslab in bf16 is compared with


@contextlib.contextmanager
def written(options, name):
    """A temporary folder with the checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        words = [options.python, ROOT / f"bench/peers/transformers_{name}.py", folder, "--write"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        yield folder


def commands(options, name, peers, folder, threads):
    """Pairs of a side's name and the command that starts it; poslab's pair comes first. peers: {name: [the first word
    of its file's name, its own options...]}."""
    shared = ["--threads", threads, "--device", options.device]
    ours = lambda form: [options.program, name, "--hf", f"{folder}/{form}", "--matmul", form, *shared]
    yield "poslab", ours(options.precision)
    if options.precision == "bf16":
        yield FP32, ours("fp32")
    for wanted in options.peers:
        library, *own = peers[wanted]
        script = ROOT / f"bench/peers/{library}_{name}.py"
        yield wanted, [options.python, script, folder, "--precision", options.precision, *shared, *own]


def result(sides):
    """The results of all sides, {name: table.summary(side)}, and their comparison."""
    fp32 = sides.pop(FP32, None)
    ours = sides["poslab"]
    beside = {"fp32_ms": fp32["median_ms"], "times_fp32": table.times(fp32["ms"], ours["ms"])} if fp32 else {}
    return {"sides": sides, **table.compare(sides), **beside}

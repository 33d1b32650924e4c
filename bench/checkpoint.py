"""What generate.py and t5.py share: poslab and transformers beside each other, on a checkpoint that the latter writes.

`name` is the subcommand of poslab_bench, generate or t5; its peer is bench/peers/transformers_NAME.py.
"""

import contextlib
import os
import subprocess
import tempfile

import command
from sides import ROOT


def parser(about, peers, turns, seconds):
    """Options of both. `turns` says of what --seconds is the time."""
    cores = len(os.sched_getaffinity(0))
    parser = command.parser(about)
    parser.add_argument("--threads", type=command.numbers, default=sorted({1, min(2, cores)}), help="default: 1,2")
    parser.add_argument("--seconds", type=float, default=seconds, help=f"of {turns}, at least 3 rounds")
    parser.add_argument("--peers", type=command.names, default=list(peers), help=", ".join(peers))
    parser.add_argument("--program", default=ROOT / "build/release/poslab_bench")
    parser.add_argument("--python", default=ROOT / ".venv-huggingface/bin/python", help="has transformers")
    return parser


def parse(parser, peers):
    options = parser.parse_args()
    command.check(parser, options, peers, "run ./dev huggingface")
    return options


def peer(name):
    return ROOT / f"bench/peers/transformers_{name}.py"


@contextlib.contextmanager
def written(options, name):
    """A folder with the checkpoint, which goes again."""
    with tempfile.TemporaryDirectory() as folder:
        words = [options.python, peer(name), folder, "--write"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        yield folder


def commands(options, name, peers, folder, threads):
    """Pairs of a side's name, poslab's first, and the words that start it. peers: {name: its own options}."""
    shared = [folder, "--threads", threads]
    yield "poslab", [options.program, name, "--hf", *shared]
    for wanted in options.peers:
        yield wanted, [options.python, peer(name), *shared, *peers[wanted]]

"""What the peers in transformers share: their options, and the two things they do: write a checkpoint, or serve it."""

import argparse
import os
import sys


def parse(about, flag, what=None):
    """The folder of the checkpoint, --threads, --write and one more flag. To be called before transformers is imported,
    which then looks for nothing on the network."""
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--write", action="store_true")
    parser.add_argument(flag, action="store_true", help=what)
    os.environ["HF_HUB_OFFLINE"] = "1"
    return parser.parse_args()


def run(options, write, load, verb):
    """write() saves a random model. load() gives the form in which the model is served, and a function of the word
    behind `verb` in a line, whose answer is said."""
    import peer
    import torch
    import torch_base
    import transformers

    torch.set_num_threads(options.threads)
    transformers.logging.disable_progress_bar()
    if options.write:
        torch.manual_seed(1)
        write()
        return
    form, answer = load()
    peer.say(torch_base.hello(f"transformers {transformers.__version__}{form}; torch {torch.__version__}"))
    for line in sys.stdin:
        command, word = line.split()
        if command != verb:
            sys.exit(f"unknown line: {line}")
        peer.say(answer(word))

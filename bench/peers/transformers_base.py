"""The common part of the peers in transformers: their options and their two modes. One mode writes a checkpoint, the
other serves it."""

import argparse
import os
import sys


def parse(about, *flags):
    """Parses the folder of the checkpoint, --threads, --precision, --device, --write and more flags. Call it before
    importing transformers, which then does not use the network. The folder has the checkpoint twice, as fp32/ and
    bf16/, with the same weights, which are exact in bf16."""
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"], help="of weights and activations")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--write", action="store_true")
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    os.environ["HF_HUB_OFFLINE"] = "1"
    options = parser.parse_args()
    options.weights = f"{options.folder}/{options.precision}"
    return options


def run(options, write, load, verb):
    """write() returns a random model. load(dtype) returns a pair: words on how the model is run, and a function of the
    word that follows `verb` in a line; the function's result is printed."""
    import peer
    import torch
    import torch_base
    import transformers

    torch.set_num_threads(options.threads)
    transformers.logging.disable_progress_bar()
    if options.write:
        torch.manual_seed(1)
        model = write().bfloat16()
        model.save_pretrained(f"{options.folder}/bf16")
        model.float().save_pretrained(f"{options.folder}/fp32")
        return
    form, answer = load(torch.bfloat16 if options.precision == "bf16" else torch.float32)
    form += ", bfloat16" if options.precision == "bf16" else ""
    peer.say(torch_base.hello(f"transformers {transformers.__version__}{form}; torch {torch.__version__}"))
    for line in sys.stdin:
        command, word = line.split()
        if command != verb:
            sys.exit(f"unknown line: {line}")
        peer.say(answer(word))

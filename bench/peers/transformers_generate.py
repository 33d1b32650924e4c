"""A checkpoint in transformers that writes on command: a peer of bench/generate.py.

With --write it makes the checkpoint instead: a random LLaMA of the size of poslab's decoder, in float32. With --static
the cache has room for all tokens from the start, and a step is compiled.
"""

import argparse
import json
import os
import sys
import time

import decoder
import peer  # finds formula

import formula

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("folder")
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--write", action="store_true")
parser.add_argument("--static", action="store_true")
options = parser.parse_args()
os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM

torch.set_num_threads(options.threads)
transformers.logging.disable_progress_bar()


def write():
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=decoder.TOKENS,
        hidden_size=decoder.WIDTH,
        intermediate_size=decoder.WIDE,
        num_hidden_layers=decoder.LAYERS,
        num_attention_heads=decoder.HEADS,
        max_position_embeddings=2048,
        rms_norm_eps=decoder.EPSILON,
        initializer_range=decoder.WIDTH**-0.5,  # so that the most probable token leads by more than rounding
        bos_token_id=None,
        eos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(options.folder)


def say(answer):
    print(json.dumps(answer), flush=True)


def serve():
    model = LlamaForCausalLM.from_pretrained(options.folder, dtype=torch.float32).eval()
    how = {"do_sample": False, "pad_token_id": 0}
    if options.static:
        model.forward = torch.compile(model.forward)
        how["cache_implementation"] = "static"
    form = ", static cache, compiled" if options.static else ""
    say(
        {
            "program": f"transformers {transformers.__version__}{form}; torch {torch.__version__}",
            "threads": torch.get_num_threads(),
            "isa": torch.backends.cpu.get_cpu_capability(),
            "blas": "MKL" if torch.backends.mkl.is_available() else "not MKL",
        }
    )
    for line in sys.stdin:
        command, size = line.split()
        if command != "write":
            sys.exit(f"unknown line: {line}")
        ((read, count),) = peer.sizes([size])
        start = time.perf_counter()
        prompt = torch.tensor(formula.integers("prompt", read, decoder.TOKENS)).long()[None]
        text = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=count, **how)
        tokens = text[0, read:].tolist()
        say({"ms": [1e3 * (time.perf_counter() - start)], "tokens": tokens})


if __name__ == "__main__":
    write() if options.write else serve()

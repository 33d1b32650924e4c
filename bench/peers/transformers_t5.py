"""The encoder of a T5 in transformers that reads on command: a peer of bench/t5.py.

With --write it makes the checkpoint instead: a random T5 of the size of T5-small, in float32.
"""

import argparse
import json
import os
import sys
import time

import peer  # finds formula

import formula

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("folder")
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--write", action="store_true")
parser.add_argument("--eager", action="store_true", help="attention written out, as transformers 4 has it")
options = parser.parse_args()
os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from transformers import T5Config, T5EncoderModel, T5ForConditionalGeneration

torch.set_num_threads(options.threads)
transformers.logging.disable_progress_bar()


def write():
    torch.manual_seed(1)
    T5ForConditionalGeneration(T5Config(decoder_start_token_id=0)).save_pretrained(options.folder)


def say(answer):
    print(json.dumps(answer), flush=True)


@torch.inference_mode()
def serve():
    attention = "eager" if options.eager else "sdpa"
    model = T5EncoderModel.from_pretrained(options.folder, dtype=torch.float32, attn_implementation=attention).eval()
    say(
        {
            "program": f"transformers {transformers.__version__}, {attention}; torch {torch.__version__}",
            "threads": torch.get_num_threads(),
            "isa": torch.backends.cpu.get_cpu_capability(),
            "blas": "MKL" if torch.backends.mkl.is_available() else "not MKL",
        }
    )
    for line in sys.stdin:
        command, length = line.split()
        if command != "encode":
            sys.exit(f"unknown line: {line}")
        tokens = torch.tensor(formula.integers("prompt", int(length), model.config.vocab_size)).long()[None]
        start = time.perf_counter()
        states = model(tokens).last_hidden_state[0]
        ms = 1e3 * (time.perf_counter() - start)
        say({"ms": [ms], "states": states[[0, -1]].flatten().tolist()})


if __name__ == "__main__":
    write() if options.write else serve()

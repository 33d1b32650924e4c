"""The encoder of a T5 in transformers that reads on command: a peer of bench/t5.py.

With --write it makes the checkpoint instead: a random T5 of the size of T5-small, in float32.
"""

import time

import peer  # finds formula
import transformers_base

import formula

options = transformers_base.parse(__doc__, "--eager", "attention written out, as transformers 4 has it")

import torch
from transformers import T5Config, T5EncoderModel, T5ForConditionalGeneration


def write():
    T5ForConditionalGeneration(T5Config(decoder_start_token_id=0)).save_pretrained(options.folder)


def load():
    attention = "eager" if options.eager else "sdpa"
    model = T5EncoderModel.from_pretrained(options.folder, dtype=torch.float32, attn_implementation=attention).eval()

    @torch.inference_mode()
    def answer(length):
        tokens = torch.tensor(formula.integers("prompt", int(length), model.config.vocab_size)).long()[None]
        start = time.perf_counter()
        states = model(tokens).last_hidden_state[0]
        ms = 1e3 * (time.perf_counter() - start)
        return {"ms": [ms], "states": states[[0, -1]].flatten().tolist()}

    return f", {attention}", answer


if __name__ == "__main__":
    transformers_base.run(options, write, load, "encode")

"""The encoder of a T5 in transformers that encodes on command: a peer of bench/t5.py.

With --write it makes the checkpoint instead: a random T5 of the size of T5-small. With --eager attention is matmul and
softmax, as in transformers 4; with --compile it is fused, and the encoder is compiled.
"""

import time

import peer  # finds formula
import transformers_base

import formula

options = transformers_base.parse(__doc__, "--eager", "--compile")

import torch
from transformers import T5Config, T5EncoderModel, T5ForConditionalGeneration


def write():
    return T5ForConditionalGeneration(T5Config(decoder_start_token_id=0))


def load(dtype):
    attention = "eager" if options.eager else "sdpa"
    model = T5EncoderModel.from_pretrained(options.weights, dtype=dtype, attn_implementation=attention).eval()
    model = model.to(options.device)
    if options.compile:
        model.forward = torch.compile(model.forward)

    @torch.inference_mode()
    def answer(length):
        tokens = torch.tensor(formula.integers("prompt", int(length), model.config.vocab_size)).long()[None]
        tokens = tokens.to(options.device)
        start = time.perf_counter()
        states = model(tokens).last_hidden_state[0]
        if options.device == "cuda":
            torch.cuda.synchronize()
        ms = 1e3 * (time.perf_counter() - start)
        return {"ms": [ms], "states": states[[0, -1]].float().flatten().tolist()}

    return f", {attention}{', compiled' if options.compile else ''}", answer


if __name__ == "__main__":
    transformers_base.run(options, write, load, "encode")

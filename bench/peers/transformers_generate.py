"""A checkpoint in transformers that generates on command: a peer of bench/generate.py.

With --write it makes the checkpoint instead: a random LLaMA of the size of poslab's decoder. With --static the cache
has room for all tokens from the start, and the step is compiled.
"""

import time

import decoder
import peer  # finds formula
import transformers_base

import formula

options = transformers_base.parse(__doc__, "--static")

import torch
from transformers import LlamaConfig, LlamaForCausalLM


def write():
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
    return LlamaForCausalLM(config)


def load(dtype):
    model = LlamaForCausalLM.from_pretrained(options.weights, dtype=dtype).eval().to(options.device)
    plain = model.forward
    how = {"do_sample": False, "pad_token_id": 0}
    if options.static:
        model.forward = torch.compile(model.forward)
        how["cache_implementation"] = "static"

    def answer(size):
        ((read, count),) = peer.sizes([size])
        start = time.perf_counter()
        prompt = torch.tensor(formula.integers("prompt", read, decoder.TOKENS)).long()[None].to(options.device)
        text = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=count, **how)
        tokens = text[0, read:].tolist()
        ms = 1e3 * (time.perf_counter() - start)
        with torch.inference_mode():
            logits = plain(prompt).logits[0, -1].float().tolist()
        return {"ms": [ms], "tokens": tokens, "logits": logits}

    return ", static cache, compiled" if options.static else "", answer


if __name__ == "__main__":
    transformers_base.run(options, write, load, "write")

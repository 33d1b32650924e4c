#!/usr/bin/env python3
"""Compares poslab's attention with transformers' own in a LLaMA of transformers, in tokens a second: ./dev bench llama.

A random LLaMA in float32 on all cores: 6 layers of width 256, with 8 heads of keys; PyTorch does all but attention. The
sides take turns, A B C D, D C B A, ...; the median of their times is reported. sdpa and eager are the attention of
transformers with RoPE. The other sides are pt.patch(model, ENCODING); with rope it computes the same as sdpa and eager.
If nothing is uncommitted, the results are kept in bench/results/llama.csv, and results/readme.py --write puts them into
docs/torch.md.
"""

import os
import statistics
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM

import poslab as pl
import poslab.torch as pt
from command import commit, parser, processor
from sides import ROOT

SIDES = ("sdpa", "eager", "rope", "rerope:window=64")
WORK = {"forward 8 x 128": (8, 128), "forward 1 x 512": (1, 512), "forward 1 x 2048": (1, 2048),
        "train 8 x 128": (8, 128), "train 1 x 1024": (1, 1024), "decode 64 after 512": (1, 512)}


def model_of(side):
    torch.manual_seed(0)
    own = side in ("sdpa", "eager")
    config = LlamaConfig(vocab_size=1024, hidden_size=256, intermediate_size=688, num_hidden_layers=6,
                         num_attention_heads=8, num_key_value_heads=8, max_position_embeddings=4096,
                         attn_implementation=side if own else "sdpa")
    model = LlamaForCausalLM(config)
    return model if own else pt.patch(model, side)


def tokens_of(model, work):
    """Runs the work once, and returns its number of tokens."""
    kind, size = work.split()[0], WORK[work]
    at = torch.randint(1024, size, generator=torch.Generator().manual_seed(1))
    if kind == "train":
        model.train()
        model.zero_grad()
        model(at, labels=at).loss.backward()
        return at.numel()
    model.eval()
    with torch.no_grad():
        if kind == "forward":
            model(at)
            return at.numel()
        past = model(at, use_cache=True)
        for _ in range(64):
            past = model(past.logits[:, -1:].argmax(-1), past_key_values=past.past_key_values, use_cache=True)
        return 64


def main():
    words = parser(__doc__)
    words.add_argument("--turns", type=int, default=7, help="turns of each side; default: 7")
    words.add_argument("--threads", type=int, help="of PyTorch and of poslab; default: all cores")
    options = words.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
        pl.set_threads(options.threads)
    turns = options.turns
    models = {side: model_of(side) for side in SIDES}
    at = torch.randint(1024, (2, 64))
    with torch.no_grad():
        assert torch.allclose(models["sdpa"].eval()(at).logits, models["rope"].eval()(at).logits, atol=1e-3)
    where = (f"{processor()}; {torch.get_num_threads()} threads; load {os.getloadavg()[0]:.1f}; "
             f"torch {torch.__version__}")
    print(f"{where}; tokens a second")
    print(f"{'':<22}" + "".join(f"{side:>18}" for side in SIDES))
    table = []
    for work in WORK:
        rates = {side: [] for side in SIDES}
        for turn in range(turns + 1):                        # the first one warms up
            for side in SIDES if turn % 2 else reversed(SIDES):
                begin = time.monotonic()
                count = tokens_of(models[side], work)
                rates[side].append(count / (time.monotonic() - begin))
        table.append([work, *(f"{statistics.median(rates[side][1:]):.0f}" for side in SIDES)])
        print(f"{work:<22}" + "".join(f"{rate:>18}" for rate in table[-1][1:]), flush=True)
    if (here := commit()) and not here.endswith("-dirty"):
        lines = [f"# {where}; commit {here}; {time.strftime('%Y-%m-%d', time.gmtime())}", ",".join(["work", *SIDES])]
        (ROOT / "bench/results/llama.csv").write_text("\n".join(lines + [",".join(row) for row in table]) + "\n")


if __name__ == "__main__":
    main()

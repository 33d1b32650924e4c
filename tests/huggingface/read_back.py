"""Reads exported models with transformers: read_back.py FOLDER... . Each folder also has expected.json with "tokens",
the "logits" of all slots, and "text" with "encoded"; for a T5 it has "read", the decoder's input, and no text. Prints
the worst error of a logit, relative to the largest, and fails if it is above 1e-4 or if tokens differ."""

import json
import pathlib
import sys

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

failed = False
for folder in map(pathlib.Path, sys.argv[1:]):
    expected = json.loads((folder / "expected.json").read_text())
    read = {"decoder_input_ids": torch.tensor([expected["read"]])} if "read" in expected else {}
    kind = AutoModelForSeq2SeqLM if read else AutoModelForCausalLM
    model = kind.from_pretrained(folder, dtype=torch.float32)
    with torch.no_grad():
        z = model(torch.tensor([expected["tokens"]]), use_cache=False, **read).logits[0].numpy()
    wanted = np.array(expected["logits"]).reshape(z.shape)
    error = np.abs(z - wanted).max() / np.abs(wanted).max()
    encoded = read or AutoTokenizer.from_pretrained(folder)(expected["text"], add_special_tokens=False)["input_ids"]
    same = bool(read) or encoded == expected["encoded"]
    print(folder.name, type(model).__name__, "worst error of a logit", error, "tokens",
          "not asked" if read else "the same" if same else "differ")
    failed |= not (error <= 1e-4 and same)
sys.exit(failed)

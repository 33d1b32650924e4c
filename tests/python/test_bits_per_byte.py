"""bits_per_byte of external checkpoints whose tokenizers change the text: nats of the predicted tokens / ln 2 / bytes
of the text that they cover. The bytes are counted here, from the text alone."""

import csv
import json
import math
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from built import PROGRAM

import poslab as pl

GOLDEN = Path(__file__).parents[1] / "data/huggingface"
LETTERS = ["<unk>", "<s>", "<m>", *"abcdefgh", " ", "\u2581", "\n", "\u00e9", "bc", "de", "bcde", "\ufffd"]
MARK = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}


def tokenizer(letters=LETTERS, normalizers=(), prefix=0, added=(), pre_tokenizer=None, **model):
    vocabulary = {t: n for n, t in enumerate(letters)}
    merges = [m for m in (("b", "c"), ("d", "e"), ("bc", "de")) if "".join(m) in vocabulary]
    begins = [{"SpecialToken": {"id": "<s>", "type_id": 0}}] * prefix + [{"Sequence": {"id": "A", "type_id": 0}}]
    post = {"type": "TemplateProcessing", "single": begins, "pair": [],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}
    return {"normalizer": {"type": "Sequence", "normalizers": list(normalizers)}, "pre_tokenizer": pre_tokenizer,
            "post_processor": post, "added_tokens": [{"id": vocabulary[t["content"]], **t} for t in added],
            "model": {"type": "BPE", "vocab": vocabulary, "merges": merges, "unk_token": "<unk>", **model}}


@pytest.fixture
def checkpoint(tmp_path):
    for name in ("config.json", "model.safetensors"):
        shutil.copy(GOLDEN / "qwen2" / name, tmp_path)
    return tmp_path


def evaluated(folder, text, length):
    """The loss and the bits per byte, on plain windows and on repeated ones."""
    (folder / "text").write_bytes(text.encode())
    subprocess.run([PROGRAM, "lm", "eval", "--hf", folder, "--text", folder / "text", "--length", str(length),
                    "--times", "1", "--samples", "2", "-o", folder / "o.csv"], check=True, capture_output=True)
    rows = csv.DictReader((folder / "o.csv").open())
    return {row["set"]: (float(row["loss"]), float(row["bits_per_byte"])) for row in rows}


def drawn(rng):
    """A tokenizer, and whether it puts a token that covers no bytes before a text."""
    normalizers, more = [], {"fuse_unk": rng.random() < 0.5}
    if rng.random() < 0.5:
        normalizers.append({"type": "NFC"})
    if rng.random() < 0.3:
        normalizers.append({"type": "Replace", "pattern": {"String": "fg"}, "content": rng.choice(["", "a", "ccc"])})
    space = rng.choice(["none", "prepend", "metaspace"])
    if space == "prepend":
        normalizers += [{"type": "Prepend", "prepend": "\u2581"}, MARK]
    if rng.random() < 0.4:
        more["unk_token"] = None
    letters = LETTERS
    if rng.random() < 0.4:
        more["byte_fallback"], letters = True, LETTERS + [f"<0x{byte:02X}>" for byte in range(256)]
    added = [{"content": "<m>", "lstrip": rng.random() < 0.5, "rstrip": rng.random() < 0.5}]
    return tokenizer(letters, normalizers, rng.choice([0, 1, 3]), added,
                     {"type": "Metaspace"} if space == "metaspace" else None, **more), space != "none"


def test_random_tokenizers(checkpoint):
    rng = random.Random(65)
    pieces = [*"abcdefgh", "bc", "de", " ", "  ", "\u6f22", "\u5b57", "\U0001f642", "e\u0301", "\u00e9", "\u1e69",
              "s\u0323\u0307", "\r\n", "fg", "<m>", "\ufeff", "<unk>", "x"]
    shorter = 0
    for case in range(200):
        made, spaced = drawn(rng)
        if rng.random() < 0.5:
            made["model"]["vocab"]["\u6f22"] = 280           # makes one of the unknown characters known
        (checkpoint / "tokenizer.json").write_text(json.dumps(made))
        # no merge has an a or an h; a window that begins later in the text has fewer tokens, even if it cuts a unit
        text = "aaaaaa" + "".join(rng.choices(pieces, k=rng.randint(10, 40))) + "h"
        tokens = pl.load(checkpoint).tokens(text)
        prefix = sum(1 for step in made["post_processor"]["single"] if "SpecialToken" in step)
        if len(tokens) - prefix > len(text.encode()) or len(tokens) < 10:
            shorter += 1                                     # a text with more tokens than bytes has no window
            continue
        predicted = len(tokens) - max(prefix, 1)
        bytes_ = len(text.encode()) - (prefix == 0 and not spaced)
        loss, bits = evaluated(checkpoint, text, len(tokens) - 1)["plain"]
        right = loss * predicted / math.log(2) / bytes_
        assert bits == pytest.approx(right, rel=1e-9), (case, text, made, tokens)
    assert shorter < 20


# Texts in which every window has the same number of bytes per token, even if it cuts a unit.
@pytest.mark.parametrize("unit,each,made", [
    ("a", 1, tokenizer()),
    ("bc", 2, tokenizer()),
    ("\u6f22", 3, tokenizer()),                              # an unknown character
    ("\U0001f642", 4, tokenizer()),
    ("\u6f22", 1, tokenizer(LETTERS + [f"<0x{byte:02X}>" for byte in range(256)], byte_fallback=True)),
    ("a\u6f22", 4, tokenizer(unk_token=None)),               # a character that is dropped
    ("gg", 2, tokenizer(normalizers=[{"type": "Replace", "pattern": {"String": "gg"}, "content": "a"}])),
    ("ab", 0.5, tokenizer(normalizers=[{"type": "Replace", "pattern": {"String": "ab"}, "content": "cccc"}])),
    ("a\r\n", 1, tokenizer()),
    ("<m>", 3, tokenizer(added=[{"content": "<m>"}])),
    (" <m>  ", 6, tokenizer(added=[{"content": "<m>", "lstrip": True, "rstrip": True}])),
])
def test_windows_within_a_text(checkpoint, unit, each, made):
    (checkpoint / "tokenizer.json").write_text(json.dumps(made))
    for loss, bits in evaluated(checkpoint, unit * 400, 32).values():
        assert loss / math.log(2) / bits == pytest.approx(each, rel=0.15)   # a window may begin within a unit


def test_an_own_model_of_sentencepiece(checkpoint):
    shutil.copy(GOLDEN / "sentencepiece/unigram.model", checkpoint / "tokenizer.model")
    loss, bits = evaluated(checkpoint, "d   " * 400, 32)["plain"]              # 3 spaces, 1 token of 3 bytes
    assert loss / math.log(2) / bits == pytest.approx(2, rel=0.05)
    loss, bits = evaluated(checkpoint, "d\u6f22\u5b57" * 400, 32)["plain"]     # they are one token
    assert loss / math.log(2) / bits == pytest.approx(7 / 2, rel=0.05)

"""`poslab lm train --from` a LLaMA with random weights that transformers wrote: 50 steps equal PyTorch's, and the
exported model equals the one that PyTorch trained and has the run's logits. This file draws the same windows again, as
core/random.h does."""

import json
import math
import pathlib
import subprocess

import poslab as pl
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

ROOT = pathlib.Path(__file__).parents[2]
B, ORIGINAL, T, STEPS, WARMUP, LR = 4, 16, 64, 50, 5, 0.003
PAIRS = {"short_factor": [1.0, 1.1, 1.3, 1.7], "long_factor": [1.0, 2.0, 3.5, 6.0]}
SCHEMES = {
    "rope": {"rope_type": "default"},
    "pi:factor=4": {"rope_type": "linear", "factor": 4.0},
    "yarn:factor=4": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": ORIGINAL},
    "longrope:factor=4,short=1/1.1/1.3/1.7,long=1/2/3.5/6":
        {"rope_type": "longrope", "factor": 4.0, "original_max_position_embeddings": ORIGINAL,
         "attention_factor": math.sqrt(1 + math.log(4) / math.log(ORIGINAL))} | PAIRS,
    "llama3:factor=4,low=1,high=4": {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0,
                                     "high_freq_factor": 4.0, "original_max_position_embeddings": ORIGINAL}}
SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 300, "rms_norm_eps": 1e-6, "initializer_range": 0.1,
         "bos_token_id": None, "eos_token_id": 7}
TEXT = "".join(chr(97 + int(13 + 12 * math.sin(i * i / 50))) + " " * (i % 7 == 0) for i in range(3000))


def poslab(*words):
    done = subprocess.run([ROOT / "build/release/poslab", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def philox(index, step, site, seed=0):
    c, k = [index, 0, step, site], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def windows(step, tokens):
    """The batch of a step. Purpose::tokens is 2; a window begins at any byte outside the text's last tenth."""
    starts = len(TEXT) - len(TEXT) // 10 - T
    rows = []
    for b in range(B):
        words = philox(0, step, (2 << 24) + b)
        at = int(((words[3] << 32 | words[2]) >> 11) * 2.0**-53 * starts)
        rows.append(tokens(TEXT[at:at + T + 1]))
    return torch.tensor(rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A text, and a checkpoint whose tokens are bytes."""
    here = tmp_path_factory.mktemp("from")
    (here / "text.txt").write_text(TEXT)
    torch.manual_seed(0)
    llama = LlamaForCausalLM(LlamaConfig(**SIZES, max_position_embeddings=ORIGINAL))
    llama.save_pretrained(here / "llama")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({c: n for n, c in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.save(str(here / "llama/tokenizer.json"))
    return here


@pytest.mark.parametrize("encoding", SCHEMES)
def test_fifty_steps_are_those_of_pytorch(folder, encoding):
    run, out = folder / encoding.split(":")[0], folder / f"{encoding.split(':')[0]}-hf"
    said = poslab("lm", "train", "--from", folder / "llama", "--text", folder / "text.txt", "--encoding", encoding,
                  "--train-length", T, "--batch", B, "--steps", STEPS, "--lr", LR, "--warmup", WARMUP, "--cooling", 1,
                  "--schedule", "cosine", "--lr-floor", 0.1, "--weight-decay", 0.1, "--eval-times", 1, "--log-every", 1,
                  "--eval-samples", 1, "--out", run)
    assert "kept     block*.attention.query (32, 32), 2 times" in said and "new      none" in said
    losses = [json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]

    letters = Tokenizer.from_file(str(folder / "llama/tokenizer.json"))
    config = LlamaConfig.from_pretrained(folder / "llama")
    config.rope_parameters = SCHEMES[encoding] | {"rope_theta": 10000.0}
    config.max_position_embeddings = T
    model = LlamaForCausalLM.from_pretrained(folder / "llama", config=config, dtype=torch.float32)
    matrices, vectors = ([p for p in model.parameters() if (p.ndim > 1) == many] for many in (True, False))
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=LR)
    s = torch.optim.lr_scheduler
    moves = s.SequentialLR(optimizer, [s.LinearLR(optimizer, 1 / WARMUP, total_iters=WARMUP - 1),
                                       s.CosineAnnealingLR(optimizer, STEPS - WARMUP, eta_min=0.1 * LR)], [WARMUP])
    for step, loss in enumerate(losses):
        batch = windows(step, lambda text: letters.encode(text).ids)
        theirs = torch.nn.functional.cross_entropy(model(batch[:, :-1], use_cache=False).logits.flatten(0, 1),
                                                   batch[:, 1:].flatten())
        assert abs(theirs.item() - loss) < 1e-4, step
        optimizer.zero_grad()
        theirs.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step(), moves.step()
    assert losses[-1] < losses[0] - 0.5

    poslab("lm", "export", run, "--to", out)
    written = json.loads((out / "config.json").read_text())
    assert written.get("rope_scaling", {"rope_type": "default"})["rope_type"] == SCHEMES[encoding]["rope_type"]
    assert written["vocab_size"] == 300 and written["eos_token_id"] == 7 and written["rms_norm_eps"] == 1e-6
    exported = LlamaForCausalLM.from_pretrained(out, dtype=torch.float32)
    with torch.no_grad():
        for slots in (ORIGINAL, T):
            a, b = (m.eval()(batch[:1, :slots], use_cache=False).logits for m in (model, exported))
            assert (a - b).abs().max() < 2e-3 * a.abs().max()
            own = pl.load(run)(batch[:1, :slots].tolist(), slots).numpy()
            assert abs(own - b.numpy()).max() < 1e-5 * abs(own).max()
    assert AutoTokenizer.from_pretrained(out)("hello")["input_ids"] == letters.encode("hello").ids


def test_a_run_goes_on_from_a_run_that_began_with_a_checkpoint(folder):
    small = ["--text", folder / "text.txt", "--batch", 2, "--steps", 4, "--eval-times", 1, "--eval-samples", 1]
    poslab("lm", "train", "--from", folder / "llama", *small, "--out", folder / "first")
    said = poslab("lm", "train", "--from", folder / "first", "--encoding", "yarn:factor=2", "--train-length", 32,
                  "--optimizer", "keep", "--steps", 6, "--out", folder / "second")
    assert "begins with" in said and "step 4" in said and "goes on" in said
    assert 'encoding = "yarn:factor=2,length=16,pairing=half"' in (folder / "second/config.toml").read_text()
    assert (folder / "second/tokenizer.json").read_bytes() == (folder / "llama/tokenizer.json").read_bytes()
    assert json.loads((folder / "second/text.json").read_text())["ends"] == [7]
    assert poslab("lm", "generate", folder / "second", "--count", 3, "--prompt", "ab").startswith("ab")

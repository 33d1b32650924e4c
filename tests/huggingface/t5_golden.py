"""Makes tests/data/huggingface/t5: small random T5s of transformers, and its results. Run it with --write."""

import io
import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import sentencepiece
import torch
from tokenizers_golden import corpus
from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

sizes = dict(vocab_size=108, d_model=16, d_kv=4, d_ff=20, num_layers=2, num_heads=3, decoder_start_token_id=0)
# name: (keys that differ in the configuration, whether the head has its own weights, the stored dtype)
models = {
    "v1_0": (dict(), False, torch.float32),
    "v1_1": (dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False), True, torch.bfloat16),
    "gated_tied": (dict(feed_forward_proj="gated-silu", num_decoder_layers=3), False, torch.float16),
    "relu_untied": (dict(tie_word_embeddings=False, relative_attention_num_buckets=12,
                         relative_attention_max_distance=40, layer_norm_epsilon=1e-5), True, torch.bfloat16),
}
lengths, written = (150, 61), 16
slots = ((0, 0), (0, 149), (1, 7), (1, 60))
searches = [dict(num_beams=b, length_penalty=p, early_stopping=e)
            for b, p, e in ((2, 1.0, False), (4, 0.0, False), (4, 1.0, True), (3, 2.0, "never"), (4, -1.0, False),
                            (5, 0.6, False))]  # fmt: skip
texts = ["for all lengths of a text", "<extra_id_0> of <extra_id_7>.", "a<extra_id_1>b", "  two  spaces ", "",
         "a < b > c", "the end</s>and more", "line\nbreak\ttab"]  # fmt: skip


def build(name, dtype):
    """The model as it is stored; it computes in dtype."""
    keys, own_head, stored = models[name]
    torch.manual_seed(2)
    model = T5ForConditionalGeneration(T5Config(**sizes, **keys))
    if own_head:
        model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight) * 0.5)
    with torch.no_grad():  # makes the end of an answer often likely
        (model.lm_head if own_head else model.shared).weight[1] *= 3
    for at, p in model.named_parameters():  # makes gains differ from 1
        if "norm" in at:
            torch.nn.init.normal_(p, mean=1.0, std=0.1)
    return model.to(stored).to(dtype).eval()


def rounded(values):
    return [float(f"{v:.6g}") for v in values.tolist()]


def as_deep(config):
    """Whether a cache works: transformers gives the cache only as many layers as the encoder has."""
    return config.num_decoder_layers <= config.num_layers


def search(model, tokens, mask, how):
    """Beam search for each of the two texts alone, because a batch goes on until all of its searches end."""
    all_of = []
    for row, length in enumerate(lengths):
        out = model.generate(tokens[row : row + 1, :length], attention_mask=mask[row : row + 1, :length],
                             max_new_tokens=written, do_sample=False, return_dict_in_generate=True,
                             output_scores=True, use_cache=as_deep(model.config), **how)  # fmt: skip
        text = out.sequences[0, 1:].tolist()
        while text and text[-1] in (0, 1):  # the end, and the padding after it
            text.pop()
        all_of.append(dict(tokens=text, score=float(out.sequences_scores[0]) if "num_beams" in how else None))
    return all_of


@torch.no_grad()
def case(name):
    model, exact = build(name, torch.float32), build(name, torch.float64)
    mask = torch.tensor([[int(t < n) for t in range(max(lengths))] for n in lengths])
    for draw in range(20):  # until rounding decides no token, and some searches end early
        rng = np.random.default_rng(draw)
        tokens = torch.tensor(rng.integers(2, sizes["vocab_size"], (2, max(lengths)))) * mask
        greedy = search(model, tokens, mask, dict())
        beams = [search(model, tokens, mask, how) for how in searches]
        check = [search(exact, tokens, mask, how) for how in searches]
        same = [[a["tokens"] for a in x] for x in beams] == [[a["tokens"] for a in x] for x in check]
        ends = sum(len(a["tokens"]) < written for x in beams for a in x)
        if same and greedy == search(exact, tokens, mask, dict()) and ends >= 3:
            break
    else:
        sys.exit(f"{name}: none of 20 draws is usable")
    read = torch.tensor(rng.integers(0, sizes["vocab_size"], (2, 9)))
    read[:, 0] = 0
    out = model(input_ids=tokens, attention_mask=mask, decoder_input_ids=read, use_cache=False)
    print("t5", name, "draw", draw, "searches that end early", ends, flush=True)
    return dict(name=name, lengths=lengths, tokens=tokens.tolist(), read=read.tolist(), slots=slots,
                states=[rounded(out.encoder_last_hidden_state[b, t]) for b, t in slots],
                logits=[rounded(out.logits[b, t]) for b in (0, 1) for t in (0, 8)], written=written,
                greedy=[g["tokens"] for g in greedy],
                searches=[dict(**how, answers=found) for how, found in zip(searches, beams, strict=True)])  # fmt: skip


def write_tokens(folder):
    """A sentencepiece model of T5's kind, and transformers' tokens with it. T5 has rules for many characters; this
    model has only those that turn newlines and tabs into spaces."""
    model = io.BytesIO()
    rules = folder / "rules.tsv"
    rules.write_text("A\t20\n9\t20\n")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_writer=model, model_type="unigram", vocab_size=90, pad_id=0, eos_id=1,
        unk_id=2, bos_id=-1, normalization_rule_tsv=str(rules), num_threads=1, minloglevel=2, hard_vocab_limit=False)
    rules.unlink()
    (folder / "spiece.model").write_bytes(model.getvalue())
    (folder / "tokenizer_config.json").write_text('{"extra_ids": 10, "tokenizer_class": "T5Tokenizer"}\n')
    tokenizer = T5Tokenizer.from_pretrained(folder)
    with tempfile.TemporaryDirectory() as saved:
        tokenizer.save_pretrained(saved)
        shutil.copy(pathlib.Path(saved) / "tokenizer.json", folder.parent)
    tokens = [tokenizer(text)["input_ids"] for text in texts]
    said = [tokenizer.decode(t, skip_special_tokens=True) for t in tokens]
    (folder.parent / "tokens.json").write_text(json.dumps(dict(texts=texts, tokens=tokens, decoded=said)) + "\n")


def write_t5(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    torch.set_num_threads(1)
    cases = [case(name) for name in models]
    for name in models:
        shards = dict(max_shard_size="20KB") if name == "v1_0" else {}
        build(name, models[name][2]).save_pretrained(folder / name, **shards)
        (folder / name / "generation_config.json").unlink(missing_ok=True)
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    (folder / "cases.json").write_text(f"[\n{lines}\n]\n")
    write_tokens(folder / "v1_0")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: t5_golden.py --write")
    write_t5(pathlib.Path(__file__).parents[1] / "data/huggingface/t5")

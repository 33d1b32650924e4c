"""Makes small sentencepiece models, with the library's tokens for them (tests/data/huggingface). Run with --write."""

import io
import json
import pathlib
import sys

import sentencepiece
from tokenizers_golden import corpus, texts

# As for LLaMA 2: spaces count, digits are single, and characters without a token become bytes. The second model has no
# bytes, so some characters are unknown; it also adds no space in front, and no <s>.
kinds = {
    "bpe": dict(model_type="bpe", vocab_size=400, byte_fallback=True, split_digits=True,
                allow_whitespace_only_pieces=True, remove_extra_whitespaces=False),
    "unigram": dict(model_type="unigram", vocab_size=90, add_dummy_prefix=False, bos_id=-1),
}


def write_sentencepiece(folder):
    folder.mkdir(exist_ok=True)
    tokens = {}
    for name, how in kinds.items():
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(corpus), model_writer=model, normalization_rule_name="identity",
            character_coverage=0.98, num_threads=1, minloglevel=2, **how)
        (folder / f"{name}.model").write_bytes(model.getvalue())
        processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        tokens[name] = dict(begin=processor.bos_id(), tokens=[processor.encode(text) for text in texts])
    (folder / "tokens.json").write_text(json.dumps(tokens, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: sentencepiece_golden.py --write")
    write_sentencepiece(pathlib.Path(__file__).parents[1] / "data/huggingface/sentencepiece")

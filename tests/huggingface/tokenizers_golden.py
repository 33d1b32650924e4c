"""Small tokenizers of each kind, made with the library `tokenizers`, and the tokens that it gives for some texts."""

import json

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

corpus = """The quick brown fox jumps over the lazy dog, and the dog doesn't mind. In 1996 there were 1024 of them.
template <class T> inline constexpr bool is_same_v = std::is_same<T, T>::value;
    for (int i = 0; i < 10; ++i) std::cout << i << '\\n';
Überall in der Straße läuft Wasser; où est le café? L'été dernier, c'était là-bas.
They're here, we'll see, I'd say so, you've won, and HE'S LATE. The end of the theory is the beginning of another.
""".splitlines() * 3

texts = [
    "", " ", "Hello world", " Hello  world", "the quick\tbrown\n\n  fox  ", "don't DON'T we'LL I'd",
    "1234567 12 3.14159", "x=1;\n    y += 22;\r\n\treturn (x<<2)|y;\n", "Überall Straße café",
    "cafe\u0301 U\u0308ber",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002 \U0001f642\U0001f680 \u00bd \u00a0 end", "a<|endoftext|>b <s>c</s> d",
    "\u2581marked \u2581 text", "trailing spaces   ", "\n", "   ", "#include <vector>\n#include <string>",
    "'s 't're I'm", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0928\u092e\u0938\u094d\u0924\u0947 12\u0665\u0666",
    "over the theory of another beginning, there", "<|user|>\n\nthe quick<|end|> \u2003\tbrown <|sep|>  fox <|sep|>",
    "a\n\nb \n\n\n c",
]
qwen2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|"
         r"\s+")
llama3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")


def over_bytes(expression, special, **more):
    t = Tokenizer(models.BPE(**more))
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(expression), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=300 - len(special), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.add_special_tokens([AddedToken(s, normalized=False) for s in special])
    return t


def qwen2_tokenizer():
    t = over_bytes(qwen2, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    t.normalizer = normalizers.NFC()
    return t


def llama3_tokenizer():
    t = over_bytes(llama3, ["<|begin_of_text|>", "<|endoftext|>"])
    inside = json.loads(t.to_str())
    inside["model"]["ignore_merges"] = True
    inside["model"]["merges"] = inside["model"]["merges"][:-20]  # so that whole words are tokens that no merge makes
    t = Tokenizer.from_str(json.dumps(inside))
    first = t.token_to_id("<|begin_of_text|>")
    t.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", first)])])
    return t


def olmo2_tokenizer():
    """Llama 3's words, said by what lies between them."""
    t = over_bytes(llama3, ["<|endoftext|>"])
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(llama3), "removed", invert=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return t


def gpt2_tokenizer():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return t


def llama2_tokenizer(newer):
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.Metaspace()
    learner.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=150, show_progress=False))
    learned = json.loads(learner.to_str())["model"]
    special = ["<unk>", "<s>", "</s>"]
    names = special + [f"<0x{b:02X}>" for b in range(256)] + sorted(learned["vocab"], key=learned["vocab"].get)
    t = Tokenizer(models.BPE(vocab={n: i for i, n in enumerate(names)}, merges=[tuple(m) for m in learned["merges"]],
                             unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if newer:
        t.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="first", split=False)
    else:
        t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                   decoders.Strip(" ", 1, 0)])
    t.add_special_tokens([AddedToken(s, normalized=False) for s in special])
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return t


def phi3_tokenizer():
    """Llama 2's, with marks of a dialogue that take white space with them."""
    t = llama2_tokenizer(False)
    t.add_special_tokens([AddedToken(s, normalized=False, rstrip=True) for s in ("<|user|>", "<|end|>")])
    t.add_special_tokens([AddedToken("<|sep|>", normalized=False, lstrip=True)])
    return t


def gemma_tokenizer():
    """Characters with marks in place of spaces, pieces that end with a space, and tokens that are not special."""
    inside = json.loads(llama2_tokenizer(True).to_str())
    t = Tokenizer.from_str(json.dumps(inside))
    t.normalizer = normalizers.Replace(" ", "\u2581")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    t.add_tokens([AddedToken("\n\n", normalized=False)])
    return t


def small_gemma_tokenizer():
    """Of Gemma's form with 64 tokens, as many as the model has; letters that have none are <unk>."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    t.normalizer = normalizers.Replace(" ", "\u2581")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.Fuse()])
    t.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=64, limit_alphabet=44, special_tokens=["<pad>", "<eos>", "<bos>", "<unk>"], show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 2)])
    return t


def write_tokenizers(golden):
    """The tokenizers as they are saved, and for each the tokens of all texts, with those that it puts before one."""
    made = {"qwen2": qwen2_tokenizer(), "llama3": llama3_tokenizer(), "gpt2": gpt2_tokenizer(),
            "llama2": llama2_tokenizer(False), "llama2_newer": llama2_tokenizer(True), "olmo2": olmo2_tokenizer(),
            "phi3": phi3_tokenizer(), "gemma": gemma_tokenizer()}
    lines = []
    for name, t in made.items():
        tokens = [t.encode(text).ids for text in texts]
        lines.append(json.dumps(dict(name=name, tokenizer=json.loads(t.to_str()), tokens=tokens),
                                separators=(",", ":"), ensure_ascii=False))
    head = json.dumps(texts)
    (golden / "tokenizers.json").write_text('{"texts":' + head + ',\n"tokenizers":[\n' + ",\n".join(lines) + "\n]}\n")

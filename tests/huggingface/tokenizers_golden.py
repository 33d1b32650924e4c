"""Makes small tokenizers of each kind with the library `tokenizers`, and stores the library's tokens for some texts."""

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
    inside["model"]["merges"] = inside["model"]["merges"][:-20]  # leaves whole words as tokens that no merge makes
    t = Tokenizer.from_str(json.dumps(inside))
    first = t.token_to_id("<|begin_of_text|>")
    t.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", first)])])
    return t


def olmo2_tokenizer():
    """Llama 3's splitting into words, which removes the text between words."""
    t = over_bytes(llama3, ["<|endoftext|>"])
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(llama3), "removed", invert=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return t


def gpt2_tokenizer():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.decoder = decoders.ByteLevel()
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
    """Llama 2's tokenizer, with dialogue marks that also take the white space after them."""
    t = llama2_tokenizer(False)
    t.add_special_tokens([AddedToken(s, normalized=False, rstrip=True) for s in ("<|user|>", "<|end|>")])
    t.add_special_tokens([AddedToken("<|sep|>", normalized=False, lstrip=True)])
    return t


def gemma_tokenizer():
    """A tokenizer with marks in place of spaces, pieces that end in a space, and tokens that are not special."""
    inside = json.loads(llama2_tokenizer(True).to_str())
    t = Tokenizer.from_str(json.dumps(inside))
    t.normalizer = normalizers.Replace(" ", "\u2581")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    t.add_tokens([AddedToken("\n\n", normalized=False)])
    return t


def small_gemma_tokenizer():
    """A tokenizer of Gemma's form with the model's 64 tokens; letters without a token are <unk>."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    t.normalizer = normalizers.Replace(" ", "\u2581")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.Fuse()])
    t.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=64, limit_alphabet=44, special_tokens=["<pad>", "<eos>", "<bos>", "<unk>"], show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 2)])
    return t


def write_tokenizers(golden):
    """The tokenizers as saved; for each the tokens of all texts, and the tokens that it puts before a text."""
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


def one_step(text, letters, *added, merges=(), **parts):
    """A single-letter tokenizer with the feature of one case, its tokens for a text, and the text of each token."""
    names = dict.fromkeys([*letters, *(left + right for left, right in merges)])
    vocabulary = {name: i for i, name in enumerate(names)}
    new = iter(range(len(vocabulary), 99))
    flags = dict(single_word=False, lstrip=False, rstrip=False, normalized=False, special=False)
    model = dict(type="BPE", vocab=vocabulary, merges=merges) | parts.pop("model", {})
    whole = dict(version="1.0", added_tokens=[
        flags | dict(content=content, id=vocabulary[content] if content in vocabulary else next(new)) | more
        for content, more in added],
        normalizer=None, pre_tokenizer=None, post_processor=None, decoder={"type": "Fuse"}) | parts | dict(model=model)
    t = Tokenizer.from_str(json.dumps(whole))
    anchor = vocabulary["a"]
    return dict(tokenizer=whole, text=text, tokens=t.encode(text).ids,
                texts=[t.decode([anchor, i], skip_special_tokens=False)[1:] for i in range(t.get_vocab_size())])


def steps():
    """Cases in which poslab once gave other tokens."""
    mark, plain = "\u2581", "ab c\n1\u00e9"
    split = lambda pattern, behavior, invert=False: dict(
        type="Split", pattern=pattern, behavior=behavior, invert=invert)
    metaspace = dict(type="Metaspace", replacement=mark, prepend_scheme="always", split=True)
    replace = lambda what, by: dict(type="Replace", pattern={"String": what}, content=by)
    joined = [(a, b) for a in "abc1 \n" for b in "abc1 \n"]
    level = dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True)
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_of = lambda text: "".join(letters.pre_tokenize_str(c)[0][0] for c in text)
    words = joined + [("\u00bd", "\u0301"), ("\u0301", "b"), ("_", " ")]
    return [
        one_step("ab abc ab1 ab_ \u00e9ab ab. ab\u0301", plain, ("ab", dict(single_word=True))),
        one_step("abcd ab", plain, ("abc", dict(single_word=True)), ("ab", {})),
        one_step("a \n\n b", plain, ("a", dict(rstrip=True)), ("\n", {})),
        one_step("b \u0085\u3000a b", plain, ("a", dict(lstrip=True, rstrip=True))),
        one_step("a b", plain + mark, ("a b", dict(normalized=True)), (f"a{mark}b", {}), normalizer=replace(" ", mark)),
        one_step("abab", plain + mark, ("ab", dict(normalized=True)), normalizer=dict(type="Prepend", prepend=mark)),
        one_step("cab", plain, ("ab", dict(normalized=True)), ("bc", {}), normalizer=replace("c", "ab")),
        one_step("c", plain + mark, normalizer=replace("c", ""), pre_tokenizer=metaspace),
        one_step("c", plain + mark, normalizer=dict(type="Sequence", normalizers=[
            replace("c", ""), dict(type="Prepend", prepend=mark)])),
        one_step("a\u0663\u00e9ab", plain + "?", model=dict(unk_token="?", byte_fallback=True, fuse_unk=True, vocab={
            "a": 0, "b": 1, "?": 2, "<0xC3>": 3, "<0xA9>": 4})),
        one_step("abc", plain, merges=[("a", "b"), ("b", "c"), ("a", "b")]),
        *(one_step("1abc a1  ba\n1", plain, merges=joined, pre_tokenizer=split({"Regex": "[a1]"}, behavior, invert))
          for behavior in ("Removed", "Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext")
          for invert in (False, True)),
        one_step(" ab", plain + mark, pre_tokenizer=dict(type="Sequence", pretokenizers=[
            split({"String": " "}, "Removed"), metaspace | dict(prepend_scheme="first")])),
        one_step("a\u180e\u180eb", bytes_of("ab\u180e"), merges=[(bytes_of("\u180e")[2], bytes_of("\u180e")[0])],
                 pre_tokenizer=level, decoder=level),
        one_step("a\u00bd\u0301b_ c", plain + "\u00bd\u0301_", merges=words,
                 pre_tokenizer=split({"Regex": r"\w"}, "Contiguous")),
        one_step("a\u00bd\u0301b_ c", plain + "\u00bd\u0301_", merges=words,
                 pre_tokenizer=split({"Regex": r"[\w\n]"}, "Contiguous")),
        one_step("ab", ["a", "b", "\u4f60\u0120", "\u0120a"], ("\u00e9", {}), ("\u0120", {}), decoder=level),
        one_step("a b", plain + mark, (mark, {}), ("<0x41>", {}), (" ", dict(normalized=True)),
                 normalizer=replace(" ", mark), decoder=dict(type="Sequence", decoders=[
                     replace(mark, " "), replace("a", "b"), dict(type="ByteFallback")])),
        one_step("ab", ["a", "b", mark + mark, " a"], decoder=dict(type="Sequence", decoders=[
            dict(type="Strip", content=" ", start=1, stop=0), metaspace])),
    ]


def write_steps(golden):
    lines = ",\n".join(json.dumps(s, separators=(",", ":")) for s in steps())
    (golden / "steps.json").write_text(f"[\n{lines}\n]\n")

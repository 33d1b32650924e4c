"""Random tokenizers and texts: does poslab give the same tokens and bytes as the libraries?

    .venv-huggingface/bin/python tests/huggingface/compare_tokenizers.py [--seed N] [--files N] [--texts N]

Draws tokenizer.json files with every step, option and flag that poslab reads, and some that it must refuse. Trains
models of sentencepiece with random options. poslab must either give the library's tokens for every text, and the same
bytes for each token, or refuse the file and name the reason. Needs build/release/poslab_tokens (tokens.cpp).
"""

import argparse
import collections
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

import sentencepiece
import tokenizers
from tokenizers import Tokenizer, models, trainers
from tokenizers_golden import corpus, llama3, qwen2

root = pathlib.Path(__file__).parents[2]

spaces = [
    " ",
    " ",
    " ",
    "  ",
    "   ",
    "\t",
    "\n",
    "\n\n",
    "\r\n",
    "\u00a0",
    "\u2003",
    "\u3000",
    "\u2028",
    "\u0085",
    "\u200b",
    "\u1680",
    "\u180e",
    "\v",
    "\f",
    "\ufeff",
    "\u202f",
]
marks = ["\u0301", "\u0308", "\u0327", "\u200d", "\ufe0f", "\u0b57", "\u3099", "\u093c", "\u0345", "\u1161", "\u11a8"]
words = (
    "the The dog don't we'LL I'd HE'\u017f caf\u00e9 cafe\u0301 stra\u00dfe \u212aelvin \u00c5ngstr\u00f6m "
    "na\u00efve x1 12 1024 3.14159 \u0665\u0666 "
    "\u00bd \u2167 \u24d0 is_same_v std::is_same<T> ++i; (x<<2)|y; !== ... \u4f60\u597d \u4e16\u754c\u3002 "
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0928\u092e\u0938\u094d\u0924\u0947 \ud55c\uae00 "
    "\u1112\u1161\u11ab \u0958 \ufb01 \u2126 \u1e9b\u0323 \u2581 \u2581\u2581a a\u2581 \u0120the \u010a "
    "<0x41> <0xE4> <s> </s> end ab abc\ufffd "
    "\U0001f642 \U0001f680\U0001f680 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea "
    "\u2764\ufe0f \U0001d54f \U00020000"
).split(" ")
controls = ["\0", "\x01", "\x07", "\x1b", "\x7f", "\x9c"]
assigned = [c for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
contents = [
    "<s>",
    "</s>",
    "<unk>",
    "<|end|>",
    "<|e",
    "end",
    "the",
    "th",
    " x",
    "x ",
    "\n",
    "\n\n",
    " ",
    "  ",
    "a b",
    "\u00e9",
    "e\u0301",
    "ab",
    "abc",
    "bc",
    "<0x41>",
    "\u2581",
    "\u2581the",
    "\u0120",
    "12",
    "1",
    "\U0001f642",
    "\u4f60",
    "_",
    "\u0301",
    "\t",
    "\u00a0a",
    "don",
    "'t",
    "\u212b",
    "E",
    "A\u030a",
]


def draw_text(rng, added):
    parts = []
    for _ in range(rng.choice([0, 1, 1, 2, 3, 5, 8, 13, 21])):
        kind = rng.random()
        if kind < 0.3:
            parts.append(rng.choice(words))
        elif kind < 0.55:
            parts.append(rng.choice(spaces))
        elif kind < 0.75 and added:
            parts.append(rng.choice(added))
        elif kind < 0.8:
            parts.append(rng.choice(marks))
        elif kind < 0.83:
            parts.append(rng.choice(controls))
        elif kind < 0.88:
            parts.append(rng.choice("abcdefghijklmnopqrstuvwxyzABC0123456789_-'.,!"))
        elif kind < 0.93:
            parts.append(chr(rng.choice(assigned)))
        else:
            parts.append(rng.choice(rng.choice(corpus).split(" ")))
    return "".join(parts)


# -- tokenizer.json: each function draws the value of one key


def string(text):
    return {"String": text}


def draw_normalizer(rng, depth=0):
    replace = {
        "type": "Replace",
        "pattern": string(rng.choice([" ", " ", "a", "the", "\u00e9", "  ", "\n", "\u2581"])),
        "content": rng.choice(["\u2581", "\u2581", "_", "", "x", "\u2581\u2581", "e\u0301"]),
    }
    kinds = [
        None,
        None,
        {"type": "NFC"},
        {"type": "Prepend", "prepend": rng.choice(["\u2581", "\u2581", " ", "<|e", ""])},
        {"type": "Replace", "pattern": string(" "), "content": "\u2581"},
        replace,
    ]
    if depth == 0 and rng.random() < 0.4:
        return {"type": "Sequence", "normalizers": [n for n in (draw_normalizer(rng, 1) for _ in range(3)) if n]}
    return rng.choice(kinds)


regexes = [
    qwen2,
    llama3,
    r"\s+(?!\S)|\s+",
    r"\p{N}{1,3}",
    r"[^\r\n\p{L}\p{N}]?\p{L}+",
    r"\p{N}{1,2}+|\s",
    r"\d",
    r"\w+|[^\w\s]+",
    r" ?[^\s\p{L}\p{N}]+",
    r"\p{M}",
    br"[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+".decode("unicode_escape"),
    r"\S*",
    r"a|b*",
    r"\s",
    r"\D+",
    r"\W",
    r"^a",
    r"a$",
    r".",
    r"\n|\r",
    r"(?<=\d)(?=\p{L})",
    r"[a-z&&[^t]]+",
    r"\h+",
    r"(?i:THE)|(?i:ss)",
    r"(?i:stra\u00dfe)",
    r"\bthe\b",
    r"[[:alpha:]]+",
    r"\p{Han}+|\p{Lu}\p{Ll}*",
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*" r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    r"\p{L}{2}+",
    r"\p{L}{2}?",
    r"\p{L}{,2}",
    r"(?:ab)+?",
    r"[]a]",
    r"[a\]]+",
    r"[^\S\n]+",
    r"\x{e9}|\u00e9",
    r"(a)\1",
    r"(?>a|ab)c",
    r"\X",
    r"\R",
    r"\p{Greek}|\p{^L}",
    r"\A.",
    r"(?m:.)+",
    r"#|a b",
    r"\ta",
    r"-",
    r"[a-\d]",
    r"[\w-]+",
    r"}|]",
]


def draw_split(rng):
    pattern = (
        string(rng.choice([" ", "the", "\n", "a", "\u2581", ".", "\\E", "("]))
        if rng.random() < 0.4
        else {"Regex": rng.choice(regexes)}
    )
    behavior = rng.choice(["Isolated", "Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"])
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": rng.random() < 0.3}


def draw_metaspace(rng):
    one = {
        "type": "Metaspace",
        "replacement": rng.choice(["\u2581", "\u2581", "_"]),
        "split": rng.random() < 0.7,
        "prepend_scheme": rng.choice(["first", "always", "never"]),
    }
    if rng.random() < 0.2:
        one["add_prefix_space"] = rng.random() < 0.5
    if rng.random() < 0.1:
        del one["prepend_scheme"]
    if rng.random() < 0.1:
        del one["split"]
    return one


def draw_pre_tokenizer(rng, depth=0):
    kind = rng.random()
    if kind < 0.15:
        return None
    if kind < 0.35:
        return draw_metaspace(rng)
    if kind < 0.6:
        return draw_split(rng)
    if kind < 0.8 or depth:
        return {
            "type": "ByteLevel",
            "add_prefix_space": rng.random() < 0.5,
            "trim_offsets": rng.random() < 0.5,
            "use_regex": rng.random() < 0.5,
        }
    return {"type": "Sequence", "pretokenizers": [p for p in (draw_pre_tokenizer(rng, 1) for _ in range(2)) if p]}


def draw_decoder(rng, of_bytes):
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    mark = {"type": "Replace", "pattern": string("\u2581"), "content": " "}
    fuse, fallback = {"type": "Fuse"}, {"type": "ByteFallback"}
    metaspace = {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": rng.choice(["first", "always", "never"]),
        "split": True,
    }
    steps = rng.choice(
        [
            [mark, fallback, fuse, strip],
            [mark, fallback, fuse],
            [metaspace, fallback],
            [mark, fuse],
            [metaspace],
            [metaspace, fuse, fuse],
            [fallback, fuse],
            [strip, mark],
            [mark, mark, fuse],
            [{"type": "Replace", "pattern": string("a"), "content": "\u2581"}, mark, fuse],
            [fallback],
        ]
    )
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    kind = rng.random()
    if kind < 0.1:
        steps = [steps[0]]
    if (kind < 0.9) == of_bytes:
        return byte_level
    return steps[0] if len(steps) == 1 and rng.random() < 0.5 else {"type": "Sequence", "decoders": steps}


def template(before, after=()):
    names = [*before, *after]
    token = lambda name: {"SpecialToken": {"id": name, "type_id": 0}}
    return {
        "type": "TemplateProcessing",
        "single": [*map(token, before), {"Sequence": {"id": "A", "type_id": 0}}, *map(token, after)],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            n: {"id": n, "ids": [i + 1, 2][: 1 + i % 2], "tokens": [n, n][: 1 + i % 2]} for i, n in enumerate(names)
        },
    }


def draw_post_processor(rng):
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    return rng.choice(
        [
            None,
            None,
            level,
            template(["<s>"]),
            template(["<s>", "<t>"]),
            template([]),
            {"type": "Sequence", "processors": [level, template(["<s>"])]},
        ]
    )


def draw_added(rng, vocabulary):
    all, next_id = [], len(vocabulary)
    for content in rng.sample(contents + rng.sample(sorted(vocabulary), min(5, len(vocabulary))), rng.randrange(9)):
        if content in vocabulary:
            id = vocabulary[content]
        elif content in [t["content"] for t in all]:
            continue
        else:
            id, next_id = next_id, next_id + 1
        special = rng.random() < 0.5
        all.append(
            {
                "id": id,
                "content": content,
                "single_word": rng.random() < 0.25,
                "lstrip": rng.random() < 0.3,
                "rstrip": rng.random() < 0.3,
                "normalized": (not special) != (rng.random() < 0.2),
                "special": special,
            }
        )
    if all and rng.random() < 0.02:
        all[-1]["id"] += rng.choice([1, 5])
    if all and rng.random() < 0.02:
        all.append(dict(all[0], lstrip=not all[0]["lstrip"]))
    return all


def draw_model(rng, around, texts):
    """A BPE model, trained on the texts after the steps of `around`; then parts of it are removed."""
    learner = Tokenizer(models.BPE())
    whole = Tokenizer.from_str(json.dumps(dict(around, model=json.loads(learner.to_str())["model"])))
    whole.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=rng.choice([120, 300, 600]), show_progress=False))
    model = json.loads(whole.to_str())["model"]
    names = sorted(model["vocab"], key=model["vocab"].get)
    if rng.random() < 0.4:  # makes some characters unknown
        used = {part for m in model["merges"] for part in m}
        names = [n for n in names if n in used or len(n) > 1 or rng.random() < 0.8]
    if rng.random() < 0.7:
        names = ["<unk>", "<s>", "</s>"] + names
    if model.setdefault("byte_fallback", False) or rng.random() < 0.5:
        model["byte_fallback"] = rng.random() < 0.8
        names += [f"<0x{b:02X}>" for b in range(256) if rng.random() < rng.choice([1, 1, 0.97])]
    if rng.random() < 0.3:
        model["merges"] = model["merges"][:-20]  # leaves tokens that no merge makes
    if rng.random() < 0.1 and model["merges"]:
        model["merges"] += rng.sample(model["merges"], 3) if len(model["merges"]) > 3 else []
    if rng.random() < 0.3:
        model["merges"] = [" ".join(m) for m in model["merges"] if " " not in m[0] + m[1]]
    unique = list(dict.fromkeys(names))
    if rng.random() < 0.2:
        rng.shuffle(unique)
    model["vocab"] = {n: i for i, n in enumerate(unique)}
    model["unk_token"] = (
        rng.choice([None, "<unk>", "<unk>"]) if "<unk>" in unique else rng.choice([None, None, None, "<no>"])
    )
    model["fuse_unk"], model["ignore_merges"] = rng.random() < 0.5, rng.random() < 0.3
    model["dropout"] = rng.choice([None, None, 0.0])
    if rng.random() < 0.1:
        model["continuing_subword_prefix"] = model["end_of_word_suffix"] = ""
    return model


def others(rng):
    """Parts that poslab may refuse; each is put in the place of a drawn part."""
    for n in ("NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"):
        yield {"normalizer": {"type": n}}
    yield {"normalizer": {"type": "Strip", "strip_left": True, "strip_right": True}}
    yield {"normalizer": {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}}
    yield {"normalizer": {"type": "Replace", "pattern": string(""), "content": "x"}}
    yield {"normalizer": {"type": "Prepend", "prepend": ""}}
    yield {
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        }
    }
    for p in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts"):
        yield {"pre_tokenizer": {"type": p}}
    yield {"pre_tokenizer": {"type": "Punctuation", "behavior": "Isolated"}}
    yield {"pre_tokenizer": {"type": "Digits", "individual_digits": True}}
    yield {"pre_tokenizer": {"type": "CharDelimiterSplit", "delimiter": "a"}}
    yield {"pre_tokenizer": {"type": "FixedLength", "length": 3}}
    yield {"pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": False}}
    yield {"pre_tokenizer": {"type": "Metaspace", "replacement": "ab", "prepend_scheme": "always", "split": True}}
    mark, fuse = {"type": "Replace", "pattern": string("\u2581"), "content": " "}, {"type": "Fuse"}
    fallback, metaspace = {"type": "ByteFallback"}, {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": "always",
    }
    yield {"decoder": None}
    for steps in (
        [fallback, mark],
        [fuse, mark],
        [fuse, fallback],
        [fallback, metaspace],
        [fuse, metaspace],
        [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}, mark],
    ):
        yield {"decoder": {"type": "Sequence", "decoders": steps}}
    yield {"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}}
    yield {"decoder": {"type": "BPEDecoder", "suffix": "</w>"}}
    yield {"decoder": {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}}
    yield {"decoder": {"type": "Strip", "content": " ", "start": 0, "stop": 1}}
    yield {"decoder": {"type": "Replace", "pattern": {"Regex": "a+"}, "content": "b"}}
    twice, without = template(["<s>"]), template(["<s>"])
    twice["single"] += [twice["single"][-1]]
    without["single"] = without["single"][:1]
    for one in (
        twice,
        without,
        template([], ["</s>"]),
        {"type": "Sequence", "processors": [template(["<s>"]), template(["<t>", "<s>"])]},
    ):
        yield {"post_processor": one}
    for p in ("RobertaProcessing", "BertProcessing"):
        yield {
            "post_processor": {
                "type": p,
                "sep": ["</s>", 2],
                "cls": ["<s>", 1],
                "trim_offsets": True,
                "add_prefix_space": True,
            }
        }
    yield {"model": {"type": "WordLevel", "vocab": {"the": 0, "<unk>": 1}, "unk_token": "<unk>"}}
    yield {
        "model": {
            "type": "WordPiece",
            "vocab": {"the": 0, "[UNK]": 1},
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        }
    }
    yield {
        "model": {
            "type": "Unigram",
            "unk_id": 0,
            "vocab": [["<unk>", 0.0], ["the", -1.0], ["\u2581", -2.0], ["t", -3.0]],
            "byte_fallback": False,
        }
    }
    yield {"model/dropout": 1.0}
    yield {"model/continuing_subword_prefix": "##", "model/merges": []}
    yield {"model/end_of_word_suffix": "</w>"}
    yield {"version": "2.0"}


def draw_tokenizer(rng, other=None):
    around = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": draw_normalizer(rng),
        "pre_tokenizer": draw_pre_tokenizer(rng),
        "post_processor": draw_post_processor(rng),
        "decoder": None,
    }
    of_bytes = "ByteLevel" in json.dumps(around["pre_tokenizer"])
    around["decoder"] = draw_decoder(rng, of_bytes)
    texts = corpus + [draw_text(rng, []) for _ in range(100)]
    if of_bytes and rng.random() < 0.8:
        texts.append("".join(chr(c) for c in range(0x250)))
    try:
        model = draw_model(rng, around, texts)
    except BaseException as error:  # a step that the library itself refuses, or panics at
        if isinstance(error, KeyboardInterrupt):
            raise
        model = draw_model(rng, dict(around, pre_tokenizer=None, normalizer=None, post_processor=None), texts)
    around["added_tokens"] = draw_added(rng, model["vocab"])
    whole = dict(around, model=model)
    for key, value in (other or {}).items():
        inner, _, name = key.partition("/")
        if name:
            whole[inner][name] = value
        else:
            whole[key] = value
    return whole


# -- comparison

Case = collections.namedtuple("Case", "name path texts library wrong")


def or_none(work):
    """A library's answer, or None if it raises an error; its panics are no subclass of Exception."""
    try:
        return work()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return None


def text_of(of, ids):
    """The text of poslab's bytes; None if a character is cut off, since libraries replace it by U+FFFD differently."""
    try:
        return b"".join(of[i] for i in ids).decode()
    except UnicodeDecodeError:
        return None


def compare_json(case, answer, rng, count):
    for text, tokens in zip(case.texts, answer["texts"], strict=True):
        mine = tokens if isinstance(tokens, str) else answer["before"] + tokens
        theirs = or_none(lambda: case.library.encode(text).ids)
        if theirs is None:
            count["texts at which tokenizers fails"] += 1
        elif mine != theirs:
            case.wrong.append(("tokens", text, mine, theirs))
    # in the middle of a text: after a letter
    of = [bytes.fromhex(b) for b in answer["bytes"]]
    decode = lambda ids: or_none(lambda: case.library.decode(ids, skip_special_tokens=False))
    if case.library.decoder is None:  # the library writes a space between any two tokens
        decode = lambda ids: "".join(map(case.library.id_to_token, ids))
    known = [i for i in range(len(of)) if case.library.id_to_token(i) is not None]
    anchor = next((i for i in known if of[i].isalpha() and of[i].isascii() and decode([i]) == of[i].decode()), None)
    if anchor is None:
        count["files without a letter after which to decode"] += 1
        return
    draws = [[i] for i in known] + [[rng.choice(known) for _ in range(8)] for _ in range(50)]
    for ids in draws + [t for t in answer["texts"] if not isinstance(t, str)]:
        mine = text_of(of, [anchor, *ids])
        if mine is not None and mine != decode([anchor, *ids]):
            case.wrong.append(("bytes", ids, mine, decode([anchor, *ids])))


def tie(its, ids, others):
    """Whether two readings of a text are equally probable; then versions of sentencepiece choose differently."""
    if isinstance(ids, str) or its.decode(ids) != its.decode(others):
        return False
    return abs(sum(map(its.get_score, ids)) - sum(map(its.get_score, others))) < 1e-4


def compare_sentencepiece(case, answer, rng, count):
    its = case.library
    for text, tokens in zip(case.texts, answer["texts"], strict=True):
        theirs = its.encode(text)
        if tokens == theirs:
            continue
        if isinstance(tokens, str):
            count["texts that poslab's sentencepiece refuses: " + tokens.split("] ")[-1]] += 1
        elif tie(its, tokens, theirs):
            count["texts with two equally probable readings in sentencepiece"] += 1
        else:
            case.wrong.append(("tokens", text, tokens, theirs))
    # between two tokens that are not spaces; <s> and <unk> have one text in the vocabulary and another when decoded
    of = [bytes.fromhex(b) for b in answer["bytes"]]
    if len(of) != its.get_piece_size():
        case.wrong.append(("size", "", len(of), its.get_piece_size()))
    plain = [i for i in range(len(of)) if not its.is_control(i) and not its.is_unknown(i)]
    anchor = next((i for i in plain if of[i].isascii() and of[i].strip() == of[i]), None)
    if anchor is None:
        count["files without a letter after which to decode"] += 1
        return
    for ids in [[i] for i in plain] + [
        [i for i in t if i in plain] for t in answer["texts"] if not isinstance(t, str)
    ]:
        ids = [anchor, *ids, anchor]
        mine = text_of(of, ids)
        if mine is not None and mine != its.decode(ids):
            case.wrong.append(("bytes", ids, mine, its.decode(ids)))


def draw_sentencepiece(rng, number):
    kind = ["unigram", "bpe", "char", "word"][number % 4]
    how = dict(
        model_type=kind,
        vocab_size=rng.choice([300, 400]),
        hard_vocab_limit=False,
        normalization_rule_name=rng.choice(["identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"]),
        add_dummy_prefix=rng.random() < 0.6,
        remove_extra_whitespaces=rng.random() < 0.5,
        treat_whitespace_as_suffix=rng.random() < 0.25,
        split_digits=rng.random() < 0.5,
        allow_whitespace_only_pieces=rng.random() < 0.5,
        split_by_whitespace=rng.random() < 0.8,
        split_by_number=rng.random() < 0.7,
        split_by_unicode_script=rng.random() < 0.7,
        character_coverage=rng.choice([0.98, 0.99, 1.0]),
    )
    if kind in ("unigram", "bpe") and rng.random() < 0.5:
        how.update(byte_fallback=True, vocab_size=700)
    if rng.random() < 0.5:
        how["user_defined_symbols"] = rng.sample(
            ["<|end|>", "the", "  ", "\u2581\u2581", "12", "<0x41>", "\u00e9"], 3
        )
    if rng.random() < 0.4:
        how["control_symbols"] = ["<c>", "<|x|>"]
    if rng.random() < 0.3:
        how["bos_id"] = -1
    if rng.random() < 0.3:
        how["pad_id"] = 3
    if rng.random() < 0.3:
        how["unk_surface"] = "?"
    if how.get("byte_fallback") and "<0x41>" in how.get("user_defined_symbols", []):
        how["user_defined_symbols"].remove("<0x41>")
    model = io.BytesIO()
    sentences = [t for t in corpus * 3 + [draw_text(rng, []).replace("\0", "") for _ in range(100)] if t.strip()]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, num_threads=1, minloglevel=2, **how
    )
    return how, model.getvalue()


def ask(program, cases):
    asked = "".join(json.dumps({"path": str(c.path), "texts": c.texts}) + "\n" for c in cases)
    done = subprocess.run([program], input=asked, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program} ended with {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def main():
    of = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    of.add_argument("--seed", type=int, default=1)
    of.add_argument(
        "--files", type=int, default=400, help="tokenizer.json files, not counting those that must be refused"
    )
    of.add_argument("--models", type=int, default=48, help="models of sentencepiece")
    of.add_argument("--texts", type=int, default=200, help="texts of each")
    of.add_argument("--program", default=root / "build/release/poslab_tokens")
    of.add_argument("--keep", help="a folder for the drawn files, which are otherwise deleted")
    asked = of.parse_args()
    rng = random.Random(asked.seed)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    sys.stderr = os.fdopen(os.dup(2), "w")  # the library's panics go to 2, which is now /dev/null
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    temporary = tempfile.TemporaryDirectory()
    folder = pathlib.Path(asked.keep or temporary.name)
    folder.mkdir(exist_ok=True)

    cases = []
    for n, other in enumerate([None] * asked.files + list(others(rng))):
        whole = draw_tokenizer(rng, other)
        path = folder / f"{n}.json"
        path.write_text(json.dumps(whole))
        added = [t["content"] for t in whole["added_tokens"]]
        library = or_none(lambda: Tokenizer.from_file(str(path)))
        cases.append(
            Case(
                f"{n}.json" + (f" with {json.dumps(other)[:60]}" if other else ""),
                path,
                ["", *(draw_text(rng, added) for _ in range(asked.texts))],
                library,
                [],
            )
        )
    for n in range(asked.models):
        how, model = draw_sentencepiece(rng, n)
        path = folder / f"{n}.model"
        path.write_bytes(model)
        cases.append(
            Case(
                f"{n}.model of {how}",
                path,
                ["", *(draw_text(rng, how.get("user_defined_symbols", []) + ["<c>"]) for _ in range(asked.texts))],
                sentencepiece.SentencePieceProcessor(model_proto=model),
                [],
            )
        )

    reasons, read, count = collections.Counter(), collections.Counter(), collections.Counter()
    for case, answer in zip(cases, ask(asked.program, cases), strict=True):
        if isinstance(answer, str):
            reasons[answer if len(answer) < 160 else answer[:160] + " ..."] += 1
        elif case.library is None:
            case.wrong.append(("the library refuses it", "", "", ""))
        else:
            read[case.path.suffix] += 1
            (compare_json if case.path.suffix == ".json" else compare_sentencepiece)(case, answer, rng, count)
    for reason, number in sorted(reasons.items()):
        print(f"refused {number}: {reason}")
    for what, number in sorted(count.items()):
        print(f"{number} {what}")
    wrong = [c for c in cases if c.wrong]
    for case in wrong:
        print(f"\n{case.name}: {len(case.wrong)} differences; the shortest are")
        for what, asked_for, mine, theirs in sorted(case.wrong, key=lambda w: len(str(w[1])))[:3]:
            print(f"  {what} of {asked_for!a}\n    poslab  {mine!a}\n    library {theirs!a}")
    print(
        f"\nseed {asked.seed}, tokenizers {tokenizers.__version__}, sentencepiece {sentencepiece.__version__}: read "
        f"{read['.json']} tokenizer.json and {read['.model']} models of sentencepiece, with {asked.texts} texts each; "
        f"refused {sum(reasons.values())}; {len(wrong)} differ"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

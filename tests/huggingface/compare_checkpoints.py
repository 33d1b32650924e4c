"""Changes small random checkpoints of transformers in one place each, and reads them with poslab and transformers: the
logits must be equal, or poslab must refuse. Prints each difference and a table; the exit status is 1 if any differ.

    compare_checkpoints.py PROGRAM [--seed N] [--only llama,t5]      # PROGRAM: poslab_logits of the build

Every tensor is removed, stored twice (under a second name, in a second shard), and gets other values, another shape and
another dtype. Tied tensors are present or not, equal or different, in all combinations. Keys of config.json are absent,
null, or given twice. If transformers would draw a missing weight at random, poslab must refuse. "alone" counts
checkpoints that only poslab reads, such as one in which a size is null, which it treats as absent.
"""

import argparse
import collections
import itertools
import json
import pathlib
import shutil
import subprocess
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM, T5ForConditionalGeneration

SIZES = dict(vocab_size=40, hidden_size=32, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=24, bos_token_id=None, eos_token_id=1, pad_token_id=None)
T5_SIZES = dict(vocab_size=40, d_model=32, d_kv=8, d_ff=24, num_layers=2, num_decoder_layers=3, num_heads=4,
                decoder_start_token_id=0)
YARN = dict(rope_type="yarn", rope_theta=5e3, factor=4.0, original_max_position_embeddings=8)
LISTS = dict(short_factor=[1.0, 1.1, 1.3, 1.7], long_factor=[1.0, 2.0, 3.5, 6.0])
MODELS = {
    "llama": ("llama", SIZES | dict(attention_bias=True)),
    "llama_tied": ("llama", SIZES | dict(tie_word_embeddings=True, head_dim=12, rope_parameters=YARN)),
    "mistral": ("mistral", SIZES | dict(sliding_window=5)),
    "mistral_tied": ("mistral", SIZES | dict(sliding_window=None, tie_word_embeddings=True)),
    "qwen2": ("qwen2", SIZES | dict(use_sliding_window=True, sliding_window=5, max_window_layers=1)),
    "qwen2_tied": ("qwen2", SIZES | dict(tie_word_embeddings=True)),
    "qwen3": ("qwen3", SIZES | dict(head_dim=16)),
    "qwen3_tied": ("qwen3", SIZES | dict(head_dim=16, tie_word_embeddings=True)),
    "olmo2": ("olmo2", SIZES),
    "olmo2_tied": ("olmo2", SIZES | dict(tie_word_embeddings=True)),
    "phi3": ("phi3", SIZES | dict(rope_parameters=LISTS | dict(
        rope_type="longrope", rope_theta=1e4, original_max_position_embeddings=8, factor=3.0),
        original_max_position_embeddings=8)),
    "phi3_tied": ("phi3", SIZES | dict(tie_word_embeddings=True, sliding_window=5)),
    "gemma3": ("gemma3_text", SIZES | dict(head_dim=16, sliding_window=5, query_pre_attn_scalar=24,
                                           layer_types=["sliding_attention", "full_attention"])),
    "gemma3_untied": ("gemma3_text", SIZES | dict(head_dim=16, sliding_window=5, query_pre_attn_scalar=24,
                                                  tie_word_embeddings=False, final_logit_softcapping=3.0)),
    "t5": ("t5", T5_SIZES),
    "t5_v1_1": ("t5", T5_SIZES | dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
}
TIED = {"t5": ["shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"]}
TIED_DECODER = ["model.embed_tokens.weight", "lm_head.weight"]
# Keys that a file may have in addition to its own or in place of them, by the kind of model; None is JSON's null.
SAID = {
    "llama": [dict(rope_theta=77.0), dict(rope_theta=77.0, rope_parameters=None), dict(rope_scaling={}),
              dict(rope_scaling=dict(type="linear", factor=2.0)),
              dict(rope_scaling=dict(type="linear", factor=2.0), rope_parameters=None, rope_theta=77.0),
              dict(rope_scaling=dict(type="yarn", factor=2.0, rope_type="linear"), rope_parameters=None),
              dict(rope_parameters=dict(rope_type="default", rope_theta=77.0), rope_theta=1e4),
              dict(rope_parameters=YARN | dict(finetuned=True)), dict(rope_parameters=YARN | dict(anything=1)),
              dict(rope_parameters=dict(rope_type="linear", factor=2.0, finetuned=True)),
              dict(rope_parameters=dict(rope_type="default", factor=2.0)),
              dict(rope_parameters=dict(rope_type="default", original_max_position_embeddings=4)),
              dict(rope_parameters=dict(rope_type="linear", factor=2.0, original_max_position_embeddings=4)),
              dict(rope_parameters=dict(rope_type="dynamic", factor=2.0, original_max_position_embeddings=4)),
              dict(rope_parameters=dict(rope_type="dynamic", factor=2.0)),
              dict(rope_parameters=YARN, original_max_position_embeddings=5),
              dict(rope_parameters=dict(rope_type="yarn", factor=4.0)),
              dict(rope_parameters=YARN | dict(attention_factor=0.0)),
              dict(rope_parameters=YARN | dict(beta_fast=0, beta_slow=0, mscale=0, mscale_all_dim=1)),
              dict(rope_parameters=YARN | dict(mscale=2.0)), dict(rope_parameters=YARN | dict(truncate=None)),
              dict(partial_rotary_factor=0.5), dict(torch_dtype="float16", dtype="bfloat16"), dict(dtype="float16"),
              dict(head_dim=None), dict(head_dim=8), dict(head_dim=4), dict(num_key_value_heads=None),
              dict(eos_token_id=[1, 2]), dict(transformers_weights="other.safetensors"), dict(layer_types=["x", "y"]),
              dict(hidden_act="gelu"), dict(hidden_activation="gelu"), dict(attn_logit_softcapping=2.0),
              dict(sliding_window=3), dict(use_sliding_window=True), dict(quantization_config=dict(quant_method="x")),
              dict(rms_norm_eps=0.5), dict(layer_norm_eps=0.5), dict(initializer_range=0.9), dict(rope_theta=None)],
    "t5": [dict(scale_decoder_outputs=None), dict(scale_decoder_outputs=True), dict(scale_decoder_outputs=False),
           dict(tie_word_embeddings=None), dict(tie_word_embeddings=True), dict(tie_word_embeddings=False),
           dict(tie_word_embeddings=False, scale_decoder_outputs=True), dict(dense_act_fn="gelu"),
           dict(is_gated_act=True), dict(is_gated_act=False), dict(is_gated_act=None), dict(dense_act_fn=None),
           dict(feed_forward_proj="gelu"), dict(feed_forward_proj="gated-silu"), dict(feed_forward_proj=None),
           dict(num_decoder_layers=None), dict(num_decoder_layers=2), dict(hidden_size=32), dict(head_dim=4),
           dict(layer_norm_epsilon=0.5), dict(layer_norm_eps=0.5), dict(tie_encoder_decoder=True),
           dict(relative_attention_max_distance=None), dict(dtype="float16"), dict(n_positions=4),
           dict(is_decoder=True), dict(is_encoder_decoder=False), dict(max_position_embeddings=4)],
    "phi3": [dict(original_max_position_embeddings=5), dict(rope_scaling=LISTS | dict(type="su"), rope_parameters=None),
             dict(rope_scaling=LISTS | dict(type="yarn"), rope_parameters=None), dict(partial_rotary_factor=1.0),
             dict(rope_scaling=LISTS | dict(type="longrope", original_max_position_embeddings=6),
                  rope_parameters=None)],
    "gemma3_text": [dict(rope_scaling=dict(rope_type="linear", factor=2.0)), dict(sliding_window_pattern=1),
                    dict(rope_scaling=dict(rope_type="linear", factor=2.0), rope_parameters=None),
                    dict(rope_theta=77.0), dict(rope_theta=77.0, rope_parameters=None), dict(rope_local_base_freq=77.0),
                    dict(rope_local_base_freq=77.0, rope_parameters=None), dict(rope_scaling={}),
                    dict(_sliding_window_pattern=2, layer_types=None), dict(sliding_window_pattern=2, layer_types=None),
                    dict(rope_parameters=dict(full_attention=dict(rope_type="linear", factor=2.0))),
                    dict(rope_parameters=dict(full_attention=YARN), original_max_position_embeddings=5),
                    dict(rope_parameters=dict(rope_type="linear", factor=2.0)), dict(attn_logit_softcapping=2.0)],
}
TOKENS, READ = [3, 9, 27, 4, 12, 36, 31, 16, 8, 24, 1, 2, 5, 15], [0, 7, 21, 23, 29, 6, 18]


def rounded(tensor):
    return tensor.bfloat16().float()  # a 16-bit copy then has the same values


def make(folder, kind, sizes):
    config = AutoConfig.for_model(kind, **json.loads(json.dumps(sizes)))
    model = (T5ForConditionalGeneration if kind == "t5" else AutoModelForCausalLM.from_config)(config)
    with torch.no_grad():
        for name, p in model.named_parameters():
            scale = 0.3 if p.dim() == 1 or "relative" in name else 1.5 / p.shape[-1] ** 0.5
            p.copy_(rounded(torch.randn(p.shape) * scale + (p.dim() == 1) * (not name.endswith("bias"))))
    model.save_pretrained(folder)


def theirs(folder, kind):
    """The logits of transformers, "fails", or "at random" if it draws a missing weight."""
    model_class = T5ForConditionalGeneration if kind == "t5" else AutoModelForCausalLM
    try:
        model, about = model_class.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    except Exception:  # noqa: BLE001  whatever makes it fail
        return "fails"
    if about["missing_keys"]:
        return "at random"
    read = dict(decoder_input_ids=torch.tensor([READ])) if kind == "t5" else {}
    try:
        with torch.no_grad():
            return model.eval()(input_ids=torch.tensor([TOKENS]), use_cache=False, **read).logits.flatten()
    except Exception:  # noqa: BLE001
        return "fails"


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, folder, kind):
        """poslab's logits, or the message of its refusal."""
        asked = dict(folder=str(folder), tokens=TOKENS) | (dict(read=READ) if kind == "t5" else {})
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        said = json.loads(self.process.stdout.readline())
        return said if isinstance(said, str) else torch.tensor(said)


class Folder:
    """A checkpoint; its parts can be changed and put back."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.config = json.loads((self.path / "config.json").read_text())
        self.tensors = load_file(self.path / "model.safetensors")

    def write(self, tensors=None, config=None):
        for other in self.path.iterdir():
            other.unlink()
        (self.path / "config.json").write_text(json.dumps(self.config if config is None else config))
        self.save("model.safetensors", self.tensors if tensors is None else tensors)

    def save(self, name, tensors):
        save_file({k: t.clone().contiguous() for k, t in tensors.items()}, self.path / name, {"format": "pt"})

    def index(self, of):
        weight_map = {name: file for file, tensors in of.items() for name in tensors}
        (self.path / "model.safetensors.index.json").write_text(json.dumps(dict(metadata={}, weight_map=weight_map)))


def other(tensor):
    return rounded(tensor.flip(0) * 0.7 + 0.1)


def changes_of_tensors(f):
    """Pairs (the change in words, a function that writes the changed checkpoint), for each tensor and each change."""
    for name, t in f.tensors.items():
        rest = {k: x for k, x in f.tensors.items() if k != name}
        short = name.removeprefix("model.")
        yield f"{name} missing", lambda rest=rest: f.write(rest)
        yield f"{name} other values", lambda rest=rest, n=name, t=t: f.write(rest | {n: other(t)})
        for second in {short, "model." + name, "transformer." + name, name.replace(".weight", ".bias"),
                       name.replace("layers.1", "layers.2").replace("block.1", "block.3")} - {name}:
            yield (f"{name} twice, as {second}",
                   lambda n=second, t=t: f.write(f.tensors | {n: other(t)} if n not in f.tensors else f.tensors))
        for shape, x in dict(transposed=t.t() if t.dim() == 2 else t[None], shorter=t[:-1],
                             flat=t.flatten(), longer=torch.cat([t, t[:1]])).items():
            yield f"{name} {shape}", lambda rest=rest, n=name, x=x: f.write(rest | {n: x})
        for dtype in (torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.float8_e4m3fn):
            yield f"{name} as {dtype}", lambda rest=rest, n=name, x=t, d=dtype: f.write(rest | {n: x.to(d)})

        def in_two_shards(rest=rest, n=name, t=t, left_out=False):
            f.write()
            (f.path / "model.safetensors").unlink()
            parts = {"a.safetensors": rest | ({} if left_out else {n: t}), "b.safetensors": {n: other(t)}}
            for file, tensors in parts.items():
                f.save(file, tensors)
            f.index({"a.safetensors": rest, "b.safetensors": {n: t}})

        yield f"{name} in a second shard", in_two_shards
        yield f"{name} in a shard of its own", lambda go=in_two_shards: go(left_out=True)


def changes_of_tied(f, names):
    whole = next(f.tensors[n] for n in names if n in f.tensors)
    rest = {k: t for k, t in f.tensors.items() if k not in names}
    kinds = dict(absent=None, same=whole, other=other(whole), bf16=whole.bfloat16(), short=whole[:-1])
    for chosen in itertools.product(list(kinds)[:3] if len(names) > 2 else kinds, repeat=len(names)):
        with_them = {n: kinds[k] + (0.01 * at if k == "other" else 0)
                     for at, (n, k) in enumerate(zip(names, chosen, strict=True)) if k != "absent"}
        for tie in (True, False, None):
            config = {k: v for k, v in f.config.items() if k != "tie_word_embeddings"}
            config |= {} if tie is None else dict(tie_word_embeddings=tie)
            yield (f"{dict(zip(names, chosen, strict=True))}, tie_word_embeddings {tie}",
                   lambda t=rest | with_them, c=config: f.write(t, c))


def changes_of_files(f):
    names = list(f.tensors)
    changed = {k: other(t) for k, t in f.tensors.items()}

    def both(whole, shards, pickled=None):
        f.write(whole)
        if whole is None:
            (f.path / "model.safetensors").unlink()
        if shards:
            f.save("model-00001-of-00001.safetensors", shards)
            f.index({"model-00001-of-00001.safetensors": shards})
        if pickled:
            torch.save(pickled, f.path / "pytorch_model.bin")

    yield "a whole file and shards of other weights", lambda: both(f.tensors, changed)
    yield "a whole file that lacks a tensor of the shards", lambda: both({k: changed[k] for k in names[1:]}, f.tensors)
    yield "a whole file and another pytorch_model.bin", lambda: both(f.tensors, None, changed)
    yield "shards and another pytorch_model.bin", lambda: both(None, f.tensors, changed)
    yield "a pytorch_model.bin alone", lambda: both(None, None, changed)

    def variant():
        f.write()
        f.save("model.fp16.safetensors", changed)

    yield "a whole file and a variant of it", variant


def changes_of_keys(f, kind):
    for key in f.config:
        rest = {k: v for k, v in f.config.items() if k != key}
        yield f"{key} absent", lambda c=rest: f.write(config=c)
        yield f"{key} null", lambda c=rest, k=key: f.write(config=c | {k: None})
    for said in SAID["llama" if kind != "t5" else kind] + (SAID.get(kind, []) if kind not in ("llama", "t5") else []):
        yield f"config.json says {said}", lambda c=f.config | said: f.write(config=c)


COLUMNS = ["equal", "refused", "refused by both", "alone", "differ"]


def line(name, counts):
    return f"{name:14}" + "".join(f"{counts[c]:17}" for c in COLUMNS)


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("program")
    parse.add_argument("--seed", type=int, default=0)
    parse.add_argument("--only", default=",".join(MODELS))
    parse.add_argument("--show", action="store_true", help="a line for every case")
    how = parse.parse_args()
    transformers.logging.set_verbosity(50)
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    torch.manual_seed(how.seed)
    ours, total = Ours(how.program), collections.Counter()
    print(f"{'':14}" + "".join(f"{c:>17}" for c in COLUMNS))
    for name in how.only.split(","):
        kind, sizes = MODELS[name]
        folder = tempfile.mkdtemp()
        make(folder, kind, sizes)
        f, counts = Folder(folder), collections.Counter()
        cases = itertools.chain([("unchanged", f.write)], changes_of_tensors(f), changes_of_tied(
            f, TIED.get(kind, TIED_DECODER)), changes_of_files(f), changes_of_keys(f, kind))
        for what, write in cases:
            write()
            a, b = ours(folder, kind), theirs(folder, kind)
            if isinstance(a, str):
                result = "refused by both" if isinstance(b, str) else "refused"
            elif isinstance(b, str):
                result = "alone" if b == "fails" else "differ"
            else:
                close = a.shape == b.shape and (a - b).abs().max() <= 1e-4 * b.abs().max()
                result = "equal" if close else "differ"
            if what == "unchanged" and result != "equal":
                result = "differ"
            counts[result] += 1
            if how.show or result == "differ":
                print(f"{name}: {what}: {result}", a if isinstance(a, str) else "", flush=True)
        shutil.rmtree(folder)
        total += counts
        print(line(name, counts), flush=True)
    print(line("all", total))
    raise SystemExit(int(total["differ"] > 0))


if __name__ == "__main__":
    main()

"""A LLaMA of transformers with another encoding: its own rotation goes, and poslab computes its attention."""

import json

import torch
from torch import nn

from .. import _poslab as engine
from .attention import Scheme

KNOWN = ("llama", "mistral", "qwen2", "qwen3")


def patch(model, encoding, *, temperature="none", positions="sequential", train_length=None, seed=0):
    """Gives a model of transformers this encoding, in place, and returns it. It trains, and generates with its cache,
    which may be static.

        model = AutoModelForCausalLM.from_pretrained(folder)
        pt.patch(model, "rerope:window=512")

    What the encoding does not say of pairing and base comes from the checkpoint. train_length, by default what the
    checkpoint says, is what a window of 0.5L is half of. What the encoding learns is in model.model.poslab. ValueError
    for models of other kinds, for encodings that add to the embedding, and for rope where the checkpoint's own rotation
    is scaled, such as llama3: say that one. Positions are those of the sampler, or 0, 1, 2, ..., so a pass with other
    position_ids is refused."""
    if not hasattr(getattr(model, "config", None), "model_type"):
        raise ValueError(f"poslab.torch: patch() takes a model of transformers, as from_pretrained gives it, and this "
                         f"is {model!r:.60}")
    config, inner = model.config, getattr(model, "model", model)
    if config.model_type not in KNOWN:
        raise ValueError(f"poslab.torch: patch() knows {', '.join(KNOWN)}, and this is {config.model_type}; "
                         "`poslab lm eval --hf FOLDER --encoding NAME` tests other families, too")
    if getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True):
        raise ValueError(f"poslab.torch: this {config.model_type} has a sliding window of {config.sliding_window}, "
                         "which patch() would drop; set model.config.sliding_window = None first, if that is meant")
    if hasattr(inner, "poslab"):
        raise ValueError("poslab.torch: this model is patched already; load it anew")
    heads = config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    with_usual = engine._inside.each_part(str(encoding), lambda part: _with_usual(part, config, size))
    scheme = Scheme(with_usual, config.hidden_size, heads, head_dim=size, causal=True,
                    layers=config.num_hidden_layers, positions=positions, temperature=temperature, seed=seed,
                    train_length=train_length or config.max_position_embeddings, pool=2 ** 20)
    if scheme.adds_to_embedding:
        raise ValueError(f"poslab.torch: {encoding} adds to the embedding, which patch() leaves as it is; choose an "
                         "encoding of attention, such as rerope")
    _register()
    inner.poslab, inner.rotary_emb = scheme, _NoRotation(size)
    inner.register_forward_pre_hook(_next_pass)
    for block in inner.layers:
        block.self_attn.poslab = [scheme]       # in a list, as its parameters are inner's
        block.self_attn.register_forward_pre_hook(_keep_slots, with_kwargs=True)
    model.set_attn_implementation("poslab")
    return model


def _with_usual(encoding, config, size):
    """With the pairing and the base of the checkpoint, where the encoding has such options and does not say them."""
    name, _, said = encoding.partition(":")
    rope = config.rope_parameters
    if name == "rope" and rope.get("rope_type", "default") != "default":
        own = engine._inside.hf_rope(json.dumps({"rope_parameters": rope}), config.max_position_embeddings, size)
        raise ValueError(f"poslab.torch: this checkpoint's rotation is {rope['rope_type']}, which rope would drop; "
                         f"say {own!r}, which is its own, or first set model.config.rope_parameters[\"rope_type\"] = "
                         '"default", if that is meant')
    options = next((row["options"] for row in engine._inside.things("encoding") if row["name"] == name), [])
    usual = {"pairing": "half", "base": f"{rope['rope_theta']:g}"}
    given = {part.split("=")[0] for part in said.split(",")}
    takes = {"pairing": "half", "base": " .. "}         # others are schemes, such as dape's base
    more = [f"{o['name']}={usual[o['name']]}" for o in options
            if o["name"] in usual.keys() - given and takes[o["name"]] in o["takes"]]
    return f"{name}:{','.join([said] * bool(said) + more)}" if more else encoding


class _NoRotation(nn.Module):
    """In place of the rotation of a checkpoint: cosines of 1 and sines of 0."""

    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x, position_ids):
        one = torch.ones(1, position_ids.shape[-1], self.size, dtype=x.dtype, device=x.device)
        return one, torch.zeros_like(one)

    def __setstate__(self, state):              # of a model from a file, perhaps the first one in this process
        super().__setstate__(state)
        _register()


def _next_pass(module, args):
    module.poslab.next_pass()


def _register():
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import flash_attention_mask

    AttentionInterface.register("poslab", _attention)
    AttentionMaskInterface.register("poslab", flash_attention_mask)     # (B, Tk) where something is padding, or None


def _keep_slots(module, args, kwargs):
    """How many slots there are with this pass: a static cache gives keys beyond them. For encodings that read them also
    the states of this pass, and those of all keys, which are kept with the cache."""
    x = args[0] if args else kwargs["hidden_states"]
    cache, keys = kwargs.get("past_key_values", kwargs.get("cache")), x         # its name since transformers 5.24
    seen = 0 if cache is None else int(cache.get_seq_length(module.layer_idx))
    module.poslab_slots, module.poslab_cache = seen + x.shape[1], type(cache).__name__
    if not module.poslab[0].reads_states:
        return
    if cache is not None:
        if not isinstance(cache, _WithStates):
            cache.__class__ = type(f"{type(cache).__name__}WithStates", (_WithStates, type(cache)), {})
        kept = cache.__dict__.setdefault("poslab_states", {})
        if seen:
            keys = torch.cat([kept[module.layer_idx][:, :seen], x], 1)
        kept[module.layer_idx] = keys
    module.poslab_states = (x, keys)


class _WithStates:
    """What a cache does with its sequences, as a search with beams asks for, with the states that it keeps, too."""

    def _move_states(self, moved):
        kept = self.__dict__.get("poslab_states", {})
        kept.update((layer, moved(states)) for layer, states in kept.items())

    def reorder_cache(self, beam_idx):
        super().reorder_cache(beam_idx)
        self._move_states(lambda states: states[beam_idx])

    def batch_repeat_interleave(self, repeats):
        super().batch_repeat_interleave(repeats)
        self._move_states(lambda states: states.repeat_interleave(repeats, dim=0))

    def batch_select_indices(self, indices):
        super().batch_select_indices(indices)
        self._move_states(lambda states: states[indices])


def _must_count(positions, lengths, queries, keys):
    """The slots are counted from the first one on, which patch() takes for granted; padding may be anything."""
    slots = torch.arange(keys - queries, keys)
    if positions is not None:
        wrong = positions != slots
        if (wrong if lengths is None else wrong & (slots < lengths[:, None])).any():
            raise ValueError(f"poslab.torch: position_ids are {positions.tolist()!s:.60}, and patch() counts slots: 0, "
                             "1, 2, ..., after those of a cache; leave them out, and give texts one by one or padded")


def _attention(module, query, key, value, attention_mask, *, scaling, dropout=0.0, **kwargs):
    """As transformers calls it: (B, H, Tq, D), (B, G, Tk, D) -> (B, Tq, H, D), and no weights."""
    scheme = module.poslab[0]
    if dropout:
        raise ValueError("poslab.torch: attention has no dropout of weights; set model.config.attention_dropout = 0 "
                         "before the model is made")
    slots = module.poslab_slots
    if key.shape[2] < slots:
        raise ValueError(f"poslab.torch: this {module.poslab_cache} gave {key.shape[2]} keys of {slots} slots, and "
                         "patch() needs all of them; use a DynamicCache")
    q, k, v = query.transpose(1, 2), key[:, :, :slots].transpose(1, 2), value[:, :, :slots].transpose(1, 2)
    if abs(scaling * q.shape[-1] ** 0.5 - 1) > 1e-6:
        raise ValueError(f"poslab.torch: this model scales logits by {scaling:g}, and encodings by "
                         f"1 / sqrt({q.shape[-1]}); patch() does not fit it")
    x, x_keys = module.poslab_states if scheme.reads_states else (None, None)
    lengths = None
    if attention_mask is not None:
        mask = attention_mask.bool()
        lengths = mask.sum(-1)
        decodes = q.shape[1] != slots and not mask.all()
        if mask.shape != (len(q), slots) or decodes or (mask != (torch.arange(slots) < lengths[:, None])).any():
            raise ValueError("poslab.torch: padding must be on the right, and none while decoding from a cache; set "
                             "tokenizer.padding_side = 'right', or generate from one text at a time")
    if module.layer_idx == 0:
        _must_count(kwargs.get("position_ids"), lengths, q.shape[1], slots)
    return scheme(q, k, v, x, x_keys, layer=module.layer_idx, lengths=lengths), None

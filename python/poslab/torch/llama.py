"""A LLaMA of transformers with another encoding: its own rotation is removed, and poslab computes its attention."""

import functools
import itertools
import json

import torch
from torch import nn

from .. import _poslab as engine
from ..chosen import spelling
from .attention import Scheme

KNOWN = ("llama", "mistral", "qwen2", "qwen3")


def patch(model, encoding, *, temperature="none", positions="sequential", train_length=None, seed=0):
    """Gives a model of transformers this encoding, in place, and returns the model. It can be trained, and generates
    with its cache, which may be static.

        model = AutoModelForCausalLM.from_pretrained(folder)
        pt.patch(model, "rerope:window=512")

    Pairing, base and trained length come from the checkpoint unless the encoding states them. train_length, by default
    original_max_position_embeddings or else max_position_embeddings, is the trained length for yarn and similar
    encodings, and the L of a window of 0.5L. The encoding's parameters are in model.model.poslab. Raises ValueError for
    other kinds of model, for encodings that add to the embedding, and for rope if the checkpoint's own rotation is
    scaled, as with llama3: name that encoding. Positions are the sampler's, or 0, 1, 2, ... Without cache and
    attention_mask, position_ids that restart at 0 mark packed documents, each computed separately; any other
    position_ids are refused. save_pretrained() writes the encodings that a config.json can express, and refuses the
    rest; torch.save() stores any patched model."""
    if not hasattr(getattr(model, "config", None), "model_type"):
        raise ValueError(f"poslab.torch: patch() takes a model of transformers, as from_pretrained returns it, but was "
                         f"given {model!r:.60}")
    config, inner = model.config, getattr(model, "model", model)
    if config.model_type not in KNOWN:
        raise ValueError(f"poslab.torch: patch() knows {', '.join(KNOWN)}, but this model is {config.model_type}; "
                         "`poslab lm eval --hf FOLDER --encoding NAME` tests other families, too")
    if getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True):
        raise ValueError(f"poslab.torch: this {config.model_type} has a sliding window of {config.sliding_window}, "
                         "which patch() would drop; to drop it, set model.config.sliding_window = None first")
    if hasattr(inner, "poslab"):
        raise ValueError("poslab.torch: this model is already patched; load it again")
    heads = config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    trained = train_length or config.rope_parameters.get("original_max_position_embeddings")
    trained = trained or config.max_position_embeddings
    encoding = spelling(encoding=encoding)["encoding"]
    with_usual = engine._inside.each_part(encoding, lambda part: _with_usual(part, config, size, trained))
    # Counted positions have no limit, so a table gets many rows; a random sampler has its own pool.
    counted = not engine._inside.has_pool(spelling(positions=positions)["positions"])
    own_pool = {"pool": 2 ** 20} if counted and engine._inside.has_rows(with_usual) else {}
    scheme = Scheme(with_usual, config.hidden_size, heads, head_dim=size, causal=True,
                    layers=config.num_hidden_layers, positions=positions, temperature=temperature, seed=seed,
                    train_length=trained, **own_pool)
    if scheme.adds_to_embedding:
        raise ValueError(f"poslab.torch: {encoding} adds to the embedding, which patch() does not change; choose an "
                         "encoding of attention, such as rerope")
    _register()
    inner.poslab, inner.rotary_emb = scheme, _NoRotation(size, config)
    _store_honestly(model, inner, scheme, size)
    inner.register_forward_pre_hook(_next_pass, with_kwargs=True)
    for block in inner.layers:
        block.self_attn.poslab = [scheme]       # in a list, because its parameters belong to inner
        block.self_attn.register_forward_pre_hook(_keep_slots, with_kwargs=True)
    model.set_attn_implementation("poslab")
    scheme.train(model.training)                # from_pretrained() has already called eval()
    return model


def _with_usual(encoding, config, size, trained):
    """The encoding with the checkpoint's pairing, base and trained length for options that it leaves out."""
    name, _, said = encoding.partition(":")
    rope = config.rope_parameters
    if name == "rope" and rope.get("rope_type", "default") != "default":
        own = engine._inside.hf_rope(json.dumps({"rope_parameters": rope}), config.max_position_embeddings, size)
        raise ValueError(f"poslab.torch: this checkpoint's rotation is {rope['rope_type']}, which rope would drop; "
                         f"to keep it, use {own!r}; to drop it, first set "
                         'model.config.rope_parameters["rope_type"] = "default"')
    options = next((row["options"] for row in engine._inside.things("encoding") if row["name"] == name), [])
    usual = {"pairing": "half", "base": repr(float(rope["rope_theta"])).replace("+", ""), "length": str(trained)}
    given = {part.split("=")[0] for part in said.split(",")}
    takes = {"pairing": "half", "base": " .. ", "length": "0.5L"}       # excludes other types, such as dape's base
    more = [f"{o['name']}={usual[o['name']]}" for o in options
            if o["name"] in usual.keys() - given and takes[o["name"]] in o["takes"]]
    return f"{name}:{','.join([said] * bool(said) + more)}" if more else encoding


def _store_honestly(model, inner, scheme, size):
    """transformers reads only config.json. If rope_parameters can express the encoding, the configuration gets it, so
    that save_pretrained() and push_to_hub() store it; otherwise these two raise ValueError."""
    config, how = model.config, scheme.how
    rotation = engine._inside.hf_rope_parameters(how["encoding"], size, config.max_position_embeddings)
    if rotation and how["temperature"] == "none" and how["positions"] == "sequential":
        config.rope_parameters = json.loads(rotation)
        return
    more = [f"{name} {how[name]}" for name in ("positions", "temperature") if how[name] not in ("sequential", "none")]
    what = ", ".join([f"encoding {how['encoding']}", *more])
    for module in (model, inner):
        module.save_pretrained = module.push_to_hub = functools.partial(_refuse_to_store, what)


def _refuse_to_store(what, *args, **how):
    raise ValueError(f"poslab.torch: config.json cannot express {what}, and transformers would load this model without "
                     "it; use torch.save(model, FILE), or load model.state_dict() into a model with the same patch")


class _NoRotation(nn.Module):
    """Replaces the rotation of a checkpoint: cosines of 1 and sines of 0."""

    def __init__(self, size, config):
        super().__init__()
        self.size, self.config = size, config

    def forward(self, x, position_ids):
        if self.config._attn_implementation != "poslab":
            raise ValueError(f"poslab.torch: attn_implementation is {self.config._attn_implementation} now, without "
                             'the encoding of patch(); use model.set_attn_implementation("poslab")')
        one = torch.ones(1, position_ids.shape[-1], self.size, dtype=x.dtype, device=x.device)
        return one, torch.zeros_like(one)

    def __setstate__(self, state):              # for a model from a file, perhaps the first one in this process
        super().__setstate__(state)
        _register()


def _next_pass(module, args, kwargs):
    module.poslab.next_pass()
    masked = (kwargs.get("attention_mask") if len(args) < 2 else args[1]) is not None
    # gradient checkpointing calls the layer again with the same arguments
    return args, kwargs | {"poslab_pass": module.poslab.passes, "poslab_masked": masked}


def _register():
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import flash_attention_mask

    AttentionInterface.register("poslab", _attention)
    AttentionMaskInterface.register("poslab", flash_attention_mask)     # (B, Tk) with padding, or None


def _keep_slots(module, args, kwargs):
    """Stores the number of slots up to this pass, because a static cache has more keys. For encodings that read states,
    it also stores the states of this pass, and those of all keys, which are kept with the cache."""
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
    """A cache whose operations on sequences, as in beam search, also move the states that are kept with it."""

    def _move_states(self, moved):
        kept = self.__dict__.get("poslab_states", {})
        kept.update((layer, moved(states)) for layer, states in kept.items())

    def reorder_cache(self, beam_idx):
        super().reorder_cache(beam_idx)    # type: ignore[misc]
        self._move_states(lambda states: states[beam_idx])

    def batch_repeat_interleave(self, repeats):
        super().batch_repeat_interleave(repeats)    # type: ignore[misc]
        self._move_states(lambda states: states.repeat_interleave(repeats, dim=0))

    def batch_select_indices(self, indices):
        super().batch_select_indices(indices)    # type: ignore[misc]
        self._move_states(lambda states: states[indices])


def _borders(positions, batch, alone):
    """The borders of packed documents, [[0, 5, 12], ...] for each sequence, from positions (1 or B, T) that restart at
    0. None if there are no such documents, or with a mask or a cache (not `alone`), as in transformers."""
    if positions is None or not alone:
        return None
    rows = positions.expand(batch, -1)
    anew = rows == 0
    if not (anew[:, 0].all() and anew[:, 1:].any() and (anew[:, 1:] | (rows.diff(dim=-1) == 1)).all()):
        return None
    return [[*row.nonzero().flatten().tolist(), rows.shape[1]] for row in anew]


def _must_match(borders, **given):
    """Checks that the borders of a collator for flash attention, cu_seq_lens, are those of the positions."""
    for name, lengths in given.items():
        if lengths is not None and (borders is None or len(borders) > 1 or borders[0] != lengths.tolist()):
            raise ValueError(f"poslab.torch: {name} are {lengths.tolist()!s:.60}, but position_ids begin documents "
                             "elsewhere or nowhere; give one sequence whose position_ids restart at each document, no "
                             "attention_mask, and use_cache=False")


def _of_documents(borders, call, joined, tensors):
    """Calls call() with each document's part of the tensors (B, T, ...), and then joined(b, from, to, result)."""
    for b, row in enumerate(borders):
        for first, end in itertools.pairwise(row):
            joined(b, first, end, call(*(None if x is None else x[b:b + 1, first:end] for x in tensors)))


def _must_count(positions, lengths, queries, keys):
    """Raises ValueError unless positions count slots, as patch() assumes; those of padding do not matter."""
    slots = torch.arange(keys - queries, keys)
    if positions is not None:
        wrong = positions != slots
        if (wrong if lengths is None else wrong & (slots < lengths[:, None])).any():
            raise ValueError(f"poslab.torch: position_ids are {positions.tolist()!s:.60}, but patch() counts slots: 0, "
                             "1, 2, ..., after those of a cache; leave them out and give texts one by one or padded; "
                             "packed texts need position_ids from 0 for each, use_cache=False and no attention_mask")


# Arguments that would change the result of transformers' attention, and that poslab's attention lacks.
IGNORED = ("head_mask", "sliding_window", "softcap", "s_aux")


def _refuse_other_attention(module, dropout, scaling, size, kwargs):
    """Refuses settings of a model or a pass that poslab's attention would ignore; they may be set after patch()."""
    ignored = [name for name in IGNORED if kwargs.get(name) is not None]
    if ignored:
        raise ValueError(f"poslab.torch: attention of a patched model has no {ignored[0]}, but this pass asks for it; "
                         "leave it out of the call or of model.config")
    if not (getattr(module, "is_causal", True) and getattr(module.config, "is_causal", True)):
        raise ValueError("poslab.torch: attention of a patched model is causal, but is_causal is False here; leave it "
                         "True, or build the layers from pt.Attention(..., causal=False)")
    if dropout:
        raise ValueError("poslab.torch: attention has no dropout of weights; set model.config.attention_dropout = 0 "
                         "before the model is made")
    if abs(scaling * size ** 0.5 - 1) > 1e-6:
        raise ValueError(f"poslab.torch: this model scales logits by {scaling:g}, but encodings by 1 / sqrt({size}); "
                         "patch() cannot be used with this model")


def _lengths(mask, queries, slots):
    """(B,): the number of slots of each sequence that are not padding, from a mask (B, slots); None without a mask."""
    if mask is None:
        return None
    if mask.dim() != 2:
        raise ValueError(f"poslab.torch: attention_mask is {mask.dim()}-D, {tuple(mask.shape)}, but a patched model "
                         "takes one of padding, (batch, slots); leave it out: attention is causal without it")
    mask = mask.bool()
    lengths = mask.sum(-1)
    decodes = queries != slots and not mask.all()
    if mask.shape[1] != slots or decodes or (mask != (torch.arange(slots) < lengths[:, None])).any():
        raise ValueError("poslab.torch: padding must be on the right, with none while decoding from a cache; set "
                         "tokenizer.padding_side = 'right', or generate from one text at a time")
    return lengths


def _attention(module, query, key, value, attention_mask, *, scaling, dropout=0.0, **kwargs):
    """transformers calls this: (B, H, Tq, D), (B, G, Tk, D) -> (B, Tq, H, D), and weights (B, H, Tq, Tk) or None."""
    if not hasattr(module, "poslab"):
        raise ValueError("poslab.torch: this model is not patched, but shares its config with one that is; give each "
                         "model a config of its own, as by copy.deepcopy(config)")
    scheme, slots = module.poslab[0], module.poslab_slots
    _refuse_other_attention(module, dropout, scaling, query.shape[-1], kwargs)
    if scheme.training and scheme._random and kwargs.get("poslab_pass", scheme.passes) != scheme.passes:
        raise ValueError(f"poslab.torch: gradient checkpointing repeats a pass after a later one, and "
                         f"{scheme.how['positions']} would draw other positions than before; call backward() before "
                         "the next pass")
    if key.shape[2] < slots:
        raise ValueError(f"poslab.torch: this {module.poslab_cache} gave {key.shape[2]} keys of {slots} slots, but "
                         "patch() needs all of them; use a DynamicCache")
    q, k, v = query.transpose(1, 2), key[:, :, :slots].transpose(1, 2), value[:, :, :slots].transpose(1, 2)
    x, x_keys = module.poslab_states if scheme.reads_states else (None, None)
    lengths = _lengths(attention_mask, q.shape[1], slots)
    alone = not kwargs.get("poslab_masked") and module.poslab_cache == "NoneType"
    borders = _borders(kwargs.get("position_ids"), len(q), alone)
    _must_match(borders, **{name: kwargs.get(name) for name in ("cu_seq_lens_q", "cu_seq_lens_k")})
    if module.layer_idx == 0 and not borders:
        _must_count(kwargs.get("position_ids"), lengths, q.shape[1], slots)
    how = {"layer": module.layer_idx} | ({} if borders else {"lengths": lengths})
    if borders:
        rows = [[] for _ in borders]
        _of_documents(borders, lambda *parts: scheme(*parts, **how), lambda b, first, end, part: rows[b].append(part),
                      (q, k, v, x, x_keys))
        read = torch.cat([torch.cat(row, 1) for row in rows])
    else:
        read = scheme(q, k, v, x, x_keys, **how)
    wanted = kwargs.get("output_attentions")
    if not (module.config.output_attentions if wanted is None else wanted):
        return read, None
    if module.training and torch.is_grad_enabled():
        raise ValueError("poslab.torch: attention weights have no gradient here; ask for output_attentions under "
                         "torch.no_grad() or after model.eval()")
    if not borders:
        return read, scheme.weights(q, k, x, x_keys, **how)
    weights = torch.zeros(len(q), q.shape[2], slots, slots)
    _of_documents(borders, lambda *parts: scheme.weights(*parts, **how),
                  lambda b, first, end, part: weights[b, :, first:end, first:end].copy_(part[0]), (q, k, x, x_keys))
    return read, weights

"""Schemes as modules: pt.Scheme takes queries and keys, and pt.Attention adds projections before and after it."""

import warnings

import torch
from torch import nn

from .. import _poslab as engine
from ..chosen import Sampler, numbers, samplers, spelling, whole
from .bridge import at_one_place, call, of_engine, shared


class Scheme(nn.Module):
    """An encoding, a sampler and a temperature for `layers` layers: logits, weights and results of queries and keys.

    Each is a spelling of the command line, or an entry of pl.encodings, pl.samplers, pl.temperatures. Parameters
    have the engine's names, such as encoding.layer0.table. While training, next_pass() draws random positions again, so
    call it before each pass of the model: without it all passes have the same positions, as in evaluation. head_dim: by
    default d_model / heads. pool: the number of positions that random samplers draw from and of rows in tables, by
    default the sampler's or 2048; ValueError if neither exists. train_length: the L of a window of 0.5L, and the
    trained length for yarn and similar encodings. A warning is given for positions that the encoding does not read."""

    embedded = False                            # whether embed() was called

    def __init__(self, encoding, d_model, heads, *, positions="sequential", temperature="none", causal=False, layers=1,
                 head_dim=None, pool=None, train_length=40, seed=0):
        super().__init__()
        self.how = spelling(encoding=encoding, positions=positions, temperature=temperature)
        self.how |= numbers(layers=layers, heads=heads, d_model=d_model, head_dim=0 if head_dim is None else head_dim,
                            causal=causal, train_length=train_length, seed=seed)
        self.how |= {} if pool is None else numbers(pool=pool)
        self.passes = 0
        self._build()
        for name, tensor in self._built.parameters.items():
            *path, last = name.split(".")
            at = self
            for part in path:
                if part not in at._modules:
                    at.add_module(part, nn.Module())
                at = at._modules[part]
            at.register_parameter(last, nn.Parameter(of_engine(tensor)))
        self.register_load_state_dict_post_hook(_loaded)

    def _build(self):
        self._built = engine._inside.Built(**self.how)
        self._random = engine._inside.draws_at_random(self.how["positions"])

    def _built_with(self, parameters):
        """The engine's object with these parameters. Tensors that are not the module's, as in functional_call, get a
        separate object: the module keeps its own, and each graph keeps the parameters of its computation."""
        if all(at_one_place(own, parameters[name]) for name, own in self._built.parameters.items()):
            return self._built
        built = engine._inside.Built(**self.how)
        for name, own in built.parameters.items():
            if parameters[name].shape != own.shape:
                raise ValueError(f"poslab.torch: parameter {name} is {tuple(parameters[name].shape)}; it must be "
                                 f"{own.shape}")
            own.numpy()[...] = shared(parameters[name], f"parameter {name}").numpy()
        return built

    def _move_back(self):
        """Moves parameters that have new memory back into the engine's memory, with their values."""
        own = self._built.parameters
        for name, parameter in self.named_parameters():
            fits = parameter.shape == own[name].shape and parameter.dtype == torch.float32
            if fits and parameter.device.type == "cpu" and not parameter.is_shared():
                values = of_engine(own[name])
                values.copy_(parameter.data)
                parameter.data = values

    def _apply(self, *how, **more):             # .float(), .to(...)
        super()._apply(*how, **more)
        self._move_back()
        return self

    def __getstate__(self):                     # for copies and pickles, each with an engine's object of its own
        return {name: value for name, value in super().__getstate__().items() if name != "_built"}

    def __setstate__(self, state):
        super().__setstate__(state)
        self._build()
        self._move_back()

    def extra_repr(self):
        return ", ".join(f"{name}={value!r}" for name, value in self.how.items())

    @property
    def adds_to_embedding(self):
        """Whether embed() adds something."""
        return self._built.adds_to_embedding

    @property
    def reads_states(self):
        """Whether the encoding may read x and x_keys, the states from which queries and keys are made."""
        return self._built.reads_states

    def next_pass(self):
        """While training, draws random positions for the next pass. Raises ValueError if it would draw within a
        backward pass, in which torch.utils.checkpoint runs forward() again: the positions would differ."""
        if self.training and self._random and torch._C._current_graph_task_id() != -1:
            raise ValueError("poslab.torch: forward() runs again within backward(), as torch.utils.checkpoint does, "
                             f"and {self.how['positions']} would draw other positions than before; let the layers "
                             "share a Scheme, and call its next_pass() before each pass of the model, outside of "
                             "checkpoint()")
        if self.training:
            self.passes += 1

    @torch.compiler.disable
    def _call(self, function, inputs, **how):
        step = self.passes if self.training else 0
        if isinstance(how.get("positions"), (str, Sampler)):
            raise ValueError(f"poslab.torch: positions are numbers here, and {str(how['positions'])!r} is a sampler; "
                             "give it to the layer's constructor")
        if getattr(how.get("positions"), "requires_grad", False) and torch.is_grad_enabled():
            raise ValueError("poslab.torch: positions have no gradient, but these require one; give positions.detach()")
        for name in {"positions", "lengths"} & how.keys():
            if isinstance(how[name], torch.Tensor):
                if how[name].dtype in (torch.bfloat16, torch.float16, torch.bool) or how[name].is_complex():
                    raise ValueError(f"poslab.torch: {name} are {how[name].dtype}, which cannot hold every position; "
                                     "give whole numbers, or float32")
                how[name] = how[name].numpy(force=True)
        how |= {"step": step} | {name: whole(name, how[name]) for name in {"layer"} & how.keys()}
        theirs = dict(self.named_parameters(remove_duplicate=False))
        built = self._built_with(theirs)
        parameters = [(own, theirs[name]) for name, own in built.parameters.items()]
        return call(lambda **tensors: getattr(built, function)(**tensors, **how), inputs, parameters)

    def embed(self, x, *, positions=None):
        """x (B, T, C), with positions added if the encoding adds them to the embedding."""
        self.embedded = True
        return self._call("embed", {"x": x}, positions=positions) if self.adds_to_embedding else x

    def forward(self, q, k, v, x=None, x_keys=None, *, layer=0, positions=None, lengths=None):
        """(B, Tq, H, D): the result of queries (B, Tq, H, D), in the last slots, from keys and values (B, Tk, G, D).

        x (B, Tq, C), x_keys (B, Tk, C): the states that queries and keys are made from, for encodings that read them.
        positions (Tk,) or (B, Tk): instead of the sampler's. lengths (B,): the number of keys in each sequence; later
        ones are padding."""
        inputs = {"q": q, "k": k, "v": v, "x": x, "x_keys": x_keys}
        return self._call("attend", inputs, layer=layer, positions=positions, lengths=lengths)

    def logits(self, q, k, x=None, x_keys=None, *, layer=0, positions=None, lengths=None):
        """(B, H, Tq, Tk), -infinity where masked; arguments as in forward()."""
        inputs = {"q": q, "k": k, "x": x, "x_keys": x_keys}
        return self._call("logits", inputs, layer=layer, positions=positions, lengths=lengths)

    def weights(self, q, k, x=None, x_keys=None, *, layer=0, positions=None, lengths=None):
        """Attention weights, (B, H, Tq, Tk), without a gradient; arguments as in forward()."""
        inputs = {"q": q, "k": k, "x": x, "x_keys": x_keys}
        with torch.no_grad():
            return self._call("weights", inputs, layer=layer, positions=positions, lengths=lengths)


def _loaded(scheme, keys):                       # a function of the file, for pickles of a Scheme
    scheme._move_back()


class Attention(nn.Module):
    """Self-attention with any encoding: projections to queries, keys and values, and back to d_model.

    encoding: as for Scheme, which gets the other options, or a Scheme that several layers share. With a Scheme, `layer`
    is the index of this layer, and the model calls scheme.next_pass() before each pass. torch.utils.checkpoint with
    random positions needs a shared Scheme. key_heads: the number of key and value heads, if fewer than query heads.
    options: those of Scheme, positions, temperature, causal, head_dim, pool, train_length, seed."""

    def __init__(self, encoding, d_model, heads, *, key_heads=None, bias=False, layer=0, **options):
        super().__init__()
        if "dropout" in options:
            raise ValueError("poslab.torch: attention weights have no dropout here; leave it out, or put "
                             "torch.nn.Dropout after the layer")
        self.shares = isinstance(encoding, Scheme)
        if self.shares and options:
            raise ValueError(f"poslab.torch: {', '.join(options)} belongs to the Scheme that this layer shares; give "
                             "it there")
        if "layers" in options:
            raise ValueError("poslab.torch: layers is an option of a Scheme, which several layers share; give layer, "
                             "the index of this one")
        self.layer, self.heads = whole("layer", layer, 0), whole("heads", heads, 1)
        self.key_heads = self.heads if key_heads is None else whole("key_heads", key_heads, 1)
        if self.heads % self.key_heads:
            raise ValueError(f"poslab.torch: key_heads is {key_heads}; it must divide the {heads} heads")
        self.scheme = encoding if self.shares else Scheme(encoding, d_model, heads, layers=self.layer + 1, **options)
        self.head_dim = self.scheme.how["head_dim"] or d_model // heads
        self.query = nn.Linear(d_model, heads * self.head_dim, bias=bias)
        self.key = nn.Linear(d_model, self.key_heads * self.head_dim, bias=bias)
        self.value = nn.Linear(d_model, self.key_heads * self.head_dim, bias=bias)
        self.output = nn.Linear(heads * self.head_dim, d_model, bias=bias)

    def embed(self, x, **how):
        """The input of the first layer: x, with positions added if the encoding adds them to the embedding."""
        return self.scheme.embed(x, **how)

    def _of(self, x):
        width, kind = self.query.in_features, self.query.weight.dtype
        if not isinstance(x, torch.Tensor):
            raise ValueError(f"poslab.torch: x is a {type(x).__name__}; give a tensor, such as torch.as_tensor(x)")
        if kind != torch.float32:
            raise ValueError(f"poslab.torch: the layer is {kind}, and the engine computes in float32; use "
                             "layer.float()")
        if x.dim() != 3 or x.shape[2] != width:
            raise ValueError(f"poslab.torch: x is {tuple(x.shape)}; it must be (batch, time, {width})")
        if x.dtype != kind and not torch.is_autocast_enabled("cpu"):
            raise ValueError(f"poslab.torch: x is {x.dtype}, and the layer is {kind}; use x.float()")
        q, k, v = (project(x).unflatten(-1, (-1, self.head_dim)) for project in (self.query, self.key, self.value))
        return q, k, v

    def forward(self, x, *, positions=None, lengths=None, cache=None):
        """(B, T, C) -> (B, T, C). positions and lengths as in Scheme.forward(). cache: x continues the sequences in
        the cache, which then also contains the slots of x."""
        if not self.shares:
            self.scheme.next_pass()
        if self.scheme.adds_to_embedding and not self.scheme.embedded:
            warnings.warn(f"poslab.torch: {self.scheme.how['encoding']} adds positions to the embedding, and embed() "
                          "was not called, so positions change nothing; give the first layer layer.embed(x)",
                          stacklevel=2)
        q, k, v = self._of(x)
        x_keys, given = x, positions is not None
        if cache is not None:
            if torch.is_grad_enabled() and q.requires_grad:
                raise ValueError("poslab.torch: a cache has no gradients; decode under torch.no_grad()")
            k, v, x_keys = cache.with_newest(self, k, v, x)
            positions = cache.positions_of(k.shape[1], positions)
        read = self.scheme(q, k, v, x, x_keys, layer=self.layer, positions=positions, lengths=lengths)
        if cache is not None:
            cache.length, cache.given = k.shape[1], given         # a refused call does not count
        return self.output(read.flatten(-2))

    def logits(self, x, **how):
        """(B, H, T, T), -infinity where masked."""
        q, k, _ = self._of(x)
        return self.scheme.logits(q, k, x, layer=self.layer, **how)

    def weights(self, x, **how):
        """Attention weights: (B, H, T, T), without a gradient."""
        q, k, _ = self._of(x)
        return self.scheme.weights(q, k, x, layer=self.layer, **how)

    def cache(self, capacity, sequences=1):
        """An empty Cache for decoding `capacity` slots at most."""
        return Cache(self, capacity, sequences)


class Cache:
    """Keys and values of one layer, kept without positions, so that all encodings can use it. A sampler other than
    sequential draws once, for all slots up to the capacity."""

    def __init__(self, layer, capacity, sequences=1):
        scheme, size = layer.scheme, (whole("sequences", sequences, 1), whole("capacity", capacity, 1))
        if not scheme.how["causal"]:
            raise ValueError("poslab.torch: only causal attention can continue from a cache; give causal=True")
        self.length, self.capacity, self._layer = 0, size[1], layer
        self._kept = [torch.empty(*size, layer.key_heads, layer.head_dim) for _ in range(2)]
        self._kept.append(torch.empty(*size, scheme.how["d_model"]))
        self._positions, self.given = None, False        # given: whether the last call gave positions
        if scheme.how["positions"] != "sequential":
            self._positions = samplers[scheme.how["positions"]].draw(capacity, seed=scheme.how["seed"])
            if self._positions.shape != (1, capacity):
                raise ValueError(f"poslab.torch: {scheme.how['positions']} lacks a position for each slot, which a "
                                 "cache needs; choose another sampler, such as sequential")

    def with_newest(self, layer, *newest):
        """All keys, values and states: the cache's `length` slots, then the newest ones (B, T, ...)."""
        if layer is not self._layer:
            raise ValueError("poslab.torch: this cache belongs to another layer; each needs its own, from "
                             "layer.cache()")
        until = whole("length", self.length, 0) + newest[0].shape[1]
        if until > self.capacity or newest[0].shape[0] != len(self._kept[0]):
            raise ValueError(f"poslab.torch: this cache is for {len(self._kept[0])} sequences of {self.capacity} "
                             f"slots, and was given {newest[0].shape[0]} of {until}; make a larger one with "
                             "layer.cache()")
        for kept, new in zip(self._kept, newest):
            kept[:, self.length:until] = new
        return [kept[:, :until] for kept in self._kept]

    def positions_of(self, slots, given):
        """Positions of the first `slots` slots for a call in which positions are `given`, or None."""
        if given is None and self.given and self.length:
            raise ValueError(f"poslab.torch: an earlier call with this cache gave positions; give those of all {slots} "
                             "slots again, because the cache keeps none")
        return self.positions(slots) if given is None else given

    def positions(self, slots=None):
        """Positions of the first `slots` slots, by default of all in the cache; None if the sampler counts them."""
        return None if self._positions is None else self._positions[0, :self.length if slots is None else slots]

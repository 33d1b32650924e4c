"""Encodings and samplers of your own."""

import numpy as np

from . import chosen
from ._poslab import Piece, Scores, _inside


def _join(cls, add, things, *more):
    cls.name = cls.__dict__.get("name") or cls.__name__.lower()
    add(cls.name, cls, (cls.__doc__ or "").strip(), cls.options, *more)
    things.look_again()


class Encoding:
    """A layer of an encoding written in Python. A class that derives from it joins pl.encodings under its name in small
    letters, or under `name`; pl.train takes the class, and pl.check(it) holds it to the laws.

        class Farther(pl.Encoding):
            options = {"slope": 0.5}                     # defaults: bool, int or float
            laws = {"two_sided": True}                   # both sides look alike to it

            def scores(self, q, k, positions):           # q, k (B, T, H, D), positions (1 or B, T) of NumPy
                queries = positions[:, -q.shape[1]:]     # the last of the slots
                rows = abs(positions[:, None, :] - queries[:, :, None]).astype(int)
                bias = np.repeat(-self.slope * np.arange(rows.max() + 1)[:, None], self.heads, 1)
                return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5, bias=bias, pairs=rows)

    A default may be (default, least, most): other values are refused, and pl.check tries none of them.
    pairs says which row of bias each pair of a query and a key reads, so it takes whole numbers from 0 on.
    `learn(parameters)` makes what it learns: self.bias = parameters.full("bias", [10, self.heads], 0). laws: what
    differs from {"shift": True, "toeplitz": True, "permutes": True, "two_sided": False, "by_length": False}.
    """

    name = None
    options = {}
    laws = {}

    def __init_subclass__(cls, **how):
        super().__init_subclass__(**how)
        _join(cls, _inside.add_encoding, chosen.encodings, cls.laws)

    def __init__(self, parameters, heads, head_size, layer, causal, **options):
        self.heads, self.head_size, self.layer, self.causal = heads, head_size, layer, causal
        self.__dict__.update(options)
        self.learn(parameters)

    def learn(self, parameters):
        """Makes what it learns; nothing here."""

    def scores(self, q, k, positions):
        """The logits: a pl.Scores of queries and keys. Here without positions."""
        return Scores([Piece(q, k)], self.head_size**-0.5)


class Sampler:
    """A sampler of positions written in Python. A class that derives from it joins pl.samplers under its name in small
    letters, or under `name`; pl.train takes the class, and pl.check(it) looks at what it draws.

        class Jumps(pl.Sampler):
            options = {"most": 8}                        # defaults: bool, int or float

            def draw(self, slots, rng):                  # a generator of NumPy
                return np.cumsum(rng.integers(1, self.most + 1, slots))

    draw() gives a number for each slot of a sequence: 0, 1, 2, ... for plain positions. All its randomness comes from
    rng, so that a run has the same bits when it is done again.
    """

    name = None
    options = {}

    def __init_subclass__(cls, **how):
        super().__init_subclass__(**how)
        _join(cls, _inside.add_sampler, chosen.samplers)

    def __init__(self, **options):
        self.__dict__.update(options)

    def draw(self, slots, rng):
        """The positions of so many slots: (slots,). Here those of sequential."""
        return np.arange(slots)


def _check_sampler(sampler):
    """The laws that each sampler of pl.samplers obeys, unless it draws offsets or reads the tokens."""
    def law(name, words, bad):
        found = [f"{n} slots, seed {seed}" for n in (1, 2, 7, 40, 200) for seed in range(5) if bad(n, seed)]
        return {"check": name, "law": words, "passed": not found, "failures": found}

    def draw(slots, seed, step=0):
        return sampler.draw(slots, seed=seed, step=step)[0]
    return [law("repeats", "the same seed and step give the same positions",
                lambda n, seed: not np.array_equal(draw(n, seed), draw(n, seed))),
            law("apart", "no two slots have one position", lambda n, seed: len(set(draw(n, seed))) < n),
            law("rises", "a later slot has a greater position", lambda n, seed: (np.diff(draw(n, seed)) <= 0).any())]


def check(thing):
    """Holds an encoding to all laws, as `poslab check` does: its class, its object or its spelling; or looks at what a
    sampler written in Python, or an object of pl.samplers, draws.

    A list of dicts, one for each law: check, law, passed, failures; of an encoding also worst and bound."""
    if isinstance(thing, type) and issubclass(thing, Sampler):
        thing = getattr(chosen.samplers, thing.name)
    if isinstance(thing, chosen.Sampler):
        return _check_sampler(thing)
    return _inside.check(chosen.spelled_value(thing))

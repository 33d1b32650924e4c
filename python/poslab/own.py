"""Encodings, samplers and tasks of your own."""

import numpy as np

from . import chosen
from ._poslab import Piece, Scores, _inside


written_in_python = set()      # kinds and names


def _join(cls, base, called, add, things, *more):
    """Adds a class to a list. base: its base class here. called: its main method, which a class may leave out."""
    for said in ("options", "laws"):
        if not isinstance(getattr(cls, said, {}), dict):
            raise ValueError(f"{cls.__name__}: {said} is a {type(getattr(cls, said)).__name__}; write a dict, as in "
                             + {"options": '{"slope": 0.5}', "laws": '{"two_sided": True}'}[said])
    for name, value in getattr(cls, "laws", {}).items():
        if not isinstance(name, str) or not isinstance(value, bool):
            raise ValueError(f"{cls.__name__}: laws has {name!r}: {value!r}; write names and True or False, as in "
                             '{"two_sided": True}')
    for name, value in cls.options.items():
        if not isinstance(name, str) or name == "self":
            raise ValueError(f'{cls.__name__}: options has {name!r}; write names of variables but "self", as in '
                             '{"slope": 0.5}')
        if callable(getattr(cls, name, None)):
            raise ValueError(f'option "{name}": a method has that name; give the option another one')
        if isinstance(value, tuple) and len(value) == 3 and not value[1] <= value[0] <= value[2]:
            raise ValueError(f'option "{name}": its default {value[0]} is not from {value[1]} to {value[2]}; write '
                             "(default, least, most)")
    if getattr(cls, called) is getattr(base, called):
        for name, value in vars(cls).items():
            if callable(value) and not name.startswith("_") and not hasattr(base, name):
                raise ValueError(f"{cls.__name__} has a method {name}, but no {called}, the method that poslab calls; "
                                 f"name it {called}")
    cls.name = cls.__dict__.get("name") or cls.__name__.lower()
    if str(cls.name).startswith("_") or str(cls.name) in dir(type(things)):
        raise ValueError(f"{cls.__name__}: pl.{things.kind}s.{cls.name} cannot be its name; give it another "
                         f'name, as in name = "my_{str(cls.name).lstrip("_")}"')
    add(cls.name, cls, (cls.__doc__ or "").strip(), cls.options, *more)
    written_in_python.add((things.kind, cls.name))
    things.look_again()


class Encoding:
    """A layer of an encoding written in Python. A class that derives from it joins pl.encodings under its name in lower
    case, or under `name`; pl.train takes the class, and pl.check(CLASS) tests it against the laws.

        class Farther(pl.Encoding):
            options = {"slope": 0.5}                     # defaults: bool, int or float
            laws = {"two_sided": True}                   # it treats both sides alike

            def scores(self, q, k, positions):           # q, k (B, T, H, D), positions (1 or B, T) of NumPy
                queries = positions[:, -q.shape[1]:]     # the last of the slots
                rows = abs(positions[:, None, :] - queries[:, :, None]).astype(int)
                bias = np.repeat(-self.slope * np.arange(rows.max() + 1)[:, None], self.heads, 1)
                return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5, bias=bias, pairs=rows)

    A default may be (default, least, most): values beyond these are refused, and pl.check tries none of them.
    pairs: the row of bias for each query and key, from 0 on. On a GPU q and k stay there: use only functions of pl.
    `learn(parameters)` makes its parameters: self.bias = parameters.full("bias", [10, self.heads], 0). laws: only those
    that differ from {"shift": True, "toeplitz": True, "permutes": True, "two_sided": False, "by_length": False}.
    """

    name = None
    options = {}
    laws = {}

    def __init_subclass__(cls, **how):
        super().__init_subclass__(**how)
        _join(cls, Encoding, "scores", _inside.add_encoding, chosen.encodings, cls.laws)

    def __init__(self, parameters=None, heads=None, head_size=None, layer=None, causal=None, **options):
        if parameters is None:
            raise ValueError(f"{type(self).__name__}(): models make the objects; give the class itself, or "
                             f"pl.encodings.{self.name}(...) with options")
        self.heads, self.head_size, self.layer, self.causal = heads, head_size, layer, causal
        self.__dict__.update(options)
        self.learn(parameters)

    def learn(self, parameters):
        """Makes the parameters; none by default."""

    def scores(self, q, k, positions):
        """The logits: a pl.Scores of queries and keys; by default without positions."""
        return Scores([Piece(q, k)], self.head_size**-0.5)


class Sampler:
    """A sampler of positions written in Python. A class that derives from it joins pl.samplers under its name in lower
    case, or under `name`; pl.train takes the class, and pl.check(CLASS) checks its draws.

        class Jumps(pl.Sampler):
            options = {"most": 8}                        # defaults: bool, int or float

            def draw(self, slots, rng):                  # a generator of NumPy
                return np.cumsum(rng.integers(1, self.most + 1, slots))

    draw() gives a number for each slot of a sequence: 0, 1, 2, ... for plain positions. All its randomness must come
    from rng, so that a repeated run has the same bits.
    """

    name = None
    options = {}

    def __init_subclass__(cls, **how):
        super().__init_subclass__(**how)
        _join(cls, Sampler, "draw", _inside.add_sampler, chosen.samplers)

    def __init__(self, **options):
        self.__dict__.update(options)

    def draw(self, slots, rng):
        """The positions of this many slots: (slots,); by default those of sequential."""
        return np.arange(slots)


class Task:
    """A task written in Python. A class that derives from it joins pl.tasks under its name in lower case, or under
    `name`; pl.train takes the class, and pl.check(CLASS) checks its strings and answers.

        class Majority(pl.Task):
            symbols_in = 3                               # inputs have 0, 1, 2; answers 0, 1 (symbols_out)

            def output_length(self, length):             # slots of the answer to an input of that length
                return 1

            def answer(self, x):                         # x (length,) of NumPy
                return [2 * (x == 1).sum() > len(x)]

    Inputs are independent uniform symbols, unless `input` draws others. `options` as for an encoding; symbols_in and
    symbols_out may be properties that depend on them. alphabet: the spelling of inputs' symbols, ["a", "b"]; digits if
    it is None. Equal inputs must have equal answers, and all randomness must come from rng, so that a repeated run has
    the same bits.
    """

    name = None
    options = {}
    symbols_in = 2
    symbols_out = 2
    alphabet = None

    def __init_subclass__(cls, **how):
        super().__init_subclass__(**how)
        own = [m for m in ("input", "shuffled", "scored_slots") if getattr(cls, m) is not getattr(Task, m)]
        _join(cls, Task, "answer", _inside.add_task, chosen.tasks, own)

    def __init__(self, **options):
        self.__dict__.update(options)

    def output_length(self, length):
        """The length of the answer to an input of that length: at least 1."""
        return 1

    def answer(self, x):
        """The answer to an input: output_length(len(x)) numbers below symbols_out."""
        raise NotImplementedError(f"{type(self).__name__}: a task needs answer(self, x), which gives the answer to x")

    def input(self, length, rng):
        """Draws an input of at most `length` symbols below symbols_in; how many may depend only on `length`. rng is
        a generator of NumPy."""
        return rng.integers(0, self.symbols_in, length)

    def shuffled(self, x, rng):
        """The symbols of x in another order, which must be an input too, for the baseline `content_only`."""
        return rng.permutation(x)

    def scored_slots(self, answer):
        """How many of the answer's first slots count for accuracy; by default all."""
        return len(answer)


def _law(name, words, found):
    return {"check": name, "law": words, "passed": not found, "failures": found}


def _check_sampler(sampler):
    """The laws of all samplers in pl.samplers that do not read tokens."""
    if sampler.draw(1).ndim == 1:
        raise ValueError(f"check: {sampler} draws offsets, and the laws are about positions of slots; check another "
                         "sampler, such as randomized")

    def law(name, words, bad):
        return _law(name, words, [f"{n} slots, seed {seed}" for n in (1, 2, 7, 40, 200) for seed in range(5)
                                  if bad(n, seed)])

    def draw(slots, seed, step=0):
        return sampler.draw(slots, seed=seed, step=step)[0]
    return [law("repeats", "the same seed and step give the same positions",
                lambda n, seed: not np.array_equal(draw(n, seed), draw(n, seed))),
            law("apart", "no two slots have the same position", lambda n, seed: len(set(draw(n, seed))) < n),
            law("rises", "a later slot has a greater position", lambda n, seed: (np.diff(draw(n, seed)) <= 0).any())]


def _check_task(task):
    """The assumptions of training, tests and baselines about a task."""
    lengths = (1, 2, 3, 7, 40)

    def law(name, words, holds):
        found = []
        for n in lengths:
            try:
                if not holds(n):
                    found.append(f"length {n}")
            except Exception as e:    # noqa: BLE001 (the check looks for whatever a method raises)
                found.append(f"length {n}: {type(e).__name__}: {e}")
        return _law(name, words, found)

    def drawn(n, seed):
        return [a.tolist() for a in task.batch(32, n, seed=seed).values()]
    return [law("answers", "all inputs of a length have answers, with the symbols and lengths that it states",
                lambda n: bool(drawn(n, 0))),
            law("repeats", "the same seed gives the same inputs, with the same answers",
                lambda n: drawn(n, 1) == drawn(n, 1)),
            law("varies", "another seed gives other inputs",
                lambda n: n < max(lengths) or drawn(n, 1)[0] != drawn(n, 2)[0]),
            law("shuffled", "the symbols of an input in another order are an input too, which has an answer",
                lambda n: bool(task.baselines(n, 8)))]


def check(thing):
    """Checks all laws of an encoding (a class, an object or a spelling), as `poslab check` does, or the draws of a
    sampler or a task (a class written in Python, or an object of pl.samplers or pl.tasks).

    Returns a list of dicts, one for each law: check, law, passed, failures; for an encoding also worst and bound."""
    for kind, things in ((Sampler, chosen.samplers), (Task, chosen.tasks)):
        if isinstance(thing, type) and issubclass(thing, kind):
            thing = getattr(things, thing.name)
    if isinstance(thing, type) and not issubclass(thing, Encoding):
        raise ValueError(f"check: {thing!r} is not derived from pl.Encoding, pl.Sampler or pl.Task; derive it from one")
    if thing is Encoding:
        raise ValueError("check: pl.Encoding itself is not an encoding; give a class that derives from it")
    if isinstance(thing, chosen.Sampler):
        return _check_sampler(thing)
    if isinstance(thing, chosen.Task):
        return _check_task(thing)
    return _inside.check(chosen.spelled_value(thing))

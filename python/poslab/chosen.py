"""Encodings, samplers, temperatures and tasks, from the engine's lists."""

import inspect
import keyword
import operator
import os

import numpy as np

from ._poslab import Tensor, _inside
from .figures.notebook import plot_view


# For each argument, the list in pl that has its values.
LISTS = {"encoding": "encodings", "positions": "samplers", "temperature": "temperatures", "task": "tasks"}


def spelled_value(value):
    """A value in the spelling of the command line: on, 0.5, 1/2/8."""
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, bytes):
        return os.fsdecode(value)
    if isinstance(value, (list, tuple)):
        return "/".join(spelled_value(v) for v in value)
    return value.name if isinstance(value, type) else str(value)    # type: ignore[attr-defined]


def spelling(**said):
    """The arguments, which are texts or entries of a list, in the spelling of the command line."""
    for name, value in said.items():
        if value is None:
            raise ValueError(f"{name} is None; name one of pl.{LISTS[name]}, or leave it out")
        if isinstance(value, (list, tuple, np.ndarray)):
            listed = f"; a list is {name}='given:at={' '.join(map(str, np.ravel(value)))}'"
            more = listed if "positions" in name else ""
            raise ValueError(f"{name} is {value!r}; name one of pl.{LISTS[name]}{more}")
    return {name: str(value) for name, value in said.items()}


def whole(name, value, least=-2**31, most=2**31 - 1):
    """The value as an int: a whole number of Python or NumPy from `least` to `most`. Raises ValueError for others."""
    try:
        number = operator.index(None if isinstance(value, (bool, np.bool_)) else value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}; give a whole number") from None
    if not least <= number <= most:
        raise ValueError(f"{name} is {value!r}; give a whole number from {least} to {most}")
    return number


def switch(name, value):
    """The value as a bool: a bool of Python or NumPy. Raises ValueError for others."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {value!r}; give True or False")
    return bool(value)


def numbers(**said):
    """The arguments after a check: switches, whole numbers, and seeds and steps of 64 bits."""
    return {name: switch(name, value) if name in ("causal", "force")
            else whole(name, value, 0, 2**64 - 1) if name in ("seed", "step") else whole(name, value)
            for name, value in said.items()}


def _keyword(name):
    """The name of an option in Python: global_ for global, which is a keyword."""
    return name + "_" if keyword.iskeyword(name) else name


class Chosen:
    """An entry of a list, with options. Calling it with other options gives a new one."""

    kind = ""

    def __init__(self, row, spelling=None):
        self._row = row
        self.name = row["name"]
        self.spelled = spelling or row["spelled"]
        self.__doc__ = _doc(row, self.kind)
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(_keyword(o["name"]), inspect.Parameter.KEYWORD_ONLY, default=_Default(o["default"]))
             for o in row["options"]])

    def __call__(self, *unnamed, **options):
        if unnamed and self._row["options"]:
            raise ValueError(f"{self.name}: {unnamed[0]!r} has no name; name the option, as in "
                             f"{self.name}({_keyword(self._row['options'][0]['name'])}={unnamed[0]!r})")
        if unnamed:
            raise ValueError(f"{self.name} has no options, but was given {unnamed[0]!r}; leave it out")
        names = {_keyword(o["name"]): o["name"] for o in self._row["options"]}
        said = self._said() | {names.get(name, name): spelled_value(value) for name, value in options.items()}
        said = ",".join(f"{name}={value}" for name, value in said.items())
        return type(self)(self._row, self._checked(f"{self.name}:{said}" if said else self.name))

    def _said(self):
        """The options in its spelling, as names and texts. A text may contain commas."""
        said, last = {}, None
        for part in self.spelled.partition(":")[2].split(","):
            name, given, text = part.partition("=")
            if any(o["name"] == name for o in self._row["options"]):
                said[name], last = text if given else "on", name
            elif last:
                said[last] += "," + part
        return said

    @classmethod
    def _checked(cls, text):
        return _inside.spelled(cls.kind, text)

    def __str__(self):
        return self.spelled

    def __repr__(self):
        return f"<{self.kind} {self.spelled}>"

    def __eq__(self, other):
        return type(other) is type(self) and other.spelled == self.spelled

    def __hash__(self):
        return hash((self.kind, self.spelled))

    def __reduce__(self):
        return _by_spelling, (self.kind, self.spelled)


class Encoding(Chosen):
    kind = "encoding"

    def view(self, name, length=32, *, beside=(), positions="sequential", train_length=40, heads=8, d_model=64,
             layer=1, causal=False, seed=0, force=False):
        """The drawing of `poslab show --view NAME` as numbers: a dict with "title", "reading", "matrices" and "charts".

        name: relative, bias, similarity, frequencies, rotation, positions or coverage. beside: other encodings to
        compare. force: draws it even if it seems to need more than this machine's memory, or more than a month."""
        return _inside.view([self.spelled, *map(str, beside)], name, **spelling(positions=positions),
                            **numbers(length=length, train_length=train_length, heads=heads, d_model=d_model,
                                      layer=layer, causal=causal, seed=seed, force=force))

    def positions(self, length=32, **how):
        """The scheme's distance for each pair of slots, key minus query: (1 or heads, length, length).

        A row is a query, a column a key. Distances to keys on the left are negative, those of masked pairs NaN. Raises
        ValueError for an encoding that has no single distance for each pair. Other arguments as in view()."""
        return self.view("relative", length, **how)["matrices"][0][1]

    def matrix(self, length=32, **how):
        """The term that the encoding adds to the logit of each pair of slots, or how similar it makes the two: (1 or
        heads, length, length).

        Other arguments as in view(); view("bias")["reading"] says what the numbers are."""
        return self.view("bias", length, **how)["matrices"][0][1]

    def plot(self, view="bias", length=32, *, head=1, axes=None, **how):
        """Draws a view with matplotlib, and returns its axes. head: from 1. Other arguments as in view()."""
        return plot_view(self.view(view, length, **how), head, axes)

    def build(self, positions="sequential", *, layers=1, heads=8, d_model=64, causal=False, pool=None,
              train_length=40, seed=0, temperature="none"):
        """The encoding in a model of that shape, with parameters of its own: .parameters, .logits(q, k), .attend(q, k,
        v) and .embed(x), with gradients, and .weights(q, k). pool: the number of positions that random samplers draw
        from and of rows in tables; ValueError if neither exists. train_length: the L of options such as window=0.5L."""
        return _inside.Built(self.spelled, **spelling(positions=positions, temperature=temperature),
                             **numbers(layers=layers, heads=heads, d_model=d_model, causal=causal,
                                       train_length=train_length, seed=seed),
                             **({} if pool is None else numbers(pool=pool)))

    def logits(self, q, k, x=None, **how):
        """Logits of queries and keys (batch, time, heads, head size): (batch, heads, time, time).

        x: the states that q and k are made from, (batch, time, width), for encodings that read them. Other arguments
        as in build(). The parameters of a learned encoding have their initial values."""
        q, k = (t if isinstance(t, Tensor) else Tensor(t) for t in (q, k))
        if q.ndim != 4:
            raise ValueError(f"{self.spelled}: q is {q.shape}; it must be (batch, time, heads, head size)")
        return self.build(heads=q.shape[2], d_model=q.shape[2] * q.shape[3], **how).logits(q, k, x)


class Sampler(Chosen):
    kind = "sampler"

    def draw(self, length, sequences=1, *, seed=0, step=0, classes=None):
        """Positions of `length` slots: (sequences, length). Samplers of offsets give a table of 2 length - 1 offsets.

        The same seed and step give the same positions. classes (sequences, length), for samplers that read them: 0 for
        a digit, 1 for another symbol, 2 for an empty slot."""
        return _inside.draw(self.spelled, classes=classes,
                            **numbers(length=length, sequences=sequences, seed=seed, step=step))


class Temperature(Chosen):
    kind = "temperature"

    def factor(self, length=32, *, causal=True, heads=8, d_model=64, seed=0):
        """The factor on each query's logits: (1, length, 1 or heads); 1 if queries and keys are changed instead."""
        return _inside.factors(self.spelled, **numbers(length=length, causal=causal, heads=heads, d_model=d_model,
                                                       seed=seed))


class Task(Chosen):
    kind = "task"

    @classmethod
    def _checked(cls, text):
        _inside.task_example(text, 1)
        return text

    def batch(self, sequences, length, *, seed=0, step=0):
        """Strings as a model reads them: a dict of tokens (sequences, input and empty slots), targets (sequences,
        output slots) and scored_slots (sequences,): how many of a row's targets count for accuracy.

        The same seed and step give the same strings, so a training loop should pass its step."""
        return _inside.task_batch(self.spelled, **numbers(sequences=sequences, length=length, seed=seed, step=step))

    def answer(self, text):
        """The answer to an input, both as text: reverse_string.answer("001") is "100"."""
        if not isinstance(text, str):
            raise ValueError(f"{self.name}: the input is {text!r}; write it as text, as in answer(\"001\")")
        return _inside.task_answer(self.spelled, text)

    def example(self, length=8):
        """An input and its answer, always the same."""
        return _inside.task_example(self.spelled, whole("length", length))

    def baselines(self, length, samples=512, *, seed=0):
        """The accuracies of answers without a model: random ones (chance), the most frequent symbol of each slot
        (majority), and one symbol for all slots, chosen by the counts of the input's symbols (content_only)."""
        return dict(_inside.task_baselines(self.spelled, **numbers(length=length, samples=samples, seed=seed)))


class _Default:
    """An option's default, shown in its spelling."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text or "''"


def _doc(row, kind):
    parts = [f"{row['name']}: {row['summary']}", row["about"]]
    if row["formula"]:
        parts.append(row["formula"])
    parts.append(f"Source: {row['source']}")
    if row["options"]:
        parts.append("Options, with their defaults in parentheses:\n" + "\n".join(
            f"    {o['name']}: {o['takes']} ({o['default']})  {o['help']}" for o in row["options"]))
    return "\n\n".join(p for p in parts if p)


class Things:
    """All entries of a list, as attributes. Brackets accept the command line's spelling: ["name:option=value"]."""

    def __init__(self, chosen):
        self._chosen = chosen
        self.look_again()

    @property
    def kind(self):
        return self._chosen.kind

    def look_again(self):
        """Reads the list again after an addition."""
        self._rows = {row["name"]: row for row in _inside.things(self._chosen.kind)}

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._rows:
            raise AttributeError(_inside.unknown(self._chosen.kind, name, list(self._rows)))
        return self._chosen(self._rows[name])

    def __getitem__(self, spelling):
        spelled = self._chosen._checked(str(spelling))
        row = self._rows.get(spelled.split(":")[0])
        if row is None or _inside.composed(spelled):        # such as rope:base=500|none
            row = {"name": spelled, "summary": "a composition", "about": "", "source": "its parts", "formula": "",
                   "options": []}
        return self._chosen(row, spelled)

    def __dir__(self):
        return list(self._rows)

    def __iter__(self):
        return (self._chosen(row) for row in self._rows.values())

    def __len__(self):
        return len(self._rows)

    def __repr__(self):
        return f"<{len(self)} {self._chosen.kind}s: {', '.join(self._rows)}>"


encodings = Things(Encoding)
samplers = Things(Sampler)
temperatures = Things(Temperature)
tasks = Things(Task)


def _by_spelling(kind, spelling):
    return {"encoding": encodings, "sampler": samplers, "temperature": temperatures, "task": tasks}[kind][spelling]

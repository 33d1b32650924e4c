"""Encodings of your own."""

from . import chosen
from ._poslab import Piece, Scores, _inside


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
        cls.name = cls.__dict__.get("name") or cls.__name__.lower()
        _inside.add_encoding(cls.name, cls, (cls.__doc__ or "").strip(), cls.options, cls.laws)
        chosen.encodings.look_again()

    def __init__(self, parameters, heads, head_size, layer, causal, **options):
        self.heads, self.head_size, self.layer, self.causal = heads, head_size, layer, causal
        self.__dict__.update(options)
        self.learn(parameters)

    def learn(self, parameters):
        """Makes what it learns; nothing here."""

    def scores(self, q, k, positions):
        """The logits: a pl.Scores of queries and keys. Here without positions."""
        return Scores([Piece(q, k)], self.head_size**-0.5)


def check(encoding):
    """Holds an encoding to all laws, as `poslab check` does: its class, its object or its spelling.

    A list of dicts, one for each law: check, law, passed, worst, bound, failures."""
    return _inside.check(chosen.spelled_value(encoding))

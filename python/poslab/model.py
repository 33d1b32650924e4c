"""Trained models, seen from inside: logits of tokens of your own, activations kept and replaced, weights."""

import os

from ._poslab import _inside


def load(run):
    """The trained model of a run folder of `poslab train` or `poslab lm`: a Model. Takes a Run or a path."""
    return Model(run)


class Model:
    """A trained model: model(tokens) gives logits.

        model = pl.load("runs/rope")
        model(tokens, trace={"block1.attention.heads": None})
        model.seen["block1.attention.heads"]            # what each head has read: (B, T, H, D)
    """

    def __init__(self, run):
        self.run = os.fspath(run)
        self._model = _inside.load(self.run)
        self.seen = {}

    @property
    def parameters(self):
        """The weights by name. They are those of this object: the run folder stays as it is."""
        return self._model.parameters

    def __call__(self, tokens, outputs=None, *, positions=None, trace=None, gradient=False):
        """Logits (B, outputs, symbols) of the last `outputs` slots of tokens (B, T); of all of them without it.

        positions: (T,) or (B, T); without them those that the run's test draws. gradient: whether backward() can go
        through this pass. trace: a dict of patterns of names(). With None, what matches is kept in `seen`; a function
        (name, x) gives what takes the place of x, a tensor of its shape, or None to leave it. Functions come in the
        order of the dict, and what is kept is what the pass went on with."""
        logits, self.seen = self._model.run(tokens, outputs, positions, list((trace or {}).items()), gradient)
        return logits

    def names(self):
        """The names of all activations, in the order in which a pass makes them.

        Beside these each layer of a scheme that has logits has "block0.attention.logits", (B, H, T, T). They are
        computed if a pattern ends in ".logits"."""
        names = []
        self._model.run([[0, 0]], None, None, [("*", lambda name, x: names.append(name))], False)
        return names

    def __repr__(self):
        return f"<model of {self.run}>"

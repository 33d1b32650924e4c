"""The inside of trained models: logits of your own tokens, activations kept and replaced, weights."""

import os

from ._poslab import _inside


def patterns(trace):
    """The entries of a trace: pairs of a pattern and a function, or of a pattern and None, to keep the activation."""
    for pattern, function in (trace.items() if isinstance(trace, dict) else ()):
        if not isinstance(pattern, str) or not (function is None or callable(function)):
            raise ValueError(f"trace has {pattern!r}: {function!r}; give a pattern of names, and a function or None")
    if trace is not None and not isinstance(trace, dict):
        raise ValueError(f"trace is {trace!r:.60}; give a dict of patterns, as in {{\"block0.out\": None}}")
    return list((trace or {}).items())


def load(run, device="cpu"):
    """The trained model of a run folder of any kind, or of a checkpoint in Hugging Face format: a Model. run: a Run
    or a path. device: "cpu", "" for the run's own, or "cuda", with which tensors are copies without gradients."""
    return Model(run, device)


class Model:
    """A trained model: model(tokens) gives logits.

        model = pl.load("runs/rope")
        model(tokens, trace={"block1.attention.heads": None})
        model.seen["block1.attention.heads"]            # what each head has read: (B, T, H, D)
    """

    def __init__(self, run, device="cpu"):
        self.run = os.fsdecode(run)
        self._model = _inside.load(self.run, device)
        self.seen = {}

    @property
    def parameters(self):
        """The weights of this object by name (copies, if they are on a GPU); writing to them does not change the run
        folder. An external checkpoint has none here: its weights stay in its files."""
        return self._model.parameters

    def __call__(self, tokens, outputs=None, *, read=None, positions=None, trace=None, gradient=False):
        """Logits (B, outputs, symbols) of the last `outputs` slots of tokens (B, T); if it is None, of all slots.

        read: for a T5, whose encoder reads `tokens`, the input of its decoder (B, O): `start` and the answer so far;
        logits are then (B, O, symbols). positions: (T,) or (B, T); by default those that the run's test draws, or for
        a T5 those with which it answers. gradient: whether backward() can go through this pass. trace: a dict whose
        keys are patterns of names(). If the value is None, matching activations are kept in `seen`; a function
        (name, x) returns a replacement for x of the same shape, or None to keep x. Functions are called in the order of
        the dict, and activations are kept after all replacements."""
        logits, self.seen = self._model.run(tokens, outputs, read, positions, patterns(trace), gradient)
        return logits

    @property
    def start(self):
        """The token that begins the answers of a T5; None for other models."""
        return self._model.start

    def names(self):
        """The names of all activations, in the order of a pass.

        Each layer of a scheme with logits also has "block0.attention.logits", (B, H, T, T), computed only if a
        pattern ends in ".logits"."""
        names = []
        read = None if self.start is None else [[self.start, self.start]]
        self._model.run([[0, 0]], None, read, None, [("*", lambda name, x: names.append(name))], False)
        return names

    def tokens(self, text):
        """The tokens of a text for a language model or a T5: a list."""
        return self._model.tokens(text)

    def write(self, prompt="#include <", count=100, *, temperature=1.0, top_k=0, top_p=1.0, seed=None):
        """The text of `count` tokens that a language model writes after the prompt, as in `poslab lm generate`.

        temperature 0 takes the most probable token each time; top_k and top_p keep only the most probable tokens. The
        same seed writes the same text; None means 0. An external checkpoint that has a token for the beginning
        of a text also writes after an empty prompt."""
        return self._model.write(prompt, count, temperature, top_k, top_p, seed).decode(errors="replace")

    def answer(self, prompt, count=64, *, beams=1, length_penalty=1.0, early_stopping="off"):
        """The answer of a T5, as in `poslab t5 generate`: greedy, or the best of a search with `beams`.

        early_stopping: "off", "on" or "never"."""
        return self._model.answer(prompt, count, beams, length_penalty, early_stopping)

    def __repr__(self):
        return f"<model of {self.run}>"

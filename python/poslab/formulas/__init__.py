"""Every scheme once more, as some 20 lines of NumPy, to read, to copy and to check against. Formulas need only NumPy.

    from poslab import formulas
    print(formulas.source("rerope"))
    formulas.logits("rerope", q, k)              # (B, H, T, T) of queries and keys (B, T, H, D), at positions 0, 1, ...

They are written from the papers, pair by pair, without the engine, and tests compare the engine with them. A
module NAME.py has CASE, the engine's spelling of the case that it computes, and functions of these arguments:

    case       sizes: "heads", "d_model", "max_position", and "causal"
    w          parameters by name, and also "x", the states (B, T, C) that queries come from, and "layer", from 0
    q, k       (B, T, H, D)
    positions  {"tokens": (1 or B, T)}

It has logits(case, w, q, k, positions) or, in its place, weights(), both (B, H, T, T), and, if needed,
    shapes(case), table(case)                    shapes of the parameters of a layer, and of those that layers share
    embed(case, w, x, positions)                 the term of the embedding; its parameters are w["encoding.NAME"]
    mix(case, w, a, positions)                   a term that weights a add to the sum of values, (B, T, H, D)
Complex numbers pass through, so derivatives may be taken by complex steps (tests/reference/own.py).
"""

import importlib
import pathlib

import numpy as np

SHARED = ("rotated", "rotary")  # modules that several formulas share, not schemes
SIZES = {"causal": False, "heads": 8, "d_model": 64, "max_position": 64, "layers": 5}


def names():
    """All formulas: one under the name of each scheme, and others, such as alibi_learned, for some of its options."""
    files = pathlib.Path(__file__).parent.glob("[!_]*.py")
    return sorted(file.stem for file in files if file.stem not in SHARED)


def load(name):
    """The module of a formula. An import statement cannot load all of them: lambda is a keyword."""
    if str(name).partition(":")[0] in names() and ":" in name:
        raise ValueError(f"'{name}': a formula has only the options of its CASE; copy what `poslab explain "
                         f"{name.partition(':')[0]} --numpy` prints, and change the numbers there")
    if name not in names():
        raise ValueError(f"there is no formula '{name}'; formulas.names() lists all")
    return importlib.import_module("." + name, __name__)


def source(name):
    """A formula's source, which may import others; `poslab explain NAME --numpy` prints a source that runs alone."""
    return pathlib.Path(load(name).__file__).read_text()


def attention_weights(scheme, case, w, q, k, positions):
    """a_ij of a formula's module, with the mask: (B, H, T, T)."""
    if hasattr(scheme, "weights"):
        return scheme.weights(case, w, q, k, positions)
    s = masked(scheme.logits(case, w, q, k, positions), case["causal"])
    e = np.exp(s - s.real.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend(scheme, case, w, q, k, v, positions):
    """The result of each query from the values (B, T, H, D): (B, T, H, D)."""
    a = attention_weights(scheme, case, w, q, k, positions)
    mixed = np.einsum("bhij,bjhd->bihd", a, v)
    return mixed + scheme.mix(case, w, a, positions) if hasattr(scheme, "mix") else mixed


def masked(s, causal):
    return np.where(np.tri(s.shape[-1], dtype=bool), s, -np.inf) if causal else s


def logits(name, q, k, positions=None, w=None, **sizes):
    """Logits of a formula, -infinity where masked. q, k: (B, T, H, D); positions: (T,) or (B, T), or 0, 1, ...; w: its
    parameters by name, and "x" if it reads the states. sizes replace those of its CASE, as in causal=True."""
    scheme = load(name)
    if np.ndim(q) != 4 or np.ndim(k) != 4:
        raise ValueError(f"q is {np.shape(q)} and k {np.shape(k)}; give (batch, time, heads, head size)")
    if not hasattr(scheme, "logits"):
        raise ValueError(f"{name} has weights and no logits; use load('{name}').weights")
    for size in sizes:
        if size not in SIZES:
            raise TypeError(f"logits() has no size {size}; it has {', '.join(SIZES)}, and the options of a formula are "
                            "those of its CASE")
    case = SIZES | scheme.CASE | {"heads": q.shape[2], "d_model": q.shape[2] * q.shape[3]} | sizes
    at = np.atleast_2d(np.arange(q.shape[1]) if positions is None else positions)
    return masked(scheme.logits(case, {"layer": 0} | (w or {}), q, k, {"tokens": at}), case["causal"])

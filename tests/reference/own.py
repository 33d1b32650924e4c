"""Writes tests/data/reference/NAME.json for a scheme of your own, from its formula in
python/poslab/formulas/NAME.py, with NumPy alone.

    tools/reference NAME

The model is that of model.py, written again. Its derivatives come from complex steps: the imaginary part of the loss at
w + i h s, divided by h, is the slope of the loss in the direction s. Nothing is subtracted, so it is exact to the last
digits (Squire and Trapp 1998). So all formulas must work on complex numbers: no abs(), and comparisons of real parts.
The digest of a gradient has its sum, 8 entries and 4 projections on random signs. It leaves out the norm and the
largest entry, which would take a complex step for every weight.
"""

import concurrent.futures
import math
import os
import pathlib
import re
import sys

import numpy as np

import formula
import golden
from golden import BASE, KINK, OUTPUTS, PROJECTIONS, SAMPLES, short

PACKAGE = str(pathlib.Path(__file__).parents[2] / "python/poslab")
sys.path.append(PACKAGE)
import formulas  # noqa: E402   without the engine
sys.path.remove(PACKAGE)   # it also has modules html and torch

STEP = 1e-100


def shapes_of(scheme, case):
    """The shapes of all parameters."""
    table = scheme.table(case) if hasattr(scheme, "table") else {}
    of_layer = scheme.shapes(case) if hasattr(scheme, "shapes") else {}
    return golden.parameter_shapes(table, of_layer, case["layers"], case["d_model"])


def product(x, w):
    """x @ w. If only x is complex, it is computed as two real products, which is half the work."""
    if np.iscomplexobj(x) and not np.iscomplexobj(w):
        return x.real.copy() @ w + 1j * (x.imag.copy() @ w)  # BLAS does not accept the strided parts
    return x @ w


def layer_norm(x, gain, bias):
    centred = x - x.mean(-1, keepdims=True)
    return gain * centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) + bias


def embedded(scheme, case, w, tokens, positions):
    """The input of the first block (B, T, C)."""
    x = math.sqrt(case["d_model"]) * w["embedding"][tokens]
    return scheme.embed(case, w, x, positions[0]) if hasattr(scheme, "embed") else x


def forward(scheme, case, w, x, positions, first=0):
    """Runs the model from block `first` on, whose input is x (B, T, C). Returns the logits of the output slots, (B,
    outputs, symbols_out), the inputs of each block and the head, and a ReLU input's smallest distance from 0."""
    heads, width = case["heads"], case["d_model"]
    batch, time = x.shape[:2]
    shared = [name for name in w if name.startswith("encoding.") and name.count(".") == 1]  # shared by all layers
    read, kinks = [x], [math.inf]
    for n in range(first, case["layers"]):
        p = f"block{n}."
        here = f"encoding.layer{n}."
        own = {name.removeprefix(here): w[name] for name in w if name.startswith(here)}
        q, k, v = (
            product(x, w[p + "attention." + part]).reshape(batch, time, heads, width // heads)
            for part in ("query", "key", "value")
        )
        own |= {name.removeprefix("encoding."): w[name] for name in shared}
        own |= {"x": x, "layer": n}
        mixed = formulas.attend(scheme, case, own, q, k, v, positions[n])  # (B, T, H, D)
        o = product(mixed.reshape(batch, time, width), w[p + "attention.output"])
        x = layer_norm(x + o, w[p + "norm1.gain"], w[p + "norm1.bias"])
        h = product(x, w[p + "ffn.w1"]) + w[p + "ffn.b1"]
        kinks.append(abs(h.real).min())
        x = layer_norm(x + product(np.where(h.real > 0, h, 0), w[p + "ffn.w2"]) + w[p + "ffn.b2"],
                       w[p + "norm2.gain"], w[p + "norm2.bias"])  # fmt: skip
        read.append(x)
    return x[:, -OUTPUTS:] @ w["head.w"] + w["head.b"], read, min(kinks)


def first_block(parameter, layers):
    """The first block that reads the parameter, `layers` for the head, None if the embedding or all blocks read it."""
    own = re.match(r"(?:block|encoding\.layer)(\d+)\.", parameter)
    return int(own[1]) if own else layers if parameter.startswith("head.") else None


def cross_entropy(logits, targets):
    """The mean over the batch and all output slots, with natural logarithms."""
    shift = logits.real.max(-1, keepdims=True)
    total = np.log(np.exp(logits - shift).sum(-1)) + shift[..., 0]
    return (total - np.take_along_axis(logits, targets[..., None], -1)[..., 0]).mean()


def at_once(function, items):
    """[function(item) for item in items], with a thread for each processor: NumPy's products release the GIL."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(function, items))


def main(name):
    scheme = formulas.load(name)
    case = BASE | scheme.CASE
    targets, drawn = golden.targets(name), golden.draw(name, case["positions"])
    layers = [{k: np.array(v) for k, v in p.items()} for p in drawn]
    layers = layers * case["layers"] if len(layers) == 1 else layers
    w = {n: formula.weight(n, int(np.prod(s))).reshape(s) for n, s in shapes_of(scheme, case).items()}

    kink, attempt = 0, 0
    while kink < KINK:
        tokens = golden.tokens(name, attempt)
        logits, read, kink = forward(scheme, case, w, embedded(scheme, case, w, tokens, layers), layers)
        attempt += 1
    loss = cross_entropy(logits, targets)

    def slope(parameter, direction):
        moved = w | {parameter: w[parameter] + 1j * STEP * direction.reshape(w[parameter].shape)}
        first = first_block(parameter, case["layers"])  # earlier blocks are unchanged
        x = embedded(scheme, case, moved, tokens, layers) if first is None else read[first]
        return cross_entropy(forward(scheme, case, moved, x, layers, first or 0)[0], targets).imag / STEP

    def digest(parameter):
        size = w[parameter].size
        one = np.eye(1, size)[0]
        at = formula.integers(parameter + "#samples", SAMPLES, size)
        signs = [formula.signs(f"{parameter}#signs{i}", size) for i in range(PROJECTIONS)]
        return {
            "size": size,
            "sum": short(slope(parameter, np.ones(size))),
            "samples": [short(slope(parameter, np.roll(one, i))) for i in at],
            "projections": [short(slope(parameter, s)) for s in signs],
        }

    answer = {
        "name": name,
        "tokens": tokens.tolist(),
        "targets": targets.tolist(),
        "positions": drawn,
        "logits": [short(x) for x in logits.ravel()],
        "loss": short(loss),
        "gradients": dict(zip(w, at_once(digest, w))),
    }
    golden.write(name, case | answer)
    print(f"{name}: loss {loss:.6f}; tests/data/reference/{name}.json")


if __name__ == "__main__":
    main(sys.argv[1])

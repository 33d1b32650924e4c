"""The common part of make_golden.py and own.py: sizes, tokens, positions and the format of the files. NumPy alone."""

import json
import pathlib

import numpy as np

import formula

LAYERS, HEADS, WIDTH, WIDENING = 5, 8, 64, 4
BATCH, INPUT, OUTPUTS = 4, 7, 7
TIME = INPUT + OUTPUTS
SYMBOLS_IN, SYMBOLS_OUT, POOL = 5, 4, 64
SAMPLES, PROJECTIONS = 8, 4
# The derivative of a ReLU jumps at 0: with an input near 0, a correct float32 program may be on the other side. Tokens
# are drawn again until no input is nearer to 0 than this, ten times float32's rounding error.
KINK = 2e-5
BASE = {
    "encoding": "none",
    "mode": "paper",
    "symmetric": False,
    "pairing": "interleaved",
    "causal": False,
    "positions": "sequential",
    "layers": LAYERS,
    "heads": HEADS,
    "d_model": WIDTH,
    "max_position": POOL,
    "symbols_in": SYMBOLS_IN,
    "symbols_out": SYMBOLS_OUT,
    "outputs": OUTPUTS,
}


def parameter_shapes(table, of_layer, layers=LAYERS, width=WIDTH):
    """Names and shapes, in the order of the C++ model; a matrix is stored (in, out) and used as x W. The encoding's
    parameters are given as {name: shape}: those of the model in `table`, those of each layer in `of_layer`."""
    shapes = {"embedding": (SYMBOLS_IN, width)} | {f"encoding.{name}": shape for name, shape in table.items()}
    for n in range(layers):
        shapes |= {f"encoding.layer{n}.{name}": shape for name, shape in of_layer.items()}
        for part in ("query", "key", "value", "output"):
            shapes[f"block{n}.attention.{part}"] = (width, width)
        for norm in ("norm1", "norm2"):
            shapes[f"block{n}.{norm}.gain"] = shapes[f"block{n}.{norm}.bias"] = (width,)
        shapes[f"block{n}.ffn.w1"], shapes[f"block{n}.ffn.b1"] = (width, WIDENING * width), (WIDENING * width,)
        shapes[f"block{n}.ffn.w2"], shapes[f"block{n}.ffn.b2"] = (WIDENING * width, width), (width,)
    return shapes | {"head.w": (width, SYMBOLS_OUT), "head.b": (SYMBOLS_OUT,)}


def draw(name, kind):
    """Explicit positions, one entry for all layers or one for each layer: tokens (S, T) or offsets (S, 2T - 1)."""

    def row(key):
        return formula.increasing(f"{name}.positions.{key}", TIME).tolist()

    if kind == "sequential":
        return [{"tokens": [list(range(TIME))]}]
    if kind == "randomized":
        return [{"tokens": [row(0)]}]
    if kind == "unsorted":
        order = np.argsort(formula.mix(f"{name}.order", np.arange(TIME)))
        return [{"tokens": [np.array(row(0))[order].tolist()]}]
    if kind == "per_sequence":
        return [{"tokens": [row(b) for b in range(BATCH)]}]
    if kind == "per_layer":
        return [{"tokens": [row(n)]} for n in range(LAYERS)]
    sequences = BATCH if kind == "offsets_per_sequence" else 1
    rights = [[1 + r for r in row(b)[: TIME - 1]] for b in range(sequences)]  # r_1 < r_2 < ..., at least 1: spec A.2
    return [{"offsets": [[-r for r in reversed(right)] + [0] + right for right in rights]}]


def tokens(name, attempt):
    """Tokens, drawn again until no ReLU's input is near its kink; "empty" is the last symbol."""
    drawn = formula.integers(f"{name}.tokens{attempt}", BATCH * INPUT, SYMBOLS_IN - 1).reshape(BATCH, INPUT)
    return np.concatenate([drawn, np.full((BATCH, OUTPUTS), SYMBOLS_IN - 1)], 1)


def targets(name):
    return formula.integers(name + ".targets", BATCH * OUTPUTS, SYMBOLS_OUT).reshape(BATCH, OUTPUTS)


def short(x):
    """Rounded to 13 digits: the double build must agree to 1e-9."""
    return float(f"{x:.13g}")


def write(name, golden):
    """Writes tests/data/reference/NAME.json, with a line for each entry and each gradient."""
    folder = pathlib.Path(__file__).parents[1] / "data/reference"
    folder.mkdir(exist_ok=True)
    text = "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in golden.items() if k != "gradients")
    gradients = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in golden["gradients"].items())
    part = folder / (name + ".json.partial")
    part.write_text(text + ',\n"gradients": {\n' + gradients + "}\n}\n")
    part.replace(folder / (name + ".json"))

"""Writes golden/CASE.json: logits, loss and a digest of each gradient of the 5-layer model, for every encoding.

    ./dev reference                 makes the virtual environment once, then runs this

tests/reference.cpp reads the files without Python. All in float64. The digest of a gradient g is: its norm,
sum and largest size, 8 of its entries, and 4 projections s . g on random signs s. README.md says why nothing slips by.
"""

import json
import pathlib

import numpy as np
import torch

import formula
import model

BATCH, INPUT, OUTPUTS = 4, 7, 7
TIME = INPUT + OUTPUTS
SYMBOLS_IN, SYMBOLS_OUT, POOL = 5, 4, 64
SAMPLES, PROJECTIONS = 8, 4
# The derivative of a ReLU jumps at 0: a float32 program may be on the other side of an input that is nearly 0, and be
# right. Tokens are drawn again until no input is nearer than this, ten times what float32 loses on the way.
KINK = 2e-5
# Nor do they stay if float32, PyTorch's own, has lost more than this: a single number, as beta is, may all but cancel.
LOST = 3e-6

BASE = {
    "encoding": "none",
    "mode": "paper",
    "symmetric": False,
    "pairing": "interleaved",
    "causal": False,
    "positions": "sequential",
    "layers": model.LAYERS,
    "heads": model.HEADS,
    "d_model": model.WIDTH,
    "max_position": POOL,
    "symbols_in": SYMBOLS_IN,
    "symbols_out": SYMBOLS_OUT,
    "outputs": OUTPUTS,
}

CASES = {
    "none": {},
    "none_causal": {"causal": True},
    "sincos": {"encoding": "sincos"},
    "sincos_randomized": {"encoding": "sincos", "positions": "randomized"},
    "learned": {"encoding": "learned"},
    "learned_randomized": {"encoding": "learned", "positions": "randomized"},
    "learned_per_sequence": {"encoding": "learned", "positions": "per_sequence"},  # label encoding
    "relative": {"encoding": "relative"},
    "relative_causal": {"encoding": "relative", "causal": True},
    "relative_paper": {"encoding": "relative", "positions": "randomized"},
    "relative_paper_unsorted": {"encoding": "relative", "positions": "unsorted"},
    "relative_paper_per_layer": {"encoding": "relative", "positions": "per_layer"},
    "relative_paper_per_sequence": {"encoding": "relative", "positions": "per_sequence"},
    "relative_offset_table": {"encoding": "relative", "mode": "offset_table", "positions": "offsets"},
    "relative_released": {"encoding": "relative", "mode": "released", "positions": "offsets"},
    "relative_released_per_sequence": {"encoding": "relative", "mode": "released", "positions": "offsets_per_sequence"},
    "alibi": {"encoding": "alibi"},
    "alibi_symmetric": {"encoding": "alibi", "symmetric": True},
    "alibi_causal": {"encoding": "alibi", "causal": True},
    "alibi_offset_table": {"encoding": "alibi", "mode": "offset_table", "positions": "offsets"},
    "alibi_offset_table_per_sequence": {
        "encoding": "alibi",
        "positions": "offsets_per_sequence",
    },  # in mode paper: the same
    "alibi_differences": {"encoding": "alibi", "mode": "differences", "positions": "randomized"},
    "alibi_differences_per_sequence": {"encoding": "alibi", "mode": "differences", "positions": "per_sequence"},
    "rope": {"encoding": "rope"},
    "rope_half": {"encoding": "rope", "pairing": "half"},
    "rope_randomized": {"encoding": "rope", "positions": "randomized"},
    "rope_half_randomized": {"encoding": "rope", "pairing": "half", "positions": "randomized"},
    "rope_per_layer": {"encoding": "rope", "positions": "per_layer"},
    "rope_half_per_sequence_causal": {
        "encoding": "rope",
        "pairing": "half",
        "positions": "per_sequence",
        "causal": True,
    },
    "geometric": {"encoding": "geometric"},
    "geometric_causal": {"encoding": "geometric", "causal": True},
    "geometric_randomized": {"encoding": "geometric", "positions": "randomized"},  # which it does not read
}


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
        return [{"tokens": [row(n)]} for n in range(model.LAYERS)]
    sequences = BATCH if kind == "offsets_per_sequence" else 1
    rights = [[1 + r for r in row(b)[: TIME - 1]] for b in range(sequences)]  # r_1 < r_2 < ..., at least 1: spec A.2
    return [{"offsets": [[-r for r in reversed(right)] + [0] + right for right in rights]}]


def run(case, tokens, targets, positions, dtype):
    """Logits, loss, gradients by name, as float64 numpy arrays; and how near to 0 a ReLU's input came."""
    shapes = model.parameter_shapes(case["encoding"], SYMBOLS_IN, SYMBOLS_OUT, POOL)
    weights = {
        name: torch.tensor(formula.weight(name, int(np.prod(shape))), dtype=dtype).reshape(shape).requires_grad_()
        for name, shape in shapes.items()
    }
    layers = [{k: torch.tensor(v, dtype=dtype) for k, v in p.items()} for p in positions]
    layers = layers * model.LAYERS if len(layers) == 1 else layers
    kinks = []
    logits = model.forward(case, weights, torch.tensor(tokens), OUTPUTS, layers, kinks)
    loss = model.cross_entropy(logits, torch.tensor(targets))
    loss.backward()
    return (
        logits.detach().double().numpy(),
        loss.item(),
        {n: w.grad.double().numpy().ravel() for n, w in weights.items()},
        min(kinks),
    )


def digest(name, g):
    at = formula.integers(name + "#samples", SAMPLES, g.size)
    projections = [formula.signs(f"{name}#signs{i}", g.size) @ g for i in range(PROJECTIONS)]
    return {
        "size": g.size,
        "norm": short(np.linalg.norm(g)),
        "sum": short(g.sum()),
        "largest": short(abs(g).max()),
        "samples": [short(x) for x in g[at]],
        "projections": [short(x) for x in projections],
    }


def short(x):
    """13 digits: the double build is held to 1e-9."""
    return float(f"{x:.13g}")


def main():
    folder = pathlib.Path(__file__).parent / "golden"
    folder.mkdir(exist_ok=True)
    for name, changes in CASES.items():
        case = BASE | changes
        targets = formula.integers(name + ".targets", BATCH * OUTPUTS, SYMBOLS_OUT).reshape(BATCH, OUTPUTS)
        positions = draw(name, case["positions"])
        kink, worst, attempt = 0, 1, 0
        while kink < KINK or worst > LOST:
            tokens = formula.integers(f"{name}.tokens{attempt}", BATCH * INPUT, SYMBOLS_IN - 1).reshape(BATCH, INPUT)
            tokens = np.concatenate(
                [tokens, np.full((BATCH, OUTPUTS), SYMBOLS_IN - 1)], 1
            )  # "empty" is the last symbol
            logits, loss, grads, kink = run(case, tokens, targets, positions, torch.float64)
            attempt += 1
            _, _, single, _ = run(case, tokens, targets, positions, torch.float32)
            worst = max(np.linalg.norm(single[n] - g) / np.linalg.norm(g) for n, g in grads.items())
        print(f"{name:32} loss {loss:.6f}   float32 against float64, worst gradient: {worst:.1e}")
        golden = case | {
            "name": name,
            "tokens": tokens.tolist(),
            "targets": targets.tolist(),
            "positions": positions,
            "logits": [short(x) for x in logits.ravel()],
            "loss": short(loss),
            "gradients": {n: digest(n, g) for n, g in grads.items()},
        }
        text = "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in golden.items() if k != "gradients")
        text += (
            ',\n"gradients": {\n'
            + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in golden["gradients"].items())
            + "}\n}\n"
        )
        part = folder / (name + ".json.partial")
        part.write_text(text)
        part.replace(folder / (name + ".json"))


if __name__ == "__main__":
    main()

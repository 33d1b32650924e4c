"""Writes tests/data/reference/CASE.json: logits, loss and digests of all gradients of the 5-layer model, for every
encoding.

        tools/reference                 makes the virtual environment once, then all cases
        tools/reference rope_half       one of the cases

tests/nn/reference.cpp reads the files without Python. Everything is float64. The digest of a gradient g is its norm,
sum and largest size, 8 of its entries, and 4 projections s . g on random signs s. README.md explains why errors show.
"""

import sys

import numpy as np
import torch

import formula
import golden
import model
from golden import BASE, KINK, OUTPUTS, PROJECTIONS, SAMPLES, draw, short

# Tokens are also drawn again if PyTorch's float32 is off by more than this: the terms of a single number, such as
# beta's gradient, may nearly cancel.
LOST = 3e-6

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
    },  # in mode paper it is the same
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
    "geometric_randomized": {"encoding": "geometric", "positions": "randomized"},  # it reads no positions
}


def run(case, tokens, targets, positions, dtype):
    """Logits, loss, gradients by name, as float64 NumPy arrays; and the smallest distance of a ReLU's input from 0."""
    shapes = model.parameter_shapes(case["encoding"])
    weights = {
        name: torch.tensor(formula.weight(name, int(np.prod(shape))), dtype=dtype).reshape(shape).requires_grad_()
        for name, shape in shapes.items()
    }
    layers = [{k: torch.tensor(v, dtype=dtype) for k, v in p.items()} for p in positions]
    layers = layers * golden.LAYERS if len(layers) == 1 else layers
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


def main():
    for name in sys.argv[1:] or CASES:
        case = BASE | CASES[name]
        targets, positions = golden.targets(name), draw(name, case["positions"])
        kink, worst, attempt = 0, 1, 0
        while kink < KINK or worst > LOST:
            tokens = golden.tokens(name, attempt)
            logits, loss, grads, kink = run(case, tokens, targets, positions, torch.float64)
            attempt += 1
            _, _, single, _ = run(case, tokens, targets, positions, torch.float32)
            worst = max(np.linalg.norm(single[n] - g) / np.linalg.norm(g) for n, g in grads.items())
        print(f"{name:32} loss {loss:.6f}   float32 against float64, worst gradient: {worst:.1e}")
        answer = {
            "name": name,
            "tokens": tokens.tolist(),
            "targets": targets.tolist(),
            "positions": positions,
            "logits": [short(x) for x in logits.ravel()],
            "loss": short(loss),
            "gradients": {n: digest(n, g) for n, g in grads.items()},
        }
        golden.write(name, case | answer)


if __name__ == "__main__":
    main()

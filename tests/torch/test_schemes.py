"""Every scheme in PyTorch: results and gradients against poslab.formulas in float64, and gradcheck.

The formula's derivative is exact: the imaginary part of the result at w + i h s, divided by h (tests/reference/own.py).
"""

import pathlib
import re
import sys

import numpy as np
import pytest
import torch

import poslab as pl
import poslab.torch as pt
from poslab import formulas

sys.path.append(str(pathlib.Path(__file__).parents[1] / "reference"))
import formula

STEP, TIME, BATCH = 1e-100, 11, 2
BASE = {"causal": False, "heads": 8, "d_model": 64, "max_position": 64, "layers": 5, "positions": "sequential"}
SCHEMES = [e.name for e in pl.encodings]


def drawn(name, kind):
    """Positions (1 or B, TIME), of the kind that a formula needs."""
    rows = [formula.increasing(f"{name}.{b}", TIME, 3) for b in range(BATCH)]
    rng = np.random.default_rng(7)
    return {"sequential": np.arange(TIME)[None], "per_sequence": np.array(rows),
            "unsorted": rng.permutation(rows[0])[None]}.get(kind, np.array(rows[:1])).astype(int)


class Setup:
    """A formula, and the same scheme as a module whose numbers are the same."""

    def __init__(self, name, layer=0):
        self.name, self.formula = name, formulas.load(name)
        self.case = BASE | self.formula.CASE
        heads, width = self.case["heads"], self.case["d_model"]
        rows = {"pool": self.case["max_position"]} if pl._poslab._inside.has_rows(self.case["encoding"]) else {}
        self.scheme = pt.Scheme(self.case["encoding"], width, heads, causal=self.case["causal"],
                                layers=self.case["layers"], **rows)
        self.layer = layer % self.case["layers"]
        rng = np.random.default_rng(5)
        shape = (BATCH, TIME, heads, width // heads)
        self.inputs = {n: rng.normal(size=shape).astype("float32").astype(float) for n in "qkv"}
        self.inputs["x"] = rng.normal(size=(BATCH, TIME, width)).astype("float32").astype(float)
        self.at = drawn(name, self.case["positions"])
        for full, parameter in self.scheme.named_parameters():
            values = formula.weight(full, parameter.numel()).reshape(parameter.shape)
            parameter.data.copy_(torch.tensor(values))
            if not re.match(r"encoding\.layer\d", full) or full.startswith(f"encoding.layer{self.layer}."):
                self.inputs[full] = values
        self.out = rng.normal(size=shape)

    def expected(self, moved=None):
        """The formula's result when some inputs are replaced by complex numbers."""
        all_of = self.inputs | (moved or {})
        prefix = f"encoding.layer{self.layer}."
        w = {n.removeprefix(prefix).removeprefix("encoding."): x
             for n, x in all_of.items() if n.startswith("encoding.")}
        w |= {"x": all_of["x"], "layer": self.layer}
        q, k, v = (all_of[n] for n in "qkv")
        return formulas.attend(self.formula, self.case, w, q, k, v, {"tokens": self.at})

    def tensors(self, gradient=False):
        return {n: torch.tensor(x, dtype=torch.float32, requires_grad=gradient)
                for n, x in self.inputs.items() if not n.startswith("encoding.")}

    def call(self, tensors):
        return self.scheme(**tensors, x_keys=tensors["x"], layer=self.layer, positions=self.at)


@pytest.mark.parametrize("name, layer", [(name, 0) for name in formulas.names()] +
                         [(name, layer) for name in ("irope", "rnope", "hfwa", "hfwa2") for layer in (1, 3, -1)])
def test_results_and_gradients_are_those_of_the_formula(name, layer):
    s = Setup(name, layer)
    tensors = s.tensors(gradient=True)
    y = s.call(tensors)
    wanted = s.expected()
    assert abs(y.detach().numpy() - wanted).max() < 3e-5 * max(1, abs(wanted).max())

    (y * torch.tensor(s.out, dtype=torch.float32)).sum().backward()
    tensors |= {n: p for n, p in s.scheme.named_parameters() if n in s.inputs}
    for which, tensor in tensors.items():
        got = np.zeros(tensor.shape) if tensor.grad is None else tensor.grad.numpy().astype(float)
        for n in range(3):
            signs = formula.signs(f"{which}{n}", tensor.numel()).reshape(tensor.shape)
            slope = (s.expected({which: s.inputs[which] + 1j * STEP * signs}).imag * s.out).sum() / STEP
            assert abs((got * signs).sum() - slope) < 2e-4 * max(np.linalg.norm(got), 0.1), which


def test_the_first_door_adds_what_the_formula_adds():
    seen = 0
    for name in formulas.names():
        s = Setup(name)
        assert s.scheme.adds_to_embedding == hasattr(s.formula, "embed"), name
        if not s.scheme.adds_to_embedding:
            continue
        x = torch.tensor(s.inputs["x"], dtype=torch.float32)
        w = {n: s.inputs[n] for n in s.inputs if n.startswith("encoding.")}
        wanted = s.formula.embed(s.case, w, s.inputs["x"], {"tokens": s.at})
        assert abs(s.scheme.embed(x, positions=s.at).detach().numpy() - wanted).max() < 2e-5, name
        seen += 1
    assert seen >= 6


@pytest.mark.parametrize("name", SCHEMES)
def test_gradcheck(name):
    """The engine computes in float32, so gradcheck uses steps of 1e-2, with errors of about 1e-3."""
    torch.manual_seed(3)
    scheme = pt.Scheme(name, 16, 2, causal=formulas.load(name).CASE.get("causal", False), train_length=6)
    q, k, v = (torch.randn(1, 5, 2, 8, dtype=torch.float64, requires_grad=True) for _ in range(3))
    x = torch.randn(1, 5, 16, dtype=torch.float64, requires_grad=True)
    own = [p.detach().double().requires_grad_() for p in scheme.parameters()]
    names = [n for n, _ in scheme.named_parameters()]

    def through(q, k, v, x, *values):
        parameters = {n: p.float() for n, p in zip(names, values)}
        inputs = {"q": q.float(), "k": k.float(), "v": v.float(), "x": x.float(), "x_keys": x.float()}
        return torch.func.functional_call(scheme, parameters, kwargs=inputs, args=()).double()

    assert torch.autograd.gradcheck(through, (q, k, v, x, *own), eps=1e-2, atol=3e-3, rtol=1e-2, fast_mode=True)

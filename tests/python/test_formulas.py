"""poslab.formulas: each one against the golden files, which the engine must match too; some against the engine."""

import json
import pathlib
import re
import subprocess
import sys
import types

import numpy as np
import pytest

import poslab as pl
from built import PROGRAM
from poslab import formulas

REFERENCE = pathlib.Path(__file__).parents[1] / "reference"
sys.path.append(str(REFERENCE))
import formula  # noqa: E402
import golden  # noqa: E402
import own  # noqa: E402


def test_every_scheme_has_one_and_says_how_the_engine_spells_it():
    listed = "import poslab; print(*(e.name for e in poslab.encodings))"    # a new process: other tests add their own
    schemes = subprocess.check_output([sys.executable, "-c", listed], text=True).split()
    assert len(schemes) > 60 and not set(schemes) - set(formulas.names())
    more = len(formulas.names()) - len(schemes)
    page = (REFERENCE.parents[1] / "docs/torch.md").read_text()
    assert f"all {len(schemes)} encodings, and {more} variants of them" in page
    for name in formulas.names():
        spelled = pl.encodings[formulas.load(name).CASE["encoding"]]
        assert name.startswith(spelled.name), name


def off(name, scheme):
    """The difference between the logits of a model with this formula and those of the golden file."""
    kept = json.loads((REFERENCE.parent / f"data/reference/{name}.json").read_text())
    case = golden.BASE | scheme.CASE
    layers = [{k: np.array(v) for k, v in p.items()} for p in kept["positions"]]
    layers = layers * case["layers"] if len(layers) == 1 else layers
    w = {n: formula.weight(n, int(np.prod(s))).reshape(s) for n, s in own.shapes_of(scheme, case).items()}
    x = own.embedded(scheme, case, w, np.array(kept["tokens"]), layers)
    return abs(own.forward(scheme, case, w, x, layers)[0].ravel() - kept["logits"]).max()


def test_all_give_the_logits_of_the_golden_files():
    for name in formulas.names():
        assert off(name, formulas.load(name)) < 1e-11, name


def test_what_the_program_prints_runs_alone_and_computes_the_same():
    printed = set()
    for scheme in map(formulas.load, formulas.names()):
        text = subprocess.check_output([PROGRAM, "explain", "encoding", scheme.CASE["encoding"], "--numpy"], text=True)
        name = re.search(r"python/poslab/formulas/(\w+)\.py", text)[1]
        alone = {"__name__": name}
        exec(text, alone)
        kept = {key: alone[key] for key in vars(formulas.load(name)) if key in alone}    # other names may be there too
        assert off(name, types.SimpleNamespace(**kept)) < 1e-11, name
        printed.add(name)
    assert len(printed) > 100


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", ["rope", "alibi", "rerope", "window", "ntk", "self_extend"])
def test_logits_are_those_of_the_engine(name, causal):
    q, k = np.random.default_rng(1).normal(size=(2, 2, 11, 8, 8)).astype("float32")
    spelled = pl.encodings[formulas.load(name).CASE["encoding"]]
    wanted = spelled.logits(q, k, causal=causal).numpy()
    assert np.allclose(formulas.logits(name, q, k, causal=causal), wanted, atol=2e-5)


def test_positions_and_parameters_may_be_said():
    q = np.ones((1, 3, 2, 4))
    w = {"table": np.arange(64.0).reshape(32, 2)}
    one = formulas.logits("t5", q, q, w=w)
    assert one.shape == (1, 2, 3, 3) and one[0, 1, 0, 0] == 2 + 1        # the bucket of distance 0, in the second head
    assert (formulas.logits("alibi", q, q, positions=[5, 7, 9]) == formulas.logits("alibi", q, q, [0, 2, 4])).all()


def test_what_is_not_there_is_named():
    with pytest.raises(ValueError, match="there is no formula 'ropo'"):
        formulas.load("ropo")
    with pytest.raises(ValueError, match="weights and no logits"):
        formulas.logits("geometric", np.ones((1, 2, 8, 8)), np.ones((1, 2, 8, 8)))
    for size in ({"window": 2}, {"cusal": True}):
        with pytest.raises(TypeError, match=f"no size {list(size)[0]}; it has causal, heads, "):
            formulas.logits("rerope", np.ones((1, 2, 8, 8)), np.ones((1, 2, 8, 8)), **size)
    assert "def weights(" in formulas.source("geometric")

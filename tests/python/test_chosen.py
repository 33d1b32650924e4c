"""Encodings, samplers, temperatures and tasks: everything that the program lists, and the numbers that it prints."""

import inspect
import pickle
import subprocess

import numpy as np
import pytest
from built import PROGRAM

import poslab as pl


def program(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("kind", ["encodings", "samplers", "temperatures", "tasks"])
def test_the_lists_are_the_programs(kind):
    listed = [line.split()[0] for line in program("list", kind).splitlines() if not line.startswith(" ")]
    things = getattr(pl, kind)
    assert [t.name for t in things if "written in Python" not in t.__doc__] == listed
    assert dir(things) == sorted(t.name for t in things) and len(things) >= len(listed)
    for thing in things:
        assert thing.name in thing.__doc__ and "Source" in thing.__doc__
        inspect.signature(thing)


def causal(encoding):
    try:
        encoding.matrix(6)
        return False
    except ValueError as e:
        assert "needs a causal mask" in str(e)
        return True


@pytest.mark.parametrize("encoding", [e for e in pl.encodings if e.name != "calibrated"], ids=str)
def test_every_encoding_without_a_model(encoding):
    how = {"causal": causal(encoding)}
    m = encoding.matrix(6, **how)
    assert m.shape[1:] == (6, 6) and m.shape[0] in (1, 8) and np.isfinite(m).any()
    try:
        assert encoding.positions(6, **how).shape[1:] == (6, 6)
    except ValueError as e:
        assert "has no view" in str(e)
    rng = np.random.default_rng(0)
    q, k, v = (pl.Tensor(rng.normal(size=(2, 6, 2, 8)), requires_grad=True) for _ in range(3))
    if encoding.name in ("stick_breaking", "geometric"):
        with pytest.raises(ValueError, match="has no logits"):
            encoding.logits(q, k, **how)
    else:
        logits = encoding.logits(q, k, **how)
        assert logits.shape == (2, 2, 6, 6) and not np.isnan(logits.numpy()).any()
    built = encoding.build(heads=2, d_model=16, **how)
    pl.sum_all(built.attend(q, k, v)).backward()
    assert v.grad.shape == v.shape and all(isinstance(p, pl.Tensor) for p in built.parameters.values())


def test_rerope_is_its_formula():
    d = np.arange(32)[None, :] - np.arange(32)[:, None]
    rerope = pl.encodings.rerope(window=8)
    np.testing.assert_array_equal(rerope.positions(32, causal=True)[0][d <= 0], np.maximum(d, -8)[d <= 0])
    assert np.isnan(rerope.positions(32, causal=True)[0][d > 0]).all()
    np.testing.assert_allclose(pl.encodings.alibi.matrix(4, heads=8)[0][3], [-1.25, -0.75, -0.25, 0])


def test_a_matrix_is_what_the_program_draws(tmp_path):
    out = tmp_path / "t5.csv"
    program("show", "kerple", "--length", "5", "--view", "bias", "--heads", "4", "-o", str(out))
    rows = [line.split(",") for line in out.read_text().splitlines()[1:]]
    ours = pl.encodings.kerple.matrix(5, heads=4)
    for _, _, head, row, column, value in rows:
        assert ours[int(head) - 1, int(row), int(column)] == pytest.approx(float(value), rel=1e-5)


def test_logits_of_rope_depend_on_distances_alone():
    q, k = np.ones((1, 9, 1, 8)), np.ones((1, 9, 1, 8))
    plain = pl.encodings.rope.logits(q, k).numpy()[0, 0]
    for d in range(-8, 9):
        diagonal = np.diagonal(plain, d)
        np.testing.assert_allclose(diagonal, diagonal[0], rtol=1e-4)
    moved = pl.encodings.rope.logits(q, k, positions="randomized:max_position=64").numpy()[0, 0]
    assert np.abs(moved - plain).max() > 1e-3
    for listed in ([0, 1, 2], np.arange(3)):
        with pytest.raises(ValueError, match="a list is positions='given:at=0 1 2'"):
            pl.encodings.rope.logits(q, k, positions=listed)
    with pytest.raises(ValueError, match="adds nothing to the embedding"):
        pl.encodings.rope.build().embed(np.zeros((1, 4, 64)))
    assert np.abs(pl.encodings.sincos.build().embed(np.zeros((1, 4, 64))).numpy()).max() > 0.5


def test_spellings():
    e = pl.encodings.rerope(window=8, leaky=4)
    assert str(e) == pl.encodings["rerope:window=8,leaky=4"].spelled == "rerope:window=8,leaky=4"
    assert pl.encodings["rope|none"].matrix(4).shape[1:] == (4, 4)
    assert pl.encodings.alibi(symmetric=True).spelled == "alibi:symmetric"
    assert pl.encodings.longrope(long=[1, 2.5, 8]).spelled == "longrope:long=1/2.5/8,length=1L"
    assert pl.encodings.rerope == pl.encodings["rerope"] == pl.encodings["rerope:window=0.5L"]
    assert e == pickle.loads(pickle.dumps(e)) and e != pl.encodings.rerope
    assert str(inspect.signature(pl.encodings.rerope)).startswith("(*, window=")


def test_a_composition_is_none_of_its_parts():
    for spelling in ("rope:base=500|none", "rope:base=500*4+none*4", "alibi:symmetric*8", "ids&alibi:symmetric"):
        e = pl.encodings[spelling]
        assert e.name == e.spelled == spelling and "a composition" in e.__doc__
        assert str(inspect.signature(e)) == "()" and e == pickle.loads(pickle.dumps(e))
    with pytest.raises(ValueError, match="none has no options"):
        pl.encodings["rope:base=500|none"](base=3)
    assert pl.encodings["rope:base=1e+5"].name == "rope" and pl.encodings["rope:base=500"](base=3) == \
        pl.encodings.rope(base=3)
    assert pl.samplers["randomized:max_position=64|sequential"].name == "randomized:max_position=64|sequential"


def test_pictures(monkeypatch):
    import matplotlib
    matplotlib.use("Agg")
    axes = pl.encodings.rerope(window=8).plot("relative", 16, causal=True)
    assert axes.get_xlabel() == "key slot" and axes.get_ylabel() == "query slot" and "rerope" in axes.get_title()
    assert len(pl.encodings.alibi.plot(beside=[pl.encodings.kerple])) == 3            # two, and their difference
    assert len(pl.encodings.alibi.plot(beside=[pl.encodings.rope])) == 2              # bias and logit: no difference
    curves = pl.encodings.yarn(factor=8).plot("frequencies")
    assert curves.get_yscale() == "log" and len(curves.lines) == 2
    import builtins
    real = builtins.__import__
    def without(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        pl.encodings.rope.plot()


@pytest.mark.parametrize("sampler", [s for s in pl.samplers if s.name != "given"], ids=str)
def test_samplers(sampler):
    p = sampler.draw(6, seed=1)
    assert p.shape == (11,) if "offsets" in sampler.name else p.shape[:2] == (1, 6)
    np.testing.assert_array_equal(p, sampler.draw(6, seed=1))
    assert np.isfinite(p).all()


def test_randomized_positions_are_a_sorted_subset():
    p = pl.samplers.randomized(max_position=64).draw(20, 5)
    assert (np.diff(p) > 0).all() and p.min() >= 0 and p.max() < 64


@pytest.mark.parametrize("temperature", [t for t in pl.temperatures if t.name != "aligned"], ids=str)
def test_temperatures(temperature):
    f = temperature.factor(16).numpy()
    assert f.shape in [(1, 16, 1), (1, 16, 8)] and np.isfinite(f).all()


def test_log_n_is_its_formula():
    f = pl.temperatures.log_n(length=8).factor(16).numpy()[0, :, 0]
    assert f[7] == pytest.approx(1, rel=1e-5) and f[15] == pytest.approx(np.log(16) / np.log(8), rel=1e-5)


@pytest.mark.parametrize("task", list(pl.tasks), ids=str)
def test_tasks(task):
    b = task.batch(8, length=20)
    assert b["tokens"].shape[0] == b["targets"].shape[0] == 8 and b["scored_slots"].shape == (8,)
    assert (b["scored_slots"] <= b["targets"].shape[1]).all()
    question, answer = task.example(7)
    assert task.answer(question) == answer
    assert set(task.baselines(5, 64)) == {"chance", "majority", "content_only"}


def test_reverse_string_reverses():
    b = pl.tasks.reverse_string.batch(8, length=20)
    np.testing.assert_array_equal(b["tokens"][:, :20], b["targets"][:, ::-1])
    assert (b["tokens"][:, 20:] == 2).all() and pl.tasks.reverse_string.answer("0 0 1") == "100"


def test_a_choice_that_is_called_keeps_its_options():
    assert pl.encodings.rerope(window=8)(base=500) == pl.encodings.rerope(base=500, window=8)
    assert pl.encodings.rerope(window=8)(window=9).spelled == "rerope:window=9"
    assert pl.encodings.longrope(long=[1.5, 2])(factor=3) == pl.encodings.longrope(long=[1.5, 2], factor=3)
    symmetric = pl.encodings.alibi(symmetric=np.True_)
    assert symmetric(learned=True) == pl.encodings.alibi(symmetric=True, learned=True) and symmetric() == symmetric
    assert symmetric(symmetric=np.False_) == pl.encodings.alibi


def test_options_with_an_underscore_at_the_end():
    type("Trailing", (pl.Encoding,), {"options": {"lambda_": 0.5}})
    type("Keyword", (pl.Encoding,), {"options": {"lambda": 0.5}})
    assert pl.encodings.trailing(lambda_=0.75).spelled == "trailing:lambda_=0.75"
    assert pl.encodings.keyword(lambda_=0.75).spelled == "keyword:lambda=0.75"

"""Engines of matrix products: Python computes with the chosen engine, and the runs that it begins keep theirs."""

import json

import numpy as np
import pytest

import poslab as pl


@pytest.fixture
def usual():
    before = pl.products()
    yield
    pl.set_products(before)


def test_products_by_another_engine(usual):
    a, b = (np.random.default_rng(1).normal(size=s).astype(np.float32) for s in ((300, 40), (40, 70)))
    for name in ("own", "naive"):
        pl.set_products(name)
        assert pl.products() == name
        assert pl.about()["products"] == name
        assert np.allclose(pl.matmul(a, b), a @ b, atol=1e-4)
    with pytest.raises(ValueError, match='unknown products "blas"'):
        pl.set_products("blas")


def test_a_new_run_takes_the_usual_engine_and_keeps_it(usual, tmp_path):
    small = {"task": "even_pairs", "encoding": "rope", "layers": 1, "batch": 4, "steps": 2, "eval_lengths": "1:3",
             "eval_samples": 4, "progress": False}
    pl.set_products("naive")
    run = pl.train(out=tmp_path / "naive", **small)
    pl.set_products("own")
    own = pl.train(out=tmp_path / "own", **small)
    assert json.loads((tmp_path / "naive/result.json").read_text())["products"] == "naive"
    assert json.loads((tmp_path / "own/result.json").read_text())["products"] == "own"
    assert 'products = "naive"' in (tmp_path / "naive/config.toml").read_text()
    assert 'products = "own"' in (tmp_path / "own/config.toml").read_text()
    assert pl.load(run)(np.zeros((1, 4), dtype=np.int32)).shape == pl.load(own)(np.zeros((1, 4), dtype=np.int32)).shape

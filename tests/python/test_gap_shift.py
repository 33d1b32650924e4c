"""poslab.papers.gap_shift: its sentences from made-up numbers, and its tables from small trained runs."""

import json

import pandas as pd
import pytest
from test_papers import reproduce

from poslab.papers.gap_shift import DRAW, ahead, ahead_reading, average, first_reading, one_by_one, which_first

MUCH, LITTLE, MIXED, GAINED = (
    pd.Series(x) for x in ([0.30, 0.34, 0.32], [0.02, 0.05, 0.01], [0.40, 0.20, 0.33], [-0.10, -0.12, -0.11])
)
NONE = pd.Series(dtype=float)


@pytest.mark.parametrize("gap, length, verdict, says", [
    (MUCH, LITTLE, "gap", "The gap alone costs 32.0 points [30.0, 34.0], the length alone 2.7 points [1.0, 5.0]. The "
     "gap comes first: it costs more by 29.3 points [28.0, 31.0]."),
    (LITTLE, MUCH, "length", "The length comes first: it costs more by 29.3 points [28.0, 31.0]."),
    (MUCH, MIXED, "inconclusive", "Which comes first is inconclusive: they differ by "),
    (MUCH, GAINED, "gap", "the length alone -11.0 points [-12.0, -10.0]. The gap comes first"),
    (GAINED, GAINED, "neither", "Neither loses accuracy."),
    (MUCH[:1], LITTLE[:1], "inconclusive", "they differ by 28.0 points."),  # one seed only
    (MUCH[:1], LITTLE[1:], "untested", "No setting has been tested both ways yet.")])  # fmt: skip
def test_what_comes_first_is_computed_whichever_way_it_comes_out(gap, length, verdict, says):
    row = which_first(gap, length) | one_by_one([gap, MUCH, LITTLE], [length, LITTLE, MUCH])
    assert row["verdict"] == verdict and says in first_reading(row)
    assert row["gap_more"] + row["length_more"] + row["inconclusive"] == 3


@pytest.mark.parametrize("x, says", [
    (LITTLE, "blocks (2 settings) +2.7 points [+1.0, +5.0]: ahead"),
    (GAINED, "blocks (2 settings) -11.0 points [-12.0, -10.0]: behind"),
    (pd.Series([-0.1, 0.1]), "blocks (2 settings) 0.0 points [-10.0, +10.0]: inconclusive"),
    (NONE, "blocks (2 settings) is not tested yet")])  # fmt: skip
def test_a_sampler_is_ahead_behind_or_neither(x, says):
    assert ahead_reading(ahead("blocks", x) | {"settings": 2, "unlearned": 0}) == says
    unlearned = says.replace("settings)", "settings, 1 more not learned)").replace("tested yet", "learned")
    assert ahead_reading(ahead("blocks", x) | {"settings": 2, "unlearned": 1}) == unlearned


def test_averages_are_of_the_seeds_that_all_have():
    both = average([pd.Series({0: 0.5, 1: 0.7}), pd.Series({1: 0.1, 2: 0.3})])
    assert list(both.index) == [1] and both[1] == pytest.approx(0.4) and average([]).empty


def test_the_gaps_of_uniform_sampling_shrink_with_the_length_and_those_of_log_density_stay(tmp_path):
    done = reproduce(tmp_path / "out", "gap_shift:gaps")
    assert done.returncode == 0, done.stderr
    rows = pd.read_csv(tmp_path / "out/gaps.csv", keep_default_na=False).set_index(
        ["task", "trained", "test_positions", "length"]
    )

    def number(column, trained, length, positions="same"):
        return float(rows.loc[("reverse_string", trained, positions, str(length)), column])

    for length in (10, 20, 40, 80):
        assert number("mean_gap", "randomized", length) == pytest.approx(401 / (2 * length + 1), rel=0.05)
        assert abs(number("share_of_1_or_less", "randomized", length) - 2 * length / 400) < 0.03  # n / N
    trained = number("share_of_1_or_less", "randomized", "", "")
    assert trained < 0.5 * number("share_of_1_or_less", "randomized", 80)
    assert number("overlap", "log_density", 80) > number("overlap", "randomized", 80) + 0.1
    assert "reverse_string, uniform: neighbours are " in (tmp_path / "out/gaps.md").read_text()


def test_where_nothing_is_done_yet_every_table_says_so(tmp_path):
    (tmp_path / "out/runs").mkdir(parents=True)
    done = reproduce(tmp_path / "out", "gap_shift", "--draw")
    assert done.returncode == 0 and "0 of 108 trials are done; 108 to do." in done.stdout, done.stderr
    for name in ("grid", "first", "matched"):
        text = (tmp_path / f"out/{name}.md").read_text()
        assert "nan" not in text and "could not be drawn" not in text and " to do." in text, name


def test_all_tables_from_trained_runs_fit_together(tmp_path):
    out = tmp_path / "out"
    sets = (
        "seeds=2 steps=30 layers=2 heads=2 d_model=16 batch=8 eval_samples=2 train_length=6 eval_lengths=1:13 "
        "max_position=40"
    )
    words = ["gap_shift", "--tasks", "bucket_sort,missing_duplicate_string", "--encodings", "rope,sincos",
             *(word for one in sets.split() for word in ("--set", one))]  # fmt: skip
    done = reproduce(out, *words, "--figures", "csv")
    assert done.returncode == 0, done.stderr
    page = (out / "index.html").read_text()
    for name in DRAW:
        text = (out / f"{name}.md").read_text()
        assert not any(word in text for word in ("to do", "nan", "could not be drawn")), name
        assert f'<h2 id="{name}">' in page
    assert "Accuracy of strings of lengths 3, 6, 12 against the mean gap, bucket_sort, sincos." in page
    assert "within_pool" in (out / "figures/grid-bucket_sort-rope.csv").read_text()
    # 3, 6 and 12 symbols; gaps 1, 2, 4 (random or even), and three more spacings
    grid = pd.read_csv(out / "grid.csv").set_index(["task", "encoding", "length", "test_positions"]).sort_index()
    assert len(grid) == 2 * 2 * 3 * (1 + 2 + 2 + 3)
    far = grid.loc[(slice(None), "rope", 12, "stretched:gap=2"), "within_pool"].droplevel([1, 2, 3])
    assert not far["bucket_sort"] and far["missing_duplicate_string"]  # 23 steps of 2 in a pool of 40
    skill = (grid["accuracy"] - grid["majority"]) / (1 - grid["majority"])
    first = pd.read_csv(out / "first.csv").set_index(["task", "encoding", "length", "change"])["loss"].sort_index()
    for setting in (("bucket_sort", "rope"), ("missing_duplicate_string", "sincos")):
        for home in (3, 6):  # the costs of the gap and of the length add up to the whole loss
            lost, here = first[(*setting, home)], skill[(*setting, home)]
            assert lost["gap"] + lost["length"] == pytest.approx(here["same"] - skill[(*setting, 12, "same")])
            assert lost["gap to 1"] == pytest.approx(here["same"] - here["contiguous"])
    assert 'bucket_sort,rope,random_floats:range=40,"float_midpoints:range=40,' in (out / "matched.csv").read_text()
    matched = (out / "matched.md").read_text()
    assert "rope, log density" in matched
    assert "without reading the order of the symbols, at these lengths: chance " in matched
    # measurements are kept with each run, so drawing again needs no model
    before = (out / "README.md").read_text()
    for run in json.loads((out / "about.json").read_text())["trials"]:
        (out / "runs" / run["id"] / "checkpoint.safetensors").unlink()
    assert reproduce(out, *words, "--draw").returncode == 0
    assert (out / "README.md").read_text().partition("## ")[2] == before.partition("## ")[2]

"""The rules of the notebooks: answers are checked, there are solutions, the two files of a notebook agree."""

import sys
from pathlib import Path

import numpy as np
import poslab as pl
import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
sys.path.insert(0, str(NOTEBOOKS))

import exercise  # noqa: E402
import run  # noqa: E402


def twice(x):
    assert x(3) == 6 if callable(x) else x == 6, "it should be 6"


@pytest.mark.parametrize("answer, words", [(6, "Right."), (5, "Not yet: it should be 6"), (..., "Not answered yet"),
                                           (lambda x: 2 * x, "Right."), (lambda x: x, "Not yet: it should be 6"),
                                           (lambda x: ..., "Not answered yet"),
                                           (lambda x: None, "Not yet: it returns None; is there a return statement?"),
                                           ({}, "Not yet: it should be 6"),
                                           (lambda x: np.ones(2), "Not yet: the check does not accept the answer, and "
                                                                  "stops with ValueError: The truth")])
def test_answers_are_checked(answer, words, capsys):
    exercise.check(answer)(twice)
    assert capsys.readouterr().out.startswith(words)


def test_an_answer_that_breaks_shows_where():
    with pytest.raises(ZeroDivisionError):
        exercise.check(lambda x: x / 0)(twice)


@pytest.mark.parametrize("stem, name, answer", [
    ("01_tensor", "distances", lambda length: pl.Tensor(np.arange(5)[None, :] - np.arange(5)[:, None])),
    ("02_backward", "lse", lambda x: np.logaddexp.reduce(x.numpy(), axis=1)),
    ("03_attention", "one_more", lambda m, z, o, s, v: (max(m, s), z + np.exp(s), o + np.exp(s) * v)),
    ("04_four_doors", "is_toeplitz", lambda matrix: np.ptp(np.diag(matrix, 1)) < 1e-4),
    ("05_lengths", "known_pairs", lambda n, trained: min(1, trained / (2 * n))),
    ("05_lengths", "pool", 400),
    ("06_randomized", "chance", (10 / 128)**9),
    ("07_rope", "ntk_base", lambda base, factor, D: base * factor),
    ("08_temperature", "factor_for", lambda g, n, wanted: np.log(n - 1) / g),
    ("10_kernel", "intensities", lambda T, D: (271, 8.2121212))])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_plausible_wrong_answers_are_refused(stem, name, answer, capsys):
    cells = [cell.source for cell in run.cells_of(NOTEBOOKS / f"{stem}.py").cells]
    checks = [source for source in cells if source.startswith(f"@check({name})")]
    exec(checks[0], {"pl": pl, "np": np, "rng": np.random.default_rng(0), "check": exercise.check, name: answer})
    assert capsys.readouterr().out.startswith("Not yet: ")


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("[0-9]*.py")), ids=lambda p: p.stem)
def test_pairs_agree_and_each_exercise_has_a_solution(path):
    notebook = run.cells_of(path)
    pair = run.nbformat.read(path.with_suffix(".ipynb"), as_version=4)
    assert run.sources(pair) == run.sources(notebook), "tools/notebooks --write makes it again"
    for asked, answer in zip(pair.cells, pair.cells[1:]):  # outputs are folded until a click
        if answer.cell_type == "code":
            predicts = asked.cell_type == "markdown" and "**Predict" in asked.source
            assert answer.metadata.get("jupyter", {}).get("outputs_hidden", False) == predicts, asked.source
    assert f"({path.stem}.ipynb)" in (NOTEBOOKS / "README.md").read_text()
    assert any(cell.outputs for cell in pair.cells if cell.cell_type == "code")
    assert not run.lost_links(notebook)
    solved = run.with_solutions(notebook).cells
    marks = [cell.metadata.get("mark") for cell in solved]
    assert marks.count("check") == marks.count("solution") == marks.count("checked") >= 1
    first = notebook.cells[0].source
    assert first.startswith(f"# {path.stem[:2]} ") and "After this notebook you know" in first
    assert sum("**Predict" in cell.source for cell in notebook.cells) >= 3


def test_what_is_wrong_with_a_notebook_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "HERE", tmp_path)
    path = tmp_path / "01_bad.py"
    path.write_text("# %% [markdown]\n# [nowhere](gone.md)\n\n# %%\nfrom exercise import check\nanswer = ...\n\n"
                    "# %%\n@check(answer)\ndef _(x):\n    assert x == 1\n")
    assert run.run(path, write=False) == ["there is no 01_bad.ipynb; tools/notebooks --write makes it"]
    with pytest.raises(ValueError, match="no solution below the check"):
        run.run(path, write=True)
    (tmp_path / "exercise.py").write_text((NOTEBOOKS / "exercise.py").read_text())
    with path.open("a") as file:
        file.write("\n# %% [markdown]\n# <details>\n#\n# ```python\n# answer = 2\n# ```\n# </details>\n")
    wrong = run.run(path, write=True)
    assert "the solution should be right" in wrong[0] and wrong[1] == "there is no gone.md" and len(wrong) == 2
    assert not path.with_suffix(".ipynb").exists()

"""poslab.figures: what figures for print contain, and the program's calls of it."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zlib

import matplotlib
import numpy as np
import pytest
import warm
from built import PROGRAM

import poslab as pl
from poslab.figures import draw, style

TOY = dict(preset="tiny", task="even_pairs", steps=2, eval_lengths="1:12", eval_samples=8, progress=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for encoding in ("rope", "alibi"):
        for seed in (0, 1):
            pl.train(encoding=encoding, seed=seed, out=folder / f"{encoding}-{seed}", **TOY)
    return sorted(folder.iterdir())


def figures(*words, python="python3", env=None):
    return subprocess.run([python, "-m", "poslab.figures", *map(str, words)], capture_output=True,
                          env=env or warm.environment())  # fmt: skip


def poslab(*words, env=None):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, env=env or warm.environment())


def texts(pdf):
    """The words of a PDF, as they were written one by one; its strings have two bytes per letter."""
    words = []
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            page = zlib.decompress(stream)
        except zlib.error:
            continue
        for array in re.findall(rb"\[ (\(.*?\)) \]\s*TJ", page, re.DOTALL):
            letters = b"".join(re.findall(rb"\((.*?)(?<!\\)\)", array, re.DOTALL))
            words.append(letters.replace(b"\\(", b"(").replace(b"\\)", b")").decode("utf-16-be"))
    return words


def made_up(**more):
    curves = [{"name": f"curve {n}", "color": f"c{n % 8}" + f" again{n // 8}" * (n > 7),
               "points": [[x, 1 / (x + n)] for x in range(1, 41)]} for n in range(10)]  # fmt: skip
    return {"id": "a", "title": "A title", "x": "length", "y": "accuracy", "x_low": 1, "x_high": 40, "y_low": 0,
            "y_high": 1, "percent": True, "log": False, "shaded": 20, "unit": "length", "doubling": False,
            "curves": curves} | more  # fmt: skip


MATRIX = {"kind": "matrix", "title": "rope", "row": "query", "col": "key", "block": 2, "first_row": 1,
          "low": -1, "high": 3, "cells": [[0.0, None], [3.0, -1.0]]}  # fmt: skip


def data(path, *all):
    path.write_text(json.dumps({"figures": all}))
    return path


def test_a_pdf_has_its_labels_as_text_its_fonts_and_its_width(runs, tmp_path):
    out = tmp_path / "x.pdf"
    done = figures(*runs, "-o", out, "--width", "77", "--label", "rope=RoPE – θ")
    assert done.returncode == 0 and not done.stderr, done.stderr
    pdf = out.read_bytes()
    assert pdf.startswith(b"%PDF-") and pdf.endswith(b"%%EOF\n")
    start = int(re.search(rb"startxref\n(\d+)\n", pdf)[1])
    assert pdf[start : start + 4] == b"xref"
    words = texts(pdf)
    assert {"length of the input", "encoding=alibi", "chance", "trained"} <= set(words)
    assert "encoding=rope" not in words
    assert any(word.startswith("RoPE") for word in words) and "accuracy (%)" in words
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf and b"/CreationDate" not in pdf
    assert float(re.search(rb"/MediaBox \[ 0 0 (\S+)", pdf)[1]) == pytest.approx(77 / 25.4 * 72, abs=0.01)
    again = tmp_path / "y.pdf"
    figures(*runs, "-o", again, "--width", "77", "--label", "rope=RoPE – θ")
    assert again.read_bytes() == pdf


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_picture_is_the_same_each_time_and_as_wide_as_it_prints(ending, tmp_path):
    page = data(tmp_path / "page.json", made_up(), MATRIX)
    first, again = (figures(page, "-o", "-", "--format", ending, "--width", "page").stdout for _ in range(2))
    assert first == again and first.startswith(style.BEGINS[ending])
    if ending == "svg":
        assert 'width="493.2' in first.decode() and ">curve 3</text>" in first.decode()  # in points
    else:
        assert int.from_bytes(first[16:20], "big") == pytest.approx(174 / 25.4 * 300, abs=1)


def test_lines_are_told_apart_in_grey():
    with matplotlib.rc_context(style.settings()):
        axes = draw.canvas([made_up()], 84).axes[0]
    looks = {(str(line._unscaled_dash_pattern), line.get_marker(), line.get_markerfacecolor()) for line in axes.lines}
    assert len(looks) == len(axes.lines) == 10
    eight = [(str(line._unscaled_dash_pattern), line.get_marker()) for line in axes.lines[:8]]
    assert len({dashes for dashes, _ in eight}) == len({marker for _, marker in eight}) == 8


def test_axes_double_or_are_logarithmic_with_plain_numbers():
    curves = [{"name": "loss", "color": "c0", "points": [[x, 1 / x] for x in (16, 32, 64, 128)]}]
    ends = dict(x_low=16, x_high=128, y_low=0.005, y_high=0.1)
    chart = made_up(curves=curves, percent=False, log=True, doubling=True, **ends)
    with matplotlib.rc_context(style.settings()):
        drawn = draw.canvas([chart], 84)
        drawn.draw_without_rendering()
    axes = drawn.axes[0]
    assert axes.get_xscale() == axes.get_yscale() == "log" and axes.get_xlim() == (16, 128)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["16", "32", "64", "128"]
    assert {"0.01", "0.05", "0.1"} <= {label.get_text() for label in axes.get_yticklabels()}


def test_a_figure_has_the_numbers_of_the_csv(runs, tmp_path):
    assert poslab("report", *runs, "-o", tmp_path / "x.csv").returncode == 0
    assert poslab("report", *runs, "-o", tmp_path / "x.html").returncode == 0
    assert poslab("report", *runs, "-o", tmp_path / "x.json").returncode == 0
    page = re.search(r'id="data"[^>]*>(.*?)</script>', (tmp_path / "x.html").read_text())[1]
    for found in (json.loads(page), json.loads((tmp_path / "x.json").read_text())):
        figure = draw.figures_of(found)[0]
        with matplotlib.rc_context(style.settings()):
            axes = draw.canvas([figure], 84).axes[0]
        drawn = {line.get_label(): line for line in axes.lines}
        rows = list(csv.DictReader(io.StringIO((tmp_path / "x.csv").read_text())))
        assert {row["series"] for row in rows} <= drawn.keys() and rows[0]["panel"] == figure["title"]
        for name in {row["series"] for row in rows}:
            these = [row for row in rows if row["series"] == name]
            assert list(drawn[name].get_xdata()) == [float(row["x"]) for row in these]
            assert drawn[name].get_ydata() == pytest.approx([100 * float(row["y"]) for row in these], abs=1e-4)
        band = [c.get("band") for c in figure["curves"] if c["name"] == "encoding=rope"][0]
        assert [low for _, low, _ in band] == pytest.approx(
            [float(row["low"]) for row in rows if row["series"] == "encoding=rope"], abs=1e-6)  # fmt: skip


def test_a_matrix_is_drawn_by_slot_and_in_the_colours_of_its_range():
    with matplotlib.rc_context(style.settings()):
        for vector in (False, True):
            axes = draw.canvas([MATRIX], 84, vector).axes[0]
            drawn = (axes.collections if vector else axes.images)[0]
            assert drawn.get_clim() == (-3, 3)  # 0 is in the middle
            assert axes.get_xlim() == (-0.5, 3.5) and axes.get_ylim() == (4.5, 0.5)
            assert np.ma.filled(drawn.get_array().astype(float), np.nan).ravel()[[0, 2, 3]].tolist() == [0, 3, -1]
            assert np.ma.getmaskarray(np.ma.masked_invalid(drawn.get_array())).ravel().tolist() == [0, 1, 0, 0]


def test_pages_of_show_have_their_matrices_and_charts(tmp_path):
    page = tmp_path / "shown.html"
    assert poslab("show", "rope", "alibi", "--length", "12", "--causal", "-o", page).returncode == 0
    done = figures(page, "-o", tmp_path / "all.pdf", "--width", "page")
    assert done.returncode == 0, done.stderr
    assert {"query", "key", "rope"} <= set(texts((tmp_path / "all.pdf").read_bytes()))


def test_pages_of_graph_have_their_tape(runs, tmp_path):
    assert poslab("graph", runs[0], "-o", tmp_path / "tape.html").returncode == 0
    done = figures(tmp_path / "tape.html", "-o", tmp_path / "tape.pdf")
    assert done.returncode == 0 and "gradient norm" in texts((tmp_path / "tape.pdf").read_bytes()), done.stderr


def test_rows_have_about_as_many_figures():
    counts = [[(len(row), columns) for row, columns in draw.rows_of(figures, width)] for figures, width in
              (([MATRIX] * 6, 174), ([MATRIX] * 3 + [made_up()], 84))]  # fmt: skip
    assert counts == [[(3, 3), (3, 3)], [(2, 2), (1, 2), (1, 1)]]


def test_the_program_starts_it(runs, tmp_path):
    done = poslab("report", *runs, "-o", tmp_path / "x.pdf")
    assert done.returncode == 0, done.stderr
    assert {"encoding=rope", "encoding=alibi"} <= set(texts((tmp_path / "x.pdf").read_bytes()))
    for _ in range(2):  # it overwrites its own file
        assert poslab("report", *runs, "-o", tmp_path / "x.svg").returncode == 0
    assert "Matplotlib" in (tmp_path / "x.svg").read_text()
    done = poslab("show", "rope", "--view", "similarity", "-o", tmp_path / "x.png")
    assert done.returncode == 0 and (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG"), done.stderr
    done = poslab("graph", runs[0], "-o", tmp_path / "tape.pdf")
    words = texts((tmp_path / "tape.pdf").read_bytes())
    assert done.returncode == 0 and {"block0.attention", "gradient norm", "all"} <= set(words), done.stderr


def test_without_matplotlib_a_line_says_how_to_get_it(runs, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(shutil.which("false"))
    for words in (["report", runs[0], "-o", tmp_path / "x.pdf"], ["show", "rope", "-o", tmp_path / "x.png"],
                  ["graph", runs[0], "-o", tmp_path / "x.svg"],
                  ["compare", "--encodings", "rope", "--figures", "pdf", "--out", tmp_path / "x"]):  # fmt: skip
        done = poslab(*words, env=os.environ | {"PATH": str(tmp_path / "bin")})
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
        assert "matplotlib draws it, but no python3 here has it; run `python3 -m venv" in done.stderr
    (tmp_path / "without/matplotlib").mkdir(parents=True)
    (tmp_path / "without/matplotlib/__init__.py").write_text("raise ImportError")
    done = figures(data(tmp_path / "x.json", made_up()), "-o", tmp_path / "x.pdf", python=sys.executable,
                   env=os.environ | {"PYTHONPATH": str(tmp_path / "without")})  # fmt: skip
    assert done.returncode == 1 and b"run `python -m pip install matplotlib`" in done.stderr
    assert not (tmp_path / "x.pdf").exists()


@pytest.mark.skipif(bool(style.latex()), reason="LaTeX is there")
def test_without_latex_a_line_says_how_to_get_it(runs, tmp_path):
    for done in (figures(data(tmp_path / "x.json", MATRIX), "-o", tmp_path / "x.pgf"),
                 poslab("report", runs[0], "-o", tmp_path / "x.pgf")):  # fmt: skip
        assert done.returncode == 1 and "no pdflatex is on the PATH" in str(done.stderr)
    assert not (tmp_path / "x.pgf").exists()


@pytest.mark.skipif(not style.latex(), reason="no LaTeX here")
def test_pgf_is_for_input_and_has_no_pictures_beside_it(tmp_path):
    page = data(tmp_path / "x.json", made_up(title="rope|none*4 50%_<{&}#$~ → ×"), MATRIX)
    done = figures(page, "-o", tmp_path / "x.pgf", "--width", "page", "--label", r"curve 1=$\theta$")
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "x.pgf").read_text()
    assert r"rope\textbar{}none*4 50%\_\textless{}\{\&\}\#\char36{}\textasciitilde{}" in drawn
    assert r"\theta" in drawn
    assert drawn.startswith("% poslab: a figure for LaTeX") and "curve 3" in drawn and "includegraphics" not in drawn
    paper = r"\documentclass{article}\usepackage{pgf}\begin{document}\input{x.pgf}\end{document}"
    (tmp_path / "paper.tex").write_text(paper)
    made = subprocess.run([style.latex(), "-interaction=nonstopmode", "-halt-on-error", "paper"], cwd=tmp_path,
                          capture_output=True, text=True)  # fmt: skip
    assert made.returncode == 0, made.stdout[-2000:]


@pytest.mark.parametrize("words, message", [
    (["PAGE", "-o", "x.docx"], "-o x.docx: what kind of file is this? Name it .pdf"),
    (["PAGE", "-o", "x.pdf", "--width", "0"], "--width 0: use column (84 mm), page (174 mm), or a number"),
    (["PAGE", "-o", "x.pdf", "--width", "wide"], "--width wide: use column"),
    (["PAGE", "-o", "x.pdf", "--label", "rope=RoPE"], "rope=RoPE: no curve or text has that name; write NAME=TEXT"),
    (["PAGE", "-o", "x.pdf", "--only", "b"], "--only b: there is no such figure; there are a"),
    (["PAGE", "-o", "x.pdf", "--style", "nobody"], "--style nobody: there is no such file, and matplotlib has no such"),
    (["EMPTY", "-o", "x.pdf"], "has no figures: give a page of `poslab report`"),
    (["PAGE", "PAGE", "-o", "x.pdf"], "give one page, or run folders"),
    (["nowhere", "-o", "x.pdf"], "nowhere"),
    (["PAGE", "-o", "nowhere/x.pdf"], "cannot write nowhere/x.pdf: No such file or directory; choose another path"),
    (["PAGE", "-o", "OTHER"], "this file exists and holds something else")])  # fmt: skip
def test_bad_input(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.html").write_text("<!doctype html><p>Nothing.</p>")
    (tmp_path / "other.pdf").write_text("a letter")
    places = {"PAGE": data(tmp_path / "page.json", made_up()), "EMPTY": "empty.html", "OTHER": "other.pdf"}
    done = figures(*(places.get(word, word) for word in words))
    assert done.returncode == 2 and message in done.stderr.decode(), done.stderr
    assert done.stderr.count(b"\n") == 1 and not (tmp_path / "x.pdf").exists()


def test_names_with_an_equals_sign_can_be_labelled(tmp_path):
    names = ("k=1", "k=12", "$5 to $6")
    curves = [{"name": name, "points": [[1, 0.5], [2, 0.6]], "color": "c0"} for name in names]
    done = figures(data(tmp_path / "x.json", made_up(curves=curves)), "-o", "-", "--format", "svg", "--label",
                   "k=12=a=b", "--label", "length=tokens")  # fmt: skip
    drawn = done.stdout.decode()
    assert all(f">{text}</text>" in drawn for text in ("k=1", "a=b", "tokens", "$5 to $6"))
    assert ">k=12</text>" not in drawn

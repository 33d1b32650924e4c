"""Runs the examples of docs/python.md and of the README, in order, each page in an empty folder."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_examples_of_the_page(tmp_path, monkeypatch, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text(), re.M | re.S)
    assert len(blocks) >= 10
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert "[-8. -8. -8. -8. -7. -6." in capsys.readouterr().out


def test_the_training_of_the_readme_learns_beyond_its_trained_lengths(tmp_path, monkeypatch):
    block, = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(block, "README.md", "exec"), names)
    beyond = [row for row in names["run"].rows("eval.csv") if row["length"] > 20]
    assert len(beyond) == 80
    best = sum(max(row["chance"], row["majority"], row["content_only"]) for row in beyond) / 80
    assert sum(row["accuracy"] for row in beyond) / 80 > best + 0.05

"""Runs the examples of docs/torch.md, in order, in an empty folder."""

import re
from pathlib import Path


def test_examples_of_the_page(tmp_path, monkeypatch):
    page = Path(__file__).parents[2] / "docs/torch.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)
    assert len(blocks) >= 5
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/torch.md", "exec"), names)

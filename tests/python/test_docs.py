"""The examples of the pages on Python, in order, each page in an empty folder."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page, printed", [("docs/python.md", "[-8. -8. -8. -8. -7. -6."), ("docs/python-training.md", "")])
def test_examples_of_the_page(tmp_path, monkeypatch, capsys, page, printed):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert len(blocks) >= 4
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert printed in capsys.readouterr().out

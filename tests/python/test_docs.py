"""The examples of docs/python.md, in order, in an empty folder."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_examples_of_the_page(tmp_path, monkeypatch, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text(), re.M | re.S)
    assert len(blocks) >= 4
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert "[8. 8. 8. 8. 7. 6." in capsys.readouterr().out

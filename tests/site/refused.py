#!/usr/bin/env python3
"""Errors must name a page that the navigation lacks, a formula that is no longer in its file, and links that lead
nowhere. Run this with the Python of .venv-site."""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "docs/site"), str(HERE)]

import check  # noqa: E402
import formulas  # noqa: E402
import navigation  # noqa: E402
import tree  # noqa: E402


def told(said, *words):
    assert len(said) == 1 and all(w in said[0] for w in words), said


def pages():
    with patch.object(tree, "files", lambda there=tree.files(): [*there, "docs/forgotten.md"]):
        told(navigation.forgotten(), "docs/forgotten", "navigation.py")
    with patch.dict(navigation.navigation, {"Results": [*navigation.navigation["Results"], "docs/gone"]}):
        told(navigation.forgotten(), "docs/gone")


def quoted_lines():
    first, *others = formulas.formulas()                       # softmax: two lines of autograd/softmax.cpp
    quote, other = first.said
    kernel = "core/cpu/softmax.cpp"
    for changed, words in ((replace(first, said=[replace(quote, line="y = x + 1")]), ["y = x + 1", first.files[0]]),
                           (replace(first, said=[replace(quote, line=quote.line[:-2])]), [first.files[0]]),
                           (replace(first, said=[replace(quote, files=[*quote.files, kernel]), other]), [kernel]),
                           (replace(first, said=[replace(quote, files=[]), other]), ["no file is named"]),
                           (replace(first, said=[replace(quote, files=["nn/adam.cpp"])]), ["nn/adam.cpp", "heading"]),
                           (replace(first, said=[]), ["no line"]),
                           (replace(first, files=[*first.files, "core/gone.cpp"]), ["no file core/gone.cpp"])):
        with patch.object(formulas, "formulas", lambda: [changed, *others]):
            told(formulas.stale(), *words)
    [read] = formulas.formulas_on("page.md", """
## Ops

### A

[a](../a.cpp), [b](../b.cpp)

```math
a
```

    // a.cpp, b.cpp
    one
    // b.cpp
    two
""")
    assert read.said == [formulas.Quote(["a.cpp", "b.cpp"], "one"), formulas.Quote(["b.cpp"], "two")], read


def links():
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "a.html").write_text('<h1 id="here">a</h1>')
        for link, words in (('<a href="a.html#here">', []), ('<a href="b.html">', ["no b.html"]),
                            ('<a href="a.html#there">', ["no anchor #there"]),
                            ('<script src="https://example.com/x.js">', ["fetches"])):
            (folder / "page.html").write_text(link)
            found = list(check.lost(folder))
            assert words or not found, found
            if words:
                told(found, *words)


for case in (pages, quoted_lines, links):
    case()

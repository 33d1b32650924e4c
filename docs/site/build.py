#!/usr/bin/env python3
"""The documentation site, in build/site/html: ./dev docs.

Pages are the Markdown files and notebooks of the tree, where they stand; notebooks are not run, but shown with the
outputs that they have. The references are made from the Python module and the headers, the listings from the sources.
Warnings are errors.
"""

import os
import shutil
import sys
from pathlib import Path

import headers
import navigation
import python_reference
import sources
import tree
from formulas import stale
from sphinx.cmd.build import main as sphinx

HERE = Path(__file__).resolve().parent
OUT = tree.ROOT / "build/site"


def lay_out(folder):
    """Copies of all pages and pictures, at their places in the tree, and the pages that are made."""
    for name in tree.files():
        if tree.is_page(name) or name.endswith(".svg"):
            to = folder / ("index.md" if name == "README.md" else name)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree.ROOT / name, to)
    headers.write_all(folder / "reference/cpp")
    (folder / "reference/python.md").write_text(python_reference.page())


def main():
    wrong = navigation.forgotten() + stale()
    if wrong:
        sys.exit("\n".join(wrong))
    jobs = min(8, os.cpu_count())
    shutil.rmtree(OUT, ignore_errors=True)          # what is kept would not be warned of again
    lay_out(OUT / "source")
    status = sphinx(["-q", "-b", "html", "-c", str(HERE), "-j", str(jobs), "-W", "--keep-going",
                     "-d", str(OUT / "doctrees"), str(OUT / "source"), str(OUT / "html")])
    if status:
        sys.exit(status)
    sources.write_all(OUT / "html", jobs)
    print(f"the site is {(OUT / 'html/index.html').relative_to(tree.ROOT)}")


if __name__ == "__main__":
    main()

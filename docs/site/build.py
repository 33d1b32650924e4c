#!/usr/bin/env python3
"""The documentation site, in build/site/html: ./dev docs.

Pages are the Markdown files and notebooks of the tree, at their paths; notebooks are not run, but shown with their
saved outputs. The references are made from the Python module and the headers, the listings from the sources, and long
tables by the program. Warnings are errors. """

import os
import shutil
import sys
from pathlib import Path

import headers
import made
import navigation
import python_reference
import sources
import tree
from formulas import stale
from sphinx.cmd.build import main as sphinx

HERE = Path(__file__).resolve().parent
OUT = tree.ROOT / "build/site"


def lay_out(folder):
    """Copies of all pages and pictures, at their paths in the tree, and the generated pages."""
    for name in tree.files():
        if tree.is_page(name) or name.endswith(".svg"):
            to = folder / ("index.md" if name == "README.md" else name)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree.ROOT / name, to)
    headers.write_all(folder / "reference/cpp")
    (folder / "reference/python.md").write_text(python_reference.page())
    made.write_all(folder)


def with_past_the_edge(page):
    """The page that trains, beside and inside the page about it, if tools/web has made it."""
    made, mark = tree.ROOT / "build/web/past-the-edge.html", "<!-- the page stands here on the site -->"
    text = page.read_text()
    if mark not in text:
        sys.exit(f"docs/web.md has lost the line {mark}, where the page that trains is put in")
    if not made.exists():
        print("tools/web has not been run, so the site goes without the page that trains")
        return
    shutil.copy2(made, page.parent / made.name)
    shown = (f'<p><a href="{made.name}">Open the page</a></p>'
             f'<iframe src="{made.name}#embed=start" title="Past the edge" width="100%" height="900" loading="lazy"'
             ' style="border: 1px solid; border-radius: 6px"></iframe>')
    page.write_text(text.replace(mark, shown))


def main():
    wrong = navigation.forgotten() + stale()
    if wrong:
        sys.exit("\n".join(wrong))
    jobs = min(8, os.cpu_count())
    shutil.rmtree(OUT, ignore_errors=True)          # cached pages would not repeat their warnings
    lay_out(OUT / "source")
    status = sphinx(["-q", "-b", "html", "-c", str(HERE), "-j", str(jobs), "-W", "--keep-going",
                     "-d", str(OUT / "doctrees"), str(OUT / "source"), str(OUT / "html")])
    if status:
        sys.exit(status)
    with_past_the_edge(OUT / "html/docs/web.html")
    sources.write_all(OUT / "html", jobs)
    print(f"the site is {(OUT / 'html/index.html').relative_to(tree.ROOT)}")


if __name__ == "__main__":
    main()

"""Generated pages of the site, whose tables are too long for the tree."""

import json
import sys

import measured
import schemes


def all_schemes():
    """All schemes, samplers and policies, explained by the program; each in its list must be there."""
    page = schemes.page()
    for kind, mark in ("encodings", "\n### {}\n"), ("samplers", "| `{}` |"), ("temperatures", "| `{}` |"):
        for name in schemes.names(kind):
            if mark.format(name) not in page:
                sys.exit(f"the page of schemes has no {name}, which `poslab list {kind}` has: see docs/site/schemes.py")
    return page


def draw_schemes(folder):
    """NAME.svg of each scheme, drawn by `poslab show`."""
    import matplotlib
    from poslab.figures import draw, style

    folder.mkdir(parents=True, exist_ok=True)
    schemes.draw(folder)
    with matplotlib.rc_context(style.settings(10)):
        for data in folder.glob("*.json"):
            figures = draw.figures_of(json.loads(data.read_text()))
            data.with_suffix(".svg").write_bytes(style.saved(draw.canvas(figures, 100, size=10), "svg"))
            data.unlink()


def checks():
    return schemes.printed("check", "--all", "--markdown")


PAGES = {"docs/schemes": all_schemes, "docs/checks": checks, "docs/measured": measured.page}


def write_all(folder):
    """Each page at its path in the tree, to which other pages link."""
    if not schemes.PROGRAM.exists():
        sys.exit("the site shows what build/release/poslab prints, which is not there: ./dev build")
    for name, page in PAGES.items():
        to = folder / f"{name}.md"
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(page())
    draw_schemes(folder / "docs/schemes")

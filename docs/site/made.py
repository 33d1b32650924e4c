"""Generated pages of the site, whose tables are too long for the tree."""

import json
import re
import subprocess
import sys

import measured
import tree

PROGRAM = tree.ROOT / "build/release/poslab"


def printed(*words):
    """The output of a command, run at the top of the tree."""
    return subprocess.run(words, cwd=tree.ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def schemes():
    """All schemes, samplers and policies, explained by the program; each in its list must be there."""
    page = printed("docs/site/schemes.sh", PROGRAM)
    for kind, mark in ("encodings", "\n### {}\n"), ("samplers", "| `{}` |"), ("temperatures", "| `{}` |"):
        for name in re.findall(r"^[a-z0-9_]+", printed(PROGRAM, "list", kind), re.M):
            if mark.format(name) not in page:
                sys.exit(f"the page of schemes has no {name}, which `poslab list {kind}` has: see docs/site/schemes.sh")
    return page


def draw_schemes(folder):
    """NAME.svg of each scheme, drawn by `poslab show`."""
    import matplotlib
    from poslab.figures import draw, style

    printed("docs/site/schemes.sh", PROGRAM, folder)
    with matplotlib.rc_context(style.settings(10)):
        for data in folder.glob("*.json"):
            figures = draw.figures_of(json.loads(data.read_text()))
            data.with_suffix(".svg").write_bytes(style.saved(draw.canvas(figures, 100, size=10), "svg"))
            data.unlink()


def checks():
    return printed(PROGRAM, "check", "--all", "--markdown")


PAGES = {"docs/schemes": schemes, "docs/checks": checks, "docs/measured": measured.page}


def write_all(folder):
    """Each page at its path in the tree, to which other pages link."""
    if not PROGRAM.exists():
        sys.exit("the site shows what build/release/poslab prints, which is not there: ./dev build")
    for name, page in PAGES.items():
        to = folder / f"{name}.md"
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(page())
    draw_schemes(folder / "docs/schemes")

"""The tree for the site: files that become pages, listings of sources, and copies."""

import functools
import posixpath
import subprocess
from pathlib import Path, PurePath

ROOT = Path(__file__).resolve().parents[2]
LISTED = {".h", ".cpp", ".cu", ".cuh", ".def", ".py", ".sh", ".cmake", ".mjs", ".js", ".css", ".toml", ".txt", ".html",
          ""}


@functools.cache
def files():
    """Paths of all files of the tree, except the golden data of tests."""
    names = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True).splitlines()
    return sorted(n for n in names if "tests/data/" not in n and (ROOT / n).is_file())


@functools.cache
def folders():
    return {str(parent) for name in files() for parent in PurePath(name).parents}


def is_page(name):
    """Pages: Markdown for readers, and notebooks, but not the tables that programs wrote beside results."""
    return name.endswith(".ipynb") or (
        name.endswith(".md") and (not name.startswith("results/") or name.endswith("/README.md")))


def is_listed(name):
    return PurePath(name).suffix in LISTED and not name.startswith("results/") and not is_page(name)


@functools.cache
def place_of(path):
    """The place on the site of that path of the tree; None if it has none."""
    if path in folders():
        return posixpath.normpath(posixpath.join(path, "files.html"))
    if path not in files():
        return None
    if is_page(path):
        return "index.html" if path == "README.md" else str(PurePath(path).with_suffix(".html"))
    return path + ".html" if is_listed(path) else path

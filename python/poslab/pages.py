"""Pages of the program in a notebook: reports, inspections of runs, tapes."""

import os
from html import escape
from pathlib import Path

from ._poslab import _inside


class Page:
    """A page of HTML that needs no network. A notebook shows it; save(path) writes it to a file."""

    def __init__(self, text):
        self.text = text

    @classmethod
    def of(cls, folder):
        """The index.html of a folder."""
        return cls(Path(folder, "index.html").read_text(encoding="utf-8"))

    def save(self, path):
        if Path(path).suffix != ".html":
            raise ValueError(f"{os.fsdecode(path)}: a page is HTML; name it .html, or use `poslab report -o`")
        Path(path).write_text(self.text, encoding="utf-8")

    def _repr_html_(self):
        return f'<iframe srcdoc="{escape(self.text)}" style="width: 100%; height: 640px; border: 0"></iframe>'

    def __repr__(self):
        return f"<page of {len(self.text)} characters>"


def _paths(runs):
    return [os.fsdecode(run) for run in (runs if isinstance(runs, (list, tuple)) else [runs])]


def report(*runs):
    """The page of `poslab report`, which compares runs. runs: Runs, Sweeps, paths, or lists of these. Returns a
    Page."""
    return Page(_inside.report([path for run in runs for path in _paths(run)], "report.html"))


def inspect(runs, out="inspection", *, lengths=(), samples=30, text="", device="", force=False):
    """The page of `poslab inspect`, which looks inside runs: positions in training, activations in a plane, attention.
    It is written to the folder `out`, with its numbers as files. force: runs even if it seems to need more than this
    machine's memory, or more than a month. Returns a Page."""
    _inside.inspect(_paths(runs), list(lengths), samples, os.fsdecode(out), text, device, force)
    return Page.of(out)


def graph(run, zoom="module", *, force=False):
    """The page of `poslab graph`: the tape of a training step, by module or, with zoom="op", by op. Returns a Page."""
    return Page(_inside.graph(os.fsdecode(run), zoom, force))

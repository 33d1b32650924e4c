"""python -m poslab.papers FOLDER [--figures svg,pdf,png,pgf,csv] [--width MM]: draws what is in FOLDER/about.json and
FOLDER/kept.jsonl. `poslab reproduce` calls it after its runs."""

import argparse
import importlib
import pathlib
import sys

from . import page
from .page import Section
from .trials import Trials


def main():
    parser = argparse.ArgumentParser(prog="poslab.papers", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--figures", default="", metavar="svg,pdf,png,pgf,csv")
    parser.add_argument("--width", type=float, default=84, metavar="MM")
    parser.add_argument("--made", default="", metavar="TEXT", help="the program that draws, for the page")
    words = parser.parse_args()
    trials = Trials.read(words.folder)
    sections = {}
    for artifact in trials.about["artifacts"]:
        source, name = artifact["name"].split(":")
        module, undrawn = importlib.import_module(f".{source}", __package__), artifact.get("undrawn")
        section = Section(notes=undrawn) if undrawn else module.DRAW[name](trials.of(artifact), artifact)
        trained = module.how(trials.about) + " " if "model" in trials.asked else ""  # for sources with their own models
        section.notes += [trained + note for note in artifact["notes"]]
        sections[name] = (artifact, section)
    summary = f"{trials.about['summary']} {trials.provenance()}".strip()
    about = trials.about | {"made": words.made, "origin": trials.origin(), "summary": summary}
    page.write(words.folder, about, sections)
    try:
        page.write_figures(words.folder, sections, [end for end in words.figures.split(",") if end], words.width)
    except page.style.Missing as error:
        raise SystemExit(f"poslab: --figures {error}") from None


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit(f"The tables cannot be written: {error.strerror or error}")

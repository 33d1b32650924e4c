"""The texts above and below the tables: notes/SOURCE.txt has the notes of each table under "# TABLE", and other texts
under other names. {places} are filled from data. Shared notes are under "# {PLACE}"."""

import functools
import pathlib

from .seeds import about_intervals
from .setting import worth
from .sweep import how_many

OF_TRIALS = {"how_many": how_many, "worth": worth, "intervals": lambda trials: about_intervals(trials.about["seeds"])}


@functools.cache
def read(source):
    """The notes of each table: "- a note", whose further lines are indented."""
    tables = {}
    for line in (pathlib.Path(__file__).parent / f"notes/{source}.txt").read_text().splitlines():
        if line.startswith("# "):
            notes = tables.setdefault(line[2:], [])
        elif line.startswith("- "):
            notes.append(line[2:])
        elif line:
            notes[-1] += " " + line.strip()
    return tables


def text(place, /, **values):
    """The only paragraph under "SOURCE:NAME"."""
    source, name = place.split(":")
    return read(source)[name][0].format(**values)


def notes(trials, table, /, **values):
    """The notes of "SOURCE:TABLE"."""
    source, name = table.split(":")
    tables = read(source)
    places = {place: fill for place, fill in OF_TRIALS.items() if any(f"{{{place}}}" in n for n in tables[name])}
    values |= {place: fill(trials) for place, fill in places.items()}
    values |= {place[1:-1]: text for place, (text, *_) in tables.items() if place.startswith("{")}
    return [note.format(**values) for note in tables[name]]

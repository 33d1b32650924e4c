"""Rows as pandas has them, where it is installed."""

import csv


def table(rows):
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def read_csv(path):
    """A list of dicts; numbers are numbers, and what is empty is None."""
    with open(path, encoding="utf-8", newline="") as file:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None

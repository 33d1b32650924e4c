"""Rows for pandas, if it is installed."""

import csv
import io


def table(rows):
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def read_csv(path):
    """The rows as dicts, with numbers as int or float and empty cells as None. ValueError for an incomplete file."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.read()
    rows, reader = [], csv.DictReader(io.StringIO(lines, newline=""))
    for row in reader:
        if None in row or None in row.values():
            raise ValueError(f"{path} is damaged: line {reader.line_num} has more or fewer cells than its header; "
                             "write the file again, or restore it from a copy")
        rows.append({name: _value(text) for name, text in row.items()})
    if lines and not lines.endswith("\n"):
        raise ValueError(f"{path} is cut off: line {reader.line_num} does not end; write the file again, or restore it "
                         "from a copy")
    return rows


def _value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None

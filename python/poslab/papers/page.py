"""The results of a source's module, and their files: NAME.md and NAME.csv for each table or figure, README.md with all
tables, index.html with tables and figures, figures/ for papers, and page.json for programs: titles, files, origin."""

import base64
import copy
import html
import json
import pathlib
from dataclasses import dataclass, field

import matplotlib
import numpy as np
import pandas as pd

from ..figures import draw, style


@dataclass
class Cell:
    text: str
    below: list = field(default_factory=list)  # lines in smaller type
    strong: bool = False


@dataclass
class Grid:
    caption: str
    head: list
    rows: list  # lists of cells; the first names the row

    def mark_best(self, ranks):
        """Marks the highest cell of each column; `ranks` has a number for each cell."""
        for column, of_rows in enumerate(np.array(ranks, dtype=float).T, 1):
            if not np.isnan(of_rows).all():
                self.rows[np.nanargmax(of_rows)][column].strong = True


@dataclass
class Figure:
    name: str
    caption: str
    alt: str  # a description of it, with the numbers that figures/draw.py writes
    charts: list  # in the format of figures/draw.py
    data: pd.DataFrame


@dataclass
class Section:
    readings: list = field(default_factory=list)  # results, in sentences
    grids: list = field(default_factory=list)
    figures: list = field(default_factory=list)
    notes: list = field(default_factory=list)  # methods and limits
    data: pd.DataFrame = field(default_factory=pd.DataFrame)
    more: dict = field(default_factory=dict)  # further tables: {"verdicts": ...} is NAME-verdicts.csv
    arrays: str = ""  # an existing file of the folder

    def files(self, name):
        """The tables as separate files."""
        tables = {name: self.data} | {f"{name}-{of}": table for of, table in self.more.items()}
        return {f"{stem}.csv": table for stem, table in tables.items() if len(table.columns)}


def csv(frame):
    """A .csv file: whole numbers have no point, true and false are in lower case, and NaN is empty."""

    def text(x):
        return f"{x:.0f}" if isinstance(x, float) and x.is_integer() else str(x).lower() if isinstance(x, bool) else x

    cells = {name: list(map(text, frame[name])) for name in frame}
    return pd.DataFrame(cells, dtype=object).to_csv(index=False, lineterminator="\n")


def markdown_row(cells):
    texts = (f"**{c.text}**" if c.strong else c.text for c in cells)
    return "".join(f"| {t} ({', '.join(c.below)}) " if c.below else f"| {t} " for t, c in zip(texts, cells)) + "|\n"


def markdown(name, artifact, section):
    text = f"## {artifact['title']}\n\n{artifact['source']}\n\n" + "".join(f"{r}\n\n" for r in section.readings)
    for grid in section.grids:
        head = "".join(f"| {name} " for name in grid.head) + "|\n" + "|---" * len(grid.head) + "|\n"
        text += f"{grid.caption}:\n\n{head}" + "".join(map(markdown_row, grid.rows)) + "\n"
    pictures = "; the pictures are on the page index.html, which the command above makes" if section.figures else ""
    text += "".join(f"- {note}\n" for note in section.notes)
    files = ", ".join(filter(None, [*section.files(name), section.arrays]))
    return text + (f"- The numbers: {files}{pictures}\n\n" if files else "\n")


def table(grid):
    def cells(row):
        for n, c in enumerate(row):
            tag, kind = ("td", ' class="strong"' if c.strong else "") if n else ("th", ' scope="row"')
            below = f"<small>{'<br>'.join(map(html.escape, c.below))}</small>" if c.below else ""
            yield f"<{tag}{kind}>{html.escape(c.text)}{below}</{tag}>"

    caption, head = html.escape(grid.caption), "".join(f'<th scope="col">{html.escape(h)}</th>' for h in grid.head)
    rows = "".join(f"<tr>{''.join(cells(row))}</tr>\n" for row in grid.rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>\n"
    )


def drawn(figure, ending, width=style.COLUMN):
    """The bytes of a drawing."""
    vector = style.BEGINS[ending] == style.PGF
    with matplotlib.rc_context(style.settings(ending=ending)):
        charts = draw.escaped(copy.deepcopy(figure.charts), style.TEX if vector else {"$": r"\$"})
        return style.saved(draw.canvas(charts, width, vector, shared=len(charts) > 1), ending)


def picture(figure):
    svg = base64.b64encode(drawn(figure, "svg", 150)).decode()
    return (
        f'<figure><img src="data:image/svg+xml;base64,{svg}" alt="{html.escape(figure.alt)}">'
        f"<figcaption>{html.escape(figure.caption)}</figcaption></figure>\n"
    )


def section_html(name, artifact, section):
    parts = [
        f'<section aria-labelledby="{name}">\n<h2 id="{name}">{html.escape(artifact["title"])}</h2>\n',
        f"<p>{html.escape(artifact['source'])}</p>\n",
        *(f'<p class="reading">{html.escape(r)}</p>\n' for r in section.readings),
        *map(table, section.grids),
        *map(picture, section.figures),
        *(f'<p class="note">{html.escape(note)}</p>\n' for note in section.notes),
        *(f'<p class="note"><a href="{file}">{file}</a></p>\n' for file in section.files(name)),
        f'<p class="note"><a href="{section.arrays}">{section.arrays}</a></p>\n' if section.arrays else "",
        "</section>\n",
    ]
    return "".join(parts)


def write_file(path, data):
    """Writes another file and renames it, so that readers get either all of the old file or all of the new one."""
    beside = path.with_name(path.name + ".partial")
    beside.write_bytes(data if isinstance(data, bytes) else data.encode())
    beside.replace(path)


def write(folder, about, sections):
    title = f"{about['title']}: size {about['size']}"
    texts = {name: markdown(name, *both) for name, both in sections.items()}
    facts = folder / "page.json"
    before = json.loads(facts.read_text())["files"] if facts.exists() else []
    for name, (_, section) in sections.items():
        for file, table in section.files(name).items():
            write_file(folder / file, csv(table))
        write_file(folder / f"{name}.md", texts[name])
    made = [file for name, (_, section) in sections.items() for file in [f"{name}.md", *section.files(name)]]
    for file in set(before) - set(made):  # tables that are not drawn any more
        (folder / pathlib.Path(file).name).unlink(missing_ok=True)
    tables = {name: artifact["title"] for name, (artifact, _) in sections.items()}
    names = {name: about[name].strip() for name in ("title", "size", "command", "summary")}
    write_file(facts, json.dumps(names | {"tables": tables, "files": made} | about["origin"], indent=1) + "\n")
    write_file(
        folder / "README.md",
        f"# {title}\n\n{about['summary'].strip()}\n\n    {about['command']}\n\n" + "".join(texts.values()),
    )
    page = (pathlib.Path(__file__).parent / "page.html").read_text()
    contents = "".join(
        f'<li><a href="#{name}">{html.escape(a["title"])}</a></li>\n' for name, (a, _) in sections.items()
    )
    for place, text in {
        "title": html.escape(title),
        "summary": html.escape(about["summary"]),
        "contents": contents,
        "command": html.escape(about["command"]),
        "program": html.escape(" ".join(about["command"].split()[:2])),
        "made": html.escape(about["made"]),
        "sections": "".join(section_html(name, *both) for name, both in sections.items()),
    }.items():
        page = page.replace(f"<!-- {place} -->", text)
    write_file(folder / "index.html", page)


def write_figures(folder, sections, endings, width):
    for name, (_, section) in sections.items():
        for figure in section.figures if endings else []:
            (folder / "figures").mkdir(exist_ok=True)
            stem = figure.name if figure.name.startswith(name) else f"{name}-{figure.name}"
            for ending in endings:
                drawing = csv(figure.data).encode() if ending == "csv" else drawn(figure, ending, width)
                write_file(folder / f"figures/{stem}.{ending}", drawing)

"""Draws figures from their data, whose format is in lab/page/README.md: charts, matrices, the tape of a step, and, for
analyses, rows of marks. All printed figures of these kinds are drawn here."""

import base64
import itertools
import math
import textwrap

import numpy as np

from . import style

LETTER = 1.7  # mm, the mean width of a letter at 8 points
LINE = 3.8  # mm, the height of a line


def chart(axes, figure, width=style.COLUMN):
    """Draws curves. figure: title, x, y, curves ({"name", "points": [[x, y or None], ...]}), and optional entries as in
    chart_json(). For analyses a curve may have "dots" without a line, and "notes" [[x, y, text], ...] at points."""
    times = 100 if figure.get("percent") else 1
    if figure.get("shaded") and figure["shaded"] > figure["x_low"]:
        end = min(figure["shaded"], figure["x_high"])
        axes.axvspan(figure["x_low"], end, color=style.TRAINED, linewidth=0, zorder=0)
        axes.annotate("trained", (figure["x_low"], 0), (3, 3), xycoords=("data", "axes fraction"),
                      textcoords="offset points", color=style.GREY, fontsize="small")  # fmt: skip
    baselines = itertools.count()
    for n, curve in enumerate(figure["curves"]):
        _curve(axes, curve, times, number_of(curve.get("color", f"c{n}")), baselines)
    for at, y, text in figure.get("notes", []):
        axes.text(at, times * y, f"{text}  ", ha="right", va="center")
    axes.set(xlabel=figure["x"], ylabel=figure["y"] + " (%)" * (times == 100))
    if figure.get("equal"):
        axes.set_aspect("equal", adjustable="datalim")
    if figure.get("doubling"):
        axes.set_xscale("log", base=2)
        xs = sorted({p[0] for curve in figure["curves"] for p in curve["points"]})
        axes.set_xticks(xs[:: -(-len(xs) // max(3, int(width / 14)))])
        axes.xaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
    if figure.get("log"):
        axes.set_yscale("log")
        if "y_low" in figure and figure["y_high"] < 300 * figure["y_low"]:  # few powers of ten, which need more ticks
            axes.yaxis.get_major_locator().set_params(subs=(1, 2, 5))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("")
    if "x_low" in figure:
        axes.set(xlim=(figure["x_low"], figure["x_high"]), ylim=(times * figure["y_low"], times * figure["y_high"]))


def number_of(colour):
    """The number of a curve's class: 10 for "c2 again1", the third colour and the second round of marks; None for a
    baseline."""
    if colour == "base":
        return None
    name, *again = colour.split()
    return int(name[1:]) + len(style.COLOURS) * (int(again[0][-1]) if again else 0)


def _curve(axes, curve, times, n, baselines):
    x, y = (np.array([p[k] for p in curve["points"]], dtype=float) for k in (0, 1))
    look = {"color": style.GREY, "linewidth": 0.9}
    dashes = style.DASHES[1 + next(baselines) % 3] if n is None else None
    if n is not None:
        round, place = divmod(n, len(style.COLOURS))
        dashes = style.DASHES[(place + round) % len(style.DASHES)]
        seen = max(1, int(np.isfinite(y).sum()))
        look = {"color": style.COLOURS[place], "marker": style.MARKERS[(place + 3 * round) % len(style.MARKERS)],
                "markersize": 3, "markevery": (place % max(1, seen // 8), max(1, seen // 8)),
                "markerfacecolor": "white" if round % 2 else style.COLOURS[place]}  # fmt: skip
    if curve.get("dots"):
        dashes, look["markevery"], look["markersize"] = "none", 1, curve["dots"]
        look["rasterized"] = len(x) > 1000
    if curve.get("band"):
        at, low, high = np.array(curve["band"], dtype=float).T
        axes.fill_between(at, times * low, times * high, color=look["color"], alpha=0.14, linewidth=0)
    if curve.get("behind"):
        axes.plot(*(np.array(curve["behind"], dtype=float).T * [[1], [times]]), color=look["color"], alpha=0.28,
                  linestyle="-", linewidth=0.5)  # fmt: skip
    if curve.get("filled"):
        axes.fill_between(x, times * y, color=look["color"], alpha=0.28, linewidth=0, label=curve["name"])
    else:
        axes.plot(x, times * y, label=curve["name"], linestyle=dashes, **look)


def marks(axes, figure):
    """Draws marks. figure: a line for each of "rows", with series of marks ({"name", "points": [[row, x, low, high],
    ...]}, and maybe "hollow"), each with a bar from low to high, which may be equal. "joined" are bars behind marks,
    [[row, from, to], ...], "levels" ({"name", "x"}) dashed lines. Marks outside the axis are arrows with numbers."""
    times, names = 100 if figure.get("percent") else 1, figure["rows"]
    left, right = times * figure["x_low"], times * figure["x_high"]
    for n, level in enumerate(figure.get("levels", [])):
        axes.axvline(times * level["x"], color=style.COLOURS[1], linestyle=("--", ":", "-.")[n % 3], linewidth=1.2,
                     zorder=0, label=level["name"])  # fmt: skip
    if left < 0 < right:
        axes.axvline(0, color="black", linewidth=0.8, zorder=0)
    for y, *ends in figure.get("joined", []):
        axes.hlines(y, times * ends[0], times * ends[1], color="#cccccc", linewidth=3, zorder=1)
    for n, mark in enumerate(figure["series"]):
        place = number_of(mark.get("color", f"c{n}"))
        colour = style.GREY if place is None else style.COLOURS[place % len(style.COLOURS)]
        y, x, low, high = np.array(mark["points"], dtype=float).T * [[1], [times], [times], [times]]
        y = y + figure.get("apart", 0) * (n - (len(figure["series"]) - 1) / 2)
        inside = (left <= x) & (x <= right)
        axes.hlines(y, np.clip(low, left, right), np.clip(high, left, right), color=colour, linewidth=1.2, zorder=2)
        marker = mark.get("marker", style.MARKERS[n % len(style.MARKERS)])
        axes.plot(x[inside], y[inside], marker, color=colour, linestyle="none", markersize=14 if marker == "|" else 6,
                  markerfacecolor="white" if mark.get("hollow") else colour, label=mark["name"], zorder=3,
                  markeredgecolor=colour if mark.get("hollow") or marker == "|" else "white")  # fmt: skip
        for at, value in zip(y[~inside], x[~inside]):
            edge, side, arrow = (right, "right", ">") if value > right else (left, "left", "<")
            axes.plot(edge, at, arrow, color=colour, clip_on=False)
            axes.annotate(f"{value:.0f}", (edge, at), (5 - 10 * (side == "right"), 0), textcoords="offset points",
                          ha=side, va="center")  # fmt: skip
    axes.set(xlim=(left, right), ylim=(len(names) - 0.4, -0.6), xlabel=figure["x"] + " (%)" * (times == 100))
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)


def matrix(axes, figure, vector=False, bar=True):
    """Draws a matrix. figure: cells (None for empty ones), row, col, and maybe block, first_row, low, high. vector: a
    path for each cell, as PGF holds no images. Returns the object for the colour bar."""
    cells = np.array(figure["cells"], dtype=float)
    finite = cells[np.isfinite(cells)]
    low, high = (figure.get(end, function(finite) if finite.size else 0.0) for end, function in
                 (("low", np.min), ("high", np.max)))  # fmt: skip
    two_sided, (rows, cols) = low < 0 < high, cells.shape
    block, first = figure.get("block", 1), figure.get("first_row", 0)
    ends = (-max(-low, high), max(-low, high)) if two_sided else (low, high if high > low else low + 1)
    colours = {"cmap": style.colour_map(two_sided), "vmin": ends[0], "vmax": ends[1]}
    x, y = (block * (np.arange(n + 1) - 0.5 / block) for n in (cols, rows))
    if vector:
        image = axes.pcolormesh(x, y + first, cells, edgecolors="face", linewidth=0.05, **colours)
    else:
        extent = (x[0], x[-1], y[-1] + first, y[0] + first)
        image = axes.imshow(cells, interpolation="nearest", extent=extent, **colours)
    axes.set(xlabel=figure["col"], ylabel=figure["row"], ylim=(y[-1] + first, y[0] + first),
             aspect=float(np.clip(cols / (2 * rows), 1, 6)))  # fmt: skip
    for axis, size in ((axes.xaxis, cols), (axes.yaxis, rows)):
        axis.get_major_locator().set_params(integer=True, nbins=min(6, size * block), min_n_ticks=1)
    axes.spines[:].set_visible(False)
    if bar and high > low:
        bar = axes.figure.colorbar(image, ax=axes, shrink=0.9, pad=0.03, aspect=25)
        bar.outline.set_visible(False)
        bar.solids.set_rasterized(not vector)
        bar.ax.set_ylim(low, high)
        bar.ax.locator_params(nbins=5)
    return image


def _numbers(n):
    return str(n) if n < 10_000 else f"{n / 1e3:.0f} k" if n < 10_000_000 else f"{n / 1e6:.0f} M"


def _words_of(figure):
    """The columns of words by heading: the module (in its first row only), op, parameters and shape of the result."""
    nodes = figure["nodes"]
    heads = {"module": "module", "ops": "name", "reads": "reads", "result": "shape"}
    columns = {}
    for head, name in heads.items():
        columns[head] = [textwrap.shorten(node[name], 44, placeholder="...") for node in nodes]
    modules = columns["module"]
    columns["module"] = [m if n == 0 or modules[n - 1] != m else "" for n, m in enumerate(modules)]
    return columns, {head: max(map(len, [head, *texts])) + 2 for head, texts in columns.items()}


NUMBERS = 64  # the width of the columns of numbers, in letters


def tape(axes, figure):
    """Draws a tape. nodes: {"module", "name", "reads", "shape", "forward", "backward" (µs), "bytes", "gradient",
    "from"}. A unit of x is a letter, a unit of y a row."""
    nodes = figure["nodes"]

    def column(x, head, texts, **more):
        axes.text(x, -1.2, head, color=style.GREY, va="center", ha=more.get("ha", "left"))
        for y, text in enumerate(texts):
            axes.text(x, y, text, va="center", **more)

    columns, widths = _words_of(figure)
    x = 0.0
    for head, texts in columns.items():
        bold, grey = {"fontweight": "bold"}, {"color": style.GREY}
        column(x, head, [*texts, "all"] if head == "module" else texts, **{"module": bold, "reads": grey}.get(head, {}))
        x += widths[head]
    for name, colour in (("forward", style.COLOURS[0]), ("backward", style.COLOURS[1])):
        times = [node[name] for node in nodes]
        column(x + 11, f"{name} $\\mu$s", [f"{time:.0f}" for time in [*times, sum(times)]], ha="right")
        shares = [7 * time / max(*times, 1e-9) for time in times]
        axes.barh(range(len(nodes)), shares, left=x + 12, height=0.4, color=colour)
        x += 21
    column(x + 6, "bytes", map(_numbers, [*(n["bytes"] for n in nodes), sum(n["bytes"] for n in nodes)]), ha="right")
    gradients = ("" if n["gradient"] is None else f"{n['gradient']:.2g}" for n in nodes)
    column(x + 21, "gradient norm", gradients, ha="right")
    t, left = np.linspace(0, np.pi, 24), -1.5
    axes.plot([left] * len(nodes), range(len(nodes)), "o", color="black", markersize=2.5)
    widest = 0.0
    for there, node in enumerate(nodes):
        for here in node["from"]:
            bow = 0 if there - here == 1 else math.sqrt(there - here)
            widest = max(widest, bow)
            y = (here + there) / 2 - (there - here) / 2 * np.cos(t)
            axes.plot(left - bow * np.sin(t), y, "-", color=style.GREY, linewidth=0.6, zorder=0)
    axes.set(xlim=(left - widest - 0.5, x + 22), ylim=(len(nodes) + 0.6, -2))
    axes.set_axis_off()


KINDS = {"matrix": matrix, "chart": chart, "marks": marks, "tape": tape}


def kind_of(figure):
    return figure.get("kind", "chart")


def rows_of(figures, width):
    """Puts figures of a kind side by side as far as the width allows, in rows of about equal length: (figures, columns)
    for each row."""
    least = {"matrix": 40, "chart": 75, "marks": 75, "tape": math.inf}  # mm
    for kind, of_kind in itertools.groupby(figures, kind_of):
        group = list(of_kind)
        rows = math.ceil(len(group) / max(1, int(width / group[0].get("least", least[kind]))))
        columns = math.ceil(len(group) / rows)
        yield from ((group[at : at + columns], columns) for at in range(0, len(group), columns))


def _legend(names, width):
    """The names in lines of at most this width, how many are side by side, and how many lines they take in all."""
    most = max(12, int(width / LETTER) - 7)
    names = [textwrap.fill(name, most, break_long_words="\\" not in name) for name in names]  # not within \textbar
    longest = max((len(line) for name in names for line in name.split("\n")), default=1)
    columns = max(1, min(len(names), int(width / (10 + LETTER * longest))))
    rows = -(-len(names) // columns)
    return names, columns, rows * max((name.count("\n") + 1 for name in names), default=0)


def names_of(figure):
    return [one["name"] for group in ("curves", "levels", "series") for one in figure.get(group, [])]


def legend(axes, width):
    handles, names = axes.get_legend_handles_labels()
    if names:
        names, columns, _ = _legend(names, width)
        axes.legend(handles, names, ncols=columns, loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=3.4,
                    columnspacing=1.2, handletextpad=0.5)  # fmt: skip


def _height(figure, each):
    """The height of a figure in mm, without title and legend."""
    if kind_of(figure) == "tape":
        return 3.2 * (len(figure["nodes"]) + 4)
    if kind_of(figure) == "chart":
        return min(90, max(45, 0.55 * each))
    if kind_of(figure) == "marks":
        return LINE * (len(figure["rows"]) * (1.1 + figure.get("apart", 0)) + 4)
    rows, cols = len(figure["cells"]), len(figure["cells"][0])
    tall = min(6, max(1, cols / (2 * rows)))
    return max(24, min(70, each - 26) * tall * rows / max(rows, cols) + 12)


def canvas(figures, width, vector=False, size=8, shared=False):
    """A drawing of the figures in rows, `width` mm wide, each under its title if there are several. A tape is as wide
    as its words. size: of the font, in points. shared: one legend for all figures."""
    from matplotlib.figure import Figure

    scale = size / 8 * style.INCHES
    width *= 8 / size
    rows = list(rows_of(figures, width))
    heights = []
    for row, columns in rows:
        each = width / columns
        legends = [LINE * _legend([] if shared else names_of(figure), each)[2] for figure in row]
        heights.append(max(_height(f, each) for f in row) + max(legends) + 6 * (len(figures) > 1))
    if kind_of(figures[0]) == "tape":
        width = LETTER * (10 + NUMBERS + sum(_words_of(figures[0])[1].values()))
    _, beside, lines = _legend(names_of(figures[0]) if shared else [], width)
    height = sum(heights) + LINE * lines
    drawn = Figure(figsize=(width * scale, height * scale), layout="constrained")
    drawn.get_layout_engine().set(w_pad=0.02, h_pad=0.02)
    parts = np.atleast_1d(drawn.subfigures(len(rows), 1, height_ratios=heights, squeeze=True))
    for part, (row, columns) in zip(parts, rows):
        all = part.subplots(1, columns, squeeze=False)[0]
        for axes, figure in itertools.zip_longest(all, row):
            if figure is None:
                axes.set_axis_off()
                continue
            if kind_of(figure) == "matrix":
                matrix(axes, figure, vector)
            else:
                KINDS[kind_of(figure)](axes, figure, *[width / columns] * (kind_of(figure) == "chart"))
                if not shared:
                    legend(axes, width / columns)
            if len(figures) > 1 or kind_of(figure) == "tape":
                letters = max(12, int(0.75 * width / columns / LETTER))  # bold is wider, and the axis stands left of it
                axes.set_title(textwrap.fill(figure["title"], letters), loc="left", fontweight="bold")
    if shared and names_of(figures[0]):
        drawn.legend(*all[0].get_legend_handles_labels(), loc="outside lower center", ncols=beside)
    return drawn


# -- data for figures -------------------------------------------------------------------------------------------------


def curves(data, by, x, y, ends=()):
    """Curves of a DataFrame, by name; ends: the columns of a band."""
    for name, rows in data.groupby(by, sort=False):
        band = {"band": rows[[x, *ends]].to_numpy().tolist()} if ends else {}
        yield {"name": str(name), "points": rows[[x, y]].to_numpy().tolist()} | band


def escaped(value, signs):
    """Replaces these signs in the texts of the data, in place; names of figures and colours stay."""
    keys = value.keys() - {"id", "kind", "color"} if isinstance(value, dict) else range(len(value))
    for key in keys:
        if isinstance(value[key], str):
            value[key] = "".join(signs.get(letter, letter) for letter in value[key])
        elif isinstance(value[key], (dict, list)) and key not in ("points", "band", "behind", "cells"):
            escaped(value[key], signs)
    return value


# -- the data that a page has ------------------------------------------------------------------------------------------


def decoded(data):
    """The cells of a matrix that matrix_json() wrote (lab/files/matrix.h)."""
    bytes = np.frombuffer(base64.b64decode(data["cells"]), np.uint8).reshape(data["rows"], data["cols"])
    return (data["low"] + bytes / 255 * (data["high"] - data["low"])).tolist()


def figures_of(page):
    """The charts, matrices and tapes of a page's document (lab/page/README.md), or of {"figures": [...]}. A matrix with
    several heads is drawn for the first one; attention is drawn as their maximum."""
    found = list(page.get("figures", []))
    parts = [part for section in page.get("sections", []) for part in section["parts"] if isinstance(part, dict)]
    for part in parts:
        if part["kind"] == "chart":
            found.append(part)
            if "log_low" in part:
                found.append(part | {"id": part["id"].replace("loss", "log"), "title": f"{part['title']}, log axis",
                                     "log": True, "y_low": part["log_low"]})  # fmt: skip
        elif part["kind"] == "tape":
            found.append(part)
        elif part["kind"] == "matrices":
            for m in part["matrices"]:
                head = m["heads"][0]
                found.append({"kind": "matrix", "id": m["of"], "title": m["of"], "row": part["row"],
                              "col": part["col"], "first_row": part["first_row"], "block": m["block"],
                              "cells": decoded(head), "low": head["low"], "high": head["high"]})  # fmt: skip
        elif part["kind"] == "maps":
            for n, one in enumerate(part["maps"]):
                found.append({"kind": "matrix", "id": f"{part['id']}-{n}", "title": one["title"], "row": "query",
                              "col": "key", "block": one["max"]["block"],
                              "cells": decoded(one["max"]["matrix"])})  # fmt: skip
    return found

"""Figures in a notebook, with matplotlib, which is imported when the first figure is drawn."""

import functools

import numpy as np

from . import draw, style

SIZE = 10  # of the font, in points


def pyplot():
    try:
        from matplotlib import pyplot as plt
    except ImportError as missing:
        raise ImportError("figures need matplotlib, which is not installed; run pip install matplotlib") from missing
    return plt


def styled(function):
    @functools.wraps(function)
    def in_style(*words, **more):
        with pyplot().rc_context(style.settings(SIZE)):
            return function(*words, **more)

    return in_style


def _axes_for(count, axes, size):
    """Axes for each picture: the given ones, or new ones side by side, each of this size in inches."""
    if axes is None:
        size = (size[0] * count, size[1])
        return pyplot().subplots(1, count, squeeze=False, figsize=size, layout="constrained")[1][0]
    axes = np.atleast_1d(axes)
    if len(axes) != count:
        raise ValueError(f"{len(axes)} axes for {count} pictures; give as many axes as pictures, or none")
    return axes


@styled
def plot_view(view, head=1, axes=None):
    """Draws a view from Encoding.view(): its matrices side by side, or the curves of its charts."""
    axes = _axes_for(len(view["matrices"] or view["charts"]), axes, (5, 4.2))
    limits = {}
    if view["matrices"] and view["one_scale"]:   # the same colours for the same numbers, except in differences
        seen = [m[np.isfinite(m)] for name, m in view["matrices"] if name != "difference"]
        limits = {"low": min(m.min() for m in seen), "high": max(m.max() for m in seen)}
    for ax, (name, matrix) in zip(axes, view["matrices"]):
        if not 1 <= head <= len(matrix) and len(matrix) > 1:
            raise ValueError(f"head {head} of {len(matrix)}; heads are counted from 1")
        shown = {} if name == "difference" else limits
        draw.matrix(ax, {"cells": matrix[head - 1 if len(matrix) > 1 else 0], "row": f"{view['row']} slot",
                         "col": f"{view['col']} slot"} | shown)
        ax.set_title(f"{name}: {view['title'].lower()}")
    for ax, chart in zip(axes, [] if view["matrices"] else view["charts"]):
        curves = [{"name": name, "points": points} for name, points in chart["curves"]]
        draw.chart(ax, {"x": chart["x"], "y": chart["y"], "log": chart["logarithmic"], "curves": curves})
        ax.set_title(chart["title"])
        if len(curves) > 1:
            ax.legend(fontsize="small")
    return axes[0] if len(axes) == 1 else axes


@styled
def plot_matrices(matrices, *, row="query slot", column="key slot", one_scale=True, numbers=None, axes=None):
    """Draws matrices side by side, and returns the axes. matrices: an array (rows, columns), or a dict of arrays.

    one_scale: equal numbers have equal colours in all matrices. numbers: whether cells show their number, by default
    if a matrix has at most 64 cells. NaN and infinite cells stay empty."""
    if not isinstance(matrices, dict):
        matrices = {"": matrices}
    for m in matrices.values():
        if isinstance(m, str) or hasattr(m, "spelled"):
            raise ValueError(f"plot_matrices: {m!r} is not a matrix; write pl.encodings[\"{m}\"].matrix(12)[0]")
    matrices = {name: np.asarray(m, dtype=float) for name, m in matrices.items()}
    for name, m in matrices.items():
        if m.ndim != 2:
            raise ValueError(f"plot_matrices: {name or 'the matrix'} has shape {m.shape}; give (rows, columns), such "
                             "as one head of (heads, rows, columns)")
    axes = _axes_for(len(matrices), axes, (3.6, 3.2))
    seen = np.concatenate([m[np.isfinite(m)] for m in matrices.values()])
    limits = {"low": seen.min(), "high": seen.max()} if one_scale and len(seen) else {}
    for n, (ax, (name, m)) in enumerate(zip(axes, matrices.items())):
        figure = {"cells": np.where(np.isfinite(m), m, np.nan), "row": row, "col": column}
        image = draw.matrix(ax, figure | limits, bar=not limits or n == len(matrices) - 1)
        ax.set_title(name)
        for side, size in ((ax.xaxis, m.shape[1]), (ax.yaxis, m.shape[0])):
            if size <= 12:
                side.set_ticks(range(size))
        if numbers or numbers is None and m.size <= 64:
            _write_numbers(ax, m, image)
    return axes[0] if len(axes) == 1 else axes


def _write_numbers(ax, matrix, image):
    for (i, j), x in np.ndenumerate(matrix):
        if np.isfinite(x):
            dark = np.dot(image.cmap(image.norm(x))[:3], (0.3, 0.59, 0.11)) < 0.5
            ax.text(j, i, f"{x:.3g}" if abs(x) >= 10 else f"{x:.2g}" if abs(x) >= 0.01 else f"{x:.1g}", ha="center",
                    va="center", fontsize="small", color="white" if dark else "black")


@styled
def plot_lengths(runs, axes=None):
    """Draws accuracy against the length of the input, a line for each run, and returns the axes. runs: a Run, or a dict
    of Runs by name. The dashed line is the longest trained input, the dotted one the accuracy of the most frequent
    symbol of each slot, in the test of the run with the longest inputs."""
    if isinstance(runs, dict) and not runs:
        raise ValueError("plot_lengths: no runs; write plot_lengths({'plain': pl.Run('runs/plain')})")
    for run in runs.values() if isinstance(runs, dict) else [runs]:
        if not hasattr(run, "rows"):
            raise ValueError(f"plot_lengths: {run!r} is no run; write plot_lengths({{'plain': pl.Run('runs/plain')}})")
    if not isinstance(runs, dict):
        runs = {runs.path: runs}
    for run in runs.values():
        if "majority" not in (run.rows("eval.csv") or [{}])[0]:
            raise ValueError(f"plot_lengths: {run!r} is no run on a string task, with accuracy by length; pl.report "
                             "draws other runs")
    if hasattr(axes, "rows"):
        raise ValueError("plot_lengths: axes is a run; write plot_lengths({'one': run, 'other': other}) for several")
    axes = _axes_for(1, axes, (6.4, 3.6))[0]

    def curve(name, run, column, **more):
        return {"name": name, "points": [(r["length"], r[column]) for r in run.rows("eval.csv")]} | more

    curves = [curve(name, run, "accuracy") for name, run in runs.items()]
    furthest = max(runs.values(), key=lambda run: run.rows("eval.csv")[-1]["length"])
    draw.chart(axes, {"x": "length of the input, symbols", "y": "accuracy", "percent": True,
                      "curves": [*curves, curve("majority", furthest, "majority", color="base")]})
    axes.lines[-1].set_linestyle(":")
    for trained in {run.result["config"]["train_length"] for run in runs.values()}:
        axes.axvline(trained, linestyle="--", color=style.GREY, linewidth=1)
    axes.set(title=", ".join(dict.fromkeys(run.result["task"] for run in runs.values())), ylim=(0, 103))
    axes.legend(fontsize="small")
    return axes

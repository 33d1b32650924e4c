"""Pictures with matplotlib, which is asked for when one is drawn."""

import numpy as np


def pyplot():
    try:
        from matplotlib import pyplot as plt
    except ImportError as missing:
        raise ImportError("pictures take matplotlib, which is not installed: pip install matplotlib") from missing
    return plt


def plot_view(view, head=1, axes=None):
    """A view as Encoding.view() gives it: its matrices side by side, or the curves of its charts."""
    plt = pyplot()
    things = view["matrices"] or view["charts"]
    if axes is None:
        wide = 5 * len(things)
        axes = plt.subplots(1, len(things), squeeze=False, figsize=(wide, 4.2), layout="constrained")[1][0]
    else:
        axes = [axes] if not hasattr(axes, "__len__") else list(axes)
    if len(axes) != len(things):
        raise ValueError(f"{len(axes)} axes for {len(things)} pictures; give as many, or none")
    if view["matrices"]:
        _draw_matrices(view, head, axes)
    else:
        _draw_charts(view, axes)
    return axes[0] if len(axes) == 1 else axes


def _draw_matrices(view, head, axes):
    limits = {}
    if view["one_scale"]:                        # the same colours for the same numbers, differences left out
        seen = [m[np.isfinite(m)] for name, m in view["matrices"] if name != "difference"]
        limits = {"vmin": min(m.min() for m in seen), "vmax": max(m.max() for m in seen)}
    for ax, (name, matrix) in zip(axes, view["matrices"]):
        if not 1 <= head <= len(matrix) and len(matrix) > 1:
            raise ValueError(f"head {head} of {len(matrix)}; they are counted from 1")
        shown = {} if name == "difference" else limits
        image = ax.imshow(matrix[head - 1 if len(matrix) > 1 else 0], interpolation="nearest", **shown)
        ax.set(title=f"{name}: {view['title'].lower()}", xlabel=f"{view['col']} slot", ylabel=f"{view['row']} slot")
        ax.figure.colorbar(image, ax=ax)


def _draw_charts(view, axes):
    for ax, chart in zip(axes, view["charts"]):
        for name, points in chart["curves"]:
            ax.plot(points[:, 0], points[:, 1], label=name)
        ax.set(title=chart["title"], xlabel=chart["x"], ylabel=chart["y"],
               yscale="log" if chart["logarithmic"] else "linear")
        if len(chart["curves"]) > 1:
            ax.legend(fontsize="small")


def plot_matrices(matrices, *, row="query slot", column="key slot", one_scale=True, numbers=None, axes=None):
    """Matrices side by side, and returns the axes. matrices: a dict of name and (rows, columns), or one of them.

    one_scale: the same colours for the same numbers. numbers: whether cells show their number, by default where there
    are at most 64 of them. NaN and infinite cells stay empty."""
    plt = pyplot()
    if not isinstance(matrices, dict):
        matrices = {"": matrices}
    for m in matrices.values():
        if isinstance(m, str) or hasattr(m, "spelled"):
            raise ValueError(f"plot_matrices: {m!r} is no matrix; say pl.encodings[\"{m}\"].matrix(12)[0]")
    matrices = {name: np.asarray(m, dtype=float) for name, m in matrices.items()}
    for name, m in matrices.items():
        if m.ndim != 2:
            raise ValueError(f"plot_matrices: {name or 'the matrix'} has shape {m.shape}; give (rows, columns), such "
                             "as one head of (heads, rows, columns)")
    if axes is None:
        axes = plt.subplots(1, len(matrices), squeeze=False, figsize=(3.5 * len(matrices) + 0.4, 3.2),
                            layout="constrained")[1][0]
    axes = np.atleast_1d(axes)
    if len(axes) != len(matrices):
        raise ValueError(f"{len(axes)} axes for {len(matrices)} pictures; give as many, or none")
    seen = np.concatenate([m[np.isfinite(m)] for m in matrices.values()])
    limits = {"vmin": seen.min(), "vmax": seen.max()} if one_scale and len(seen) else {}
    for ax, (name, m) in zip(axes, matrices.items()):
        image = ax.imshow(np.where(np.isfinite(m), m, np.nan), interpolation="nearest", **limits)
        ax.set(title=name, xlabel=column, ylabel=row)
        for side, size in ((ax.xaxis, m.shape[1]), (ax.yaxis, m.shape[0])):
            if size <= 12:
                side.set_ticks(range(size))
        if numbers or numbers is None and m.size <= 64:
            _write_numbers(ax, m, image)
        if not limits:
            ax.figure.colorbar(image, ax=ax)
    if limits:
        axes[-1].figure.colorbar(image, ax=list(axes))
    return axes[0] if len(axes) == 1 else axes


def _write_numbers(ax, matrix, image):
    for (i, j), x in np.ndenumerate(matrix):
        if np.isfinite(x):
            bright = image.norm(x) > 0.55
            ax.text(j, i, f"{x:.3g}" if abs(x) >= 10 else f"{x:.2g}" if abs(x) >= 0.01 else f"{x:.1g}", ha="center",
                    va="center", fontsize="small", color="black" if bright else "white")


def plot_lengths(runs, axes=None):
    """Accuracy against the length of the input, one line for each run, and returns the axes. runs: a Run, or a
    dict of name and Run. Dashed: the longest trained input. Dotted: who answers with the most frequent symbol of each
    slot."""
    if isinstance(runs, dict) and not runs:
        raise ValueError("plot_lengths: no runs; say plot_lengths({'plain': pl.Run('runs/plain')})")
    for run in runs.values() if isinstance(runs, dict) else [runs]:
        if not hasattr(run, "rows"):
            raise ValueError(f"plot_lengths: {run!r} is no run; say plot_lengths({{'plain': pl.Run('runs/plain')}})")
    if not isinstance(runs, dict):
        runs = {runs.path: runs}
    for run in runs.values():
        if "majority" not in (run.rows("eval.csv") or [{}])[0]:
            raise ValueError(f"plot_lengths: {run!r} is no run of a task of strings, which has an accuracy by length; "
                             "pl.report draws others")
    if axes is None:
        axes = pyplot().subplots(figsize=(6.4, 3.6), layout="constrained")[1]
    for name, run in runs.items():
        rows = run.rows("eval.csv")
        axes.plot([r["length"] for r in rows], [100 * r["accuracy"] for r in rows], label=name)
    axes.plot([r["length"] for r in rows], [100 * r["majority"] for r in rows], ":", color="#888", label="majority")
    axes.axvline(run.result["config"]["train_length"], linestyle="--", color="#888", linewidth=1)
    axes.set(title=run.result["task"], xlabel="length of the input, symbols", ylabel="accuracy, %", ylim=(0, 103))
    axes.legend(fontsize="small")
    return axes

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

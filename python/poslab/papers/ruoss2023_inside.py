"""Figures 5 and 6 of Ruoss et al. 2023, from inside two trained models, and the coverage of positions."""

import functools

import numpy as np
import pandas as pd

from .notes import notes, text
from .page import Cell, Figure, Grid, Section
from .ruoss2023_columns import COLUMNS
from .seeds import mean, number
from .sweep import how_many


def of_model(trials, id):
    """The options of a model, and its name in table 1."""
    run = trials.asked.loc[id]
    names = [c.name for c in COLUMNS if (c.encoding, c.positions) == (run.encoding, run.positions)]
    return run, (names or [run.encoding])[0]


def lengths_note(models):
    return [f"Lengths {a} and {b}: the longest trained and 15/4 of it, as the paper's 40 and 150."
            for a, b in [m["lengths"] for m in models[:1]]]  # fmt: skip


def fig5(trials, artifact):
    models, data = artifact["models"], []
    below = [*lengths_note(models), *notes(trials, "ruoss2023:fig5")]
    section = Section(notes=below, arrays="fig5.npz" if models else "")
    for model in models:
        run, name = of_model(trials, model["id"])
        lengths, accuracy, layers = model["lengths"], model["accuracy"], model["layers"]
        for n, layer in enumerate(layers, 1):
            data += [(run.encoding, run.positions, n, *one, *layer["share"])
                     for one in zip(lengths, accuracy, layer["outside"])]  # fmt: skip
        far = max(range(len(layers)), key=lambda n: layers[n]["outside"][-1] - layers[n]["outside"][0])
        (chance, *_, outside), (near, *_, beyond) = (map(number, x) for x in (layers[far]["outside"], accuracy))
        section.readings.append(
            text("ruoss2023:fig5 reading", name=name, near=near, first=lengths[0], beyond=beyond, last=lengths[-1],
                 layer=far + 1, outside=outside, chance=chance)
        )  # fmt: skip
        clouds = [
            [arrays_of(trials, "fig5.npz")[f"{run.positions}/layer{n}/length{length}"] for length in lengths]
            for n in range(1, len(layers) + 1)
        ]
        caption = text("ruoss2023:fig5 figure", name=name, length=lengths[0])
        dots = pd.concat(
            pd.DataFrame(at, columns=["first", "second"]).assign(layer=n, length=length)
            for n, layer in enumerate(clouds, 1)
            for length, at in zip(lengths, layer)
        )
        charts = [cloud(n, lengths, *one) for n, one in enumerate(zip(clouds, layers), 1)]
        section.figures.append(
            Figure(f"pca-{run.encoding}-{run.positions}", caption, section.readings[-1], charts, dots)
        )
    section.data = pd.DataFrame(
        data, columns=["encoding", "positions", "layer", "length", "accuracy", "outside", "share1", "share2"]
    )
    return section


@functools.cache
def loaded(path):
    return dict(np.load(path))


def arrays_of(trials, file):
    return loaded(trials.folder / file)


def cloud(layer, lengths, clouds, of):
    title = (
        f"Layer {layer}: {100 * sum(of['share']):.0f} % of the variance, outside {100 * of['outside'][-1]:.0f} % "
        f"({100 * of['outside'][0]:.0f} %)"
    )
    all = [{"name": f"length {length}", "color": color, "dots": 1, "points": at.tolist()}
           for at, length, color in zip(clouds, lengths, ("c0", "c1"))]  # fmt: skip
    return {"title": title, "x": "first component", "y": "second", "equal": True, "least": 40, "curves": all[::-1]}


def fig6(trials, artifact):
    models, data = artifact["models"], []
    section = Section(notes=[*lengths_note(models), how_many(trials)], arrays="fig6.npz" if models else "")
    for model in models:
        run, name = of_model(trials, model["id"])
        maps = {}
        for length in model["lengths"]:
            layer = 1
            while (key := f"{run.positions}/layer{layer}/length{length}") in arrays_of(trials, "fig6.npz"):
                maps[layer, length] = weights = arrays_of(trials, "fig6.npz")[key]
                rows = weights.max(axis=1).astype(float)
                data.append((run.encoding, run.positions, layer, length, rows.max(), mean(rows)))
                layer += 1
        caption = f"{name}. Attention weights of a test string: the maximum over the heads. Each map has its own scale."
        alt = f"{name}: attention weights of {len(maps)} maps, query against key."
        cells = pd.concat(
            pd.DataFrame(one)
            .stack()
            .rename_axis(["query", "key"])
            .reset_index(name="weight")
            .assign(layer=layer, length=length)
            for (layer, length), one in maps.items()
        )
        charts = [{"kind": "matrix", "title": f"Layer {layer}, length {length}", "row": "query", "col": "key",
                   "low": 0.0, "cells": weights.tolist()}
                  for (layer, length), weights in sorted(maps.items())]  # fmt: skip
        section.figures.append(Figure(f"attention-{run.encoding}-{run.positions}", caption, alt, charts, cells))
    columns = ["encoding", "positions", "layer", "length", "strongest", "mean_of_strongest_in_a_row"]
    section.data = pd.DataFrame(data, columns=columns)
    return section


def coverage(trials, artifact):
    schemes = artifact["schemes"]
    names = {(c.encoding, c.positions): c.name for c in COLUMNS}
    rows, data, section = [], [], Section()
    for one in schemes:
        key = one["encoding"], one["positions"]
        rows.append([Cell(names[key]), *(Cell(number(test["seen"])) for test in one["tests"])])
        data += [(*key, one["kind"], test["length"], test["seen"]) for test in one["tests"]]
        if "trained" in one:
            section.figures.append(coverage_figure(one, names[key]))
    head = ["encoding", *(f"length {test['length']}" for test in schemes[0]["tests"])]
    section.grids = [Grid(text("ruoss2023:coverage caption"), head, rows)]
    section.notes = notes(trials, "ruoss2023:coverage")
    section.data = pd.DataFrame(data, columns=["encoding", "positions", "kind", "length", "seen"])
    return section


def coverage_figure(one, name):
    """The share of all pairs for each whole distance."""
    met = {"training": one["trained"]} | {f"length {test['length']}": test["met"] for test in one["tests"]}
    frames = [pd.DataFrame(counts, columns=["distance", "pairs"]).assign(met_in=where) for where, counts in met.items()]
    data = pd.concat(frame.assign(share=frame["pairs"] / frame["pairs"].sum()) for frame in frames)
    shares = ", ".join(f"{100 * test['seen']:.0f} % at length {test['length']}" for test in one["tests"])
    caption = text("ruoss2023:coverage figure", name=name, steps=one["steps"], shares=shares)
    ends = data.groupby("met_in", sort=False)["distance"].agg(["min", "max"])
    alt = " ".join(f"{where}: distances {low} to {high}." for where, low, high in ends.itertuples())
    bins = np.arange(data["distance"].min(), data["distance"].max() + 2)
    bins = bins[:: max(1, len(bins) // 240)]
    curves = []
    chart = {"x": "distance: position of the key minus that of the query", "y": "share of pairs", "curves": curves}
    for where, of in data.groupby("met_in", sort=False):
        heights = np.histogram(of["distance"], bins, weights=of["share"])[0] / np.diff(bins)
        look = {"color": "base", "filled": True} if where == "training" else {}
        points = np.column_stack([bins[:-1], heights]).tolist()
        curves.append({"name": where, "points": points} | look)
    return Figure(f"coverage-{one['positions']}", caption, alt, [chart], data)


DRAW = {"fig5": fig5, "fig6": fig6, "coverage": coverage}

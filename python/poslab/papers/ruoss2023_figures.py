"""The figures of Ruoss et al. 2023, the table of times, and poslab's comparison of the paper with its released code."""

import functools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .page import Cell, Figure, Grid, Section
from .seeds import NAN, difference, interval, mean, number, span
from .setting import Setting, asked, baselines, difference_cell, named, strong, tasks, worth
from .sweep import BASELINES, done, how_many


@dataclass(frozen=True)
class Column:
    """Of table 1."""

    name: str
    encoding: str
    positions: str
    paper: str  # its column in published/ruoss2023_table1.csv

    def row(self, task):
        return {"task": task, "encoding": self.encoding, "positions": self.positions}

    def done(self, trials, task):
        return done(trials, **self.row(task))


SCHEMES = {"sincos": "sin/cos", "relative": "Relative", "alibi": "ALiBi", "rope": "RoPE", "learned": "Learned"}
COLUMNS = [
    Column("None", "none", "sequential", "none"),
    *(Column(name, scheme, "sequential", scheme) for scheme, name in SCHEMES.items()),
    *(Column(f"R-{name}", scheme, "randomized", f"rand_{scheme}") for scheme, name in SCHEMES.items()),
]
COLORS = {scheme: f"C{n}" for n, scheme in enumerate(SCHEMES)} | {"none": "C7"}


def columns_of(trials):
    """Those that its plan has."""
    return [c for c in COLUMNS if len(asked(trials, encoding=c.encoding, positions=c.positions))]


def setting(trials, task, column):
    return Setting(trials, **column.row(task))


def without_order(trials):
    """A note for each task: its baselines."""
    cells = [named(trials, task) for task in tasks(trials)]
    return [f"{c.text}, without reading the order of the symbols: {', '.join(c.below)}." for c in cells if c.below]


def titled(task):
    return task.replace("_", " ").capitalize()


def accuracy_axes(canvas, x_label):
    axes = canvas.add_subplot()
    axes.set(xlabel=x_label, ylabel="accuracy, %", ylim=(0, 100))
    return axes


# -- table 2 and figure 2: what training costs -------------------------------------------------------------------------


def upper_median(x):
    return sorted(x)[len(x) // 2] if len(x) else NAN


def made_on(trials):
    results = [trials.results[id] for id in done(trials).index]
    machines = sorted({
        f"{r.get('isa', '?')}, {r.get('threads', 0)} thread{'s' * (r.get('threads', 0) != 1)}" for r in results
    })  # fmt: skip
    if not machines:
        return []
    return [
        f"Made on {'; '.join(machines)}. Runs that share a machine with others slow each other down: for fair times "
        "use --jobs 1."
    ]


def table2(trials, artifact):
    across, rows, data = columns_of(trials), [], []
    for task in tasks(trials):
        rows.append([Cell(task)])
        for c in across:
            took = {id: trials.results[id].get("seconds") for id in c.done(trials, task).index}
            of = pd.DataFrame({"seconds": took, "steps": trials.asked["steps"]}, dtype=float).dropna()
            rate, seconds = upper_median(of["steps"] / of["seconds"]), upper_median(of["seconds"])
            rows[-1].append(Cell(number(rate, scale=1), [f"{seconds:.0f} s"] if len(of) else []))
            data.append(c.row(task) | {"runs": len(of), "steps_per_second": rate, "seconds": seconds})
    grid = Grid("Training steps a second, median over the runs", ["task", *(c.name for c in across)], rows)
    notes = [how_many(trials), *made_on(trials), "The numbers of the paper's table 2 are not in our copy of it."]
    return Section(grids=[grid], notes=notes, data=pd.DataFrame(data))


GOOD, IN_A_ROW = 0.9, 3  # tests above it: a small test is now and then above by luck


def small_tests(trials, artifact, id):
    """step, seconds and the mean accuracy beyond the randomized runs' trained lengths; none of a run whose clock is "
    "lost."""
    trained = trials.asked["train_length"].min()
    rows = [
        (test["step"], test["seconds"],
         mean([a for length, a in zip(test["lengths"], test["accuracies"]) if length > trained]))
        for test in artifact["tests"].get(id, [])
        if test["seconds"] is not None
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["step", "seconds", "accuracy"])


def fig2(trials, artifact):
    section = Section(notes=[how_many(trials), *made_on(trials),
        "Our copy of the paper has no captions, so we do not know the task of its figure 2; Even Pairs is our choice.",
        *without_order(trials)], data=pd.DataFrame())  # fmt: skip
    data = []
    for task in tasks(trials):
        curves, rate, reached, said = {}, {}, {}, {}
        for name, positions in (("randomized", "randomized"), ("naive", "sequential")):
            said[name] = "not yet run"
            for id, run in done(trials, task=task, positions=positions).iterrows():
                tests = small_tests(trials, artifact, id)
                fields = {"task": task, "positions": positions, "train_length": run.train_length, "seed": run.seed}
                data.append(tests.assign(**fields)[[*fields, "step", "seconds", "accuracy"]])
                said[name] = "not in this run"
                if tests.empty:
                    continue
                label = f"{'R-' * (name == 'randomized')}Relative to length {run.train_length}"
                curves[name] = (label, tests)
                last, every = tests.iloc[-1], tests["seconds"].iloc[-1] / len(tests)
                rate[name] = last.step / last.seconds
                good = (tests["accuracy"] > GOOD).rolling(IN_A_ROW).sum() == IN_A_ROW
                if good.any():
                    reached[name] = tests["seconds"][good.idxmax() - IN_A_ROW + 1]
                    said[name] = f"after {reached[name]:.3g} s (a test every {every:.2g} s)"
        if not curves:
            continue
        if len(rate) == 2:
            section.readings.append(
                f"{task}: {rate['randomized']:.3g} steps a second on short strings with randomized positions, "
                f"{rate['naive']:.3g} on long ones: {rate['randomized'] / rate['naive']:.1f} times as many (paper: "
                "168.4 and 22.1 on a V100, 7.6 times)."
            )
        later = f", {reached['naive'] / reached['randomized']:.1f} times later" if len(reached) == 2 else ""
        section.readings.append(
            f"More than 90 % right in three tests in a row: randomized {said['randomized']}, naive "
            f"{said['naive']}{later} (paper: 35.4 times sooner)."
        )
        trained = trials.asked["train_length"].min()
        caption = (
            f"{titled(task)}. Small tests while training, at some of the lengths beyond {trained}; their own time is "
            "not counted."
        )
        alt = f"Accuracy on unseen lengths against seconds of training, {task}. {' '.join(section.readings[-2:])}"
        draw = functools.partial(against_time, list(curves.values()))
        section.figures.append(Figure(f"time-{task}", caption, alt, draw, data[-1]))
    section.data = pd.concat(data) if data else pd.DataFrame()
    for figure in section.figures:
        figure.data = section.data[section.data["task"] == figure.name.removeprefix("time-")]
    return section


def against_time(curves, canvas):
    axes = accuracy_axes(canvas, "seconds of training")
    for label, tests in curves:
        axes.plot(tests["seconds"], 100 * tests["accuracy"], marker=".", linewidth=1, label=label)
    axes.legend(loc="lower right")


# -- figures 3 and 4: pools, and lengths -------------------------------------------------------------------------------


def fig3(trials, artifact):
    pools, usual = sorted(done(trials)["max_position"].unique()), artifact["max_position"]
    rows, data, says = [], [], []
    for task in tasks(trials):
        of = {pool: Setting(trials, task=task, max_position=pool) for pool in (*pools, usual)}
        rows.append([named(trials, task)])
        for pool in pools:
            ours = of[pool]
            more = (NAN, NAN) if pool == usual else interval(difference(ours.by_seed, of[usual].by_seed))
            rows[-1].append(
                Cell(number(ours.mean), span(ours.interval) + span(more, sign="+"), strong(more))
            )
            low, high = ours.interval
            data.append({"task": task, "max_position": pool, "runs": ours.runs, "best": ours.best,
                         "seeds": len(ours.by_seed), "mean": ours.mean, "interval_low": low, "interval_high": high}
                        | {name: ours.baselines.get(name, NAN) for name in BASELINES})  # fmt: skip
        means = [of[pool].mean for pool in pools if of[pool].runs]
        if len(means) > 1:
            says.append(f"{task}: between {number(min(means))} and {number(max(means))} % over pools of {pools[0]} to "
                        f"{pools[-1]} positions.")  # fmt: skip
    caption = (
        "R-Relative by the size of the pool that positions are drawn from: mean accuracy in %, then its interval, then "
        f"that of the difference to {usual} in points, over paired seeds"
    )
    notes = [
        how_many(trials),
        worth(trials),
        "The paper draws this as a picture without numbers (pools of 1024 to 8192, as recalled) and says that the size "
        "hardly matters.",
    ]
    return Section(says, [Grid(caption, ["task", *map(str, pools)], rows)], notes=notes, data=pd.DataFrame(data))


def mean_curve(trials, of):
    """Accuracy and baselines by length: the mean over the runs, which were all tested at the same lengths."""
    if of.at_lr.empty:
        return pd.DataFrame()
    ids = of.at_lr.index
    table = {name: sum(trials.by_length(name).loc[id] for id in ids) / len(ids) for name in ("accuracy", *BASELINES)}
    return pd.DataFrame(table).dropna(subset="accuracy").rename_axis("length").reset_index()


def fig4(trials, artifact):
    section = Section(notes=[how_many(trials),
        "The shaded lengths were trained on. Where an encoding has several learning rates, of those with the most "
        "seeds done the one whose mean over unseen lengths is best is drawn."])  # fmt: skip
    data = []
    for task in tasks(trials):
        for positions in ("sequential", "randomized"):
            curves, alt = [], f"Accuracy against length, {task}, positions {positions}."
            for c in COLUMNS:
                of = setting(trials, task, c)
                curve = mean_curve(trials, of)
                if c.positions != positions or curve.empty:
                    continue
                fields = c.row(task) | {"seeds": len(of.at_lr)}
                curves.append((c, curve.assign(**fields)))
                (first, from_), (last, to) = (curve.iloc[n][["accuracy", "length"]] for n in (0, -1))
                alt += f" {c.name}: {number(first)} % at {from_:.0f}, {number(last)} % at {to:.0f}."
            if not curves:
                continue
            data += [curve for _, curve in curves]
            caption = (
                f"{titled(task)}, {positions} positions. Mean over the seeds; dashed: what is reached without reading "
                "the order of the symbols."
            )
            draw = functools.partial(against_length, curves, trials.asked["train_length"].iloc[0])
            drawn = pd.concat(curve for _, curve in curves)
            section.figures.append(Figure(f"lengths-{task}-{positions}", caption, alt, draw, drawn))
    order = ["task", "encoding", "positions", "length", "accuracy", "seeds", *BASELINES]
    section.data = pd.concat(data)[order] if data else pd.DataFrame(columns=order)
    return section


def against_length(curves, trained, canvas):
    axes = accuracy_axes(canvas, "length of the input")
    axes.axvspan(0, trained, color="#8882", linewidth=0)
    for (c, curve), marker in zip(curves, "osD^vP"):
        axes.plot(curve["length"], 100 * curve["accuracy"], linewidth=1, label=c.name, color=COLORS[c.encoding],
                  marker=marker, markersize=3, markevery=max(1, len(curve) // 8))  # fmt: skip
    longest = max((curve for _, curve in curves), key=len)
    for (name, text), style in zip(BASELINES.items(), (":", "--", "-.")):
        axes.plot(longest["length"], 100 * longest[name], linewidth=0.8, color="gray", linestyle=style, label=text)
    axes.set_xlim(longest["length"].iloc[0], longest["length"].iloc[-1])
    canvas.legend(loc="outside lower center", ncols=3)


# -- figures 5 and 6, and the coverage of positions: inside two trained models ----------------------------------------


def of_model(trials, id):
    """Its options, and its name in table 1."""
    run = trials.asked.loc[id]
    names = [c.name for c in COLUMNS if (c.encoding, c.positions) == (run.encoding, run.positions)]
    return run, (names or [run.encoding])[0]


def lengths_note(models):
    return [f"Lengths {a} and {b}: the longest trained and 15/4 of it, as the paper's 40 and 150."
            for a, b in [m["lengths"] for m in models[:1]]]  # fmt: skip


def fig5(trials, artifact):
    models, data = artifact["models"], []
    section = Section(notes=[*lengths_note(models),
        "Paper: the activations of Relative leave the cloud in layers 3 and 4. Its accuracies, recalled and not in our "
        "copy of it: R-Relative 100 % at length 40 and 99.4 % at 150, Relative 100 % and 59.6 %.",
        how_many(trials)], arrays="fig5.npz" if models else "")  # fmt: skip
    for model in models:
        run, name = of_model(trials, model["id"])
        lengths, accuracy, layers = model["lengths"], model["accuracy"], model["layers"]
        for n, layer in enumerate(layers, 1):
            data += [(run.encoding, run.positions, n, *one, *layer["share"])
                     for one in zip(lengths, accuracy, layer["outside"])]  # fmt: skip
        far = max(range(len(layers)), key=lambda n: layers[n]["outside"][-1] - layers[n]["outside"][0])
        section.readings.append(
            f"{name}: accuracy {number(accuracy[0])} % at length {lengths[0]}, {number(accuracy[-1])} % at "
            f"{lengths[-1]}. The long strings leave the short ones' cloud most in layer {far + 1}: "
            f"{number(layers[far]['outside'][-1])} % of their points (by chance {number(layers[far]['outside'][0])} %)."
        )
        clouds = [
            [arrays_of(trials, "fig5.npz")[f"{run.positions}/layer{n}/length{length}"] for length in lengths]
            for n in range(1, len(layers) + 1)
        ]
        caption = (
            f"{name}. What leaves each layer at the answer slots of 30 strings, a dot a slot, in the plane of the two "
            f"principal components of length {lengths[0]}, not whitened. Outside: dots in squares of the plane, of "
            f"1/20 of the longer side of the cloud of length {lengths[0]}, in which that cloud has none; in brackets "
            "the same of 30 other strings of that length."
        )
        dots = pd.concat(
            pd.DataFrame(at, columns=["first", "second"]).assign(layer=n, length=length)
            for n, layer in enumerate(clouds, 1)
            for length, at in zip(lengths, layer)
        )
        draw = functools.partial(clouds_of, lengths, clouds, layers)
        section.figures.append(Figure(f"pca-{run.encoding}-{run.positions}", caption, section.readings[-1], draw, dots))
    section.data = pd.DataFrame(
        data, columns=["encoding", "positions", "layer", "length", "accuracy", "outside", "share1", "share2"]
    )
    return section


@functools.cache
def loaded(path):
    return dict(np.load(path))


def arrays_of(trials, file):
    return loaded(trials.folder / file)


def clouds_of(lengths, clouds, layers, canvas):
    for n, (axes, of) in enumerate(zip(np.ravel(canvas.subplots(1, len(layers))), layers)):
        for at, length, color in reversed(list(zip(clouds[n], lengths, ("C0", "C1")))):
            axes.plot(*at.T, ".", markersize=1, color=color, label=f"length {length}", rasterized=True)
        axes.set(xticks=[], yticks=[])
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_title(f"Layer {n + 1}: {100 * sum(of['share']):.0f} % of the variance\noutside "
                       f"{100 * of['outside'][-1]:.0f} % ({100 * of['outside'][0]:.0f} %)", fontsize=6)  # fmt: skip
    canvas.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, markerscale=6)


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
        draw = functools.partial(attention, maps)
        section.figures.append(Figure(f"attention-{run.encoding}-{run.positions}", caption, alt, draw, cells, 100))
    columns = ["encoding", "positions", "layer", "length", "strongest", "mean_of_strongest_in_a_row"]
    section.data = pd.DataFrame(data, columns=columns)
    return section


def attention(maps, canvas):
    layers = max(layer for layer, _ in maps)
    for axes, ((layer, length), weights) in zip(np.ravel(canvas.subplots(layers, 2)), sorted(maps.items())):
        image = axes.imshow(weights, vmin=0, cmap="viridis")
        axes.set_title(f"Layer {layer}, length {length}", fontsize=6)
        axes.tick_params(labelsize=5)
        canvas.colorbar(image, ax=axes, shrink=0.8).ax.tick_params(labelsize=5)


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
    caption = (
        "Share in % of the test's slots (sin/cos, learned) or pairs of slots (relative, ALiBi, RoPE) whose position or "
        "distance came up in training"
    )
    section.grids = [Grid(caption, ["encoding", *(f"length {test['length']}" for test in schemes[0]["tests"])], rows)]
    section.notes = [
        "Reverse String. Nothing is trained for this table: lengths and positions are drawn as in training. 2,000 "
        "steps are counted, spread over the training. The shares of a longer training are at least these."
    ]
    section.data = pd.DataFrame(data, columns=["encoding", "positions", "kind", "length", "seen"])
    return section


def coverage_figure(one, name):
    """Shares of all pairs for each whole number."""
    met = {"training": one["trained"]} | {f"length {test['length']}": test["met"] for test in one["tests"]}
    frames = [pd.DataFrame(counts, columns=["distance", "pairs"]).assign(met_in=where) for where, counts in met.items()]
    data = pd.concat(frame.assign(share=frame["pairs"] / frame["pairs"].sum()) for frame in frames)
    shares = ", ".join(f"{100 * test['seen']:.0f} % at length {test['length']}" for test in one["tests"])
    caption = (
        f"{name}. Distances that training met (grey; {one['steps']} of its steps are counted) and that a test meets, "
        f"as a share of all pairs of slots for each whole number. Training had met {shares} of the pairs."
    )
    ends = data.groupby("met_in", sort=False)["distance"].agg(["min", "max"])
    alt = " ".join(f"{where}: distances {low} to {high}." for where, low, high in ends.itertuples())
    return Figure(f"coverage-{one['positions']}", caption, alt, functools.partial(distances, data), data)


def distances(data, canvas):
    axes = canvas.add_subplot()
    bins = np.arange(data["distance"].min(), data["distance"].max() + 2)
    bins = bins[:: max(1, len(bins) // 240)]
    for where, of in data.groupby("met_in", sort=False):
        filled = {"color": "#8886", "fill": True} if where == "training" else {"fill": False}
        shares, _ = np.histogram(of["distance"], bins, weights=of["share"])
        axes.stairs(shares / np.diff(bins), bins, label=where, **filled)
    axes.set(xlabel="distance: position of the key minus that of the query", ylabel="share of pairs")
    canvas.legend(loc="outside lower center", ncols=4)


# -- the paper against its released code (spec 0 and A.2): each difference trained both ways --------------------------


def code(trials, artifact):
    usual, rows, data, matters, compared = artifact["usual"], [], [], [], []
    for choice in artifact["choices"]:
        scheme = {name: choice[name] for name in ("encoding", "positions")}
        ways = [scheme | usual | options for options in ({}, choice["options"])]
        if not len(asked(trials, **ways[1])):
            continue
        rows.append([Cell(choice[name]) for name in ("encoding", "positions", "base", "other")])
        for task in tasks(trials):
            base, other = (Setting(trials, task=task, **way) for way in ways)
            x = difference(other.by_seed, base.by_seed)
            ends, more = interval(x), mean(x)
            means = f"{number(base.mean)} → {number(other.mean)}"
            rows[-1].append(difference_cell(more, ends, after=[means]))
            names, values = choice["options"], map(word, choice["options"].values())
            options = {"option": ", ".join(names), "value": ", ".join(values)}
            data.append(scheme | options | {"task": task, "seeds": len(x), "base": base.mean, "other": other.mean,
                                  "difference": more, "interval_low": ends[0], "interval_high": ends[1]})  # fmt: skip
            if strong(ends) and abs(more) >= 0.02:
                matters.append(f"{choice['positions']} {choice['encoding']}, {choice['other']} on {task} "
                               f"({number(more, sign='+')} points)")  # fmt: skip
    data = pd.DataFrame(data)
    compared = data.dropna(subset="difference") if len(data) else data
    if not len(compared):
        says = "No comparison can be made of the runs that are done."
    elif matters:
        says = f"Differences of 2 points or more whose interval excludes zero: {'; '.join(matters)}."
    else:
        lone = "" if compared["interval_low"].notna().any() else ", as one seed has no interval"
        says = (
            f"No difference of 2 points or more has an interval that excludes zero{lone}; the largest is "
            f"{number(compared['difference'].abs().max())} points."
        )
    caption = (
        "Accuracy on unseen lengths when one thing is done the other way: difference in points, then its interval and "
        "both means"
    )
    grid = Grid(caption, ["encoding", "positions", "here", "the other way", *tasks(trials)], rows)
    notes = [how_many(trials), worth(trials), "Bold: the interval excludes zero.", *without_order(trials)]
    return Section([says], [grid], notes=notes, data=data)


def word(value):
    return {True: "on", False: "off"}.get(value, value)


DRAW = {"table2": table2, "fig2": fig2, "fig3": fig3, "fig4": fig4, "fig5": fig5, "fig6": fig6, "coverage": coverage,
        "code": code}  # fmt: skip

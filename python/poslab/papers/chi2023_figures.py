"""Figures 1 to 3 of chi2023: biases of heads, quantiles of logits, temperatures against length; and the propositions
compared with simulated rows of logits."""

import math

import numpy as np
import pandas as pd
from scipy import stats

from ..figures.draw import curves as draw
from .chi2023_data import guarded, temperature, verdict_on
from .chi2023_propositions import simulated
from .notes import notes, text
from .page import Cell, Figure, Grid, Section
from .seeds import NAN, mean

NOT_YET = "The model of this figure is not trained yet."


def first(trials, model, file):
    """The record of the first seed, if there is one."""
    return trials.records(model, file).get(0)


def biases(trials, artifact):
    record, section = first(trials, "t5", "biases.json"), Section()
    section.data = pd.DataFrame(columns=["head", "distance", "bias"])
    if not record:
        section.readings = [NOT_YET]
        return section
    heads, reach = np.array(record["bias"]), len(record["distance"]) // 2
    section.data = pd.DataFrame([(h, *pair) for h, bias in enumerate(record["bias"], 1)
                                 for pair in zip(record["distance"], bias)], columns=section.data.columns)  # fmt: skip
    around, ends = heads[:, [reach - 1, reach + 1]].sum(axis=1) / 2, heads[:, [0, -1]].sum(axis=1) / 2
    near, far = (around > ends).sum(), (around < ends).sum()
    section.readings = [
        f"Heads that add more to the logits of neighbours than to those of far keys: {near} of {len(heads)}; less: "
        f"{far}."
    ]
    each = "; ".join(f"head {n}: {a:.2f} beside the query, {b:.2f} {reach} tokens away"
                     for n, (a, b) in enumerate(zip(around, ends), 1))  # fmt: skip
    named = section.data.assign(head="head " + section.data["head"].astype(str))
    chart = {"x": "key minus query, in tokens", "y": "bias", "curves": list(draw(named, "head", "distance", "bias"))}
    caption = "The bias of each head by distance. One table for all layers of the encoder. The first of the seeds."
    section.figures = [Figure("biases", caption, f"Bias by distance. {each}.", [chart], section.data)]
    section.notes = notes(trials, "chi2023:fig1")
    return section


def against_normal(data):
    ends = [data["normal"].min(), data["normal"].max()]
    same = {"name": "y = x", "color": "base", "points": [[x, x] for x in ends]}
    logits = {"name": "logits", "color": "c0", "points": data[["normal", "logit"]].to_numpy().tolist()}
    return {"x": "quantile of the normal distribution", "y": "averaged sorted logit", "curves": [same, logits]}


def quantiles(trials, artifact):
    section, questions, frames = Section(), 4, []
    for task, model in trials.about["tasks"].items():
        record = first(trials, model, "logits.json")
        for length, logits in (record or {"tasks": {task: {}}})["tasks"][task].items():
            questions, points, title = record["questions"], len(logits), f"{task}, {length} tokens"
            logits = np.array(logits)
            variance = mean(logits**2)
            normal = math.sqrt(variance) * stats.norm.ppf((np.arange(points) + 0.5) / points)
            off = mean((logits - normal) ** 2) / variance
            frames.append(pd.DataFrame({"task": task, "length": int(length), "normal": normal, "logit": logits}))
            says = f"standard deviation {math.sqrt(variance):.2f}; {100 * off:.1f} % of the variance is off the line."
            section.readings.append(f"{title}: {says}")
            section.figures.append(
                Figure(f"quantiles-{task}-{length}", f"{title.capitalize()}. On the line the logits are normal.",
                       f"Quantiles of logits against normal ones, {title}: {says}",
                       [against_normal(frames[-1])], frames[-1])
            )  # fmt: skip
    section.data = pd.concat(frames) if frames else pd.DataFrame(columns=["task", "length", "normal", "logit"])
    section.readings = section.readings or [NOT_YET]
    section.notes = notes(trials, "chi2023:fig2", questions=questions)
    return section


RULES = ("maximum probability", "entropy", "proposition 1", "proposition 2")
ALGORITHM = {"proposition 1": "maximum probability", "proposition 2": "entropy"}


def against_length(data, trained):
    start = data.drop_duplicates("rule").assign(length=trained, temperature=1.0)
    all = draw(pd.concat([start, data]), "rule", "length", "temperature")
    limits = {"x_low": trained, "x_high": data["length"].max(), "y_low": 0, "y_high": 1}
    return {"x": "tokens", "y": "temperature", "doubling": True, "curves": list(all)} | limits


def curves(trials, artifact):
    section, frames, longer = Section(), [], trials.about["longer"]
    verdicts = []
    for task in trials.about["tasks"]:
        found = {(rule, n): temperature(trials, task, rule, n) for rule in RULES for n in longer}
        rows = [{"task": task, "rule": rule, "length": n, "seeds": len(x), "temperature": mean(x)}
                for (rule, n), x in found.items() if len(x)]  # fmt: skip
        for (rule, n), x in found.items():
            algorithm = found.get((ALGORITHM.get(rule), n), ())
            if len(x) and len(algorithm):
                low = "lower" if mean(x) < mean(algorithm) else "not lower"
                verdicts.append({"task": task, "rule": rule, "length": n, "temperature": mean(x),
                                 "algorithm": mean(algorithm), "verdict": verdict_on(trials, task, low)})  # fmt: skip
        rows += [{"task": task, "rule": "log rule", "length": n, "seeds": NAN,
                  "temperature": math.log(trials.about["length"]) / math.log(n)} for n in longer]  # fmt: skip
        frames.append(pd.DataFrame(rows))
        at_last = "; ".join(f"{row['rule']} {row['temperature']:.2f}" for row in rows if row["length"] == longer[-1])
        section.figures.append(
            Figure(f"temperatures-{task}", f"Temperature against length, {task}. Mean over the seeds.",
                   f"Temperatures at {longer[-1]} tokens, {task}: {at_last}.",
                   [against_length(frames[-1], trials.about["length"])], frames[-1])
        )  # fmt: skip
    count = [row["verdict"] for row in verdicts].count
    lower = count("lower")
    section.data, section.more = pd.concat(frames), {"verdicts": pd.DataFrame(verdicts)}
    says = text("chi2023:lower", lower=lower, cells=lower + count("not lower"))
    section.readings = [guarded(trials, says)]
    section.notes = notes(trials, "chi2023:fig3")
    return section


def beside(predicted, measured, digits=3, holds=False, after=""):
    """A prediction, and below it the value in the simulated rows."""
    below = "none reaches it"
    if measured is not None:
        below = f"{measured:.{digits}f}, {100 * (predicted / measured - 1):+.1f} %"
    return Cell(f"{predicted:.{digits}f}{' *' * holds}{after}", [below])


def proposition_row(row):
    unreachable = "" if row["reachable"] else ", not reachable"
    return [Cell(f"{row['variance']:g}, {row['largest_logit']:g}"), beside(row["weight_predicted"], row["weight"], 4),
            beside(row["entropy_predicted"], row["entropy"]),
            beside(row["tau1_predicted"], row["tau1"], 3, row["assumed1"], unreachable),
            beside(row["tau2_predicted"], row["tau2"], 3, row["assumed2"]), Cell(f"{row['log_rule']:.3f}")]  # fmt: skip


def worst(rows, n, holds):
    """The largest relative error of a proposition in %, over the rows in which its assumption holds, or does not hold;
    and the number of these rows."""
    errors = [abs(row[f"tau{n}_predicted"] / row[f"tau{n}"] - 1) for row in rows
              if row[f"assumed{n}"] == holds and row[f"tau{n}"] is not None]  # fmt: skip
    return 100 * max(errors, default=0), f"{len(errors)} row{'s' * (len(errors) != 1)}"


def propositions(trials, artifact):
    made = simulated(trials.folder)
    rows, short, within = made["rows"], made["keys_short"], made["within"]
    head = ["variance, largest logit", "weight, short", "entropy, short", "tau by proposition 1",
            "tau by proposition 2", "log rule"]  # fmt: skip
    grids = [
        Grid(f"Predicted, and below it measured on {made['samples']} rows; {short} and {keys} keys", head,
             [proposition_row(row) for row in rows if row["keys"] == keys])
        for keys in dict.fromkeys(row["keys"] for row in rows)
    ]  # fmt: skip
    errors = {f"{where}{n}": worst(rows, n, where == "in") for where in ("in", "out") for n in (1, 2)}
    readings = notes(trials, "chi2023:worst", within=within, **errors)
    below = notes(trials, "chi2023:propositions", within=within)
    return Section(readings, grids, notes=below, data=pd.DataFrame(rows))

"""The cross of chi2023: does sharper attention gain on top of randomized positions? Every scheme has plain and
randomized positions, crossed with seven temperatures; and a longer string's changes are made one at a time."""

import pandas as pd

from .chi2023_data import accuracy_cell, change, points
from .notes import notes
from .page import Cell, Grid, Section
from .seeds import average, by_seed, difference, interval, mean, number, summary
from .setting import Setting, baselines, difference_cell, tasks
from .sweep import done

POSITIONS = {"sequential": "plain", "randomized": "randomized"}
UNLEARNED = "accuracy is not above the baselines by more than its interval"


class Row:
    """A scheme with plain or randomized positions: its score by policy, and its costs on gap_shift's scale, for each
    seed the mean over tasks. Empty if it is not done, or impossible."""

    def __init__(self, trials, artifact, settings):
        self.scheme, self.positions = settings[0]["scheme"], settings[0]["positions"]
        scores, costs, self.data = {}, {name: [] for name in artifact["questions"]}, []
        for one in settings:
            found = {name: by_seed(x) for name, x in one["measured"].items()}
            for policy in artifact["policies"]:
                score = found[f"beyond, {policy['name']}"] if policy["at_test"] else trained(trials, one, policy)
                scores.setdefault(policy["name"], []).append(score)
                self.add(one["task"], policy["name"], score)
            majority = artifact["majority"][one["task"]]
            for name in costs:
                if (moved := found.get(f"moved: {name}")) is not None:
                    at = majority[name == "the length itself"]
                    costs[name].append(difference(skill(found["as trained"], majority[0]), skill(moved, at)))
                    self.add(one["task"], f"loss: {name}", costs[name][-1])
        self.score = {name: average(all) for name, all in scores.items()}
        self.cost = {name: average(all) for name, all in costs.items()}

    def add(self, task, what, x):
        of = {"task": task, "encoding": self.scheme, "positions": self.positions, "what": what}
        self.data.append(of | summary(x, "value"))


def trained(trials, one, policy):
    return Setting.of(trials, task=one["task"], encoding=one["scaled"] if policy["scaled"] else one["encoding"],
                   positions=one["positions"], temperature=policy["temperature"]).by_seed  # fmt: skip


def skill(accuracy, majority):
    """Accuracy rescaled: 0 for the most frequent symbol of each slot, 1 for all right."""
    return (accuracy - majority) / (1 - majority)


def policy_verdict(rows, positions, name, baseline):
    """The mean gain by a policy over schemes. The baseline is the best one of each task, averaged over tasks."""
    both = [(row.score[name], row.score["none"]) for row in rows if row.positions == positions]
    both = [(x, y) for x, y in both if len(x) and len(y)]
    if not both:
        return None
    row = change(average([difference(x, y) for x, y in both]), map(average, zip(*both)), baseline, ("adds", "costs"))
    return {"what": name, "positions": positions, "baseline": baseline} | row


def ends(row):
    return row["interval_low"], row["interval_high"]


def answer(rows):
    """A sentence on the verdicts with randomized positions."""
    names = {verdict: ", ".join(f"{row['what']} ({number(row['mean'], sign='+')} points)"
                                for row in rows if row["verdict"] == verdict)
             for verdict in ("adds", "costs")}  # fmt: skip
    count = [row["verdict"] for row in rows].count
    n = count("not learned")
    if n == len(rows):
        return f"Not learned: {UNLEARNED}, with or without a policy."
    left = f" {n} more {'is' if n == 1 else 'are'} not learned: {UNLEARNED}." if n else ""
    if not any(names.values()):
        return f"Inconclusive: no policy's interval excludes zero on average over tasks and schemes.{left}"
    return (
        f"On average over tasks and schemes, these add accuracy: {names['adds'] or 'none'}; these cost some: "
        f"{names['costs'] or 'none'}. The intervals of the others include zero.{left}"
    )


def readings(verdicts, losses):
    pairs = {}
    for row in verdicts:
        pairs.setdefault(row["what"], {})[row["positions"]] = row
    pairs = {name: of for name, of in pairs.items() if len(of) == len(POSITIONS)}
    if not pairs:
        return ["Nothing can be compared yet."]
    randomized = [of["randomized"] for of in pairs.values()]
    says = [f"Does sharper attention add to randomized positions? {answer(randomized)}"]
    for name, of in pairs.items():
        plain, randomized = (points(of[p]["mean"], ends(of[p])) + " (not learned)" * (of[p]["verdict"] == "not learned")
                             for p in POSITIONS)  # fmt: skip
        says.append(f"{name}: {plain} with plain positions, {randomized} with randomized ones, mean over the schemes.")
    for positions, name in POSITIONS.items():
        costs = [f"{row['what']} {points(row['mean'], ends(row))}" for row in losses if row["positions"] == positions]
        if costs:
            says.append(
                f"Points lost at the trained length with {name} positions, change by change: {', '.join(costs)}."
            )
    return says


def cross(trials, artifact):
    groups = {}
    for one in artifact["settings"]:
        groups.setdefault((one["positions"], one["scheme"]), []).append(one)
    rows = [Row(trials, artifact, settings) for settings in groups.values()]
    policies, questions = [policy["name"] for policy in artifact["policies"]], artifact["questions"]
    of_tasks = [baselines(trials, done(trials, task=task)) for task in tasks(trials)]
    baseline = mean([max(of.values()) for of in of_tasks if of])
    verdicts = [policy_verdict(rows, positions, name, baseline) for name in policies[1:] for positions in POSITIONS]
    verdicts = [row for row in verdicts if row]
    losses = []
    for positions in POSITIONS:
        for name in questions:
            of = [row.cost[name] for row in rows if row.positions == positions and len(row.cost[name])]
            if of:
                losses.append({"what": name, "positions": positions} | summary(average(of)))
    named = [Cell(f"{row.scheme}, {POSITIONS[row.positions]}") for row in rows]
    scores = Grid(
        "Accuracy in % beyond the trained lengths, mean over the tasks; below, how far ahead of no temperature",
        ["encoding, positions", *policies],
        [[name, *(accuracy_cell(row.score[p], row.score["none"] if p != "none" else None) for p in policies)]
         for name, row in zip(named, rows)])  # fmt: skip
    costs = Grid(
        f"Points lost on strings of length {artifact['train_length']} if one property is that of length "
        f"{artifact['longest']}",
        ["encoding, positions", *questions],
        [[name, *(difference_cell(mean(row.cost[q]), interval(row.cost[q])) for q in questions)]
         for name, row in zip(named, rows)])  # fmt: skip
    return Section(readings(verdicts, losses), [scores, costs], notes=notes(trials, "chi2023:cross"),
                   data=pd.DataFrame([line for row in rows for line in row.data]),
                   more={"verdicts": pd.DataFrame(verdicts + losses)})  # fmt: skip

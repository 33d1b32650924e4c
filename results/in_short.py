"""The table at the head of docs/results.md: a line for each finding, and how sure it is."""

import experiments
import findings
from query import interval, points, row, signed, table


def lines():
    """Claim, effect, how sure."""
    best, _ = findings.best_of_tasks()
    yield ("Random positions help on unseen lengths", f"{signed(best)} points, best encoding against best",
           "solid: ten seeds on four tasks")  # fmt: skip
    in_order = row("claims-tiny/claims.csv", claim="Positions must be in order")
    yield ("Random positions must stay in order", f"{signed(float(in_order['mean']))} {interval(in_order)} points",
           "solid")  # fmt: skip
    align, rule = (float(row("chi2023-tiny/table4-verdicts.csv", mode=m)["mean"])
                   for m in ("maximum probability", "log rule"))  # fmt: skip
    yield ("A lower temperature at test helps T5's biases",
           f"{signed(align)} points; the log rule {signed(rule)}",
           "tentative: the rule needs no measurement")  # fmt: skip
    yield ("ReRoPE keeps its accuracy at 32 times its trained length",
           f"{findings.at_2048('ReRoPE-w32')} %, where RoPE has {findings.at_2048('Baseline')}",
           "solid at this size, on one kind of text")  # fmt: skip
    first, ranks = findings.first_ranks()
    yield ("The best counted encodings prefer near keys or blur far ones",
           f"the first {findings.COUNTS[first]} of {len(ranks)}",
           "tentative: named afterwards")  # fmt: skip
    gap = row("gap_shift-tiny/first-verdicts.csv", change="gap", **{"from": "10"})
    yield ("What hurts depends on the task",
           f"gaps cost {points(float(gap['gap']))} %, length {points(float(gap['length']))}",
           "tentative: one setting moves both")  # fmt: skip
    verdicts = table("ladder/verdict.csv", family="each task's")
    above = [r for r in verdicts if r["verdict"] == "above"]
    yield ("A ladder above the paper, only with help", f"{len(above)} of {len(verdicts)} tasks",
           "solid: registered, ten fresh seeds")  # fmt: skip
    yield ("Sharper attention adds little to randomized positions",
           f"at most {signed(experiments.best_temperature())} points", "tentative: two seeds")  # fmt: skip
    near, of = experiments.near_the_paper()
    yield ("The paper's model", f"{near} of {of} accuracies within five points of the paper's",
           "open: trained for 0.5 % of its steps")  # fmt: skip


def in_short():
    for claim, effect, sure in lines():
        yield f"| {claim} | {effect} | {sure} |"

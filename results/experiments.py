"""The measured figures of docs/results.md from finding 6 on, poslab's own experiments and the paper's size, as
results/findings.py has those before."""

from query import (asked, cost, done, in_words, interval, listed, mean, one, paper_says, points, range_of, row,
                   signed, table, whole)  # fmt: skip

SETTINGS = [(t, e) for t in ("reverse_string", "missing_duplicate_string", "bucket_sort")
            for e in ("sincos", "relative", "rope")]  # fmt: skip


def gaps():
    def loss(task, encoding, change, length="10"):
        return one("gap_shift-tiny/first.csv", "loss", task=task, encoding=encoding, length=length, change=change)

    def of(task, change, encodings=("sincos", "relative", "rope")):
        return range_of([loss(task, e, change) for e in encodings])

    both = ("relative", "rope")
    yield (
        f"On Reverse String the gap alone costs {of('reverse_string', 'gap')} % and the length alone "
        f"{of('reverse_string', 'length')}; on Missing Duplicate, with relative positions and RoPE, the gap costs "
        f"{of('missing_duplicate_string', 'gap', both)} and the length "
        f"{of('missing_duplicate_string', 'length', both)}."
    )

    def verdict(length):
        r = row("gap_shift-tiny/first-verdicts.csv", change="gap", **{"from": length})
        costs = [(points(float(r[of])), interval(r, f"{of}_low", f"{of}_high")) for of in ("gap", "length")]
        return *costs, *(r[count] for count in ("gap_more", "length_more", "inconclusive"))

    (g, gi), (l, li), more, less, neither = verdict("10")
    yield (
        f"In the mean of all nine the gap costs {g} {gi} % and the length {l} {li}: the gap costs more in {more}, "
        f"the length in {less}, and {neither} are inconclusive."
    )
    odd = ("bucket_sort", "sincos")
    at_10 = [points(sum(loss(*s, change) for s in SETTINGS if s != odd) / 8) for change in ("gap", "length")]
    yield (
        f"But sin/cos on Bucket Sort, with {whole(loss(*odd, 'gap'))} and {whole(loss(*odd, 'length'))}, moves both "
        f"means: without it they are {at_10[0]} and {at_10[1]}."
    )
    (g, _), (l, _), more, less, neither = verdict("20")
    seven = [s for s in SETTINGS if s[0] != "missing_duplicate_string" or s[1] == "relative"]

    def at_20(change, without=()):
        losses = [loss(*s, change, "20") for s in seven if s != without]
        return points(sum(losses) / len(losses))

    assert (at_20("gap"), at_20("length")) == (g, l)
    gap, length = (at_20(change, without=("bucket_sort", "sincos")) for change in ("gap", "length"))

    yield (
        f"From length 20, in seven settings, it is {more}, {less} and {neither}, and without that cell the means are "
        f"{gap} and {length}."
    )

    def trained(name):
        r = row("gap_shift-tiny/matched-verdicts.csv", rule="as trained", trained=name)
        return f"{signed(float(r['minus_uniform']))} {interval(r, 'difference_low', 'difference_high', signed)}"

    yield (
        f"Training with small gaps too is no cure: runs of neighbours with gaps between them (`blocks`) change "
        f"accuracy by {trained('blocks')} points, and a random part of the range (`log_density`) by "
        f"{trained('log density')}; real numbers as positions change it by "
        f"{trained('random floats')}."
    )
    yield f"gap_shift --size tiny {cost(done('gap_shift-tiny'), 'hours of clock time')}"


def ladder():
    """Whichever way it came out, and what the registered probabilities add up to."""
    verdicts = table("ladder/verdict.csv", family="each task's")
    above = [r for r in verdicts if r["verdict"] == "above"]
    goal = asked("ladder")["registered"]["goal"]
    won = listed(
        f"{in_words(r['task'])} ({signed(float(r['difference']))} {interval(r, 't_low', 't_high', signed)} points)"
        for r in above
    )
    yield (
        f"{len(verdicts)} of 15 tasks have a verdict; above the best scheme of tables 1 and 5, trained as long, are "
        f"{len(above)}: {won}. The goal, {goal} tasks above, is {'reached' if len(above) >= goal else 'missed'}."
    )
    below = [r for r in verdicts if float(r["p_holm"]) < 0.05 and float(r["difference"]) < 0]
    yield "Two are clearly below: " + listed(
        f"{in_words(r['task'])} ({signed(float(r['difference']))})" for r in below
    ) + "."
    assert len(below) == 2
    of_all = table("ladder/verdict.csv", family="one for all")
    (same,) = {r["candidate"] for r in of_all}
    assert same == "R-ALiBi, SSMax" and not [r for r in of_all if r["verdict"] == "above"] and len(of_all) == 15
    best = max(of_all, key=lambda r: float(r["t_low"]))
    yield (
        f"The one candidate that was chosen for all tasks, randomized ALiBi with a trained temperature (SSMax), is "
        f"above on none of {len(of_all)}; it comes nearest on {in_words(best['task'])} "
        f"({signed(float(best['difference']))} {interval(best, 't_low', 't_high', signed)}, and "
        f"p = {float(best['p_holm']):.2f} after the correction)."
    )
    expected = sum(float(r["above"]) for r in table("ladder/plan.csv"))
    yield f"the probabilities of a verdict above added up to {expected:.1f} of 15 tasks, so we hoped for more"
    told = [r for r in above if r["structure"] != "nothing"]
    untold = [r for r in verdicts if r["structure"] == "nothing"]
    alone = sum(r["verdict"] == "above" for r in untold)
    yield (
        f"Of the candidates that are above, {len(told)} of {len(above)} are told where the segments of a string begin "
        f"and end, which no opponent is. Of those that are told nothing, {alone} of {len(untold)} are above."
    )
    finished = done("ladder")
    planned = len(table("ladder/trials.csv"))
    assert len(finished) == planned
    yield f"reproduce ladder --size tiny {cost(finished)}"
    how = "without help, too" if alone else "only with help" if told else "none"
    yield f"## 7. A ladder above the paper: {how}"


def loss(positions, what):
    return whole(mean(table("cross-tiny/cross.csv", positions=positions, what=f"loss: {what}"), "value"))


def adds(positions, policy):
    with_it, without = (
        mean(table("cross-tiny/cross.csv", positions=positions, what=w), "value") for w in (policy, "none")
    )
    return with_it - without


def best_temperature():
    policies = ["log n, trained", "log rule", "maximum probability", "entropy", "SSMax, trained",
                "scale-invariant, trained"]  # fmt: skip
    return max(adds("randomized", p) for p in policies)


def cross():
    yield (
        f"With randomized positions no temperature adds more than {points(best_temperature())} points in the mean, "
        f"and alignment costs {points(-adds('randomized', 'maximum probability'))} (by the maximum probability) and "
        f"{points(-adds('randomized', 'entropy'))} (by entropy). With counted positions scale-invariant attention adds "
        f"{points(adds('sequential', 'scale-invariant, trained'))} points."
    )
    with_gaps = {r["encoding"] for r in table("cross-tiny/cross.csv", what="loss: gaps") if r["value"]}
    of_these = [r for r in table("cross-tiny/cross.csv", positions="randomized", what="loss: the length itself")
                if r["encoding"] in with_gaps]  # fmt: skip

    def gain(what, encoding, positions="randomized"):
        values = [mean(table("cross-tiny/cross.csv", encoding=encoding, positions=positions, what=w), "value")
                  for w in (what, "none")]  # fmt: skip
        return signed(values[0] - values[1])

    yield (
        "These are means of opposite effects: with randomized positions SSMax changes ALiBi by "
        f"{gain('SSMax, trained', 'ALiBi')} points and relative ones by {gain('SSMax, trained', 'relative')}."
    )
    yield (
        f"With counted positions longer strings cost {loss('sequential', 'the length itself')} %; their positions "
        f"alone {loss('sequential', 'positions')}, their number of keys alone {loss('sequential', 'number of keys')}, "
        f"and attention as flat as theirs {loss('sequential', 'dispersion')}. With randomized positions they cost "
        f"{loss('randomized', 'the length itself')}; their narrower gaps alone {loss('randomized', 'gaps')}, the keys "
        f"{loss('randomized', 'number of keys')} and the flatness {loss('randomized', 'dispersion')}. The gaps are "
        f"those of {len(with_gaps)} encodings, on which longer strings cost {whole(mean(of_these, 'value'))}."
    )
    yield f"--set seeds=2 {cost(done('cross-tiny'), 'hours of clock time')}"


def near_the_paper():
    """How many accuracies are within five points of the paper's, and of how many."""
    rows = [r for r in table("ruoss2023-example/table1.csv") if r["best"]]
    return sum(abs(float(r["best"]) - float(r["paper"])) <= 0.05 for r in rows), len(rows)


def example():
    near, all = near_the_paper()
    agree, of, _, unlearned = paper_says("ruoss2023-example/table1-verdicts.csv")
    yield (
        f"{near} of {all} accuracies are within five points of the paper's. It has randomized positions "
        f"ahead of counted ones by 2 points or more in {of + unlearned} comparisons: {unlearned} of them are not "
        f"learned here, and {agree} of the other {of} have its sign."
    )

    def pair(task, encoding):
        r = row("ruoss2023-example/table1.csv", task=task, encoding=encoding, positions="randomized")
        return f"{points(float(r['best']))} % (paper {points(float(r['paper']))})"

    yield (
        f"randomized relative positions have {pair('missing_duplicate_string', 'relative')} on Missing Duplicate and "
        f"{pair('cycle_navigation', 'relative')} on Cycle Navigation, randomized RoPE "
        f"{pair('missing_duplicate_string', 'rope')} on Missing Duplicate."
    )

    def at(task, length):
        found = table("ruoss2023-example/fig4.csv", task=task, length=length)
        return range_of([float(r["accuracy"]) for r in found])

    content = table("ruoss2023-example/fig4.csv", task="modular_arithmetic_brackets", length="9")[0]["content_only"]
    yield (
        f"Arithmetic is learned for short strings at best: at length 9 the four models have "
        f"{at('modular_arithmetic', '9')} % on Modular Arithmetic and {at('modular_arithmetic_brackets', '9')} % with "
        f"brackets, where content only has {whole(float(content))}; from 30 on they are near their baselines."
    )
    yield f"--set lr=3e-4 {cost(done('ruoss2023-example'), 'hours of clock time')}"


ALL = (gaps, ladder, cross, example)

"""The values of the names in docs/results.md.in, finding by finding, from the tables in results/*/. Asserts check
statements of the page."""

from query import (ENCODINGS, TASKS, all_rows, asked, at_trained, by, column, done, in_words, listed, mean, one, points,
                   range_of, row, signed, table, whole, with_interval)  # fmt: skip


def agreement(path):
    """Counts comparisons in which the paper's first encoding leads by 2 points or more: those that agree, those that
    are learned, those that agree with an interval above zero, and those that are not learned."""
    count = [r["verdict"] for r in table(path) if r["paper"] >= 0.02].count
    agree = count("agrees") + count("agrees in sign")
    return {"agree": agree, "of": agree + count("opposite"), "firm": count("agrees"), "unlearned": count("not learned")}


def seconds_of(what, steps_more, a_step=None, tests=1):
    """Processor time of runs that did not record it, from short runs (costs.csv): for a number of further steps,
    each as long as those between the two runs of a_step, and a number of tests."""
    few, *_, many = table("costs.csv", what=a_step or what)
    step = (many["seconds"] - few["seconds"]) / (many["steps"] - few["steps"]) / few["trained"]
    return tests * table("costs.csv", what=what)[0]["seconds"] + step * steps_more


RETRIEVAL = ("chi2023:table2, table4 and table5, one seed", 4 * 2970 + 1485, "t5 train, with its test")
REROPE = ("su2023:claims, one seed", 5 * 1470)


def about(seeds, of):
    trained = seeds * table("costs.csv", what=of[0])[0]["trained"]
    return f"{trained} runs, about {seeds * seconds_of(*of) / 3600:.1f}"


# -- 1: randomized positions -------------------------------------------------------------------------------------------

TABLE1 = "table1-tiny/table1.csv"
of_task = by("task", table(TABLE1))
counted, drawn = ([one(TABLE1, "mean", task="bucket_sort", encoding=e, positions=p) for e in ENCODINGS]
                  for p in ("sequential", "randomized"))  # fmt: skip
majority = of_task["bucket_sort"][0]["majority"]
assert max(counted) < majority < min(drawn)


def best(task, positions):
    return max(column(TABLE1, "mean", task=task, positions=positions))


above_baselines = [max(r["mean"] for r in rows) - max(rows[0][b] for b in ("chance", "majority", "content_only"))
                   for rows in of_task.values()]  # fmt: skip
gains = [best(task, "randomized") - best(task, "sequential") for task in of_task]
gains_of_paper = [
    max(x for name, x in r.items() if name.startswith("rand_"))
    - max(x for name, x in r.items() if name not in ("task", "level") and not name.startswith("rand_"))
    for r in all_rows("../python/poslab/papers/published/ruoss2023_table1.csv")
]
in_domain = [at_trained(task, e, "randomized") - at_trained(task, e, "sequential")
             for task in of_task for e in ENCODINGS]  # fmt: skip

claims = [r["verdict"] for r in table("claims-tiny/claims.csv")]
assert all(r["claim"].startswith("At trained lengths") for r in table("claims-tiny/claims.csv", verdict="does not"))

three, ten = (agreement(f"{folder}/table1-verdicts.csv") for folder in ("table1-tiny", "ten-seeds-tiny"))
of_three, of_ten = (table(f"{folder}/signs.csv") for folder in ("table1-tiny", "ten-seeds-tiny"))


def after_holm(signs, test, sign=None):
    """The significant comparisons of a test: ahead (1) or behind (-1)."""
    return [r for r in signs if r[test] != "" and r[test] < 0.05 and (sign is None or sign * r["mean"] > 0)]


assert len(after_holm(of_ten, "t_holm", 1)) == len(after_holm(of_ten, "permutation_holm", 1))
assert not after_holm(of_ten, "t_holm", -1)


def even_pairs(name):
    return with_interval(row("ten-seeds-tiny/signs.csv", task="even_pairs", encoding=name), say=signed, ends="t")


# -- 2: sorted positions -----------------------------------------------------------------------------------------------


def in_order(task, order):
    return points(one("sorted-tiny/table3.csv", "mean", task=task, order=order))


def without(task):
    return points(one(TABLE1, "mean", task=task, encoding="none"))


three_sorted = agreement("sorted-tiny/table3-verdicts.csv")
assert not three_sorted["unlearned"]
order_matters = row("claims-tiny/claims.csv", claim="Positions must be in order")

# -- 3: alignment ------------------------------------------------------------------------------------------------------

MODES = ("original", "maximum probability", "log rule")


def right(task, mode="original", length=4096):
    return row("chi2023-tiny/table4.csv", task=task, mode=mode, length=length)


def all_right(mode):
    return points(mean(right(task, mode)["value"] for task in ("topic", "line", "passkey")))


def each_mode(task):
    return listed(points(right(task, mode)["value"]) for mode in MODES)


def gain(mode):
    return row("chi2023-tiny/table4-verdicts.csv", mode=mode)


other_lines = [r["value"] for r in table("chi2023-tiny/table2.csv", task="line", mode="original", length=128)
               if r["encoding"] != "T5's biases"]  # fmt: skip
temperatures = column("chi2023-tiny/table5.csv", "value")

# -- 4: ReRoPE ---------------------------------------------------------------------------------------------------------

KINDS = ("repeated", "plain")


def accuracy(table, method, length, kind):
    return points(one(f"su2023-tiny/{table}.csv", "accuracy", method=method, length=length, set=kind))


def both(table, method, length):
    """Accuracy on repeated and on other texts."""
    return " and ".join(accuracy(table, method, length, kind) for kind in KINDS)


def at_2048(method):
    return both("far", method, 2048)


def at_512(method):
    return both("methods", method, 512)


def best_of(table_of, methods, kind, length):
    found = table(f"su2023-tiny/{table_of}.csv", set=kind, length=length)
    return max((r for r in found if r["method"] in methods), key=lambda r: r["accuracy"])["method"]


def unit(length, trained=64):
    """The unit of repeated texts, as in experiment/language/language.cpp."""
    return min(2 * trained, length // 2)


def behind(kind):
    """ReRoPE's lead over the best form of plain NTK, with that form's name."""
    ntk = best_of("methods", FORMS, kind, 512)
    ahead = float(accuracy("lengths", "ReRoPE-w32", 512, kind)) - float(accuracy("methods", ntk, 512, kind))
    return f"{ahead:.1f} ({FORMS[ntk]})"


FORMS = {"NTK-RoPE-old": "old", "NTK-RoPE-fixed": "fixed", "NTK-RoPE-mixed": "mixed", "DynamicNTK": "dynamic"}
WINDOWS = [r["method"] for r in table("su2023-tiny/window.csv", set="plain", length=512)
           if r["method"].startswith("ReRoPE-w") and "-logn" not in r["method"]]  # fmt: skip
assert best_of("window", WINDOWS, "plain", 512) == "ReRoPE-w32" and len(WINDOWS) == 5
far_ntk = best_of("far", {m for m in column("su2023-tiny/far.csv", "method") if "NTK" in m}, "repeated", 2048)
further = (float(accuracy("lengths", "ReRoPE-w32", 512, kind)) for kind in KINDS)
reads_far = f"{next(further) - next(further):.1f}"


def ahead_of_ntk(kind):  # the source's NTK: "mixed"
    return with_interval(row("su2023-tiny/claims.csv", claim="ReRoPE is above the best NTK", set=kind))


su_claims = column("su2023-tiny/claims.csv", "verdict")


def cost_of_far():
    (methods,) = (a["methods"] for a in asked("su2023-tiny")["artifacts"] if a["name"] == "su2023:far")
    seeds, steps = asked("su2023-tiny")["seeds"], int(asked("su2023-tiny")["options"]["steps"])
    runs = len({m["model"] for m in methods}) * seeds
    spent = seconds_of("su2023:far, a test", runs * steps, REROPE[0], len(methods) * seeds)
    return f"{runs} runs, about {spent / 3600:.1f}"


# -- 5: every scheme ---------------------------------------------------------------------------------------------------

# Schemes in the picture whose formula (poslab explain) prefers near keys for any parameters; below, schemes whose
# formula distinguishes far distances less than near ones.
DECAY = ("geometric", "lambda", "forgetting", "dape", "hard_alibi", "sandwich", "nape", "kerple", "scale_invariant",
         "alibi")  # fmt: skip
BLURS = ("rerope", "self_extend")
FIRST = {"geometric": "geometric attention", "lambda": "the Lambda mask", "rerope": "ReRoPE",
         "forgetting": "forgetting gates", "self_extend": "SelfExtend", "dape": "DAPE", "hard_alibi": "hard ALiBi",
         "sandwich": "Sandwich"}  # fmt: skip


def bare(encoding):
    """rerope of rerope:window=10"""
    return encoding.split(":")[0]


def means(file, task="mean"):
    return {bare(r["encoding"]): r["mean"] for r in table(f"every-scheme/{file}.csv", task=task) if r["mean"] != ""}


every = done("every-scheme")
ranked = table("every-scheme/ranking.csv", task="mean")
ranks, causal = means("ranking"), means("causal")
leading = list(ranks)[: next(n for n, name in enumerate(ranks) if name not in DECAY + BLURS)]
first_of_all = {6: "six", 7: "seven", 8: "eight", 9: "nine"}[len(leading)]
places = ", ".join(f"{FIRST[e]} {points(ranks[e])}" for e in leading[1:])
same = {}
for r in every:
    if r["causal"] == "off" and bare(r["encoding"]) in ranks:
        same.setdefault(r["encoding"], []).append((r["task"], r["seed"], r["paper_score"]))
different = {tuple(sorted(scores)) for scores in same.values()}
low, high = ([r[f"interval_{end}"] for r in ranked] for end in ("low", "high"))
# the first place that is not separated from the next
start = next(n for n in range(len(ranked)) if low[n] <= high[n + 1])
end = next(n for n in range(start, len(ranked)) if high[n] < low[start])
overlap = f"{start + 1} and {end} overlap" if end == start + 2 else f"{start + 1} to {end} overlap the first"
on_duplicate = table("every-scheme/ranking.csv", task="missing_duplicate_string")
content = mean(one("every-scheme/ranking.csv", "content_only", encoding="rope", task=task)
               for task in TASKS[:3])  # fmt: skip
assert not [r for r in on_duplicate if r["mean"] > r["content_only"]]
trained = {r["encoding"]: r["trained"] for r in ranked}
BY_ONE = ("lambda", "rerope", "forgetting", "self_extend")
assert set(BY_ONE) < set(leading[1:])


def by_one(task):
    return range_of([means("ranking", task)[e] for e in BY_ONE], points)


assert ranks["window"] == ranks["rnope"]
CAUSAL = {"path": "PaTH", "stick_breaking": "stick-breaking attention", "alibi": "ALiBi"}
first, second, third = sorted(causal, key=causal.get, reverse=True)[:3]

# -- 6: gaps -----------------------------------------------------------------------------------------------------------

ALL_THREE = ("sincos", "relative", "rope")
SETTINGS = [(t, e) for t in ("reverse_string", "missing_duplicate_string", "bucket_sort") for e in ALL_THREE]
ODD = ("bucket_sort", "sincos")


def lost_row(task, encoding, change, length=10):
    return row("gap_shift-tiny/first.csv", task=task, encoding=encoding, length=length, change=change)


def lost(*setting):
    return lost_row(*setting)["loss"]


def lost_on(task, change, encodings=ALL_THREE):
    return range_of([lost(task, e, change) for e in encodings])


def of_all(length):
    return row("gap_shift-tiny/first-verdicts.csv", change="gap", **{"from": length})


def mean_lost(change, length, settings):
    return points(mean(lost(*setting, change, length) for setting in settings))


def without_odd(change, length):
    return mean_lost(change, length, [setting for setting in LEARNED[length] if setting != ODD])


LEARNED = {10: SETTINGS, 20: [s for s in SETTINGS if s[0] != "missing_duplicate_string" or s[1] == "relative"]}
assert all(mean_lost(change, 20, LEARNED[20]) == points(of_all(20)[change]) for change in ("gap", "length"))


def sampled(name):
    r = row("gap_shift-tiny/matched-verdicts.csv", rule="as trained", trained=name)
    return f"{signed(r['minus_uniform'])} [{signed(r['difference_low'])}, {signed(r['difference_high'])}]"


# -- 7: the ladder -----------------------------------------------------------------------------------------------------

verdicts, for_all = (table("ladder/verdict.csv", family=family) for family in ("each task's", "one for all"))
above = [r for r in verdicts if r["verdict"] == "above"]
won = listed(f"{in_words(r['task'])} ({with_interval(r, 'difference', signed, 't')} points)" for r in above)
goal = asked("ladder")["registered"]["goal"]
clearly_below = [r for r in verdicts if r["p_holm"] < 0.05 and r["difference"] < 0]
assert len(clearly_below) == 2
unlearned = [r for r in verdicts if r["verdict"] == "not learned"]
assert {r["candidate"] for r in for_all} == {"R-ALiBi, SSMax"} and "above" not in {r["verdict"] for r in for_all}
nearest = max(for_all, key=lambda r: r["t_low"])
expected = sum(column("ladder/plan.csv", "above"))
told, untold = ([r for r in rows if (r["structure"] != "nothing") == tell] for rows, tell in
                ((above, True), (verdicts, False)))  # fmt: skip
alone = sum(r["verdict"] == "above" for r in untold)
how_won = "without help, too" if alone else "only with help" if told else "none"
assert len(done("ladder")) == len(table("ladder/trials.csv"))

# -- 8: the cross ------------------------------------------------------------------------------------------------------

POLICIES = ("log n, trained", "log rule", "maximum probability", "entropy", "SSMax, trained",
            "scale-invariant, trained")  # fmt: skip


def crossed(what, positions, **more):
    return mean(column("cross-tiny/cross.csv", "value", positions=positions, what=what, **more))


def adds(positions, policy, **more):
    return crossed(policy, positions, **more) - crossed("none", positions, **more)


def costs(positions, what):
    return whole(crossed(f"loss: {what}", positions))


best_temperature = max(adds("randomized", policy) for policy in POLICIES)

# -- 9: the paper's model ----------------------------------------------------------------------------------------------

EXAMPLE = "ruoss2023-example/table1.csv"
in_paper = [r for r in table(EXAMPLE) if r["best"] != ""]
near = [r for r in in_paper if abs(r["best"] - r["paper"]) <= 0.05]
example = agreement("ruoss2023-example/table1-verdicts.csv")


def randomized(task, encoding):
    r = row(EXAMPLE, task=task, encoding=encoding, positions="randomized")
    return f"{points(r['best'])} % (paper {points(r['paper'])})"


def at_nine(task):
    return range_of(column("ruoss2023-example/fig4.csv", "accuracy", task=task, length=9))


content_at_nine = column("ruoss2023-example/fig4.csv", "content_only", task="modular_arithmetic_brackets", length=9)[0]

"""The measured figures of docs/results.md: each function gives the sentences of a finding as they follow from the
tables in results/*/. results/sentences.py looks for them in the page. From finding 6 on they are in
results/experiments.py."""

import csv
import re

import experiments
from query import (NAMES, ROOT, asked, at_trained, cost, done, interval, listed, mean, one, paper_says, points,
                   range_of, row, signed, table, whole)  # fmt: skip


def seconds_of(what, steps_more, a_step=None, tests=1):
    """Processor time of what kept none, from short runs (costs.csv): so many steps more in all, each as long as those
    between the two runs of a_step, and so many times the tests."""
    few, many = (table("costs.csv", what=a_step or what)[k] for k in (0, -1))
    more, seconds = int(many["steps"]) - int(few["steps"]), float(many["seconds"]) - float(few["seconds"])
    step = seconds / more / int(few["trained"])
    return tests * float(table("costs.csv", what=what)[0]["seconds"]) + step * steps_more


RETRIEVAL = ("chi2023:table2, table4 and table5, one seed", 4 * 2970 + 1485, "t5 train, with its test")
REROPE = ("su2023:claims, one seed", 5 * 1470)


def about(seeds, of):
    trained = seeds * int(table("costs.csv", what=of[0])[0]["trained"])
    return f"# {trained} trainings, about {seeds * seconds_of(*of) / 3600:.1f} core-hours"


def best_of_tasks():
    """How far the best randomized encoding is ahead of the best counted one: in the mean of tasks, and at most."""
    gains = []
    for task in dict.fromkeys(r["task"] for r in done("table1-tiny")):
        random, plain = (max(float(r["mean"]) for r in table("table1-tiny/table1.csv", task=task, positions=p))
                         for p in ("randomized", "sequential"))  # fmt: skip
        gains.append(random - plain)
    return sum(gains) / len(gains), max(gains)


def randomized():
    found = [r for r in table("table1-tiny/table1.csv", task="bucket_sort") if r["encoding"] != "none"]
    plain, random = ([float(r["mean"]) for r in found if r["positions"] == p] for p in ("sequential", "randomized"))
    majority = float(found[0]["majority"])
    assert max(plain) < majority < min(random)
    yield (
        f"On Bucket Sort five encodings are right in {range_of(plain)} % of the symbols of unseen lengths with counted "
        f"positions, and in {range_of(random)} % with randomized ones. The majority gives {whole(majority)} %: all are "
        f"below it with counted positions, and {range_of([r - majority for r in random])} points above it with "
        "randomized ones."
    )
    tasks = dict.fromkeys(r["task"] for r in done("table1-tiny"))

    above = []
    for t in tasks:
        rows = table("table1-tiny/table1.csv", task=t)
        above.append(max(float(r["mean"]) for r in rows)
                     - max(float(rows[0][b]) for b in ("chance", "majority", "content_only")))  # fmt: skip
    gain, largest = best_of_tasks()
    with (ROOT / "python/poslab/papers/published/ruoss2023_table1.csv").open() as file:
        printed = [{name: float(x) for name, x in r.items() if name not in ("task", "level")}
                   for r in csv.DictReader(file)]  # fmt: skip
    theirs = [max(x for n, x in r.items() if n.startswith("rand_")) - max(x for n, x in r.items() if n[:5] != "rand_")
              for r in printed]  # fmt: skip
    yield (
        f"On {sum(x > 0 for x in above)} of {len(tasks)} tasks some model is above all baselines on unseen lengths, in "
        f"the mean of seeds, and on {sum(x >= 0.01 for x in above)} by a point or more. The best randomized encoding "
        f"of a task is {points(gain)} points ahead of the best counted one in the mean of tasks, "
        f"and {points(largest)} at most (in the paper {sum(theirs) / len(theirs):.1f} and {max(theirs):.1f})."
    )
    behind = [
        at_trained(task, e, "randomized") - at_trained(task, e, "sequential")
        for task in tasks
        for e in NAMES
        if e != "none"
    ]
    lost = sum(behind) / len(behind)
    yield (
        f"at lengths 1 to 20 randomized positions are behind in {sum(x < 0 for x in behind)} of {len(behind)} "
        f"comparisons, by {points(-lost)} points in the mean"
    )
    claims = table("claims-tiny/claims.csv")
    count = [r["verdict"] for r in claims].count
    solved = ("Randomized relative positions solve", "They solve Missing")
    flagship = [r for r in claims if r["claim"].startswith(solved)]
    assert len(flagship) == 2 and all(r["verdict"] == "inconclusive" for r in flagship)
    in_domain = [r["verdict"] for r in claims if r["claim"].startswith("At trained lengths")].count("does not")
    assert in_domain == count("does not")
    yield (
        f"Of {len(claims)} claims of the paper {count('holds')} hold here, {count('inconclusive')} are inconclusive, "
        f"and {count('does not')} do not, all of them claims that trained lengths lose nothing. Inconclusive is, among "
        "others, that randomized relative positions are far ahead of all counted ones on Reverse String "
        f"({signed(float(flagship[0]['mean']))} {interval(flagship[0], say=signed)} points) and on Missing Duplicate "
        f"({signed(float(flagship[1]['mean']))} {interval(flagship[1], say=signed)})."
    )
    agree, of, clear, unlearned = paper_says("table1-tiny/table1-verdicts.csv")
    yield (
        f"Where the paper has randomized positions ahead by 2 points or more, {agree} of {of} comparisons here have "
        f"its sign, and in {clear} all three seeds have it; {unlearned} more are not learned, as neither side is above "
        "its baselines by more than its interval."
    )
    signs = table("table1-tiny/signs.csv")
    left = [r for r in signs if r["t_holm"] and float(r["t_holm"]) < 0.05]
    flipped = [r for r in signs if r["permutation_holm"] and float(r["permutation_holm"]) < 0.05]
    yield (
        f"After Holm's correction for all {len(signs)}, Student's test leaves {len(left)} and the test of flipped "
        f"signs {len(flipped)}"
    )
    small = [100 * float(r["mean"]) for r in left if r["task"] == "binary_multiplication"]
    yield f"one of the {len(left)} is a gain of {small[0]:.1f} points that ends below the majority."
    assert one("table1-tiny/table1.csv", "mean", task="binary_multiplication", encoding="sincos",
               positions="randomized") < float(row("table1-tiny/table1.csv", task="binary_multiplication",
                                                   encoding="sincos", positions="randomized")["majority"])  # fmt: skip
    ten = table("ten-seeds-tiny/signs.csv")
    agree, of, _, unlearned = paper_says("ten-seeds-tiny/table1-verdicts.csv")

    def after_holm(test, sign):
        return sum(float(r[test]) < 0.05 and sign * float(r["mean"]) > 0 for r in ten)

    assert after_holm("t_holm", 1) == after_holm("permutation_holm", 1) and after_holm("t_holm", -1) == 0
    yield (
        f"Ten seeds on four tasks say it better: {agree} of {of} comparisons have the paper's sign, {unlearned} more "
        f"are not learned, and after Holm's correction for all {len(ten)} randomized positions are ahead in "
        f"{after_holm('t_holm', 1)} by either test, and behind in none by Student's and in "
        f"{after_holm('permutation_holm', -1)} by that of flipped signs."
    )

    def of_ten(name):
        r = row("ten-seeds-tiny/signs.csv", task="even_pairs", encoding=name)
        return f"{signed(float(r['mean']))} {interval(r, 't_low', 't_high', signed)}"

    yield (
        f"On Even Pairs they gain {of_ten('sin/cos')} points with sin/cos, {of_ten('Relative')} with relative "
        f"positions, {of_ten('RoPE')} with RoPE, {of_ten('ALiBi')} with ALiBi and {of_ten('Learned')} with "
        "learned ones."
    )
    yield f"ruoss2023:signs --size tiny {cost(done('table1-tiny'))}"
    yield f"seed=[0,1,2,3,4,5,6,7,8,9]' {cost(done('ten-seeds-tiny'))}"


def in_order():
    def of(task, order):
        return points(one("sorted-tiny/table3.csv", "mean", task=task, order=order))

    def without(task):
        return points(one("table1-tiny/table1.csv", "mean", task=task, encoding="none", positions="sequential"))

    yield (
        f"On Bucket Sort shuffling the same positions takes sin/cos from {of('bucket_sort', 'sorted')} to "
        f"{of('bucket_sort', 'unsorted')} %, on Even Pairs from {of('even_pairs', 'sorted')} to "
        f"{of('even_pairs', 'unsorted')}, and on Reverse String from {of('reverse_string', 'sorted')} to "
        f"{of('reverse_string', 'unsorted')}. A model without positions has {without('bucket_sort')}, "
        f"{without('even_pairs')} and {without('reverse_string')}."
    )
    _, comparisons, clear, unlearned = paper_says("sorted-tiny/table3-verdicts.csv")
    assert not unlearned
    yield (
        f"All three seeds agree in {clear} of the {comparisons} tasks on which the paper has sorted positions ahead by "
        "2 points or more."
    )
    yield (
        f"Missing Duplicate is not among them, and not learned here: {of('missing_duplicate_string', 'sorted')} "
        f"sorted, {of('missing_duplicate_string', 'unsorted')} shuffled."
    )
    all_tasks = row("claims-tiny/claims.csv", claim="Positions must be in order")
    yield (
        f"Over all 15 tasks sorted positions are ahead by {points(float(all_tasks['mean']))} {interval(all_tasks)} "
        "points."
    )
    yield f"ruoss2023:table3 --size tiny {cost(done('sorted-tiny'))}"


def alignment():
    def r(task, mode, length):
        return row("chi2023-tiny/table4.csv", task=task, mode=mode, length=str(length))

    def all_tasks(mode):
        return points(sum(float(r(task, mode, 4096)["value"]) for task in ("topic", "line", "passkey")) / 3)

    yield (
        f"At 4096 symbols {all_tasks('original')} % of the answers are right as trained, "
        f"{all_tasks('maximum probability')} % with alignment and {all_tasks('log rule')} % with the log rule, tau = "
        "ln n0 / ln n, which needs no measurement"
    )

    def three(task):
        modes = ("original", "maximum probability", "log rule")
        return listed(points(float(r(task, mode, 4096)["value"])) for mode in modes)

    yield f"Of `line` these are {three('line')} %, and of `topic` {three('topic')}."

    def gain(table_number, **wanted):
        verdict = row(f"chi2023-tiny/table{table_number}-verdicts.csv", **wanted)
        return f"{signed(float(verdict['mean']))} {interval(verdict, say=signed)}"

    yield (
        f"Over all longer contexts alignment adds {gain(4, mode='maximum probability')} points, and the log rule "
        f"{gain(4, mode='log rule')}."
    )
    a, b = r("line", "original", 512), r("topic", "original", 4096)
    yield (
        f"`line` at 512 as trained is {points(float(a['value']))} {interval(a)} %, `topic` at 4096 "
        f"{points(float(b['value']))} {interval(b)}."
    )
    lines = [
        float(r["value"])
        for r in table("chi2023-tiny/table2.csv", task="line", mode="original", length="128")
        if r["encoding"] != "T5's biases"
    ]
    changes = [gain(2, encoding=name) for name in ("T5's biases", "RoPE", "ALiBi", "learned positions")]
    yield (
        f"The other encodings do not find lines at the trained length either "
        f"({range_of(lines)} %), so the two tasks say little of them. On `passkey` and `line` alone alignment "
        f"changes T5's biases by {changes[0]} points, RoPE by {changes[1]}, ALiBi by {changes[2]} and learned "
        f"positions by {changes[3]}."
    )
    taus = [float(r["value"]) for r in table("chi2023-tiny/table5.csv")]
    yield f"chi2023:table5 --size tiny {about(3, RETRIEVAL)}"
    yield f"In {sum(t <= 0.5 for t in taus)} of {len(taus)} cases alignment takes the lowest temperature of its grid"


def at_2048(method):
    """Of repeated and of other texts."""
    return " and ".join(points(one("su2023-tiny/far.csv", "accuracy", method=method, length="2048", set=kind))
                        for kind in ("repeated", "plain"))  # fmt: skip


def rerope():
    def accuracy(method, length, kind):
        return points(one("su2023-tiny/lengths.csv", "accuracy", method=method, length=length, set=kind))

    yield (
        f"From 64 to 512 tokens RoPE falls from {accuracy('Baseline', '64', 'repeated')} to "
        f"{accuracy('Baseline', '512', 'repeated')} % on texts that repeat themselves and from "
        f"{accuracy('Baseline', '64', 'plain')} to {accuracy('Baseline', '512', 'plain')} % on others. ReRoPE with a "
        f"window of 32, on the same weights, is at {accuracy('ReRoPE-w32', '512', 'repeated')} and "
        f"{accuracy('ReRoPE-w32', '512', 'plain')} % at 512. At 2048 tokens, 32 times the trained length, it is at "
        f"{at_2048('ReRoPE-w32')} %, and RoPE at {at_2048('Baseline')}."
    )
    ntk = max((r for r in table("su2023-tiny/far.csv", length="2048", set="repeated") if "NTK" in r["method"]),
              key=lambda r: float(r["accuracy"]))["method"]  # fmt: skip
    yield (
        f"ReRoPE is one of several at 8 times and at 32: at 2048 tokens Leaky ReRoPE has "
        f"{at_2048('LeakyReRoPE-w16-k64')} % and SelfExtend {at_2048('SelfExtend-w32-g64')}, where their steps and "
        f"groups were chosen for that length. With those for 512 they have {at_2048('LeakyReRoPE-w16-k16')}, and "
        f"{at_2048('SelfExtend-w32-g16')}. YaRN has {at_2048('YaRN')} and the best NTK {at_2048(ntk)}. ReRoPE has no "
        "such number to choose."
    )
    about_far = asked("su2023-tiny")
    (methods,) = (a["methods"] for a in about_far["artifacts"] if a["name"] == "su2023:far")
    trainings = len({m["model"] for m in methods}) * about_far["seeds"]
    steps, tests = trainings * int(about_far["options"]["steps"]), len(methods) * about_far["seeds"]
    spent = seconds_of("su2023:far, a test", steps, REROPE[0], tests)
    yield f"su2023:far --size tiny # {trainings} trainings, about {spent / 3600:.1f} core-hours"

    def unit(length, trained=64):  # of repeated texts, as experiment/language/language.cpp cuts them
        return min(2 * trained, length // 2)

    far = [float(accuracy("ReRoPE-w32", "512", kind)) for kind in ("repeated", "plain")]
    yield (
        f"A repeated text of 64 tokens repeats itself after {unit(64)}, and one of 512 after {unit(512)}, twice what "
        f"fits into training. There ReRoPE is {far[0] - far[1]:.1f} points better than on other texts: it reads what "
        "is far away."
    )

    def at_512(method):
        return " and ".join(points(one("su2023-tiny/methods.csv", "accuracy", method=method, length="512", set=kind))
                            for kind in ("repeated", "plain"))  # fmt: skip

    yield (
        f"YaRN has {at_512('YaRN')} %, SelfExtend {at_512('SelfExtend-w32-g16')}, Leaky ReRoPE "
        f"{at_512('LeakyReRoPE-w16-k16')}, and the Lambda mask, which forgets what is far, "
        f"{at_512('LambdaMask-w32')}."
    )
    claim = "ReRoPE is above the best NTK"  # of the source: "mixed"
    ahead = [row("su2023-tiny/claims.csv", claim=claim, set=kind) for kind in ("repeated", "plain")]
    windows = {r["method"]: float(r["accuracy"]) for r in table("su2023-tiny/window.csv", length="512", set="plain")
               if re.fullmatch(r"ReRoPE-w\d+", r["method"])}  # fmt: skip
    assert max(windows, key=windows.get) == "ReRoPE-w32" and len(windows) == 5
    yield "It is ahead of NTK (mixed) by " + " and ".join(
        f"{points(float(r['mean']))} {interval(r)}" for r in ahead
    ) + " points,"
    plain_ntk = re.compile(r"(NTK-RoPE|DynamicNTK)(-old|-fixed|-mixed)?")

    def behind(kind):
        forms = [r for r in table("su2023-tiny/methods.csv", length="512", set=kind)
                 if plain_ntk.fullmatch(r["method"])]  # fmt: skip
        best = max(forms, key=lambda r: float(r["accuracy"]))
        name = {"DynamicNTK": "dynamic"}.get(best["method"], best["method"].split("-")[-1])
        return f"{far[kind == 'plain'] - float(points(float(best['accuracy']))):.1f} ({name})"

    yield f"and of the form of NTK that is best here by {behind('repeated')} and {behind('plain')}."
    yield (
        f"has {accuracy('HFWA', '512', 'repeated')} and {accuracy('HFWA', '512', 'plain')} %, and {at_2048('HFWA')} at "
        "2048."
    )
    count = [r["verdict"] for r in table("su2023-tiny/claims.csv")].count
    rows = table("su2023-tiny/claims.csv")
    yield (
        f"Of {len(rows)} comparisons that Su's article makes {count('holds')} hold here, {count('does not')} do not, "
        f"and {count('inconclusive')} are inconclusive"
    )
    yield f"su2023:lengths su2023:claims --size tiny {about(3, REROPE)}"


# What the formula in docs/schemes.md does whatever is learned, of those that the picture shows: it prefers near keys,
# or tells far distances less apart than near ones, or not at all.
DECAY = ("geometric", "lambda", "forgetting", "dape", "hard_alibi", "sandwich", "nape", "kerple", "scale_invariant",
         "alibi")  # fmt: skip
BLURS = ("rerope", "self_extend")

FIRST = {"geometric": "geometric attention", "lambda": "the Lambda mask", "rerope": "ReRoPE",
         "forgetting": "forgetting gates", "self_extend": "SelfExtend", "dape": "DAPE", "hard_alibi": "hard ALiBi",
         "sandwich": "Sandwich"}  # fmt: skip


def bare(encoding):
    """rerope of rerope:window=10"""
    return encoding.split(":")[0]


COUNTS = {6: "six", 7: "seven", 8: "eight", 9: "nine"}


def first_ranks():
    """How many encodings come before the first that neither prefers near keys nor blurs far ones, and all in order."""
    ranks = [bare(r["encoding"]) for r in table("every-scheme/ranking.csv", task="mean")]
    return next(n for n, name in enumerate(ranks) if name not in DECAY + BLURS), ranks


def every_scheme():
    trials = done("every-scheme")
    ranked = table("every-scheme/ranking.csv", task="mean")
    first, ranks = first_ranks()
    of = {bare(r["encoding"]): float(r["mean"]) for r in ranked}
    same = {}
    for r in trials:
        if r["causal"] == "off" and bare(r["encoding"]) in of:
            same.setdefault(r["encoding"], {})[r["task"], r["seed"]] = r["paper_score"]
    low, high = ([float(r[end]) for r in ranked] for end in ("interval_low", "interval_high"))
    from_ = next(n for n in range(len(ranked)) if low[n] <= high[n + 1])
    until = next(n for n in range(from_, len(ranked)) if high[n] < low[from_])
    overlap = f"{from_ + 1} and {until} overlap" if until == from_ + 2 else f"{from_ + 1} to {until} overlap the first"
    yield f"the intervals of places {overlap}"
    yield f"{len({tuple(sorted(s.items())) for s in same.values()})} of the {len(ranks)} differ at these lengths"
    yield f"## 5. The first {COUNTS[first]} of {len(ranks)} encodings prefer near keys or blur far distances"
    yield (
        f"{len({r['encoding'] for r in trials})} encodings were trained with counted positions, and {len(ranks)} of "
        f"them are ranked here, where attention sees both sides: "
        + ", ".join(f"{FIRST[e]} {'has ' if e == ranks[0] else ''}{points(of[e])}{' %' if e == ranks[0] else ''}"
                    for e in ranks[:first])
        + f". RoPE has {points(of['rope'])} and no positions {points(of['none'])}."
    )
    content = mean(
        [{"c": row("every-scheme/ranking.csv", encoding="rope", task=t)["content_only"]}
         for t in ("even_pairs", "reverse_string", "missing_duplicate_string")], "c")  # fmt: skip
    above = sum(of[e] > content for e in ranks)
    yield (
        f"Content only has {points(content)} %, as it solves Missing Duplicate by a count: {above} encodings are above "
        "it, and none is on that task."
    )
    duplicate = table("every-scheme/ranking.csv", task="missing_duplicate_string")
    assert not [r for r in duplicate if float(r["mean"]) > float(r["content_only"])]
    unlearnt = [r for r in ranked if float(r["trained"]) < 0.9]
    trained = {r["encoding"]: float(r["trained"]) for r in ranked}
    yield (
        f"{len(unlearnt)} of {len(ranks)} have less than 90 % at the trained lengths, so that they had not learned the "
        f"tasks yet: forgetting gates ({points(trained['forgetting'])}) and no positions ({points(trained['none'])}) "
        "among them."
    )

    on = {task: {bare(r["encoding"]): float(r["mean"]) for r in table("every-scheme/ranking.csv", task=task)}
          for task in ("even_pairs", "missing_duplicate_string")}  # fmt: skip
    by_one = ("lambda", "rerope", "forgetting", "self_extend")
    assert set(by_one) < set(ranks[1:first])
    yield (
        "The Lambda mask, ReRoPE, forgetting gates and SelfExtend have their places by one task: they have "
        + " on Even Pairs, and ".join(f"{range_of([on[t][e] for e in by_one], points)} %" for t in on)
        + " on Missing Duplicate."
    )
    yield (
        f"A short window alone is not enough: `window` and `rnope` have {points(of['window'])} %. With windows of "
        f"{(w := 10)} slots their {(layers := 3)} layers see no further than {layers * (w - 1)}."
    )
    assert of["window"] == of["rnope"] and f"window:window={w}" in {r["encoding"] for r in ranked}
    causal = {bare(r["encoding"]): float(r["mean"]) for r in table("every-scheme/causal.csv", task="mean")}
    a, b, c = sorted(causal, key=causal.get, reverse=True)[:3]
    names = {"path": "PaTH", "stick_breaking": "stick-breaking attention", "alibi": "ALiBi"}
    yield (
        f"With a causal mask {names[a]} has {points(causal[a])} %, {names[b]} {points(causal[b])}, {names[c]} "
        f"{points(causal[c])}, no positions {points(causal['none'])} and RoPE {points(causal['rope'])}."
    )
    yield f"--encodings all --size tiny {cost(trials)}"


ALL = (randomized, in_order, alignment, rerope, every_scheme, *experiments.ALL)

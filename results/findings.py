"""The measured figures of docs/results.md: each function gives the sentences of a finding as they follow from the
tables in results/*/. results/sentences.py looks for them in the page. From finding 6 on they are in
results/experiments.py."""

import re

import experiments
from query import (HERE, NAMES, at_trained, cost, done, interval, listed, mean, one, paper_says, points, range_of, row,
                   signed, table, whole)  # fmt: skip


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


def randomized():
    found = [r for r in table("table1-tiny/table1.csv", task="bucket_sort") if r["encoding"] != "none"]
    plain, random = ([float(r["mean"]) for r in found if r["positions"] == p] for p in ("sequential", "randomized"))
    yield (
        f"On Bucket Sort five encodings are right in {range_of(plain)} % of the symbols of unseen lengths with counted "
        f"positions, and in {range_of(random)} % with randomized ones. The majority gives "
        f"{whole(float(found[0]['majority']))} %, so the learned table, the lowest, is hardly better than that."
    )
    tasks = dict.fromkeys(r["task"] for r in done("table1-tiny"))
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
    in_domain = [r["verdict"] for r in claims if r["claim"].startswith("At trained lengths")].count("does not")
    assert in_domain == count("does not")
    yield (
        f"Of {len(claims)} claims of the paper {count('holds')} hold here, {count('inconclusive')} are inconclusive, "
        f"and {count('does not')} do not, all of them claims that trained lengths lose nothing."
    )
    agree, of, clear = paper_says("table1-tiny/table1.md")
    yield (
        f"Where the paper has randomized positions ahead by 2 points or more, {agree} of {of} comparisons here have "
        f"its sign; in {clear} all three seeds have it."
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
    agree, of, _ = paper_says("ten-seeds-tiny/table1.md")

    def after_holm(test, sign):
        return sum(float(r[test]) < 0.05 and sign * float(r["mean"]) > 0 for r in ten)

    assert after_holm("t_holm", 1) == after_holm("permutation_holm", 1) and after_holm("t_holm", -1) == 0
    yield (
        f"Ten seeds on four tasks say it better: {agree} of {of} comparisons have the paper's sign, and after Holm's "
        f"correction for all {len(ten)} randomized positions are ahead in {after_holm('t_holm', 1)} by either test, "
        f"and behind in none by Student's and in {after_holm('permutation_holm', -1)} by that of flipped signs."
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
    agree, comparisons, clear = paper_says("sorted-tiny/table3.md")
    yield (
        f"All three seeds agree in {clear} of the {comparisons} tasks on which the paper has sorted positions ahead by "
        "2 points or more."
    )
    yield (
        f"Missing Duplicate is not among them, and not learned here: {of('missing_duplicate_string', 'sorted')} "
        f"sorted, {of('missing_duplicate_string', 'unsorted')} shuffled."
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
    text = (HERE / "chi2023-tiny/table4.md").read_text()
    beyond = {
        mode: re.search(rf"^{mode}: (\S+) points (\[.*?\])", text, re.M).groups()
        for mode in ("log rule", "maximum probability")
    }
    yield (
        f"Over all longer contexts alignment adds {beyond['maximum probability'][0]} "
        f"{beyond['maximum probability'][1]} points, and the log rule {beyond['log rule'][0]} {beyond['log rule'][1]}."
    )
    a, b = r("line", "original", 512), r("topic", "original", 4096)
    yield (
        f"`line` at 512 as trained is {points(float(a['value']))} {interval(a)} %, `topic` at 4096 "
        f"{points(float(b['value']))} {interval(b)}."
    )
    others = (HERE / "chi2023-tiny/table2.md").read_text()

    def of(name):
        return re.search(rf"^{name}: .* aligned (\S+) points (\[.*?\])", others, re.M).groups()

    lines = [
        float(r["value"])
        for r in table("chi2023-tiny/table2.csv", task="line", mode="original", length="128")
        if r["encoding"] != "T5's biases"
    ]
    yield (
        f"The other encodings do not find lines at the trained length either "
        f"({range_of(lines)} %); "
        f"alignment changes RoPE by {' '.join(of('RoPE'))}, ALiBi by {' '.join(of('ALiBi'))} and learned positions by "
        f"{' '.join(of('learned positions'))} points."
    )
    low = re.search(r"In (\d+) of (\d+) cells it is 0.5", (HERE / "chi2023-tiny/table5.md").read_text())
    yield f"chi2023:table5 --size tiny {about(3, RETRIEVAL)}"
    yield f"In {low[1]} of {low[2]} cases alignment takes the lowest temperature of its grid"


def rerope():
    def accuracy(method, length, kind):
        return points(one("su2023-tiny/lengths.csv", "accuracy", method=method, length=length, set=kind))

    yield (
        f"From 64 to 512 tokens RoPE falls from {accuracy('Baseline', '64', 'repeated')} to "
        f"{accuracy('Baseline', '512', 'repeated')} % on texts that repeat themselves and from "
        f"{accuracy('Baseline', '64', 'plain')} to {accuracy('Baseline', '512', 'plain')} % on others. ReRoPE with a "
        f"window of 32, on the same weights, is at {accuracy('ReRoPE-w32', '512', 'repeated')} and "
        f"{accuracy('ReRoPE-w32', '512', 'plain')} % at 512."
    )
    far = [float(accuracy("ReRoPE-w32", "512", kind)) for kind in ("repeated", "plain")]
    yield (
        f"Repeated texts repeat themselves every 128 tokens, twice what fits into training, and ReRoPE is "
        f"{far[0] - far[1]:.1f} points better on them: it reads what is far away."
    )
    claim = "ReRoPE is above the best NTK"
    ahead = [row("su2023-tiny/claims.csv", claim=claim, set=kind) for kind in ("repeated", "plain")]
    yield "It is ahead of NTK by " + " and ".join(
        f"{points(float(r['mean']))} {interval(r)}" for r in ahead
    ) + " points."
    yield f"has {accuracy('HFWA', '512', 'repeated')} and {accuracy('HFWA', '512', 'plain')} %"
    count = [r["verdict"] for r in table("su2023-tiny/claims.csv")].count
    rows = table("su2023-tiny/claims.csv")
    yield (
        f"Of {len(rows)} comparisons that Su's article makes {count('holds')} hold here, {count('does not')} do not, "
        f"and {count('inconclusive')} are inconclusive"
    )
    yield f"su2023:lengths su2023:claims --size tiny {about(3, REROPE)}"


DECAY = ("geometric", "forgetting", "dape", "hard_alibi", "sandwich", "nape", "kerple", "scale_invariant", "alibi")
# whose formula in docs/schemes.md prefers near keys, whatever is learned, of those that the picture shows


FIRST = {"geometric": "geometric attention", "forgetting": "forgetting gates", "dape": "DAPE",
         "hard_alibi": "hard ALiBi", "sandwich": "Sandwich"}  # fmt: skip


def every_scheme():
    trials = done("every-scheme")
    ranked = table("every-scheme/ranking.csv", task="mean")
    ranks = [r["encoding"] for r in ranked]
    of = {r["encoding"]: float(r["mean"]) for r in ranked}
    first = 0
    while ranks[first] in DECAY:
        first += 1
    counts = {5: "five", 4: "four", 6: "six"}
    yield f"## 5. The first {counts[first]} of {len(ranks)} encodings prefer near keys"
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

    def on(name):
        return listed(
            points(one("every-scheme/ranking.csv", "mean", encoding=name, task=t))
            for t in ("even_pairs", "reverse_string", "missing_duplicate_string")
        )

    yield f"Forgetting is second because of one task: it has {on('forgetting')} %."
    causal = {r["encoding"]: float(r["mean"]) for r in table("every-scheme/causal.csv", task="mean")}
    a, b, c = sorted(causal, key=causal.get, reverse=True)[:3]
    names = {"path": "PaTH", "stick_breaking": "stick-breaking attention", "alibi": "ALiBi"}
    yield (
        f"With a causal mask {names[a]} has {points(causal[a])} %, {names[b]} {points(causal[b])}, {names[c]} "
        f"{points(causal[c])}, no positions {points(causal['none'])} and RoPE {points(causal['rope'])}."
    )
    yield f"--encodings all --size tiny {cost(trials)}"


ALL = (randomized, in_order, alignment, rerope, every_scheme, *experiments.ALL)

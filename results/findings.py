"""The measured figures of docs/results.md: each function gives the sentences of a finding as they follow from the
tables in results/*/. results/sentences.py looks for them in the page."""

import re

from query import (NAMES, at_trained, done, hours, in_words, interval, listed, mean, one, points, range_of, row,
                   signed, table, whole, HERE)  # fmt: skip


def cost(folder_trials, unit="core-hours"):
    """Behind a command: what it trains."""
    return f"# {len(folder_trials)} trainings, {hours(folder_trials):.1f} {unit}"


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


def paper_says(path):
    (said,) = re.findall(r"Where the paper .*, (\d+) of (\d+) comparisons agree: (\d+) .*", (HERE / path).read_text())
    return said


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
        f"correction for all {len(ten)} randomized positions are ahead in {after_holm('t_holm', 1)} by either test, and "
        f"behind in none by Student's and in {after_holm('permutation_holm', -1)} by that of flipped signs."
    )

    def of_ten(name):
        r = row("ten-seeds-tiny/signs.csv", task="even_pairs", encoding=name)
        return f"{signed(float(r['mean']))} {interval(r, 't_low', 't_high', signed)}"

    yield (
        f"On Even Pairs they gain {of_ten('sin/cos')} points with sin/cos, {of_ten('Relative')} with relative positions, "
        f"{of_ten('RoPE')} with RoPE, {of_ten('ALiBi')} with ALiBi and {of_ten('Learned')} with learned ones."
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
        f"Repeated texts repeat themselves every 128 tokens, twice what fits into training, and ReRoPE is {far[0] - far[1]:.1f} "
        "points better on them: it reads what is far away."
    )
    ahead = [row("su2023-tiny/claims.csv", claim="ReRoPE is above the best NTK", set=kind) for kind in ("repeated", "plain")]
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
    text = (HERE / "gap_shift-tiny/first.md").read_text()

    def said(length):
        return re.search(
            rf"^From length {length} to 80 with uniform sampling.*: The gap alone costs (\S+) points (\[.*?\]), the "
            r"length alone (\S+) points (\[.*?\])\..*the gap costs more in (\d+), the length in (\d+), and (\d+) are",
            text, re.M).groups()  # fmt: skip

    g, gi, l, li, more, less, neither = said(10)
    yield (
        f"In the mean of all nine the gap costs {g} {gi} % and the length {l} {li}: the gap costs more in {more}, "
        f"the length in {less}, and {neither} are inconclusive."
    )
    g, gi, l, li, more, less, neither = said(20)
    seven = [s for s in SETTINGS if s not in (("missing_duplicate_string", "sincos"), ("missing_duplicate_string", "rope"))]

    def at_20(change, without=()):
        losses = [loss(*s, change, "20") for s in seven if s != without]
        return points(sum(losses) / len(losses))

    assert (at_20("gap"), at_20("length")) == (g, l)
    gap, length = (at_20(change, without=("bucket_sort", "sincos")) for change in ("gap", "length"))

    yield (
        f"From length 20, in seven settings, it is {more}, {less} and {neither}, and the means are {g} and {l} %; but "
        f"sin/cos on Bucket Sort, with {whole(loss('bucket_sort', 'sincos', 'gap', '20'))} and "
        f"{whole(loss('bucket_sort', 'sincos', 'length', '20'))}, moves both: without it they are {gap} and {length}."
    )
    text = (HERE / "gap_shift-tiny/matched.md").read_text()
    line = re.search(r"^Lengths 30 to 100, as trained.*", text, re.M)[0]

    def trained(name):
        return re.search(rf"{name} \(9 settings\) (\S+) points (\[.*?\])", line).groups()

    yield (
        f"Training with small gaps too is no cure: runs of neighbours with gaps between them (`blocks`) change accuracy "
        f"by {' '.join(trained('blocks'))} points, and a random part of the range (`log_density`) by "
        f"{' '.join(trained('log density'))}; real numbers as positions change it by "
        f"{' '.join(trained('random floats'))}."
    )
    yield f"gap_shift --size tiny {cost(done('gap_shift-tiny'), 'hours of clock time')}"


def ladder():
    """Whichever way it came out, and what the registered probabilities add up to."""
    verdicts = table("ladder/verdict.csv", family="each task's")
    above = [r for r in verdicts if r["verdict"] == "above"]
    (goal,) = re.findall(r"^The goal, .*", (HERE / "ladder/verdict.md").read_text(), re.MULTILINE)
    won = listed(
        f"{in_words(r['task'])} ({signed(float(r['difference']))} {interval(r, 't_low', 't_high', signed)} points)"
        for r in above
    )
    yield (
        f"{len(verdicts)} of 15 tasks have a verdict; above the best scheme of tables 1 and 5, trained as long, are "
        f"{len(above)}: {won}. {goal}"
    )
    of_all = table("ladder/verdict.csv", family="one for all")
    (same,) = {r["candidate"] for r in of_all}
    assert same == "R-ALiBi, SSMax" and not [r for r in of_all if r["verdict"] == "above"] and len(of_all) == 15
    best = max(of_all, key=lambda r: float(r["t_low"]))
    yield (
        f"The one candidate that was chosen for all tasks, randomized ALiBi with a trained temperature (SSMax), is above "
        f"on none of {len(of_all)}; it comes nearest on {in_words(best['task'])} "
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


def cross():
    policies = ["log n, trained", "log rule", "maximum probability", "entropy", "SSMax, trained",
                "scale-invariant, trained"]  # fmt: skip

    def adds(positions, policy):
        with_it, without = (
            mean(table("cross-tiny/cross.csv", positions=positions, what=w), "value") for w in (policy, "none")
        )
        return with_it - without

    best = max(adds("randomized", p) for p in policies)
    yield (
        f"With randomized positions no temperature adds more than {points(best)} points in the mean, and alignment "
        f"costs {points(-adds('randomized', 'maximum probability'))} (by the maximum probability) and "
        f"{points(-adds('randomized', 'entropy'))} (by entropy). With counted positions scale-invariant attention adds "
        f"{points(adds('sequential', 'scale-invariant, trained'))} points."
    )
    yield (
        f"With counted positions longer strings cost {loss('sequential', 'the length itself')} %; their positions "
        f"alone {loss('sequential', 'positions')}, their number of keys alone {loss('sequential', 'number of keys')}, "
        f"and attention as flat as theirs {loss('sequential', 'dispersion')}. With randomized positions they cost "
        f"{loss('randomized', 'the length itself')}; their narrower gaps alone {loss('randomized', 'gaps')}, the keys "
        f"{loss('randomized', 'number of keys')} and the flatness {loss('randomized', 'dispersion')}."
    )
    yield f"--set seeds=2 {cost(done('cross-tiny'), 'hours of clock time')}"


def example():
    rows = [r for r in table("ruoss2023-example/table1.csv") if r["best"]]
    near = [r for r in rows if abs(float(r["best"]) - float(r["paper"])) <= 0.05]
    agree, of, clear = paper_says("ruoss2023-example/table1.md")
    assert 2 * int(agree) <= int(of)
    yield (
        f"{len(near)} of {len(rows)} accuracies are within five points of the paper's, and {agree} of {of} differences "
        "between randomized and counted positions have its sign, no more than a coin would give."
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


ALL = (randomized, in_order, alignment, rerope, every_scheme, gaps, ladder, cross, example)

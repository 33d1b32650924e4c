"""poslab.papers.ruoss2023: its tables and claims from made-up results, and its artifacts from trained runs."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_papers import reproduce

from poslab.papers import ruoss2023
from poslab.papers.page import csv, markdown
from poslab.papers.ruoss2023 import expected_best
from poslab.papers.ruoss2023_claims import FIFTEEN
from poslab.papers.ruoss2023_columns import COLUMNS, paper
from poslab.papers.setting import Comparison, Setting
from poslab.papers.trials import Trials

RESULTS = Path(__file__).parents[2] / "results"
COMMON = {"positions": "sequential", "max_position": 400, "lr": 3e-4, "train_length": 20,
          "eval_lengths": "1:100", "steps": 3000, "batch": 32, "eval_samples": 32, "test_dropout": False}  # fmt: skip
BASELINES = {"chance": 0.5, "majority": 0.5, "content_only": 0.6}
LOW = dict.fromkeys(BASELINES, 0.1)


def made(score, trials, baselines=BASELINES):
    """Trials with the accuracy score(trial): a number, a pair (lengths 21 to 40, and beyond), or None if not done."""
    lines = []
    for n, trial in enumerate(trials):
        trial["id"], of = str(n), score(COMMON | trial)
        if of is None:
            continue
        near, far = of if isinstance(of, tuple) else (of, of)
        column = [1.0] * 20 + [near] * 20 + [far] * 60
        tested = {"length": range(1, 101), "accuracy": column} | {name: [x] * 100 for name, x in baselines.items()}
        tested = {name: " ".join(map(str, cells)) for name, cells in tested.items()}
        lines.append({"id": str(n), "result": {"paper_score": far, "baselines": baselines}, "tested": tested})
    return Trials({"common": COMMON, "trials": trials}, lines)


def table1(tasks, schemes, seeds=3, **more):
    return [{"task": task, "encoding": c.encoding, "positions": c.positions, "seed": seed} | more
            for task in tasks for c in COLUMNS if c.encoding in schemes for seed in range(seeds)]  # fmt: skip


def as_in_the_paper(trial):
    """The paper's own number, varied a little by seed."""
    task = trial["task"]
    (column,) = [c for c in COLUMNS if (c.encoding, c.positions) == (trial["encoding"], trial["positions"])] or [None]
    x = (
        paper(task, "geometric", "table5") if trial["encoding"] == "geometric"
        else paper(task, "rand_sincos_unsorted", "table3") if trial["positions"] == "randomized:unsorted"
        else paper(task, column.paper)
    )  # fmt: skip
    return x - 0.001 * trial["seed"]


def drawn(name, trials, **artifact):
    section = ruoss2023.DRAW[name](trials, artifact)
    text = markdown(name, {"title": "", "source": ""}, section)
    assert "nan" not in text.replace("dominant", "") and "nan" not in csv(section.data)
    return section, text


def test_results_as_the_papers_agree_with_it_and_flat_ones_are_not_learned():
    trials = table1(["even_pairs", "bucket_sort"], ["none", "sincos", "relative", "alibi", "rope", "learned"])
    section, text = drawn("table1", made(as_in_the_paper, trials))
    assert "10 of 10 comparisons agree: 10 with an interval above zero, 0 only in the sign of the mean." in text
    assert "The sign is opposite here" not in text and "not learned" not in text and "| 96.4 (96.4, 0.0) |" in text
    assert "bucket_sort (chance 50.0, majority 50.0, content only 60.0)" in text
    assert list(section.more["verdicts"]["verdict"]) == ["agrees"] * 10
    flat, text = drawn("table1", made(lambda trial: 0.5, trials))
    assert "none of 10 complete comparisons is learned: neither side is above its baselines by more than" in text
    assert set(flat.more["verdicts"]["verdict"]) == {"not learned"}
    _, text = drawn("table1", made(lambda trial: 0.7, trials))
    assert "0 of 10 comparisons agree" in text
    assert "The sign is opposite here: even_pairs, R-sin/cos - sin/cos (0.0 points; paper +49.1)" in text


@pytest.mark.parametrize("plain, random, verdict", [
    ([0.5, 0.5, 0.5], [0.7, 0.8, 0.75], "agrees"), ([0.5, 0.8, 0.5], [0.7, 0.78, 0.75], "agrees in sign"),
    ([0.7, 0.8, 0.75], [0.5, 0.5, 0.5], "opposite"),  # only the plain side has learned
    ([0.5, 0.5, 0.5], [0.55, 0.61, 0.58], "not learned"),  # one seed is above content only, but the interval is not
    ([0.5], [0.61], "agrees in sign"), ([0.5], [0.59], "not learned")])  # one seed has no interval
def test_a_pair_is_judged_where_one_side_is_above_its_baselines_by_more_than_its_interval(plain, random, verdict):
    scores = {"sequential": plain, "randomized": random}
    trials = made(lambda t: scores[t["positions"]][t["seed"]], table1(["even_pairs"], ["rope"], len(plain)))
    section, text = drawn("table1", trials)
    assert list(section.more["verdicts"]["verdict"]) == [verdict]
    assert ("none of 1 complete comparisons is learned" in text) == (verdict == "not learned")
    signs, text = drawn("signs", trials)
    assert list(signs.data["learned"]) == [verdict != "not learned"] and ("1 more is" in text) == ("not" in verdict)


def test_what_the_paper_has_behind_is_judged_by_its_sign():
    trials = table1(["modular_arithmetic"], ["rope"]) + table1(["modular_arithmetic"], ["none"], encoding="geometric")
    section, text = drawn("table5", made(lambda t: 0.8 if t["encoding"] == "geometric" else 0.7, trials))
    assert list(section.more["verdicts"]["verdict"]) == ["agrees"]
    assert "paper has geometric attention ahead of the best randomized scheme by 2 points or more, 1 of 1" in text
    _, text = drawn("table5", made(lambda t: 0.6 if t["encoding"] == "geometric" else 0.7, trials))
    assert "The sign is opposite here: modular_arithmetic, geometric - best randomized (-10.0 points; paper +" in text


def test_table_5_shows_the_luckiest_run_and_compares_the_best_mean():
    def score(trial):
        lucky = 0.99 if trial["seed"] == 1 else 0.8
        return {"rope": lucky, "relative": 0.95, "geometric": 0.9}[trial["encoding"]]

    trials = [t for t in table1(["bucket_sort"], ["rope", "relative"]) if t["positions"] == "randomized"]
    trials += table1(["bucket_sort"], ["none"], encoding="geometric")
    _, text = drawn("table5", made(score, trials))
    assert "| 99.0 (R-RoPE, 100.0, -1.0) |" in text and "| **+5.0** (R-Relative, [+5.0, +5.0], " in text


def test_best_best_learning_rate_and_pairs_of_seeds():
    trials = [t for lr in (1e-4, 1e-3) for t in table1(["even_pairs"], ["rope"], lr=lr)]

    def score(t):  # plain: 0.5, 0.6, 0.7 at one rate; 0.8, 0.3, 0.3 at the other
        first = 0.5 + 0.1 * t["seed"] + 0.2 * (t["positions"] == "randomized")
        return first if t["lr"] == 1e-3 else 0.3 if t["seed"] else 0.8

    all = made(score, trials)
    plain, random = (Setting(all, positions=positions) for positions in ("sequential", "randomized"))
    assert (plain.runs, plain.best, plain.best_lr, plain.lr) == (6, 0.8, 1e-4, 1e-3)
    assert plain.mean == pytest.approx(0.6) and plain.deviation == pytest.approx(0.1) and len(plain.at_lr) == 3
    pair = Comparison("even_pairs", "", 0.5, random, plain)
    assert pair.seeds == 3 and pair.mean == pytest.approx(0.2) and pair.interval[0] == pytest.approx(0.2)
    assert "Means, differences and tests are at the learning rate" in drawn("table1", all)[1]


def test_what_is_done_in_part_is_marked_and_not_judged():
    trials = [t for lr in (1e-4, 1e-3) for t in table1(["even_pairs"], ["rope", "sincos"], lr=lr)]
    half = made(lambda t: as_in_the_paper(t) if t["lr"] == 1e-3 or t["encoding"] == "sincos" else None, trials)
    section, text = drawn("table1", half)
    assert "| 100.0 (3 of 6 runs, 100.0, 0.0)" in text and "(not all runs, [" in text
    assert "1 of 1 comparisons agree: 1 with an interval above zero" in text and "Not complete yet: 1 more." in text
    assert sorted(section.more["verdicts"]["verdict"]) == ["agrees", "incomplete"]
    _, text = drawn("table1", made(as_in_the_paper, table1(["even_pairs"], ["none"])))
    assert "| **50.4** (50.4, 0.0) |" in text and "omparisons" not in text and "Randomized minus plain" not in text
    _, text = drawn("table1", made(lambda t: None, table1(["odds_first"], ["rope"])))
    assert "No comparison of randomized positions with plain ones is complete yet." in text


def test_signs_are_counted_with_holm_over_all_comparisons():
    """RoPE is 40 points ahead on Even Pairs, with little spread, and behind on Reverse String; relative: one seed."""

    def score(t):
        if t["encoding"] == "relative" and t["seed"]:
            return None
        more = (0.4 if t["task"] == "even_pairs" else -0.1) + 0.01 * t["seed"]
        return 0.7 + more * (t["positions"] == "randomized")

    section, _ = drawn("signs", made(score, table1(["even_pairs", "reverse_string"], ["rope", "relative"])))
    data = section.data.set_index(["task", "encoding"])
    rope, against = data.loc["even_pairs", "RoPE"], data.loc["reverse_string", "RoPE"]
    relative = data.loc["even_pairs", "Relative"]
    assert len(data) == 4 and rope["seeds"] == 3 and rope["mean"] == pytest.approx(0.41)
    assert rope["t_low"] == pytest.approx(0.41 - 4.302652729749462 * 0.01 / 3**0.5)
    assert rope["t_holm"] == pytest.approx(2 * 0.000198236, rel=1e-3)  # twice the p of t = 71.01
    assert against["t_holm"] == pytest.approx(0.00408999, rel=1e-3) and rope["permutation_holm"] == 0.5
    assert np.isnan(rope["permutation_low"]) and relative["seeds"] == 1 and np.isnan(relative["t_holm"])
    assert section.readings == [
        "Of 4 comparisons in which the paper's bests differ by 2 points or more, 2 have a mean with the paper's sign "
        "here. They have 1 to 3 seeds each.",
        "After Holm over all comparisons with three seeds or more, 1 of these differ from zero with the paper's sign "
        "and 1 with the other, by Student's test.",
    ]
    # A difference of exactly 0 has no sign, even if the paper's difference is negative.
    flat, text = drawn("signs", made(lambda t: 0.7, table1(["modular_arithmetic"], ["alibi"])))
    assert flat.data["paper"].iloc[0] < -0.02 and "Of 1 comparison in which the paper's bests differ by" in text
    assert ", 0 have a mean with the paper's sign" in text and list(flat.data["t_holm"]) == [1]


def test_a_run_is_chosen_just_past_the_trained_lengths_and_scored_beyond():
    near, far = (0.9, 0.8, 0.7), (0.6, 0.75, 0.5)  # the best seed at validation is not best at test
    trials = table1(["even_pairs"], ["rope"])
    all = made(lambda t: (near[t["seed"]], far[t["seed"]]) if t["positions"] == "sequential" else None, trials)
    section, text = drawn("chosen", all)
    (row,) = section.data.drop(columns=["task", "encoding", "positions"]).to_numpy()
    assert row == pytest.approx([3, 0.75, 0.6, 0.9, 1.85 / 3, 0.6, (0.75 + 0.75 + 0.6) / 3])
    assert "adds +15.0 points on average over the 1 cell with two runs or more." in text
    short = made(lambda t: 0.7, [t | {"eval_lengths": "1:40"} for t in trials])
    assert ruoss2023.DRAW["chosen"](short, {}).readings == [
        "No length beyond 40, twice the trained ones, is tested; raise eval_lengths."
    ]
    assert expected_best([3, 1, 2], 2) == pytest.approx(8 / 3) and np.isnan(expected_best([1], 2))


def all_claims(pools=(200, 1600)):
    trials = table1(FIFTEEN, [c.encoding for c in COLUMNS])
    trials += table1(FIFTEEN, ["none"], encoding="geometric")
    trials += table1(FIFTEEN, ["none"], encoding="sincos", positions="randomized:unsorted")
    for task in ("reverse_string", "missing_duplicate_string"):
        for pool in pools:
            trials += table1([task], ["none"], encoding="relative", positions="randomized", max_position=pool)
    return trials


def test_every_claim_holds_of_the_papers_own_numbers_and_by_as_much_as_the_paper_says():
    section, _ = drawn("claims", made(as_in_the_paper, all_claims(), LOW), max_position=400)
    data = section.data
    assert len(data) == 14 and set(data["verdict"]) == {"holds"} and data["source"].notna().sum() == 7
    of_paper = data.dropna(subset="source")
    assert of_paper["mean"].to_numpy() == pytest.approx(of_paper["source"].to_numpy())
    assert data["mean"][0] == pytest.approx(0.12, rel=0.005) and data["mean"][3] == pytest.approx(0.435)  # abstract, 4
    judged = data.dropna(subset="learned")  # lengths beyond training
    assert len(judged) == 9 and (judged["learned"] <= judged["tasks"]).all()


def test_a_claim_that_is_not_so_and_one_of_which_a_seed_is_missing_say_so():
    def score(t):
        return None if t["encoding"] == "geometric" else 0.4 if t["positions"].startswith("randomized") else 0.5

    section, text = drawn("claims", made(score, all_claims(), LOW), max_position=400)
    verdict = section.data.set_index("claim")["verdict"]
    assert verdict["Randomized positions raise accuracy on unseen lengths"] == "does not"
    assert verdict["Positions must be in order"] == "inconclusive"  # equal, so zero is not excluded
    assert "Geometric attention is ahead on five arithmetic tasks" not in verdict
    assert section.readings == ["Of 12 comparisons 7 hold, 4 do not, and 1 is inconclusive."]
    # Claims about longer strings neither hold nor fail if no side is above its baselines.
    section, text = drawn("claims", made(score, all_claims()), max_position=400)
    assert set(section.data.dropna(subset="learned")["verdict"]) == {"not learned"} and "learned: 0 of 15" in text
    assert " 7 more are not learned: neither side is above its baselines" in section.readings[0]


def test_half_of_figure_2():
    run = {"task": "even_pairs", "encoding": "relative", "seed": 0}
    trials = [run | {"positions": "randomized"}, run | {"positions": "sequential", "train_length": 100}]
    tests = [{"step": 150 * n, "seconds": 1.5 * n, "lengths": [10, 30], "accuracies": [0.5, 0.95]} for n in range(1, 5)]
    all = made(lambda t: 0.75 if t["positions"] == "randomized" else None, trials)
    section, text = drawn("fig2", all, tests={"0": tests})
    assert "randomized after 1.5 s (a test every 1.5 s), naive not yet run" in text
    assert list(section.data.iloc[0])[-3:] == [150, 1.5, 0.95]  # the unseen length's accuracy alone
    section, text = drawn("fig2", all, tests={"0": tests[:2]})
    assert "randomized not in this run, naive not yet run" in text


@pytest.mark.parametrize("folder", ["table1-tiny", "ten-seeds-tiny", "sorted-tiny", "claims-tiny"])
def test_the_tables_in_results_come_out_of_the_trials_there(tmp_path, folder):
    page = (RESULTS / folder / "README.md").read_text()
    (command,) = [line for line in page.splitlines() if line.startswith("    poslab")]
    words = shlex.split(command)[2:]
    words[words.index("--kept") + 1] = RESULTS / "table1-tiny/kept.jsonl"
    del words[words.index("--out") :]
    again = reproduce(tmp_path / "new", *words, "--draw")
    assert again.returncode == 0, again.stderr
    for file in sorted((RESULTS / folder).iterdir()):
        if file.suffix in (".md", ".csv") and file.stem not in ("README", "trials"):
            assert (tmp_path / "new" / file.name).read_text() == file.read_text(), file.name


def test_every_artifact_from_trained_runs(tmp_path):
    out = tmp_path / "out"
    sets = "seeds=1 steps=40 layers=2 heads=2 d_model=16 batch=8 eval_samples=2 eval_lengths=18:60".split()
    words = ["ruoss2023:all", "--tasks", "even_pairs,reverse_string", "--encodings", "relative,geometric,sincos",
             *(word for one in sets for word in ("--set", one))]  # fmt: skip
    done = reproduce(out, *words, "--figures", "csv")
    assert done.returncode == 0, done.stderr
    page = (out / "index.html").read_text()
    for name in ruoss2023.DRAW:
        text = (out / f"{name}.md").read_text()
        assert not any(word in text for word in ("to do", "nan", "could not be drawn")), name
        assert f'<h2 id="{name}">' in page and len(pd.read_csv(out / f"{name}.csv")), name
    figures = sorted(path.stem for path in (out / "figures").glob("*.csv"))
    assert {"fig2-time-even_pairs", "fig4-lengths-reverse_string-randomized", "fig5-pca-relative-randomized",
            "fig6-attention-relative-sequential", "coverage-randomized"} <= set(figures)  # fmt: skip
    assert page.count("<figure>") == page.count(' alt="') == len(figures) and '<a href="fig6.npz">' in page
    assert "sequential/layer2/length75" in np.load(out / "fig5.npz")
    assert "that table through the clamped lookup (code)" in (out / "code.md").read_text()
    assert "even_pairs,sequential,60,0,40," in (out / "fig2.csv").read_text()
    # a damaged run costs only its own figure
    (run,) = [t["id"] for t in json.loads((out / "about.json").read_text())["trials"] if t.get("train_length") == 60]
    (out / "runs" / run / "tests.jsonl").unlink()
    again = reproduce(out, "ruoss2023:fig2", *words[1:], "--draw")
    assert again.returncode == 0 and "--tasks reverse_string: no chosen trial of ruoss2023:fig2 has it" in again.stderr
    assert "This could not be drawn: cannot read " in (out / "fig2.md").read_text()
    (out / "runs" / run / "result.json").write_text('{"paper_score":"high"}')
    assert reproduce(out, "ruoss2023:fig2", *words[1:], "--draw").returncode == 0
    assert all("is damaged; test " in (out / file).read_text() for file in ("README.md", "trials.csv"))


def test_where_nothing_is_done_yet_every_artifact_says_so(tmp_path):
    out = tmp_path / "out"
    (out / "runs").mkdir(parents=True)
    done = reproduce(out, "ruoss2023", "--draw")
    assert done.returncode == 0 and "0 of 701 trials are done; 701 to do." in done.stdout, done.stderr
    for name in ruoss2023.DRAW:
        text = (out / f"{name}.md").read_text()
        assert "nan" not in text and "could not be drawn" not in text, name
        assert (" to do." if name != "coverage" else "| R-Relative | 100.0 | 100.0 |") in text, name
    for name in ("code", "claims"):
        assert "No comparison can be made of the runs that are done." in (out / f"{name}.md").read_text()
    assert reproduce(out, "ruoss2023:table1", "ruoss2023:fig5", "--encodings", "rope", "--draw").returncode == 0
    assert "None of the requested runs belongs here." in (out / "fig5.md").read_text()


def test_the_program_goes_on_and_reports_what_failed_without_stopping(tmp_path):
    out = tmp_path / "out"
    sets = "seeds=2 steps=10 layers=40 d_model=16 eval_samples=2 eval_lengths=20:22 clip=1e12 lr=[1e-3,100]".split()
    words = ["ruoss2023:table3", "--tasks", "even_pairs", *(word for one in sets for word in ("--set", one))]
    assert reproduce(out, *words).returncode == 1
    text = (out / "README.md").read_text()
    assert "4 of 8 trials are done; 4 failed." in text and "training has diverged; lower lr (now 100)" in text
    when = (out / "runs/journal.jsonl").stat().st_mtime_ns
    assert reproduce(out, *words, "--draw").returncode == 0 and reproduce(out, *words).returncode == 1
    assert (out / "runs/journal.jsonl").stat().st_mtime_ns == when  # nothing ran again
    assert (out / "README.md").read_text() == text
    assert "choose another --out" in reproduce(out, "ruoss2023:table1").stderr
    for _ in range(2):  # coverage has no runs and no plan
        words = ["ruoss2023:coverage", "--size", "example", "--set", "eval_lengths=1:150"]
        assert reproduce(tmp_path / "no runs", *words).returncode == 0
    covered = (tmp_path / "no runs/README.md").read_text()
    assert "| encoding | length 40 | length 150 |" in covered and "--set eval_lengths=1:150 --out '" in covered

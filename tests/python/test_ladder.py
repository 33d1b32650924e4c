"""poslab.papers.ladder: its committed tables, and the choices and verdicts on made-up results, which must follow
lab/papers/ladder/ladder.toml."""

import json

import made_up
import numpy as np
import pandas as pd
import pytest
from test_papers import RESULTS, reproduce

from poslab.papers.seeds import flip_interval, flip_test, holm, t_interval

TEN = np.array([0.12, -0.03, 0.25, 0.07, 0.18, 0.02, 0.31, -0.05, 0.11, 0.09])


def test_statistics_of_a_few_seeds():
    """Values of SciPy 1.17's stats.t.interval. The interval of flipped signs ends where their p passes 0.05."""
    for x, ends in (
        (TEN[:3], (-0.2347415513626545, 0.4614082180293212)),
        (TEN, (0.02446311894752351, 0.1895368810524765)),
        (np.array([-1.0, 1]), (-12.706204736174694, 12.706204736174694)),
    ):
        assert t_interval(x) == pytest.approx(ends)
    assert np.isnan(t_interval(TEN[:1])).all() and np.isnan(flip_interval(TEN[:5])).all()
    assert [flip_test(TEN[:n]) for n in (3, 6, 10)] == [0.5, 0.09375, 0.015625]
    assert flip_interval(TEN[:6]) == pytest.approx((-0.03, 0.25)) and flip_interval(TEN) == pytest.approx((0.025, 0.19))
    many = np.random.default_rng(6).normal(0.3, size=30)  # too many for all subsets
    assert flip_interval(many) == pytest.approx(t_interval(many), abs=0.05)
    assert holm([0.01, 0.04, 0.03, 0.005, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.5])
    assert holm([0.5, 0.9]).tolist() == [1, 1] and len(holm([])) == 0


def test_the_committed_tables_come_out_of_the_committed_trials(tmp_path):
    kept = RESULTS / "ladder/kept.jsonl"
    again = reproduce(tmp_path / "new", "ladder", "--kept", kept, "--draw")
    assert "All 1290 trials are done." in again.stdout, again.stderr
    for name in ("plan.csv", "plan.md", "chosen.csv", "chosen.md", "verdict.csv", "verdict.md"):
        assert (tmp_path / "new" / name).read_text() == (RESULTS / "ladder" / name).read_text(), name


@pytest.fixture(scope="module")
def ladder(tmp_path_factory):
    return Ladder(tmp_path_factory.mktemp("ladder"))


class Ladder:
    """The ladder's plan, and files of trials with made-up results: `near` at lengths 21 to 40, `far` from 41 on. The
    second candidate is best at the shorter lengths, and the last one at the judged ones. The third opponent is best at
    the judged lengths, and the first one at the shorter ones. On fresh seeds a candidate leads by `ahead`."""

    def __init__(self, folder):
        self.folder = folder
        self.plan, self.registered = self.planned(folder / "plan"), self.about(folder / "plan")["registered"]

    def planned(self, out, *words):
        done = reproduce(out, "ladder", *words, "--plan")
        assert done.returncode == 0, done.stderr
        return made_up.plan(out)

    @staticmethod
    def about(out):
        assert reproduce(out, "ladder:plan").returncode == 0
        return json.loads((out / "about.json").read_text())

    def rung(self, trial, kind):
        options = {"encoding": "", "positions": "sequential", "temperature": "none"}
        of = [trial.get(name, usual) for name, usual in options.items()]
        all = [[rung.get(name, usual) for name, usual in options.items()] for rung in self.registered[kind]]
        return all.index(of) if of in all else None

    def results(self, trial, ahead):
        candidate, opponent = self.rung(trial, "candidate"), self.rung(trial, "opponent")
        assert (candidate is None) != (opponent is None), trial
        shift = trial["seed"] / 1000
        if trial["seed"] >= 100:
            return 0.5, 0.6 + shift + (ahead if opponent is None else 0)
        if opponent is None:
            return 0.9 if candidate == 1 else 0.7, 0.9 if candidate == len(self.registered["candidate"]) - 1 else 0.5
        return 0.9 if opponent == 0 else 0.7, 0.9 if opponent == 2 else 0.5 + shift

    def keep(self, trials, ahead):
        kept = []
        for trial in trials:
            near, far = self.results(trial, ahead)
            accuracy = [1.0] * 20 + [near] * 20 + [far] * 60
            kept.append(made_up.trial(trial["id"], accuracy, paper_score=sum(accuracy[20:]) / 80, seconds=36.0))
        return made_up.keep(self.folder / "kept.jsonl", kept)


def test_what_is_registered_is_whole(ladder):
    r = ladder.registered
    assert r["first_seeds"] == [0, 2] and r["second_seeds"] == [100, 109]
    assert int(r["choose"].split(":")[1]) < int(r["judge"].split(":")[0])
    tasks = {trial["task"] for trial in ladder.plan}
    assert len(tasks) == 15 and sorted(tasks) == sorted(p["task"] for p in r["prediction"])
    assert all(0 < p["above"] < 1 and 10 < p["accuracy"] <= 100 for p in r["prediction"])
    names = [one["name"] for one in r["candidate"]]
    assert len(set(names)) == len(names) and all(one["structure"] for one in r["candidate"])
    assert len(ladder.plan) == 15 * 3 * (len(names) + len(r["opponent"]))
    assert all("impossible" not in trial and trial["steps"] == r["steps"] for trial in ladder.plan)


def test_the_opponents_of_the_first_stage_are_the_trials_of_table_1(ladder, tmp_path):
    assert reproduce(tmp_path, "ruoss2023:table1", "--plan").returncode == 0
    assert {trial["id"] for trial in made_up.plan(tmp_path)} <= {trial["id"] for trial in ladder.plan}


@pytest.mark.parametrize("ahead", [0.05, -0.05])
def test_candidates_are_chosen_at_the_shorter_lengths_and_opponents_at_the_judged_ones(ladder, tmp_path, ahead):
    words = ["--tasks", "reverse_string,bucket_sort"]
    first = ladder.planned(tmp_path, *words)
    missing = first[-1]
    (task,) = {"reverse_string", "bucket_sort"} - {missing["task"]}  # this one is whole; the other lacks a run
    both = ladder.planned(tmp_path, *words, "--kept", ladder.keep(first[:-1], ahead))
    second = [trial for trial in both if trial["seed"] >= 100]
    assert len(second) == 20 and {trial["task"] for trial in second} == {task}
    assert all(ladder.rung(t, "candidate") == 1 or ladder.rung(t, "opponent") == 2 for t in second)
    done = [trial for trial in both if trial["id"] != missing["id"]]
    drawn = reproduce(tmp_path, "ladder", *words, "--kept", ladder.keep(done, ahead), "--draw")
    assert drawn.returncode == 0, drawn.stderr
    (c,) = pd.read_csv(tmp_path / "verdict.csv").itertuples()
    assert (c.task, c.verdict, c.seeds) == (task, "above" if ahead > 0 else "not above", 10)
    # all ten signs are equal, and Holm counts 15 tasks, of which 14 are not done
    assert c.p == 2 / 1024 and c.p_holm == 15 * 2 / 1024
    said = (tmp_path / "verdict.md").read_text()
    assert ("budget, on 1 of them: " if ahead > 0 else "on none of them. Not above: ") + task in said
    assert "The goal, 6 tasks above, is still open." in said and "not the registered experiment" not in said
    assert "Not done, and in the family with p = 1: even_pairs" in said
    names = [ladder.registered[kind][n]["name"] for kind, n in (("candidate", 1), ("opponent", 2))]
    chosen = (tmp_path / "chosen.md").read_text()
    assert f"Chosen on 1 of 15 tasks: {task}: {names[0]} against {names[1]}." in chosen
    assert "(chance 50.0 / 50.0, majority 55.0 / 55.0, content only 70.0 / 70.0)" in chosen
    assert "1 to do." in chosen and "nan" not in said + chosen


def test_with_all_tasks_done_one_configuration_is_judged_as_a_family_of_its_own(ladder, tmp_path):
    both = ladder.planned(tmp_path, "--kept", ladder.keep(ladder.plan, 0.05))
    drawn = reproduce(tmp_path, "ladder", "--kept", ladder.keep(both, 0.05), "--draw")
    assert drawn.returncode == 0, drawn.stderr
    all = pd.read_csv(tmp_path / "verdict.csv")
    assert (all.groupby("family").size() == 15).all() and (all["verdict"] == "above").all()
    assert set(all["candidate"]) == {ladder.registered["candidate"][1]["name"]}
    said = (tmp_path / "verdict.md").read_text()
    assert "The goal, 6 tasks above, is reached." in said
    assert "One configuration for all tasks. 15 of 15 tasks have a verdict." in said


def test_the_last_runs_of_both_stages_are_trained_in_one_command(ladder, tmp_path):
    small = [word for one in ("steps=1", "layers=1", "d_model=16", "batch=1") for word in ("--set", one)]
    words = ["--tasks", "even_pairs", *small]
    first = ladder.planned(tmp_path / "plan", *words)
    both = ladder.planned(tmp_path / "plan", *words, "--kept", ladder.keep(first, 0.05))
    kept = ladder.keep([t for t in both if t["id"] not in (first[-1]["id"], both[-1]["id"])], 0.05)
    done = reproduce(tmp_path / "out", "ladder", *words, "--kept", kept)
    assert f"All {len(both)} trials are done." in done.stdout, done.stderr
    said = (tmp_path / "out/verdict.md").read_text()
    assert "This is not the registered experiment: preset tiny and 1 steps in place of tiny and 3000." in said
    assert "1 of 15 tasks has a verdict." in said

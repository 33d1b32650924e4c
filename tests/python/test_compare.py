"""poslab.papers.compare: the ranking of made-up results, and of toy models that are really trained."""

import made_up
import pandas as pd
import pytest
from test_papers import RESULTS, reproduce

from poslab.papers.compare import Ranking, first_places, of_task
from poslab.papers.trials import Trials

FOUR = ["--task", "even_pairs,bucket_sort", "--encodings", "none,rope,alibi,learned"]
TOY = [word for one in ("steps=8", "layers=1", "heads=2", "d_model=16", "batch=4", "eval_lengths=1:22",
                        "eval_samples=2") for word in ("--set", one)]  # fmt: skip
# Rope and alibi each vary over the seeds, and their intervals overlap; learned equals none.
SCORES = {"none": (0.6, 0, 0), "learned": (0.6, 0, 0), "rope": (0.8, 0.02, 0), "alibi": (0.79, -0.01, 0.02)}


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    assert reproduce(folder, *FOUR, "--plan", command="compare").returncode == 0
    return made_up.plan(folder)


def result(trial, trained=1.0):
    base, slope, first = SCORES[trial["encoding"]]
    score = round(base + first + slope * trial["seed"] + 0.1 * (trial["task"] == "even_pairs"), 4)
    seconds = 10.0 if trial["encoding"] == "none" else 25.0
    return made_up.trial(trial["id"], [trained] * 20 + [score] * 80, base, paper_score=score, seconds=seconds,
                         parameters=1234)  # fmt: skip


def drawn(folder, trials, *more):
    kept = made_up.keep(folder / "kept.jsonl", trials)
    done = reproduce(folder / "out", *FOUR, "--kept", kept, "--draw", *more, command="compare")
    assert done.returncode == 0, done.stderr
    return (folder / "out/ranking.md").read_text()


def test_the_ranking_of_three_seeds(plan, tmp_path):
    text = drawn(tmp_path, map(result, plan), "--figures", "svg")
    for part in (
        "4 encodings ranked by mean accuracy on the lengths 21 to 100 of even_pairs, bucket_sort: rope is first with "
        "87.0 % [85.0, 89.0], then alibi (85.0 %) and none, learned (65.0 % each). Not distinguishable from "
        "it, because intervals overlap: alibi.",
        "2 are ahead of no positions at all (65.0 %), 0 behind. Of these, 2 and 0 have an interval that excludes zero.",
        "even_pairs: from none (70.0 %) to rope (92.0 %); chance 50.0, majority 55.0, content only 70.0: 2 of 4 are "
        "above all three, 2 by more than their interval.",
        "At the lengths of training all have at least 90 %.",
        "Equal to the last digit: none, learned.",
        "| rope | 1 | 3 | **87.0** ([85.0, 89.0]) | **+22.0** ([+20.0, +24.0]) | 92.0 ([90.0, 94.0]) | 82.0 ([80.0, "
        "84.0]) | 100.0 | 1234 | 2.5 |",
    ):
        assert part in text
    order = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| ")]
    assert order[1:] == ["| rope", "| alibi", "| content only", "| none", "| learned", "| majority", "| chance"]
    table = pd.read_csv(tmp_path / "out/ranking.csv", keep_default_na=False).set_index(["encoding", "task"])
    assert table.loc[("rope", "mean"), ["rank", "runs", "planned", "seeds"]].astype(int).tolist() == [1, 6, 6, 3]
    assert table.xs("mean", level="task")["rank"].to_dict() == {"rope": "1", "alibi": "2", "none": "3", "learned": "3"}
    assert float(table["mean"]["rope", "mean"]) == pytest.approx(0.87) and table["rank"]["none", "bucket_sort"] == ""
    page = (tmp_path / "out/index.html").read_text()
    assert "poslab compare</p>" in page and "Accuracy against length, bucket_sort" in page and "nan" not in text
    assert ">rope</text>" in (tmp_path / "out/figures/ranking-dots.svg").read_text()


def test_one_seed_has_no_intervals_and_says_so(plan, tmp_path):
    text = drawn(tmp_path, [result(trial) for trial in plan if trial["seed"] == 0])
    assert "It has one seed and so no interval" in text and "**" not in text
    assert "| alibi | 1 | 1 | 86.0 | +21.0 | 91.0 | 81.0 | 100.0 | 1234 | 2.5 |" in text
    assert "2 are ahead of no positions at all (65.0 %), 0 behind." in text
    assert "8 of 24 trials are done; 16 to do." in text


def test_equal_means_share_the_first_place(plan, tmp_path):
    text = drawn(tmp_path, [result(trial) for trial in plan if trial["encoding"] in ("none", "learned")])
    assert "none, learned are first, equal, with 65.0 % [65.0, 65.0]. No other has" in text
    assert "| none | 1 |" in text and "| learned | 1 |" in text


def test_what_is_done_for_all_is_ranked_and_what_is_missing_is_named(plan, tmp_path):
    some = [
        result(trial)
        for trial in plan
        if trial["encoding"] != "learned" and (trial["task"] == "even_pairs" or trial["encoding"] == "rope")
    ]
    text = drawn(tmp_path, some)
    assert "3 encodings ranked by mean accuracy on the lengths 21 to 100 of even_pairs: rope is first" in text
    assert "Tasks that do not count yet, because not all encodings are done: bucket_sort." in text
    assert "Without any result yet: learned." in text
    assert "| 82.0 ([80.0, 84.0]) | 100.0 |" in text  # rope's bucket_sort is still shown
    (tmp_path / "empty").mkdir()
    text = drawn(tmp_path / "empty", [])
    assert "Nothing can be ranked yet." in text and "24 to do." in text


def test_one_that_failed_on_a_task_is_not_ranked_and_keeps_no_other_from_it(plan, tmp_path):
    failed = [t["id"] for t in plan if (t["encoding"], t["task"]) == ("alibi", "even_pairs")]
    for id in failed:
        (tmp_path / f"out/runs/{id}.failed").parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"out/runs/{id}.failed").write_text("training has diverged\n")
    kept = [result(t, trained=0.8 if t["encoding"] == "learned" else 1.0) for t in plan if t["id"] not in failed]
    text = drawn(tmp_path, kept)
    assert "3 encodings ranked by mean accuracy on the lengths 21 to 100 of even_pairs, bucket_sort" in text
    assert (
        "Not ranked, because not all of the tasks that count are done:\n\n| encoding | even_pairs | bucket_sort |\n"
        "|---|---|---|\n| alibi | – | 80.0 ([79.0, 81.0]) |" in text
    )
    assert "training has diverged" in text
    assert (
        "At the lengths of training, 1 of 3 score less than 90 %, so they have not learned the tasks yet: learned; the "
        "lowest is learned with 80.0 %." in text
    )


def test_a_drawing_of_less_leaves_no_table_of_the_drawing_before(plan, tmp_path):
    out = tmp_path / "out"
    drawn(tmp_path, map(result, plan))
    assert (out / "ranking.csv").exists()
    for name in ("mine.md", "mine.csv", "former.md"):
        (out / name).write_text("## Mine\n")
    page = out / "page.json"
    page.write_text(page.read_text().replace('"files": [', '"files": ["former.md",'))
    words = ["--task", "even_pairs", "--encodings", "none", "--size", "example", "--draw"]
    refused = reproduce(out, *words, command="compare")
    assert refused.returncode == 2
    assert "holds none of the requested 2 trials, and its page shows others" in refused.stderr
    assert (out / "ranking.csv").exists()
    (out / "kept.jsonl").unlink()
    done = reproduce(out, *words, command="compare")
    assert done.returncode == 0 and "0 of " in done.stdout, done.stderr
    assert {f.name for f in out.glob("*.csv")} == {"mine.csv", "trials.csv"}
    assert {f.name for f in out.glob("*.md")} == {"mine.md", "ranking.md", "README.md"}


def test_the_program_trains_takes_more_encodings_into_the_same_folder_and_draws(tmp_path):
    def compare(*words):
        tasks = ["--task", "even_pairs,reverse_string"]
        return reproduce(tmp_path, *tasks, "--seeds", "1", *TOY, *words, command="compare")

    first = compare("--encodings", "rope,alibi:symmetric,none*3+alibi*3")  # the last one is for six heads
    assert "4 of 6 trials are done; 2 impossible" in first.stdout, first.stderr
    text = (tmp_path / "ranking.md").read_text()
    assert "2 encodings ranked" in text and "is for 6 heads, but the model has heads = 2" in text
    words = ["--encodings", "none,rope,alibi:symmetric,cope,window:window=500,rerope"]
    again = compare(*words)
    assert again.returncode == 0 and "18 trials, 4 of them done" in again.stderr, again.stderr
    text = (tmp_path / "ranking.md").read_text()
    assert "5 encodings ranked" in text and "| rerope:window=0.5L |" in text  # its length differs by task
    assert "so their effect does not show: window:window=500 (500)." in text
    assert "4 encodings ranked" in (tmp_path / "causal.md").read_text()
    causal = pd.read_csv(tmp_path / "causal.csv")
    assert "cope" in set(causal["encoding"]) and set(causal["causal"]) == {"on"}
    assert "nan" not in (tmp_path / "README.md").read_text() and compare(*words, "--draw").returncode == 0
    assert "choose another --out" in compare("--encodings", "none,rope", "--plan").stderr


def test_the_committed_ranking_follows_from_the_committed_trials():
    """All columns except accuracies at trained lengths, which trials.csv lacks, and baselines, which the committed page
    has for one seed only. Scores in trials.csv have 12 digits."""
    rows = pd.read_csv(RESULTS / "every-scheme/trials.csv").query("causal == 'off'")
    options = ["id", "task", "encoding", "positions", "seed", "lr", "steps", "train_length", "eval_lengths"]
    about = {"trials": rows[options].assign(causal=False).to_dict("records"), "failed": [], "windows": {}, "slots": 0}
    committed = pd.read_csv(RESULTS / "every-scheme/ranking.csv").query("task == 'mean'")
    about["schemes"] = {t.id: t.encoding for t in rows.itertuples()}
    lines = []
    for t in rows.itertuples():
        baselines = {name: getattr(t, name) for name in made_up.BASELINES}
        lines.append(made_up.trial(t.id, [0.5] * 21, baselines=baselines, paper_score=t.paper_score, seconds=t.seconds))
    r = Ranking(Trials(about, lines))
    assert [e.name for e in r.ranked] == committed["encoding"].tolist()
    assert [e.mean for e in r.ranked] == pytest.approx(committed["mean"].tolist(), abs=1e-11)
    assert [r.time(e, r.counted) for e in r.ranked] == pytest.approx(committed["time_of_none"].tolist(), rel=1e-9)
    text = (RESULTS / "every-scheme/ranking.md").read_text()
    assert first_places(r) in text and all(of_task(r, task).split(";")[0] in text for task in r.counted)

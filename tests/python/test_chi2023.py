"""poslab.papers.chi2023: verdicts, sentences and cells from made-up records, and all tables from small trained runs."""

import json
import types

import pandas as pd
import pytest
from test_papers import reproduce

from poslab.papers import chi2023_cross, chi2023_figures, chi2023_propositions
from poslab.papers.chi2023 import DRAW
from poslab.papers.chi2023_data import accuracy_cell, change, guarded, stated, value_cell
from poslab.papers.trials import Trials, printed

LENGTHS = (128, 512)
ATTENTION = {"largest_weight": [0.4, 0.5], "entropy": [2.0, 1.5], "largest_logit": [6.0, 6.5], "variance": [1, 1]}
DISPERSED = {"largest_weight": [0.1, 0.2], "entropy": [5.0, 4.5], "largest_logit": [6.0, 6.25], "variance": [1, 1]}
MODES = {"log": 0.10, "pmax": 0.05, "entropy": -0.05, "prop1": 0, "prop2": 0}  # {mode: the accuracy that it adds}
TAUS = {"log": 0.8, "pmax": 0.75, "entropy": 0.1, "prop1": 0.7, "prop2": 0.3}


def table(task, right):
    """The columns of a test with this accuracy at each length, at every place of the answer."""
    rows = [(task, length, 32, 1.5, x, *[x] * 8) for length, x in zip(LENGTHS, right)]
    names = ["task", "length", "samples", "loss", "accuracy", *(f"accuracy_{n}" for n in range(1, 9))]
    return {name: " ".join(map(str, column)) for name, column in zip(names, zip(*rows))}


def both(*tables):
    return {name: " ".join(one[name] for one in tables) for name in tables[0]}


def alignment(tau):
    at = {"length": 512, "temperature": [tau], "before": DISPERSED, "after": ATTENTION}
    return {"mode": "pmax", "short": {"length": 128, "measured": ATTENTION}, "long": [at]}


def model(id, tasks, far, seed):
    """Results with accuracy 1 at the trained length, and `far` or a bit more at the other; 0.02 on the task `line`."""
    right = {task: (0.02, 0.02) if task == "line" else (1.0, far + 0.01 * seed) for task in tasks}
    tests = {f"aligned/{task}-{mode}.json": alignment(tau) for task in tasks for mode, tau in TAUS.items()}
    tests |= {f"tests/{task}-{mode}.csv": table(task, (home, there + more * (task != "line")))
              for task, (home, there) in right.items() for mode, more in MODES.items()}  # fmt: skip
    tests |= {"biases.json": {"distance": [-1, 0, 1], "bias": [[0.5, 2.0, 0.5], [1.0, 0.0, 1.0]]},
              "logits.json": {"questions": 4,
                              "tasks": {task: {"128": [-1.0, 0.0, 1.0]} for task in tasks}}}  # fmt: skip
    tested = both(*(table(task, both_ends) for task, both_ends in right.items()))
    return {"id": f"{id}-{seed}", "tested": tested, "tests": tests}


def texts(seed):
    def losses(far):
        return {"length": "64 1024", "set": "plain plain", "loss": f"1.0 {far}", "accuracy": "0.5 0.1"}

    return {"id": f"lm-{seed}", "tested": losses(4.0 + seed),
            "tests": {"tests/pmax.csv": losses(2.0), "tests/entropy.csv": losses(2.5)}}  # fmt: skip


def made_up(seeds=3):
    guess = {"passkey": 1 / 256, "line": 1 / 31, "topic": 0.2, "documents": 1 / 9}
    about = {"seeds": seeds, "length": 128, "longer": [512], "grid": [1.0, 0.5, 0.1], "lm_lengths": [64, 1024],
             "lm": {"train_length": 64, "layers": 3, "d_model": 96, "steps": 600, "batch": 16, "text": ""},
             "tasks": {"passkey": "t5", "line": "t5", "topic": "topic"}, "together": ["passkey", "line"],
             "guess": {task: {str(length): x for length in LENGTHS} for task, x in guess.items()}}  # fmt: skip
    lines = [texts(seed) for seed in range(seeds)]
    for seed in range(seeds):
        for id, far in {"t5": 0.6, "rope": 0.4, "alibi": 0.5, "learned": 0.3}.items():
            lines.append(model(id, ["passkey", "line"], far, seed))
        lines += [model("topic", ["topic"], 0.8, seed), model("documents", ["documents"], 0.3, seed)]
    about["trials"] = [{"id": one["id"], "model": one["id"][:-2], "seed": int(one["id"][-1])} for one in lines]
    return Trials(about, lines)


def drawn(name, trials=None):
    return DRAW[name](made_up() if trials is None else trials, {})


def test_the_sources_numbers():
    assert printed("chi2023_dispersion", "line 15000", "entropy") == 6.63
    assert printed("chi2023_temperatures", "xl pmax topic", "4") == 0.65
    assert pd.isna(printed("chi2023_temperatures", "xxl entropy topic", "5"))  # our copy of the source lacks it
    assert printed("chi2023_documents", "large pmax 30", "29") == 37.0


def test_cells_of_seeds():
    low, high = pd.Series({0: 0.2, 1: 0.3, 2: 0.25}), pd.Series({0: 0.3, 1: 0.5, 3: 0.9})
    beside = accuracy_cell(high, low)  # of the two seeds that both sides have
    assert (beside.text, beside.below, beside.strong) == ("56.7", ["+15.0 [+10.0, +20.0]"], True)
    assert accuracy_cell(low).below == ["[20.0, 30.0]"] and not accuracy_cell(low, low).strong
    assert accuracy_cell(low, pd.Series(dtype=float)).below == []
    assert value_cell(low, 2, 12.345).below == ["[0.20, 0.30]", "source 12.35"]
    assert value_cell(pd.Series(dtype=float)).text == "–"


@pytest.mark.parametrize("more, sides, verdict, says", [
    ([0.1, 0.2, 0.3], [0.5], "better", "+20.0 points [+10.0, +30.0], better"),
    ([-0.1, -0.2, -0.3], [0.5], "worse", "-20.0 points [-30.0, -10.0], worse"),
    ([-0.1, 0.2, 0.3], [0.5], "inconclusive", "+13.3 points [-10.0, +30.0], which is inconclusive"),
    ([0.1, 0.2, 0.3], [0.2], "not learned",
     "+20.0 points [+10.0, +30.0], not learned: neither side is above guesses by more than its interval"),
    ([0.1], [0.5], "inconclusive", "+10.0 points, which is inconclusive")])  # fmt: skip
def test_a_difference_is_judged_where_a_side_is_learned(more, sides, verdict, says):
    row = change(pd.Series(more), [pd.Series([x, x, x]) for x in sides], 0.25)
    assert row["verdict"] == verdict and stated(row) == says


def test_attention_disperses_in_the_tasks_that_are_learned():
    section = drawn("table1")
    assert section.readings == [
        "From 128 to 512 tokens the maximum probability rises in 0 of 2 tasks and falls in 2, and the entropy rises in "
        "2 of 2 tasks and falls in 0. 1 more task is not learned: answers at the trained length are not above guesses "
        "by more than their interval."
    ]
    verdicts = section.more["verdicts"].set_index(["task", "figure"])["verdict"]
    assert verdicts["passkey", "pmax"] == "falls" and verdicts["topic", "entropy"] == "rises"
    assert verdicts["line", "pmax"] == "not learned"
    assert section.data.query("task == 'line' and length == 512 and figure == 'entropy'")["source"].item() == 6.63
    assert section.grids[0].rows[1][1].below == ["[0.100, 0.100]", "source 0.24"]
    (row,) = drawn("table7").data.query("task == 'topic' and length == 512").to_dict("records")
    assert row["value"] == 6.25 and row["source"] == 8.97  # these are the first layer's


def test_encodings_and_modes_have_verdicts():
    section = drawn("table2")
    assert section.readings[0] == (
        "T5's biases: 51.0 % at the trained length, 31.5 % beyond it, aligned +2.5 points [+2.5, +2.5], better."
    )
    (grid,) = section.grids
    assert grid.head == ["task, encoding, mode", "128 (trained)", "512"]
    assert grid.rows[1][0].text == "passkey, T5's biases, maximum probability" and grid.rows[1][2].strong
    assert grid.rows[1][2].below == ["+5.0 [+5.0, +5.0]"]
    section = drawn("table4")
    verdicts = section.more["verdicts"].set_index("mode")["verdict"]
    assert dict(verdicts) == {"log rule": "better", "maximum probability": "better", "entropy": "worse"}
    assert section.readings[0].startswith("Without alignment 67.3 % of the answers are right at the trained length")
    assert section.readings[3] == "entropy: -3.3 points [-3.3, -3.3], worse."
    cells = section.data.query("task == 'topic' and mode == 'log rule' and length == 512").to_dict("records")
    assert cells[0]["seeds"] == 3 and cells[0]["value"] == pytest.approx(0.91)


def test_temperatures_fall_or_rise():
    section = drawn("table5")
    assert "Here they never rise in 4 of 4 rows" in section.readings[0]
    assert "not above those of maximum probability in 2 of 2 cells. 1 more task is not learned" in section.readings[0]
    assert section.readings[1] == (
        "In 3 of 6 cells it is 0.1, the grid's lowest temperature: a lower one might be better."
    )
    theirs = section.grids[1]
    assert [c.text for c in theirs.rows[1]][:4] == ["Flan-T5-large, topic, entropy", "0.70", "0.60", "0.55"]
    assert theirs.rows[0][6].text == "–"
    trials = made_up()
    for tests in trials.kept.values():
        for file, record in tests.items():
            if file.startswith("aligned/topic-pmax"):
                record["long"][0]["temperature"] = [1.2]
    section = drawn("table5", trials)
    assert "never rise in 3 of 4 rows" in section.readings[0]
    verdicts = section.more["verdicts"].set_index(["task", "mode"])["verdict"]
    assert verdicts["topic", "maximum probability"] == "rises" and verdicts["line", "entropy"] == "not learned"


def test_documents_and_perplexity():
    section = drawn("table6")
    assert section.readings == [
        "At 512 tokens 31.0 % are right if the answer is at either end, and 31.0 % if it is in the "
        "middle."
    ]
    assert section.more["verdicts"]["verdict"].item() == "inconclusive"
    assert list(section.data["place"].unique()) == [*range(8), "all"] and len(section.grids) == 3
    trials = made_up()
    trials.about["guess"]["documents"]["512"] = 0.5
    assert drawn("table6", trials).readings[0].endswith("neither is above guesses by more than its interval.")
    section = drawn("table3")
    assert section.readings == [
        "At 1024 tokens the perplexity is 202.15 without alignment, 7.39 aligned by maximum probability, and 12.18 by "
        "entropy."
    ]
    assert "text: the C++ headers of the compiler." in section.notes[0]


def test_figures_from_records():
    section = drawn("fig1")
    assert section.readings == [
        "Heads that add more to the logits of neighbours than to those of far keys: 0 of 2; less: 0."
    ]
    assert section.data.to_dict("records")[1] == {"head": 1, "distance": 0, "bias": 2.0}
    section = drawn("fig2")
    assert section.readings[0].startswith("passkey, 128 tokens: standard deviation 0.82; ")
    assert [figure.name for figure in section.figures] == [f"quantiles-{t}-128" for t in ("passkey", "line", "topic")]
    section = drawn("fig3")
    assert "lower temperatures than algorithm 1 in 2 of 4 cells; " in section.readings[0]
    assert "1 more task is not learned" in section.readings[0]
    assert section.data.query("rule == 'log rule'")["seeds"].isna().all()


def test_where_nothing_is_done_yet_no_table_says_more():
    nothing = Trials(made_up().about, [])
    for name in ("table1", "table5", "table7", "fig3"):
        assert drawn(name, nothing).readings == ["No model is tested yet."], name
    for name in ("fig1", "fig2"):
        assert drawn(name, nothing).readings == ["The model of this figure is not trained yet."], name
    for name in ("table2", "table3", "table4", "table6"):
        assert drawn(name, nothing).readings == [], name
    unlearned = made_up()
    unlearned.about["guess"] = {task: {str(n): 1.0 for n in LENGTHS} for task in unlearned.about["guess"]}
    assert guarded(unlearned, "It holds.").startswith("None of 3 tested tasks is learned: ")


def row(keys=512, holds=True, tau=0.5, measured=0.5, reachable=True):
    return {"keys": keys, "variance": 0.25, "largest_logit": 2, "weight_predicted": 0.01, "weight": 0.0125,
            "entropy_predicted": 6.0, "entropy": 5.0, "tau1_predicted": tau, "reachable": reachable, "assumed1": holds,
            "tau1": measured, "tau2_predicted": tau, "assumed2": holds, "tau2": measured, "log_rule": 0.8}  # fmt: skip


def test_propositions_beside_what_was_measured(tmp_path):
    rows = [row(tau=0.505), row(holds=False, tau=1.0, reachable=False), row(holds=False, measured=None)]
    made = {"rows": rows, "keys_short": 512, "samples": 100, "within": 0.5}
    (tmp_path / "propositions.json").write_text(json.dumps(made))
    section = chi2023_figures.propositions(types.SimpleNamespace(folder=tmp_path), None)
    assert section.readings[0].startswith(
        "Proposition 1 is within 1.0 % of the temperature that keeps the weight, in the 1 row in which"
    )
    assert "up to 100 and 100 % off" in section.readings[2]
    first, second, third = section.grids[0].rows
    assert (first[1].text, first[1].below) == ("0.0100", ["0.0125, -20.0 %"]) and first[3].text == "0.505 *"
    assert second[3].text == "1.000, not reachable" and third[4].below == ["none reaches it"]


def test_propositions_hold_where_what_they_assume_does():
    holding = 0
    for variance, largest in ((0.25, 2), (0.25, 8), (1.0, 6)):
        row = chi2023_propositions.compared(2048, variance, largest)
        for n in (1, 2):
            if row[f"assumed{n}"]:
                holding += 1
                assert row[f"tau{n}_predicted"] == pytest.approx(row[f"tau{n}"], rel=0.011)
    assert holding


def test_simulated_logits_are_the_first_numbers_of_their_streams():
    # tests/core/random.cpp tests the same block
    block = chi2023_propositions.philox([0], 0, 0, 0)
    assert [int(x[0]) for x in block] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def verdicts(*of):
    return [{"what": name, "positions": positions, "mean": x, "interval_low": x - 0.01, "interval_high": x + 0.01,
             "verdict": verdict} for name, x, verdict in of for positions in chi2023_cross.POSITIONS]  # fmt: skip


@pytest.mark.parametrize("of, says", [
    ([("log rule", 0.03, "adds"), ("SSMax", -0.05, "costs"), ("entropy", 0.0, "inconclusive")],
     "these add accuracy: log rule (+3.0 points); these cost some: SSMax (-5.0 points). The intervals of the others"),
    ([("log rule", 0.0, "inconclusive")], "Inconclusive: no policy's interval excludes zero"),
    ([("log rule", 0.03, "adds"), ("entropy", 0.0, "not learned")], "; these cost some: none. The intervals of the "
     "others include zero. 1 more is not learned: accuracy is not above the baselines by more than its interval."),
    ([("log rule", 0.0, "not learned")], "Not learned: accuracy is not above the baselines"),
    ([], "Nothing can be compared yet.")])  # fmt: skip
def test_the_answer_of_the_cross_follows_from_its_verdicts(of, says):
    assert says in chi2023_cross.readings(verdicts(*of), [])[0]


TOY = (
    "tasks=passkey/line layers=1 decoder_layers=1 heads=2 d_model=16 d_ff=16 tokens=128 train_length=40 shortest=32 "
    "eval_lengths=40/48/64 steps=3 eval_samples=8 lm_layers=1 lm_heads=2 lm_key_heads=2 lm_d_model=16 lm_d_ff=16 "
    "lm_batch=2 lm_steps=3 lm_train_length=16 lm_eval_samples=2 lm_eval_times=1/2/4 seeds=1"
).split()


def test_all_tables_from_trained_runs_and_again_from_what_is_kept(tmp_path):
    out = tmp_path / "out"
    names = [name for name in DRAW if name not in ("cross", "propositions")]
    words = [*(f"chi2023:{name}" for name in names), *(word for one in TOY for word in ("--set", one))]
    planned = reproduce(out, *words, "--plan")
    assert planned.returncode == 0 and "out/plan-t5.jsonl: 6 models; train them with" in planned.stdout, planned.stderr
    done = reproduce(out, *words, "--figures", "csv")
    assert done.returncode == 0, done.stderr
    assert "7 of 7 runs are trained, and 44 of 44 further tests done." in done.stdout
    page = (out / "index.html").read_text()
    for name in names:
        text = (out / f"{name}.md").read_text()
        assert "nan" not in text and "could not be drawn" not in text, name
        assert f'<h2 id="{name}">' in page and len(pd.read_csv(out / f"{name}.csv")), name
    assert page.count("<figure>") == page.count(' alt="') == len(list((out / "figures").glob("*.csv"))) == 1 + 6 + 3
    assert "| line, 40 |" in (out / "table1.md").read_text() and "source 8.61" in (out / "table7.md").read_text()
    trials = Trials.read(out)
    tests = {(model, seed): trials.kept[id] for id, model, seed in trials.asked[["model", "seed"]].itertuples()}
    (tau,) = tests["t5", 0]["aligned/line-entropy.json"]["long"][1]["temperature"]
    rows = pd.read_csv(out / "table5.csv").set_index(["task", "mode", "length"])["value"]
    assert rows["line", "entropy", 64] == tau and 0.1 <= tau <= 1
    assert "run" not in tests["t5", 0]["aligned/line-entropy.json"] and len(tests["t5", 0]["biases.json"]["bias"]) == 2
    # kept.jsonl alone gives the same
    again = tmp_path / "again"
    assert reproduce(again, *words, "--kept", out / "kept.jsonl", "--draw").returncode == 0
    assert (again / "kept.jsonl").read_text() == (out / "kept.jsonl").read_text()
    for file in out.glob("*.csv"):
        assert (again / file.name).read_text() == file.read_text(), file
    # other options make other trials
    settings = ["steps=4" if word == "steps=3" else word for word in words if not word.startswith("chi2023")]
    words = ["chi2023:table2", "chi2023:table3", *settings]
    assert "1 of 5 runs are trained" in reproduce(out, *words, "--draw").stdout  # the language model is the same
    # a damaged record is refused by name
    (run,) = trials.asked.query("model == 't5'").index
    (out / "runs" / run / "biases.json").write_text("[")
    words = ["chi2023:fig1", *(word for one in TOY for word in ("--set", one))]
    failed = reproduce(tmp_path / "out", *words, "--draw")
    assert failed.returncode == 1 and f"{run}/biases.json" in failed.stderr, failed.stderr


def test_the_cross_from_trained_runs_and_again_from_what_was_measured(tmp_path):
    out = tmp_path / "out"
    sets = (
        "seeds=2 steps=2 layers=1 heads=2 d_model=16 batch=4 eval_samples=2 train_length=4 eval_lengths=1:8 "
        "max_position=40"
    )
    words = ["chi2023:cross", "--tasks", "even_pairs", *(word for one in sets.split() for word in ("--set", one))]
    done = reproduce(out, *words, "--figures", "svg")
    assert done.returncode == 0 and "no figures, as all results are tables" in done.stdout, done.stderr
    text = (out / "cross.md").read_text()
    assert "nan" not in text and "could not be drawn" not in text and "| RoPE, randomized |" in text
    assert "Does sharper attention add to randomized positions?" in text
    assert "Points lost at the trained length with plain positions, change by change: positions " in text
    rows = pd.read_csv(out / "cross.csv").set_index(["encoding", "positions", "what"])
    assert rows.loc[("T5", "randomized", "entropy"), "seeds"].item() == 2
    assert ("RoPE", "sequential", "loss: number of keys") in rows.index
    assert ("ALiBi", "randomized", "loss: gaps") not in rows.index
    again = tmp_path / "again"  # needs no model: measurements are kept
    assert reproduce(again, *words, "--kept", out / "kept.jsonl", "--draw").returncode == 0
    assert (again / "cross.csv").read_text() == (out / "cross.csv").read_text()
    assert len(json.loads((again / "about.json").read_text())["artifacts"][0]["settings"]) == 12

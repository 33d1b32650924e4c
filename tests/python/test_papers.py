"""poslab.papers: claims and verdicts, and all tables of su2023, from toy models and from the trials in results/."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import warm
from built import PROGRAM

from poslab.papers.claims import reading, verdict
from poslab.papers.seeds import interval, number
from poslab.papers.trials import Trials, printed

RESULTS = Path(__file__).parents[2] / "results"
TOY = ["text=copy_grammar", "merges=0", "layers=2", "heads=2", "key_heads=2", "d_model=16", "d_ff=16", "batch=2",
       "train_length=16", "eval_samples=2", "steps=3", "seeds=2"]  # fmt: skip


def provenance(*results, missing=()):
    tasks = {"trials": [{"id": n, "task": "even_pairs"} for n, _ in enumerate(results)], "missing": missing}
    lines = [{"id": n, "tested": {}, "result": result} for n, result in enumerate(results)]
    return Trials(tasks | {"numerics": {"avx2": "12345678"}}, lines).provenance()


def test_a_page_says_what_trained_its_runs_and_begins_with_old_where_their_numerics_are_others():
    run = {"commit": "0123abc", "isa": "cpu/avx2", "date": "2026-11-24", "seconds": 3600, "threads": 1}
    assert provenance() == "" and provenance({}) == "Old: these runs do not record their numerics number. "
    assert provenance(run).startswith("Old: these runs do not record their numerics number. Trained by 0123abc;")
    ours, other = run | {"numerics": "12345678"}, run | {"numerics": "00000000"}
    assert provenance(ours, run).startswith("Old: 1 of these runs do not record their numerics number. Trained")
    assert provenance(other).startswith("Old: these runs have the numerics 00000000, and this program has 12345678. ")
    assert provenance(ours | {"isa": "cpu/avx9"}).startswith(
        "Old: these runs have the numerics 12345678, and this program has none for their instruction set. "
    )
    assert provenance(ours, missing=["even_pairs", "even_pairs", "parity_check"]) == (
        "Trained by 0123abc; cpu/avx2; 2026-11-24; numerics 12345678. Training took 1.0 hours of clock time, summed "
        "over threads. 2 of the 3 trials that are missing take about 2.0 more, by the median of their tasks."
    )


def reproduce(folder, *words, command="reproduce"):
    command = [PROGRAM, command, *words, "--out", folder, "--threads", "1", "--jobs", "2"]
    return subprocess.run(command, capture_output=True, text=True, env=warm.environment())


@pytest.mark.parametrize("differences, within, answer", [
    ([0.1, 0.2, 0.1], 0, "holds"), ([-0.1, -0.2, -0.1], 0, "does not"), ([0.1, -0.2, 0.1], 0, "inconclusive"),
    ([0.1], 0, "inconclusive"), ([0.01, -0.01, 0.0], 0.02, "holds"), ([0.03, 0.05, 0.04], 0.02, "does not"),
    ([0.03, 0.01, 0.0], 0.02, "inconclusive")])  # fmt: skip
def test_the_interval_decides(differences, within, answer):
    assert verdict(pd.Series(differences), within) == answer


def test_numbers_as_they_are_written():
    assert number(0.937) == "93.7" and number(-0.0001, sign="+") == "0.0" and number(float("nan")) == "–"
    assert number(0.063, sign="+") == "+6.3" and number(2.3040, 4, 1) == "2.3040"
    assert interval(pd.Series([1.0, 2.0, 4.0])) == (1, 4)  # for three seeds it is their range
    assert reading([]) == "No comparison can be made of the runs that are done."
    assert reading([{"verdict": "holds"}]) == "Of 1 comparison 1 holds, 0 do not, and 0 are inconclusive."


@pytest.mark.parametrize("folder, done", [
    ("su2023-tiny", "30 of 30 runs are trained, and 210 of 210 further"),
    ("su2023-example", "1 of 3 runs are trained, and 29 of 43 further")])  # fmt: skip
def test_the_tables_in_results_come_out_of_the_trials_there(tmp_path, folder, done):
    words = shlex.split(json.loads((RESULTS / folder / "about.json").read_text())["command"])
    words = words[2 : words.index("--kept")]
    again = reproduce(
        tmp_path / "new", *words, "--kept", RESULTS / folder / "kept.jsonl", "--draw", "--figures", "svg,csv"
    )
    assert again.returncode == 0, again.stderr
    assert done in again.stdout
    facts = [json.loads((where / "page.json").read_text()) for where in (tmp_path / "new", RESULTS / folder)]
    assert facts[0] | {"command": ""} == facts[1] | {"command": ""}
    for file in sorted((RESULTS / folder).iterdir()):
        if file.name not in ("README.md", "about.json", "page.json"):  # these contain the command
            texts = [(tmp_path / "new" / file.name).read_text(), file.read_text()]
            if file.name == "kept.jsonl":  # lines of older programs have no checksum
                texts = [re.sub(r',"checksum":"[0-9a-f]{8}"', "", text) for text in texts]
            assert texts[0] == texts[1], file.name
    page = (tmp_path / "new/index.html").read_text()
    figures = sorted((tmp_path / "new/figures").glob("*.svg"))
    assert page.count("<figure>") == page.count(' alt="') == len(figures) > 0 and "<!--" not in page
    assert all("rerope" in figure.read_text().lower() for figure in figures)


def methods_of(trials, artifact):
    return next(one["methods"] for one in trials.about["artifacts"] if one["name"] == artifact)


def test_all_of_su2023_on_toy_models(tmp_path):
    out, words = tmp_path / "toy", ["su2023", *(word for one in TOY for word in ("--set", one))]
    done = reproduce(out, *words)
    assert "20 of 20 runs are trained, and 140 of 140 further tests done." in done.stdout, done.stderr
    trials = Trials.read(out)
    csv = pd.read_csv(out / "runs/named/rope_log_n-1/tests/ReRoPE-w8-logn.csv").set_index(["length", "set"])
    ours = trials.by_seed("rope_log_n", "tests/ReRoPE-w8-logn.csv", 128, "repeated")
    assert list(ours.index) == [0, 1] and ours[1] == csv["accuracy"][128, "repeated"]
    main = pd.read_csv(out / "main.csv").set_index(["method", "length", "set"])
    assert main["accuracy"]["ReRoPE-w8-logn", 128, "repeated"] == ours.mean()
    assert len(pd.read_csv(out / "claims.csv")) == 38 and "nan" not in (out / "README.md").read_text()
    # ReRoPE, and methods that are stretched to 32 times the trained length
    far = pd.read_csv(out / "far.csv").set_index(["method", "set", "length"])
    yarn = trials.by_seed("rope", "tests/YaRN-far.csv", 512, "plain")
    ahead = trials.by_seed("rope", "tests/ReRoPE-w8-far.csv", 512, "plain") - yarn
    assert far["accuracy"]["YaRN", "plain", 512] == yarn.mean() and len(far) == 15 * 2 * 3
    assert far["ahead"]["YaRN", "plain", 512] == pytest.approx(ahead.mean(), abs=1e-12)
    assert far["ahead"].count() == 14 * 2
    assert "factor=32" in next(m["encoding"] for m in methods_of(trials, "su2023:far") if m["method"] == "YaRN")
    # every row of the source's tables is tested once
    methods = {artifact["name"]: artifact.get("methods") for artifact in trials.about["artifacts"]}
    for name, column, rows in [("main", "acc_4096_repeated", 16), ("window", "acc_4096_nonrepeated", 15),
                               ("leaky", "acc_512_train", 10), ("llama", "len8192", 3)]:  # fmt: skip
        of_source = [method["row"] for method in methods[f"su2023:{name}"]]
        assert len(of_source) == len(set(of_source)) == rows
        assert all(pd.notna(printed(f"su2023_{name}", row, column)) for row in of_source)
    assert pd.isna(printed("su2023_llama", "RoPE", "len16384"))  # the source has a dash
    # other settings make other trials; missing results are shown as missing
    longer = ["steps=4" if word == "steps=3" else word for word in words]
    other = reproduce(out, *longer, "--draw")
    assert "0 of 20 runs are trained, and 0 of 140 further tests done." in other.stdout, other.stderr
    assert "| ReRoPE | – (source 1.4996) |" in (out / "llama.md").read_text()
    (out / "runs/named/llama-0/tests/ReRoPE.csv").unlink()
    again = reproduce(out, *words, "--draw")
    assert "20 of 20 runs are trained, and 139 of 140 further tests done." in again.stdout, again.stderr
    assert pd.read_csv(out / "llama.csv")["seeds"].tolist() == [2] * 6 + [1] * 3


def test_kept_trials_of_other_tables_are_not_overwritten(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    kept = shutil.copy(RESULTS / "su2023-tiny/kept.jsonl", out)
    done = reproduce(out, "su2023:matrices")
    assert done.returncode == 2 and "kept.jsonl has 30 trials that belong to other tables" in done.stderr, done.stderr
    assert Path(kept).read_text() == (RESULTS / "su2023-tiny/kept.jsonl").read_text() and not (out / "runs").exists()


def test_without_its_packages_it_says_how_to_get_them(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(shutil.which("false"))
    command = [PROGRAM, "reproduce", "su2023:matrices", "--out", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PATH": str(tmp_path / "bin")})
    assert done.returncode == 2 and "there is no python3 with pandas, SciPy, statsmodels and matplotlib" in done.stderr
    assert "pip install pandas scipy statsmodels matplotlib" in done.stderr and not (tmp_path / "out").exists()

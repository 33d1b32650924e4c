"""Sweeps, reproductions and pages from Python: the program's folders and messages."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import warm
from built import PROGRAM

import poslab as pl

TINY = {"preset": "tiny", "steps": 3, "eval_lengths": "1:2", "eval_samples": 8}
TOML = """
name = "{task}-{encoding}-{seed}"
preset = "tiny"
steps = 3
eval_lengths = "1:2"
eval_samples = 8
task = ["even_pairs", "parity_check"]
encoding = "rope"
seeds = 2
[[also]]
task = "even_pairs"
encoding = "alibi"
"""


def poslab(*words, cwd=None):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True, cwd=cwd,
                          env=warm.environment()).stdout


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweeps")
    return pl.sweep(task=["even_pairs", "parity_check"], encoding=pl.encodings.rope, seeds=2, out=folder / "python",
                    also=[{"task": "even_pairs", "encoding": "alibi"}], name="{task}-{encoding}-{seed}", jobs=2,
                    threads=1, progress=False, **TINY)


def test_a_sweep_is_the_programs(swept, tmp_path):
    (tmp_path / "sweep.toml").write_text(TOML)
    (tmp_path / "plan.jsonl").write_text(poslab("sweep", "plan", tmp_path / "sweep.toml"))
    assert Path(swept.path, "plan.jsonl").read_text() == (tmp_path / "plan.jsonl").read_text()
    again = pl.sweep(tmp_path / "plan.jsonl", out=tmp_path / "two", shard="0/3", threads=1, progress=False)
    assert [*again.trials["state"]].count("done") == 2 and len(swept.runs) == 6
    for id, run in again.runs.items():
        for name in ("config.toml", "checkpoint.safetensors", "metrics.jsonl", "eval.csv"):
            assert Path(run.file(name)).read_bytes() == Path(swept.runs[id].file(name)).read_bytes()
    csv = poslab("sweep", "collect", tmp_path / "plan.jsonl", "--out", swept.path).splitlines()
    assert csv[0].split(",") == list(swept.trials.columns) and len(csv) == 7
    assert (swept.trials["state"] == "done").all() and len(swept.lengths) == 12
    assert sorted(os.listdir(swept.path + "/named"))[0] == "even_pairs-alibi-0"
    assert pl.Sweep(swept.path).trials.equals(swept.trials)


def test_a_report_is_the_programs(swept, tmp_path):
    runs = list(swept.runs.values())[:2]
    page = pl.report(runs)
    poslab("report", *runs, cwd=tmp_path)
    assert page.text == (tmp_path / "report.html").read_text()
    html = page._repr_html_()
    assert html.startswith('<iframe srcdoc="&lt;!doctype html') and "<script" not in html
    page.save(tmp_path / "saved.html")
    assert (tmp_path / "saved.html").read_text() == page.text
    assert "even_pairs" in pl.report(swept).text
    assert pl.graph(runs[0]).text.startswith("<!doctype html>")


def test_a_sweep_without_pandas(swept, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert [row["state"] for row in swept.trials] == ["done"] * 6


class Own(pl.Task):
    def answer(self, x):
        return [0]


class OwnBias(pl.Encoding):
    pass


class Base(pl.Encoding):
    """A class that has the name of an option of rope."""


def test_names_of_own_things_may_be_words_of_other_options(tmp_path):
    for name in ("Tiny", "Rope"):                              # the names of a preset and of an encoding
        type(name, (Own,), {})
    trials = pl.sweep(task="even_pairs", encoding="rope:base=500", out=tmp_path, progress=False, **TINY).trials
    assert [*trials["state"]] == ["done"]


@pytest.mark.parametrize("options, words", [
    ({"task": "even_pairs", "encoding": "ropo"}, 'did you mean "rope"'),
    ({"task": "even_pairs"}, "which encoding"), ({"tsak": "even_pairs"}, 'did you mean "task"'),
    ({"task": "even_pairs", "encoding": "rope", "jobs": 0}, "jobs"),
    ({"task": "even_pairs", "encoding": "rope", "shard": "3/2"}, "shard"),
    ({"task": "even_pairs", "encoding": "rope", "seeds": "many"}, "seeds"),
    ({"task": "even_pairs", "encoding": "rope", "seeds": 2, "seed": 1}, ", not both"),
    ({"task": "even_pairs", "encoding": []}, "leaves no trial"),
    ({"task": "even_pairs", "encoding": "rope", "command": "lm"}, "lm train"),
    ({"task": "even_pairs", "encoding": "rope", "seeds": 2, "name": "{task}"}, "two trials"),
    ({"task": Own, "encoding": "rope"}, "own is written in Python"),
    *(({"task": "even_pairs", "encoding": ["rope", spelling]}, "ownbias is written in Python") for spelling in
      (OwnBias, "ownbias*4+alibi*4", "sincos&ownbias", "scale_invariant:of=ownbias", "rope|ownbias")),
    ({"plan": "plan.jsonl", "task": "even_pairs"}, "one of the two"), ({"plan": "nowhere"}, "nowhere")])
def test_sweeps_that_cannot_be(options, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        pl.sweep(out=tmp_path / "sweep", progress=False, **options)
    assert not (tmp_path / "sweep").exists()


def test_a_trial_that_fails(tmp_path):
    options = {**TINY, "task": "even_pairs", "encoding": "rope", "out": tmp_path, "progress": False}
    run, = pl.sweep(**options).runs.values()
    for file in Path(run.path).iterdir():
        file.unlink()
    with pytest.raises(RuntimeError, match="1 of shard 0/1 failed"):
        pl.sweep(**options)
    trials = pl.Sweep(tmp_path).trials
    assert trials["state"][0] == "failed" and run.path in trials["reason"][0]


def test_ctrl_c_stops_a_sweep_which_goes_on(tmp_path):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    def stop():
        while not list(tmp_path.glob("*/metrics.jsonl")):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=stop)
    thread.start()
    options = {**TINY, "steps": 100000, "task": "even_pairs", "encoding": "rope", "out": tmp_path}
    try:
        with pytest.raises(KeyboardInterrupt, match="the same command goes on with it"):
            pl.sweep(progress=False, **options)
    finally:
        signal.signal(signal.SIGINT, before)
        thread.join()
    assert list(pl.Sweep(tmp_path).trials["state"]) == ["stopped"] and list(tmp_path.glob("*/checkpoint.safetensors"))


def test_progress_is_told(tmp_path, capfd):
    pl.sweep(task="even_pairs", encoding="rope", out=tmp_path, **TINY)
    assert "done" in capfd.readouterr().err


def test_a_reproduction_is_the_programs(tmp_path):
    what = {"size": "tiny", "tasks": ["even_pairs"], "encodings": ["rope"], "set": {"steps": 2, "eval_samples": 8,
                                                                                   "eval_lengths": "1:42"}}
    ours = pl.reproduce("ruoss2023:table1", out=tmp_path / "ours", progress=False, **what)
    poslab("reproduce", "ruoss2023:table1", "--size", "tiny", "--tasks", "even_pairs", "--encodings", "rope",
           "--set=steps=2", "--set=eval_samples=8", "--set=eval_lengths=1:42", "--out", tmp_path / "theirs")
    names = sorted(path.name for path in (tmp_path / "theirs").glob("*.csv"))
    assert [f"{name}.csv" for name in ours.tables] == names and len(names) >= 2
    for name in names:
        if name != "trials.csv":                               # trials.csv has seconds
            assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()
    assert list(ours.tables["trials"]["state"]) == ["done"] * len(ours.tables["trials"])
    assert "<iframe" in ours._repr_html_() and ours.page.text == (tmp_path / "ours/index.html").read_text()


@pytest.mark.parametrize("what, options, words", [
    ((), {}, "reproduce what"), (("ruoss2024",), {}, "ruoss2023"), (("ruoss2023:table1",), {"size": "huge"}, "huge"),
    (("ruoss2023:table1",), {"set": {"stepps": 3}}, "steps"), (("ruoss2023:table1",), {"tasks": ["even"]}, "even")])
def test_reproductions_that_cannot_be(what, options, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        pl.reproduce(*what, out=tmp_path / "out", progress=False, **options)

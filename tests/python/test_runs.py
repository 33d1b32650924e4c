"""Training and testing from Python: the command line's bits, stops by Ctrl-C, other threads at the same time."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from built import HANGS, PROGRAM

import poslab as pl
from poslab.tables import read_csv

TINY = {"preset": "tiny", "task": "even_pairs", "encoding": "rope", "positions": "randomized", "steps": 12,
        "eval_lengths": "1:6", "eval_samples": 16, "dropout": 0.1}
FILES = ["config.toml", "checkpoint.safetensors", "metrics.jsonl", "eval.csv", "pictures.json"]


def assert_same(one, other):
    for name in FILES:
        assert (Path(one) / name).read_bytes() == (Path(other) / name).read_bytes(), name


def test_a_training_begins_with_the_weights_of_a_run(tmp_path):
    first = pl.train(out=tmp_path / "first", progress=False, **TINY)
    second = pl.train(out=tmp_path / "second", progress=False, from_=first, encoding="none", steps=2)
    assert second.result["config"]["from"] == str(tmp_path / "first") and second.result["steps"] == 2
    assert (tmp_path / "second/origin.json").exists() and second.result["config"]["eval_lengths"] == "1:6"


def test_training_has_the_bits_of_the_command_line(tmp_path):
    words = [w for name, value in TINY.items() for w in (f"--{name.replace('_', '-')}", str(value))]
    subprocess.run([PROGRAM, "train", *words, "--out", tmp_path / "program"], check=True, capture_output=True)
    run = pl.train(out=tmp_path / "python", progress=False, **{**TINY, "encoding": pl.encodings.rope})
    assert_same(tmp_path / "program", run)
    assert run.result["steps"] == 12 and run.result["task"] == "even_pairs"
    assert list(run.lengths["length"]) == [1, 2, 3, 4, 5, 6] and run.lengths["samples"][0] == 16
    assert run.metrics["step"].iloc[-1] == 12
    html = run._repr_html_()
    assert "<td>encoding</td><td>rope</td>" in html and "<th>accuracy</th>" in html and html.count("<tr>") > 6 + 4
    (tmp_path / "stopped").mkdir()
    (tmp_path / "stopped/config.toml").touch()
    assert "without a result yet" in pl.Run(tmp_path / "stopped")._repr_html_()

    subprocess.run([PROGRAM, "eval", tmp_path / "program", "--lengths", "2:4", "--samples", "8", "--test-positions",
                    "sequential"], check=True, capture_output=True)
    again = pl.evaluate(run, lengths="2:4", samples=8, positions=pl.samplers.sequential, progress=False)
    [kept] = (tmp_path / "program").glob("eval-*.csv")
    assert kept.read_bytes() == Path(again.file("eval.csv")).read_bytes()
    assert list(again.lengths["length"]) == [2, 3, 4] and list(run.lengths["length"]) == [1, 2, 3, 4, 5, 6]
    assert again.result["test"]["test_positions"] == "sequential" and "test" not in run.result
    assert pl.evaluate(run, samples=16, progress=False).test == ""
    twice = pl.evaluate(run, loops=2, name="twice", progress=False)
    assert twice.result["test"] == {"loops": "2"} and list(twice.lengths["loss"]) != list(run.lengths["loss"])
    with pytest.raises(ValueError, match=r"eval_lengths = \(1, 3\) is not a range of lengths; it takes FROM:TO"):
        pl.evaluate(run, lengths=(1, 3), progress=False)
    pl.evaluate(run, lengths="1:2", name="short", progress=False)
    assert list(run.tests) == [again.test, "short", "twice"] and len(run.tests["short"].lengths) == 2
    with pytest.raises(ValueError, match="eval_lengths = 1:2 and eval_lengths = 1:3 contradict each other"):
        pl.evaluate(run, lengths="1:2", eval_lengths="1:3", progress=False)
    rounded = pl.evaluate(run, matmul="bf16", progress=False)
    assert rounded.result["test"] == {"matmul": "bf16"}
    assert list(rounded.lengths["loss"]) != list(run.lengths["loss"])
    with pytest.raises(ValueError, match="loops makes a model other than the run's; give a name"):
        pl.evaluate(run, loops=2, progress=False)
    grown = pl.evaluate(run, loops="length", lengths="1:2", name="grown", progress=False)
    assert grown.result["test"]["loops"] == grown.result["config"]["loops"] == "length"
    assert list(grown.lengths["loss"] == run.lengths["loss"][:2]) == [True, False]


def test_damaged_files_of_a_run_are_named(tmp_path):
    (tmp_path / "config.toml").touch()
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n{"st')
    with pytest.raises(ValueError, match=r"line 2 of .*metrics.jsonl is damaged: it is not JSON; restore the file"):
        pl.Run(tmp_path).metrics
    (tmp_path / "result.json").write_text('{"steps": 1')
    with pytest.raises(ValueError, match=r"result.json is damaged: it is not JSON; pl.evaluate tests the run again"):
        pl.Run(tmp_path).result


def test_files_of_a_run_that_end_too_early_are_named(tmp_path):
    run = pl.train(out=tmp_path / "run", progress=False, **TINY)
    for name, words, read in (("eval.csv", "has 5 rows, but its test has 6: it lacks length 6", lambda: run.lengths),
                              ("metrics.jsonl", "is cut off: its last line is of step 10, but the run had one of step "
                               "12", lambda: run.metrics)):
        whole = Path(run.file(name)).read_text()
        Path(run.file(name)).write_text("".join(whole.splitlines(True)[:-1]))
        with pytest.raises((ValueError, RuntimeError), match=words):
            read()
        Path(run.file(name)).write_text(whole)
        read()


def test_files_of_another_run_are_named(tmp_path):
    run, other = (pl.train(out=tmp_path / name, seed=seed, progress=False, **TINY) for seed, name in enumerate("ab"))
    for names, words, read in (
            (["metrics.jsonl"], r"metrics.jsonl is that of .*/b: its checksum is", lambda: run.metrics),
            (["pictures.json"], r"pictures.json is that of .*/b: its checksum is", lambda: run.lengths),
            (["config.toml"], r"config.toml is that of .*/b: it has seed = 1", lambda: run.lengths),
            (["eval.csv", "result.json"], r"result.json is that of .*/b: it has seed = 1", lambda: run.result)):
        own = [Path(run.file(name)).read_bytes() for name in names]
        for name in names:
            Path(run.file(name)).write_bytes(Path(other.file(name)).read_bytes())
        with pytest.raises((ValueError, RuntimeError), match=words):
            read()
        for name, content in zip(names, own):
            Path(run.file(name)).write_bytes(content)
        read()


def test_tables_that_are_cut_off_are_named(tmp_path):
    for text, words in (("a,b\n1,2\n3,4", "is cut off: line 3 does not end"),
                        ("a,b\n1,2\n3\n", "is damaged: line 3 has more or fewer cells than its header"),
                        ("a,b\n1,2,3\n", "is damaged: line 2 has more or fewer cells")):
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(ValueError, match=words):
            read_csv(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("a,b\n1,\n")
    assert read_csv(tmp_path / "t.csv") == [{"a": 1, "b": None}]


def test_results_without_pandas_are_dicts(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    run = pl.train(out=tmp_path / "run", progress=False, **TINY)
    assert run.lengths[0]["length"] == 1 and isinstance(run.lengths[0]["accuracy"], float)
    assert pl.options()[0]["name"] == "preset"


# A process that a shell starts in the background ignores Ctrl-C, and so does Python. These tests receive it anyway.
STOPPED = """
import sys, threading, signal, os, time
import poslab as pl
from poslab.tables import read_csv
signal.signal(signal.SIGINT, signal.default_int_handler)
def stop():
    while not os.path.exists(sys.argv[1] + "/metrics.jsonl"): time.sleep(0.01)
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=stop).start()
options = dict(preset="tiny", task="even_pairs", encoding="rope", eval_lengths="1:3", eval_samples=8, progress=False)
try:
    pl.train(steps=100000, out=sys.argv[1], **options)
except KeyboardInterrupt as e:
    assert "poslab resume" in str(e), e
    assert pl.train(steps=3, out=sys.argv[2], **options).result["steps"] == 3        # the next one is not stopped
    print("stopped and went on")
"""


def test_ctrl_c_stops_a_training_and_what_is_done_is_kept(tmp_path):
    said = subprocess.run([sys.executable, "-c", STOPPED, tmp_path / "a", tmp_path / "b"], capture_output=True,
                          text=True, timeout=HANGS)
    assert said.stdout == "stopped and went on\n", said.stderr
    assert (tmp_path / "a/checkpoint.safetensors").exists()


@pytest.fixture
def ctrl_c():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupted_training_goes_on_with_the_same_bits(tmp_path, ctrl_c):
    options = {**TINY, "steps": 200, "checkpoint_every": 50, "progress": False}
    def stop():
        while not (tmp_path / "stopped/metrics.jsonl").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(KeyboardInterrupt, match="stopped after step"):
        pl.train(out=tmp_path / "stopped", **options)
    thread.join()
    pl.resume(tmp_path / "stopped", progress=False)
    assert_same(tmp_path / "stopped", pl.train(out=tmp_path / "whole", **options))


def test_other_threads_run_meanwhile(tmp_path, ctrl_c):
    metrics = tmp_path / "run/metrics.jsonl"
    sizes = []

    def watch():
        while len(sizes) < 10:
            size = metrics.stat().st_size if metrics.exists() else 0
            if size > (sizes[-1] if sizes else 0):
                sizes.append(size)
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    with pytest.raises(KeyboardInterrupt, match="stopped after step"):      # only `watch` stops it
        pl.train(out=tmp_path / "run", progress=False, **{**TINY, "steps": 100000, "log_every": 1})
    thread.join()


def test_two_trainings_at_once_are_done_one_after_the_other(tmp_path):
    threads = [threading.Thread(target=pl.train, kwargs={**TINY, "out": tmp_path / name, "progress": False})
               for name in "ab"]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert_same(tmp_path / "a", tmp_path / "b")


def test_a_progress_that_nobody_can_read_is_dropped(tmp_path):
    code = "import os, sys, poslab as pl\n" \
           "if sys.argv[1] == 'closed': os.close(2)\n" \
           "else: os.dup2((pipe := os.pipe())[1], 2), os.close(pipe[0])\n" \
           f"pl.train(out=sys.argv[1], **{TINY!r})"
    for how in "broken", "closed":
        subprocess.run([sys.executable, "-c", code, how], cwd=tmp_path, check=True)
        assert_same(tmp_path / "broken", tmp_path / how)
ENDS = """
import sys, threading, time, os
import poslab as pl
from poslab.tables import read_csv
options = dict(preset="tiny", task="even_pairs", encoding="rope", steps=100000, eval_lengths="1:3", progress=False)
for name in sys.argv[1:]:                                                            # the second run waits
    threading.Thread(daemon=True, target=pl.train, kwargs=options | dict(out=name)).start()
    while not os.path.exists(sys.argv[1] + "/metrics.jsonl"): time.sleep(0.01)
time.sleep(0.5)
print("the end")
"""


def test_a_script_may_end_while_a_daemon_thread_trains(tmp_path):
    said = subprocess.run([sys.executable, "-c", ENDS, tmp_path / "a", tmp_path / "b"], capture_output=True, text=True,
                          timeout=HANGS)
    assert (said.returncode, said.stdout, said.stderr) == (0, "the end\n", "")
    assert (tmp_path / "a/checkpoint.safetensors").exists()                          # finished steps are kept


FORKS = """
import os, signal, sys, threading, time
import poslab as pl
from poslab.tables import read_csv
options = dict(preset="tiny", task="even_pairs", encoding="rope", eval_lengths="1:2", eval_samples=4, progress=False)
thread = threading.Thread(target=lambda: pl.train(out=sys.argv[1], steps=100000, **options), daemon=True)
thread.start()
while not os.path.exists(sys.argv[1] + "/metrics.jsonl"): time.sleep(0.01)
child = os.fork()
if not child:
    signal.alarm(int(sys.argv[3]))
    os._exit(pl.train(out=sys.argv[2], steps=3, **options).result["steps"])
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), thread.is_alive())
"""


@pytest.mark.skipif(os.environ.get("BUILD") == "tsan", reason="its runtime ends a child whose thread has an old id")
def test_a_fork_of_a_process_that_trains_may_train(tmp_path):
    said = subprocess.run([sys.executable, "-c", FORKS, tmp_path / "a", tmp_path / "b", str(HANGS)],
                          capture_output=True, text=True, timeout=HANGS)
    assert (said.returncode, said.stdout) == (0, "3 True\n"), said.stderr


def test_paths_may_be_bytes(tmp_path):
    out = os.fsencode(tmp_path / "b")
    assert pl.train(out=out, progress=False, **TINY).path == os.fsdecode(out) == pl.Run(out).path
    assert pl.load(out).run == pl.evaluate(out, progress=False).path == os.fsdecode(out)


def test_a_run_without_a_result_says_so(tmp_path):
    (tmp_path / "config.toml").touch()
    with pytest.raises(ValueError, match="has no result yet.*pl.resume continues it"):
        pl.Run(tmp_path).result
    (tmp_path / "eval.csv").write_text("length,set,loss\n32,plain,5.5\n")
    with pytest.raises(ValueError, match="no run on a string task"):
        pl.plot_lengths(pl.Run(tmp_path))

#!/usr/bin/env python3
"""Tries to lose work: by kill -9 at random moments, a disk that is full, read-only or gone, suspended processes, two
processes at once, and a system clock that jumps. After each, files under their final names must be whole, an error must
be one clear line with exit status 1 or 2, and the same command, or `resume`, must reach the bits of an undisturbed run.

usage: tests/tools/torture.py PROGRAM [--kills N] [--seed S] [--only JOB,...]
Ends with a line in doctest's form, which ./dev test adds up. `draw`, which is `reproduce` with its drawings, is only
killed. With 20 kills or more it does everything at length, `draw` included: every size of a full disk, the rest ten
times, and a minute of suspension. Tests that need a disk of their own (tmpfs) are left out, with a message, if there is
no root. Leaves out: power cuts, which need a disk that loses all data that fsync has not confirmed.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

MODEL = "--layers 1 --heads 2 --d-model 16 --threads 1"
OFTEN = "--checkpoint-every 50 --log-every 50"
TOY = f"--task even_pairs --encoding relative --positions randomized --max-position 64 {MODEL} --batch 8 " \
      "--train-length 8 --eval-lengths 1:12 --eval-samples 16"
SWEEP = """task = "even_pairs"
encoding = ["rope", "none"]
layers = 1
heads = 2
d_model = 16
batch = 8
steps = 600
train_length = 8
eval_lengths = "1:12"
eval_samples = 16
"""

REPRODUCE = "reproduce chi2023:cross --tasks bucket_sort --encodings rope --out out --jobs 2 --threads 1 " \
            "--set seeds=1 --retry --set steps=200 --set train_length=6 --set eval_lengths=1:12 --set layers=1 " \
            "--set heads=2 --set d_model=16 --set eval_samples=2"

# The commands that make `out`, and those that continue it if it exists; without the latter the first are repeated.
JOBS = {
    "train": (f"train {TOY} --steps 800 {OFTEN} --keep-checkpoints on --out out", "resume out --threads 1"),
    "lm": (f"lm train --text @/texts --key-heads 1 --d-ff 24 {MODEL} --batch 4 --train-length 16 --eval-times 1/2 "
           f"--eval-samples 2 --steps 800 {OFTEN} --out out", "lm resume out --threads 1"),
    "from": (f"train --from @/run --encoding alibi --train-length 12 --steps 800 {OFTEN} --threads 1 --out out",
             "resume out --threads 1"),
    "t5": (f"t5 train --tasks line --decoder-layers 1 --d-ff 24 --tokens 64 {MODEL} --train-length 24 "
           f"--eval-lengths 24/64 --eval-samples 4 --steps 400 {OFTEN} --out out", "t5 resume out --threads 1"),
    "sweep": ("sweep run @/plan.jsonl --out out --jobs 2 --threads 1 --retry", None),
    "reproduce": (REPRODUCE, None),
    "draw": (REPRODUCE, None),
    "align": ("align @/run --short 4 --long 8,12,16,20 --samples 64 --per head --threads 1 -o out.json", None),
    "report": ("report @/run -o out.html", None),
}
# Files with times, on which no result depends, or with the worker of each trial.
TIMED = re.compile(r"(^|/)((clock|journal|kept)\.jsonl|claims|(result|page)\.json|trials\.csv|[^/]*\.log)$")
DAYS = re.compile(rb"\b\d{4}-\d\d-\d\d(, \d{4}-\d\d-\d\d)*")             # the dates of the work
LOGS = {"metrics.jsonl", "tests.jsonl", "clock.jsonl", "journal.jsonl"}   # grow by lines; the last may be torn

# Root ignores permissions of files unless it drops these capabilities.
MORTAL = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]

good = bad = 0


def check(what, fault):
    """Counts a check; `fault` is a message, or empty if all is well."""
    global good, bad
    if fault:
        bad += 1
        print(f"FAILED  {what}: {fault}", flush=True)
    else:
        good += 1


def torn(path):
    """A message about a file under its final name that is not whole; None if it is whole."""
    data = path.read_bytes()
    try:
        if path.name in LOGS:
            for line in data.split(b"\n")[:-1]:
                json.loads(line)
        elif path.suffix == ".json":
            json.loads(data)
        elif path.suffix == ".jsonl":
            for line in data.decode().removesuffix("\n").split("\n"):
                json.loads(line)
        elif path.suffix == ".toml":
            tomllib.loads(data.decode())
        elif path.suffix == ".csv":
            rows = list(csv.reader(data.decode().splitlines()))
            if not data.endswith(b"\n") or {len(row) for row in rows} != {len(rows[0])}:
                return "a line is cut off"
        elif path.suffix == ".safetensors":
            length = int.from_bytes(data[:8], "little")
            about = json.loads(data[8:8 + length])
            ends = [t["data_offsets"][1] for name, t in about.items() if name != "__metadata__"]
            if len(data) != 8 + length + max(ends):
                return "it has another size than its header says"
        elif path.suffix == ".html" and b"</html>" not in data[-20:]:
            return "its end is missing"
    except (ValueError, IndexError) as error:
        return str(error)
    return None


def files(folder):
    """All files under their final names: {name: path}."""
    names = [p for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink()]
    names = [p for p in names if not any(part.endswith(".partial") for part in p.relative_to(folder).parts)]
    return {str(p.relative_to(folder)): p for p in names}


def all_whole(folder):
    return "; ".join(f"{name}: {fault}" for name, path in files(folder).items() if (fault := torn(path)))


def differs(folder, other):
    """The differences between two folders, bit for bit, except in times."""
    a, b = ({n: DAYS.sub(b"", p.read_bytes()) for n, p in files(f).items() if not TIMED.search(n)}
            for f in (folder, other))
    return ", ".join(sorted(n for n in a.keys() | b.keys() if a.get(n) != b.get(n)))


class Torture:
    def __init__(self, program, folder, seed):
        self.program, self.folder, self.random = program, folder, random.Random(seed)
        self.count = 0
        texts = folder / "texts"
        texts.mkdir()
        for n in range(1, 10):
            (texts / f"{n}.txt").write_text("".join(f"{i}\n" for i in range(n * n, n * n + 200)))
        (folder / "sweep.toml").write_text(SWEEP)
        (folder / "plan.jsonl").write_text(self.must(f"sweep plan {folder}/sweep.toml"))
        self.must(f"train {TOY} --steps 400 --out {folder}/run")
        self.straight, self.seconds, self.clock = {}, {}, folder / "clock.so"
        (folder / "bin").mkdir()
        (folder / "bin/python3").symlink_to("/bin/true")             # seems to have all packages, and draws nothing
        self.drawing_nothing, self.env = os.environ | {"PATH": f"{folder}/bin:{os.environ['PATH']}"}, None
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.clock, pathlib.Path(__file__).parent / "jumping_clock.c"],
                       check=True)

    def must(self, words):
        return subprocess.run([self.program, *words.split()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=True, text=True).stdout

    def start(self, words, at, err="err", by=()):
        """Starts a command in a process group of its own, perhaps `by` another program. at.err gets its stderr."""
        words = [w.replace("@", str(self.folder)) for w in words.split()]
        with open(f"{at}.{err}", "w") as said:
            return subprocess.Popen([*by, self.program, *words], cwd=at, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=said, start_new_session=True, env=self.env)

    def start_and_wait(self, job, at):
        """Starts a job, and returns as soon as its run exists and has not ended."""
        process = self.start(JOBS[job][0], at)
        while process.poll() is None and not (at / "out").exists():
            time.sleep(0.001)
        return process

    def run(self, words, at, by=()):
        return self.start(words, at, by=by).wait()

    def command(self, job, at):
        first, resume = JOBS[job]
        return resume if resume and (at / "out").exists() else first

    def new_folder(self):
        self.count += 1
        at = self.folder / str(self.count)
        at.mkdir()
        return at

    def undisturbed(self, job):
        if job not in self.straight:
            at, began = self.new_folder(), time.monotonic()
            status = self.run(JOBS[job][0], at)
            self.straight[job], self.seconds[job] = at, time.monotonic() - began
            check(f"{job}, undisturbed", status and f"status {status}: {error_of(at)}")
        return self.straight[job]

    def goes_on(self, job, at, what, by=()):
        """Checks that the next command reaches the end, with the same bits."""
        # The children of a killed sweep end a moment later. Until then their runs are in use, and the next sweep skips
        # these trials: then not all files are there when it ends.
        wanted = files(self.undisturbed(job)).keys()
        for _ in range(100):
            status = self.run(self.command(job, at), at, by)
            in_use = status == 1 and re.search("is in use|running", all_said(at))
            if not in_use and (status or wanted <= files(at).keys()):
                break
            time.sleep(0.05)
        check(f"{what}, going on", status and f"status {status}: {error_of(at)}")
        check(f"{what}, the bits", differs(at, self.undisturbed(job)))

    def kills(self, job, n):
        """Kills runs with -9, each again and again until it ends by itself; stops after n kills."""
        self.undisturbed(job)
        killed = 0
        while killed < n:
            at = self.new_folder()
            for _ in range(8):                       # kills of one run; then it may end
                process = self.start(self.command(job, at), at)
                time.sleep(self.random.uniform(0, self.seconds[job]))
                if process.poll() is not None or killed == n:
                    process.wait()
                    break
                if self.random.random() < 0.5:       # a sweep is killed alone, or with its trials
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                killed += 1
                check(f"{job}, kill {killed}, its files", all_whole(at))
            self.goes_on(job, at, f"{job}, after kill {killed}")
            shutil.rmtree(at)
        return killed

    def full_disk(self, job, points_wanted):
        """Tries disks of growing size, page by page if enough points are wanted, until everything fits; after each,
        room is made. Returns the number of disks that were too small."""
        points = 0
        self.undisturbed(job)
        taken = sum(p.stat().st_size // 4096 + 1 for p in files(self.straight[job]).values())
        for pages in range(0, 2 * taken + 20, max(1, taken // points_wanted)):
            at = self.new_folder()
            mount(at, f"size={pages * 4 + 4}k")
            (at / "filler").write_bytes(b"x")                        # one page, the smallest disk
            try:
                status = self.run(self.command(job, at), at)
                (at / "filler").unlink()
                what = f"{job}, a disk of {pages * 4} KiB"
                check(f"{what}, its files", all_whole(at))
                if status == 0:
                    check(f"{what}, the bits", differs(at, self.undisturbed(job)))
                    return points
                points += 1
                check(f"{what}, the error", bad_error(status, at))
                mount(at, "remount,size=64m")
                self.goes_on(job, at, f"{what}, with room")
            finally:
                subprocess.run(["umount", "-l", at], check=True)
        check(f"{job}, a full disk", f"{2 * taken + 20} pages are not enough")
        return points

    def read_only(self, job):
        at = self.new_folder()
        mount(at, "size=64m")
        try:
            mount(at, "remount,ro")
            check(f"{job}, an empty read-only disk", bad_error(self.run(JOBS[job][0], at), at))
            mount(at, "remount,rw,size=64m")
            if JOBS[job][1]:                         # the same on a disk that already has a run to continue
                process = self.start_and_wait(job, at)
                process.kill(), process.wait()
                mount(at, "remount,ro")
                check(f"{job}, a read-only disk", bad_error(self.run(JOBS[job][1], at), at))
                mount(at, "remount,rw,size=64m")
            self.goes_on(job, at, f"{job}, read-only no more")
        finally:
            subprocess.run(["umount", "-l", at], check=True)

    def stands_still(self, job, seconds):
        """Suspends a process in the middle; meanwhile another process tries to use the same folder."""
        self.undisturbed(job)
        at = self.new_folder()
        process = self.start_and_wait(job, at)
        os.killpg(process.pid, signal.SIGSTOP)
        other = self.start(JOBS[job][1], at, "other").wait()
        check(f"{job}, a second process", bad_error(other, at, "other") or
              ("is in use" not in error_of(at, "other") and f"it says: {error_of(at, 'other')}"))
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGCONT)
        check(f"{job}, after standing still", (status := process.wait()) and f"status {status}: {error_of(at)}")
        check(f"{job}, after standing still, the bits", differs(at, self.undisturbed(job)))

    def two_at_once(self, job):
        """Starts two processes at the same time, with the same new folder."""
        self.undisturbed(job)
        at = self.new_folder()
        both = {self.start(JOBS[job][0], at, err): err for err in ("err", "other")}
        statuses = {err: process.wait() for process, err in both.items()}
        for err, status in statuses.items():
            check(f"{job}, two at once, the error", status and bad_error(status, at, err))
        if JOBS[job][1]:                             # a run's folder has one owner, a sweep may have several workers
            check(f"{job}, two at once, one of them", sorted(map(bool, statuses.values())) != [False, True] and
                  f"statuses {statuses}: {error_of(at)} / {error_of(at, 'other')}")
        check(f"{job}, two at once, the bits", differs(at, self.undisturbed(job)))

    def folder_gone(self, job):
        """Deletes the folder during the work: that is an error, but no crash; then the command begins again."""
        self.undisturbed(job)
        at = self.new_folder()
        process = self.start(JOBS[job][0], at)
        time.sleep(self.random.uniform(0, self.seconds[job]))
        shutil.rmtree(at / "out", ignore_errors=True)
        status = process.wait()
        check(f"{job}, a folder deleted underneath", status and bad_error(status, at))
        time.sleep(0.3)
        shutil.rmtree(at / "out", ignore_errors=True)
        self.goes_on(job, at, f"{job}, after its folder was deleted")

    def permissions(self, job):
        """Takes away the permission to write into the folder, or to read it, in the middle, and later gives it back."""
        self.undisturbed(job)
        for mode in ("a-w", "a-rwx"):
            at, what = self.new_folder(), f"{job}, permissions {mode}"
            process = self.start(JOBS[job][0], at, by=MORTAL)
            time.sleep(self.random.uniform(0, self.seconds[job]))
            subprocess.run(["find", at, "-depth", "-exec", "chmod", mode, "{}", "+"], stderr=subprocess.DEVNULL)
            ended = process.wait()
            check(f"{what}, the error", ended and bad_error(ended, at))
            if ended:                                # the next command must report it, too
                check(f"{what}, once more", bad_error(self.run(self.command(job, at), at, MORTAL), at))
            subprocess.run(["chmod", "-R", "u+rwX", at], check=True)
            check(f"{what}, its files", all_whole(at))
            self.goes_on(job, at, f"{what}, given back")

    def clock_jumps(self, job):
        """The system clock jumps at each reading, and files get random times; a kill comes halfway."""
        self.undisturbed(job)
        at, by = self.new_folder(), ["env", f"LD_PRELOAD={self.clock}"]
        process = self.start(JOBS[job][0], at, by=by)
        time.sleep(self.random.uniform(0, self.seconds[job]))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for path in files(at).values():
            os.utime(path, (year := self.random.uniform(0, 4e9), year))
        self.goes_on(job, at, f"{job}, a clock that jumps", by)


def mount(at, options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", at], check=True)


def all_said(at, err="err"):
    return pathlib.Path(f"{at}.{err}").read_text(errors="replace")


def error_of(at, err="err"):
    return all_said(at, err).strip().split("\n")[-1] or "(nothing)"


def bad_error(status, at, err="err"):
    """A message, unless a failed command has its status and prints one line with the reason at the end."""
    if status not in (1, 2):
        return f"status {status}: {error_of(at, err)}"
    lines = [line for line in all_said(at, err).split("\n") if line.startswith("poslab: ")]
    if len(lines) > 1 or not re.match("poslab: |shard .* failed", error_of(at, err)):
        return f"not one line: {all_said(at, err)}"
    return None


def can_mount(folder):
    at = folder / "mount"
    at.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "none", at], stderr=subprocess.DEVNULL).returncode:
        return False
    subprocess.run(["umount", at], check=True)
    return True


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=3, help="of each job")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(JOBS))
    options = parser.parse_args()
    jobs = options.only.split(",")
    if unknown := [job for job in jobs if job not in JOBS]:
        parser.error(f"no job {unknown[0]}; there are {', '.join(JOBS)}")
    drawing = "import pandas, scipy, statsmodels, matplotlib"  # what `poslab reproduce` looks for
    if "draw" in jobs and subprocess.run(["python3", "-c", drawing], stderr=subprocess.DEVNULL).returncode:
        print("draw is left out: python3 lacks pandas, SciPy, statsmodels or matplotlib")
        jobs.remove("draw")
    long = options.kills >= 20
    with tempfile.TemporaryDirectory(prefix="poslab-torture-") as name:
        folder = pathlib.Path(name)
        torture = Torture(os.path.realpath(options.program), folder, options.seed)
        disks = can_mount(folder)
        if not disks:
            print("full and read-only disks are left out: mounting a tmpfs needs root")
        for job in jobs:
            torture.env = torture.drawing_nothing if job == "reproduce" else None
            began, said = time.monotonic(), [f"{torture.kills(job, options.kills)} kills"]
            for _ in range(10 if long else 0 if job == "draw" else 1):
                torture.folder_gone(job)
                torture.two_at_once(job)
                torture.permissions(job)
                torture.clock_jumps(job)
            if JOBS[job][1]:
                torture.stands_still(job, 60 if long else 0.2)
            if disks and (long or job != "draw"):
                torture.read_only(job)
                said.append(f"{torture.full_disk(job, 10**6 if long else 4)} full disks")
            print(f"{job:<10} {', '.join(said)}; {time.monotonic() - began:.0f} s", flush=True)
    print(f"[torture] test cases: {good + bad} | {good} passed | {bad} failed")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()

"""A stage of cuda/on_gpu.py: programs that run for a limited time, and a table of their results."""

import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = pathlib.Path(os.environ.get("OUT") or ROOT / "runs/cuda-test").absolute()
BUDGET = int(os.environ.get("STAGE_SECONDS") or 480) - 15  # seconds of a stage; the last 15 are for ending programs

# DRY=1 runs tiny stages on the CPU, with the programs of build/release, to find mistakes before a GPU is there.
DRY = os.environ.get("DRY") == "1"
DEVICE = "cpu" if DRY else "cuda"

# Programs side by side on one GPU. Each needs some pinned memory of the host: with 28 at once, the driver reported
# that none was left.
AT_ONCE = 4


def programs():
    """The folder of the programs."""
    if DRY:
        return ROOT / "build/release"
    built, bundled = ROOT / "build/cuda", ROOT / ".bundle/bin"
    for folder in (built, bundled):
        if all((folder / name).exists() for name in ("poslab", "poslab_bench", "poslab_cuda_tests")):
            return folder
    sys.exit("cuda-test: no programs for a GPU; `./dev build cuda` makes build/cuda, `tools/bundle` makes .bundle/bin")


def tool(name):
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/local/cuda/bin")


class Stage:
    """A table of what was done, which is written when the stage ends, however it ends."""

    def __init__(self, name):
        self.name, self.rows, self.notes, self.running, self.stopped = name, [], [], [], set()
        self.start, self.bin = time.monotonic(), programs()
        self.log = open(OUT / f"{name}.log", "w", buffering=1)

    def left(self):
        return BUDGET - (time.monotonic() - self.start)

    def launch(self, words, environment=(), lines=""):
        """Starts a program in a group of its own, so that it ends with all that it started."""
        words = [str(word) for word in words]
        print("$", *words, file=self.log)
        out = open(OUT / f".{self.name}.{len(self.rows)}.{len(self.running)}", "w+", errors="replace")
        program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT,
                                   text=True, env=os.environ | dict(environment), start_new_session=True)  # fmt: skip
        self.running.append((program, out))
        try:
            program.stdin.write(lines)
            program.stdin.close()
        except BrokenPipeError:
            pass
        return program, out

    def end(self, job, limit):
        """(exit status, output); the status is None if the limit came first."""
        program, _ = job
        try:
            status = program.wait(max(0.1, min(limit, self.left())))
        except subprocess.TimeoutExpired:
            self.stop([job] if self.left() > 1 else self.running)
        return None if program in self.stopped else status, self.read(job)

    def stop(self, jobs):
        """Ends all jobs together: first by a request, so that a run can write its checkpoint; after 8 seconds by
        SIGKILL."""
        for word, patience in ((signal.SIGTERM, 8), (signal.SIGKILL, 2)):
            left = [program for program, _ in jobs if program.poll() is None]
            self.stopped.update(left)
            for program in left:
                os.killpg(program.pid, word)
            end = time.monotonic() + patience
            while any(program.poll() is None for program in left) and time.monotonic() < end:
                time.sleep(0.05)

    def read(self, job):
        _, out = job
        if job in self.running:
            self.running.remove(job)
        out.seek(0)
        text = out.read()
        out.close()
        os.unlink(out.name)
        self.log.write(text if text.endswith("\n") or not text else text + "\n")
        return text

    def run(self, words, limit=120, environment=(), lines=""):
        return self.end(self.launch(words, environment, lines), limit)

    def side_by_side(self, jobs, limit, at_once=AT_ONCE):
        """(what, exit status, output) of each job (what, words, environment), as they end, a few at a time."""
        waiting, running = list(jobs), []
        while waiting or running:
            while waiting and len(running) < at_once:
                what, words, environment = waiting.pop(0)
                if self.left() < 5:
                    yield what, None, "no time left"
                else:
                    running.append((what, self.launch(words, environment), time.monotonic() + limit))
            now = time.monotonic()
            ended = [job for job in running if job[1][0].poll() is not None or now > job[2] or self.left() < 1]
            for what, job, end in ended:
                running.remove((what, job, end))
                yield what, *self.end(job, 0)
            if not ended:
                time.sleep(0.05)

    def row(self, what, status, details="", **fields):
        """status: ok, FAILED, not run, or a figure. fields: its subject and its figures, for NAME.json."""
        self.rows.append({"what": what, "status": status, "details": details} | fields)
        print(f"{status:>14}  {what}  {details}", flush=True)

    def note(self, text):
        self.notes.append(text)

    def write(self, name, fields):
        """A file of data, with a note about the programs that made it."""
        now = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
        about = {"stage": self.name, "time": now, "commit": commit(self.bin)}
        (OUT / f"{name}.json").write_text(json.dumps(about | fields, indent=1) + "\n")
        return f"cuda-test {self.name}, {now}, {about['commit']}, {self.bin}"

    def finish(self):
        self.stop(self.running)
        for job in list(self.running):
            self.read(job)
        bad = [r for r in self.rows if r["status"] in ("FAILED", "not run")]
        lines = [self.write(self.name, {"rows": self.rows}), *self.notes]
        lines += [f"{r['status']:>14}  {r['what']}  {r['details']}".rstrip() for r in self.rows]
        lines += [f"{len(self.rows) - len(bad)} ok, {len(bad)} not, {time.monotonic() - self.start:.0f} s"]
        names = list(dict.fromkeys(name for r in self.rows for name in r))
        with open(OUT / f"{self.name}.csv", "w", newline="") as file:
            table = csv.DictWriter(file, names, lineterminator="\n")
            table.writeheader()
            table.writerows(self.rows)
        text = "\n".join(lines) + "\n"
        (OUT / f"{self.name}.txt").write_text(text)
        print("\n" + text, end="", flush=True)
        return not bad


def commit(programs):
    """The source that the programs were built from."""
    if programs.parts[-2:] == (".bundle", "bin"):
        return (ROOT / ".bundle/commit").read_text().strip()
    if (ROOT / ".git").exists() and shutil.which("git"):
        words = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
        return subprocess.run(words, capture_output=True, text=True).stdout.strip()
    return "unknown commit"


def how_it_ended(status):
    if status is None:
        return "stopped because time was up"
    return f"exit status {status}" if status >= 0 else f"ended by {signal.Signals(-status).name}"


def tail(text, count=1):
    return "\n".join(text.strip().splitlines()[-count:])

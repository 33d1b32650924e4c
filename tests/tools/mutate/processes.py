"""Starts processes for tools/mutate within limits of memory and time; all that they start ends together with them."""
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

root = pathlib.Path(__file__).resolve().parents[3]
home = root / "build/mutate"
tree = home / "tree"


def run(command, cpu=None, timeout=None, check=False, env=None, **more):
    """subprocess.run with limits of memory and processor time; all processes that it started end with it."""
    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (24 << 30, 24 << 30))
        if cpu:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
    # The copy has no commit: otherwise each commit in the checkout would change the build.
    around = {"CCACHE_SLOPPINESS": "pch_defines,time_macros", **os.environ, "GIT_CEILING_DIRECTORIES": str(home),
              **(env or {})}
    with subprocess.Popen(command, start_new_session=True, preexec_fn=limits, stdin=subprocess.DEVNULL, env=around,
                          **more) as process:
        try:
            out = output_of(process, timeout or float("inf"))
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    if check and process.returncode:
        sys.exit(f"mutate: {' '.join(map(str, command))} ended with {process.returncode}")
    return subprocess.CompletedProcess(command, process.returncode, out)


def output_of(process, seconds):
    """Counts seconds one by one, so that none pass while the machine, or this program with its children, is stopped."""
    while True:
        try:
            return process.communicate(timeout=1)[0]
        except subprocess.TimeoutExpired:
            seconds -= 1
            if seconds < 0:
                raise


def processor_time():
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])

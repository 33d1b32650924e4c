"""The program `poslab` that belongs to this module: sweeps and reproductions run it in many processes."""

import os
import signal
import sys
from pathlib import Path

from . import _poslab
from .chosen import spelled_value


def path():
    """The program's path: in a build tree next to the module, otherwise among the scripts of the environment."""
    beside = Path(_poslab.__file__).resolve().parents[2] / "poslab"
    if beside.is_file():
        return beside
    from importlib import metadata      # imported here, as in run(), so that `import poslab` stays fast
    try:
        files = metadata.files("poslab") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "poslab" and Path(file.locate()).is_file():
            return Path(file.locate())
    raise RuntimeError("the program poslab is not next to this module; `pip install .` installs both, and in a build "
                       "tree `cmake --build build/release --target poslab_program` builds it")


def words_of(options):
    """jobs=2, retry=True, threads=None as arguments of a command: --jobs 2 --retry."""
    words = []
    for name, value in options.items():
        if value is True:
            words.append(f"--{name}")
        elif value is not None and value is not False and value != "":
            words += [f"--{name}", spelled_value(value)]
    return words


def run(words, progress):
    """Runs the program, and prints its progress to sys.stderr. Raises its errors with its messages, for bad input as
    ValueError. On Ctrl-C the program saves its state first."""
    import subprocess
    # this Python is first on PATH, so that the program draws tables with it
    this_python = os.path.dirname(sys.executable)
    child = subprocess.Popen([path(), *map(os.fspath, words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                             env=os.environ | {"PATH": f"{this_python}{os.pathsep}{os.environ.get('PATH', '')}"},
                             start_new_session=True)       # so that only Python gets Ctrl-C
    said = []

    def listen():
        for line in child.stderr:
            said.append(line)
            if progress:
                print(line, end="", file=sys.stderr, flush=True)
        return child.wait()

    with child.stderr:
        try:
            status = listen()
        except BaseException:
            child.send_signal(signal.SIGINT)
            status = listen()
            if status != 128 + signal.SIGINT:
                raise
    if status == 0:
        return
    last = max((n for n, line in enumerate(said) if line.startswith("poslab: ")), default=None)
    text = f"poslab ended with status {status}" if last is None else "".join(said[last:])[len("poslab: "):].strip()
    raise {2: ValueError, 128 + signal.SIGINT: KeyboardInterrupt}.get(status, RuntimeError)(text)

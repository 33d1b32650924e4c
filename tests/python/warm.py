"""A python3 that has already imported the drawing packages: tests draw a hundred times, and importing takes longer than
most drawings. Each call is a fork of one process, with the words, environment, folder and files of the caller."""

import ast
import atexit
import contextlib
import functools
import importlib
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

PACKAGES = ["matplotlib.figure", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg", "pandas",
            "scipy.stats", "statsmodels.stats.multitest"]  # fmt: skip
CALL = """#!{} -IS
import os, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect({!r})
socket.send_fds(server, [ascii((sys.argv[1:], dict(os.environ), os.getcwd())).encode()], [0, 1, 2])
sys.exit((server.recv(1) or b"\\1")[0])
"""


@functools.cache
def folder():
    """The folder of this python3, which must come first on the PATH. Its process ends when its standard input does."""
    at = tempfile.TemporaryDirectory()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(f"{at.name}/calls")
    listening.listen()
    (script := Path(at.name, "python3")).write_text(CALL.format(sys.executable, f"{at.name}/calls"))
    script.chmod(0o755)
    server = subprocess.Popen([sys.executable, __file__, str(listening.fileno())], stdin=subprocess.PIPE,
                              pass_fds=[listening.fileno()])

    @atexit.register
    def end():
        server.stdin.close(), server.wait()
        at.cleanup()

    return at.name


def environment():
    return os.environ | {"PATH": f"{folder()}{os.pathsep}{os.environ['PATH']}"}


def answer(caller):
    text, files, _, _ = socket.recv_fds(caller, 1 << 20, 3)
    (how, what, *rest), variables, where = ast.literal_eval(text.decode())
    for n, file in enumerate(files):
        os.dup2(file, n)
        os.close(file)
    os.chdir(where)
    os.environ.clear()
    os.environ.update(variables)
    sys.path[0] = ""
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv, status = [what, *rest], 0
    try:
        if how == "-c":
            exec(what, {"__name__": "__main__"})
        else:
            runpy.run_module(what, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code or 0
    except BaseException:  # noqa: BLE001, as the interpreter's own top level does
        traceback.print_exc()
        status = 1
    if isinstance(status, str):
        status = print(status, file=sys.stderr) or 1
    sys.stdout.flush(), sys.stderr.flush()
    caller.send(bytes([status]))
    os._exit(0)


def serve(listening):
    for name in PACKAGES:
        importlib.import_module(name)

    def reap(*_):
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    signal.signal(signal.SIGCHLD, reap)
    while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
        caller, _ = listening.accept()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            answer(caller)
        caller.close()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))

#!/usr/bin/env python3
"""The page in headless Firefox, by its Marionette protocol: it draws, trains, and answers from a recorded model.

usage: firefox.py PAGE.html
"""

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

program = shutil.which("firefox-esr") or shutil.which("firefox")
PORT = 28283


class Firefox:
    def __init__(self):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        (Path(self._profile.name) / "user.js").write_text(f'user_pref("marionette.port", {PORT});\n')
        self._browser = subprocess.Popen([program, "--headless", "--marionette", "--profile", self._profile.name],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._socket, self._rest, self._number = self._connected(), b"", 0
        self._receive()                                # the greeting
        self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {}})

    def _connected(self, seconds=60):
        until = time.monotonic() + seconds
        while True:
            try:
                return socket.create_connection(("127.0.0.1", PORT), timeout=180)
            except OSError:
                assert time.monotonic() < until, f"Firefox does not listen on port {PORT}"
                time.sleep(.2)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()
        self._browser.terminate()
        self._browser.wait()
        self._profile.cleanup()

    def _receive(self):
        while b":" not in self._rest:
            self._rest += self._socket.recv(1 << 16)
        size, self._rest = self._rest.split(b":", 1)
        while len(self._rest) < int(size):
            self._rest += self._socket.recv(1 << 20)
        message, self._rest = self._rest[:int(size)], self._rest[int(size):]
        return json.loads(message)

    def call(self, name, **parameters):
        self._number += 1
        message = json.dumps([0, self._number, name, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, wrong, value = self._receive()
        assert not wrong, wrong
        return value

    def until(self, script, seconds=90):
        until = time.monotonic() + seconds
        while not self.call("WebDriver:ExecuteScript", script=f"return Boolean({script})", args=[])["value"]:
            assert time.monotonic() < until, f"{script} did not come"
            time.sleep(.1)

    def run(self, script):
        return self.call("WebDriver:ExecuteScript", script=script, args=[])["value"]


def visit(file):
    with Firefox() as page:
        address = Path(file).resolve().as_uri()
        page.call("WebDriver:Navigate", url=address)
        page.until("document.querySelectorAll('.lane path').length > 8")
        page.until("performance.getEntriesByName('engine ready').length")
        page.call("WebDriver:Navigate", url=f"{address}#view=race&task=even_pairs&steps=20&layers=1&heads=2&d_model=16"
                  "&batch=8&train_length=8&lane=rope~randomized~none~1")
        page.until("document.querySelector('.race')")
        page.run("[...document.querySelectorAll('button')].find(b => b.textContent === 'Train all').click()")
        page.until("document.querySelector('.status').textContent.startsWith('trained 20 steps')")
        print(f"        {page.run('return document.querySelector(`.status`).textContent')}")
        page.run("document.querySelector('nav a[data-view=inside]').click()")
        page.until("document.querySelector('.inside .verdict')?.textContent.includes('right')")
        wide = page.run("return document.scrollingElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{wide} pixels too wide"


def main(file):
    if not program:
        print("FAILED  there is no Firefox here; with Debian: apt install firefox-esr")
        print("[firefox] test cases: 1 | 0 passed | 1 failed")
        return 1
    try:
        visit(file)
    except Exception as wrong:  # noqa: BLE001
        print(f"FAILED  in Firefox: {wrong!r}\n[firefox] test cases: 1 | 0 passed | 1 failed")
        return 1
    print("ok      in Firefox it draws, trains and answers\n[firefox] test cases: 1 | 1 passed | 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)

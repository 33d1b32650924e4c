"""A page in headless Chromium, driven over its debugging pipe: its console messages and the results of its scripts."""

import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile

program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """The one browser for all pages; it ends with the tests."""

    def __init__(self):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        (reads, to_browser), (from_browser, writes) = os.pipe(), os.pipe()

        def fds():  # the two that --remote-debugging-pipe reads and writes
            os.dup2(reads, 63), os.dup2(writes, 64)
            os.dup2(63, 3), os.dup2(64, 4)

        self._process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             f"--user-data-dir={self._profile.name}"],
            env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},  # a sanitizer's
            preexec_fn=fds, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(reads), os.close(writes)
        self._to, self._from, self._rest, self._number = os.fdopen(to_browser, "wb"), from_browser, b"", 0
        atexit.register(self._end)

    def _end(self):
        self._process.kill(), self._process.wait()
        self._profile.cleanup()

    def send(self, message):
        """Sends a command, and returns the number that its answer will have."""
        self._number += 1
        self._to.write(json.dumps(message | {"id": self._number}).encode() + b"\0"), self._to.flush()
        return self._number

    def receive(self):
        while b"\0" not in self._rest:
            more = os.read(self._from, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        line, self._rest = self._rest.split(b"\0", 1)
        return json.loads(line)


class Page:
    """A blank page that shares nothing with others. `messages` has everything that it has logged, and its errors."""

    _shared = functools.cache(Browser)

    def __init__(self, width=1400, height=1000, dark=False):
        self._browser, self._session, self.messages = Page._shared(), None, []
        self._context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=self._context)["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(f"{domain}.enable")
        self.size(width, height)
        self.media(prefers_color_scheme="dark" if dark else "light")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._session = None
        self.call("Target.disposeBrowserContext", browserContextId=self._context)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, **features):
        """Sets preferences of the reader: prefers_color_scheme="dark"."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def call(self, method, **params):
        """Sends a command of the DevTools protocol, and returns its result."""
        session = {"sessionId": self._session} if self._session else {}
        number = self._browser.send({"method": method, "params": params} | session)
        while True:
            got = self._receive()
            if got.get("id") == number:
                assert "error" not in got, got
                return got["result"]

    def _receive(self):
        got = self._browser.receive()
        said = got.get("params", {})
        if got.get("sessionId") != self._session:
            return got
        if got.get("method") == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(a.get("value", a)) for a in said["args"]))
        elif got.get("method") == "Runtime.exceptionThrown":
            self.messages.append(said["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif got.get("method") == "Log.entryAdded":
            self.messages.append(said["entry"]["text"])
        return got

    def open(self, path, link=""):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}{link}")

    def run(self, script):
        """The value of an expression, or of the promise that it returns."""
        got = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    def until(self, script, seconds=20):
        """Waits until an expression is true."""
        return self.run(f"""new Promise((done, late) => {{
            setTimeout(() => late(new Error({json.dumps(script)} + " did not come")), {1000 * seconds});
            (function look() {{ if ({script}) done(true); else setTimeout(look, 5); }})();
        }})""")

    def press(self, key, shift=False):
        codes = {"Tab": 9, "PageUp": 33, "PageDown": 34, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40}
        stroke = {"key": key, "code": key, "modifiers": 8 * shift, "windowsVirtualKeyCode": codes.get(key, 0)}
        self.call("Input.dispatchKeyEvent", type="keyDown", **stroke, **({"text": key} if len(key) == 1 else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **stroke)

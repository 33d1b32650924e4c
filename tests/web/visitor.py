"""A visitor of the page in headless Chromium, who presses, types, drops and reads; and the network requests of the
page."""

import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import browser


class Page(browser.Page):
    """A page of ours, with all its network requests."""

    def __init__(self, file, width=1280, height=900, script="", **more):
        self.file, self.requests, self._trace = file, [], None
        super().__init__(width, height, **more)
        self.call("Network.enable")
        if script:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def _receive(self):
        got = super()._receive()
        if got.get("method") == "Network.requestWillBeSent":
            self.requests.append(got["params"]["request"]["url"])
        elif got.get("method") == "Tracing.dataCollected":
            self._trace += got["params"]["value"]
        elif got.get("method") == "Tracing.tracingComplete":
            self._traced = True
        return got

    def trace(self, seconds, *categories):
        """The events of the browser's own tracing, in all its processes, during this many seconds from now."""
        self._trace, self._traced = [], False
        self.call("Tracing.start", transferMode="ReportEvents", traceConfig={"includedCategories": categories})
        time.sleep(seconds)
        self.call("Tracing.end")
        while not self._traced:
            self._receive()
        return self._trace

    def show(self, link="", ready=True):
        self.open(self.file, link)
        self.until("document.querySelector('main .view, main .lead')")
        if ready:
            self.until("performance.getEntriesByName('engine ready').length", 60)

    def follow(self, link):
        """Follows a link within the page; if the page is already there, its engine is not unpacked again."""
        if not self.run("document.querySelector('main .view')"):
            return self.show(link)
        if self.run("location.hash") == link:
            link += "&"
        self.run(f"document.querySelector('main').replaceChildren(), location.hash = {json.dumps(link)}")
        self.until("document.querySelector('main .view')")

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def click(self, words, within="document"):
        """Clicks the button with this name."""
        done = self.run(f"""(() => {{
            const name = b => b.getAttribute('aria-label') ?? b.textContent;
            const all = [...{within}.querySelectorAll('button')];
            const found = all.find(b => name(b) === {json.dumps(words)} && b.getClientRects().length);
            found?.click();
            return Boolean(found);
        }})()""")
        assert done, f"there is no button {words!r}"

    def said(self, words, seconds=20):
        self.until(f"document.getElementById('said').textContent.includes({json.dumps(words)})", seconds)

    def hold(self, x, y, kind, buttons=0):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1)


SET = """{{ const found = document.querySelectorAll({what})[{at}];
    found.value = {value}; found.dispatchEvent(new Event({event})); }}"""


def put(page, what, value, at=0, event="input"):
    """Puts a value into control number `at` of those that the selector finds."""
    page.run(SET.format(what=json.dumps(what), value=json.dumps(value), event=json.dumps(event), at=at))


def score_of(lane):
    return f"parseFloat(document.querySelectorAll('.lane')[{lane}].querySelector('.score').textContent)"


def scores(page):
    return [float(t.split()[0]) if t[0].isdigit() else None for t in
            page.run("[...document.querySelectorAll('.lane .score')].map(s => s.textContent)")]


def give(page, data, name):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(data)
        found = page.call("Runtime.evaluate", expression="document.querySelector('input[type=file]')")["result"]
        page.run("document.getElementById('said').textContent = ''")
        page.call("DOM.setFileInputFiles", objectId=found["objectId"], files=[str(file)])
        page.until("document.getElementById('said').textContent", 30)
        return page.text("#said")

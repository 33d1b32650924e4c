#!/usr/bin/env python3
"""Takes pictures of every part of the page and every scene of the lecture, to be looked at: PNG, 1280 and 390 pixels
wide, light and dark.     usage: shots.py PAGE.html FOLDER [PART OF A NAME]
"""

import base64
import sys
import time
from pathlib import Path

from page import SMALL, VIEWS
from visitor import Page

SIZES = {1280: 720, 390: 844}
READY = {  # what must be there, for views that fill up later
    "start": "document.querySelector('.lane .reads .share')?.textContent",
    "inside": "document.querySelector('.inside .verdict')?.textContent.includes('right')",
    "dispersion": "document.querySelector('.dispersion .verdict')?.textContent.startsWith('as trained')",
    "positions": "document.querySelector('.scale')?.textContent",
}


def parts():
    """(name, link, view) of each picture."""
    for view in VIEWS:
        if view != "lecture":
            yield view, f"#view={view}", view
    yield "start-60", "#view=start&length=60&guess=three", "start"
    yield "race-trained", SMALL, "race"
    yield "positions-two", "#view=positions&matrix=alibi&beside=alibi:symmetric&time=64", "positions"
    for scene in range(1, 7):
        yield f"lecture-{scene}", f"#view=lecture&scene={scene}", "lecture"


def main(file, folder, wanted=""):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with Page(file) as page:
        for scheme in ("light", "dark"):
            page.media(prefers_color_scheme=scheme)
            for wide, high in SIZES.items():
                page.size(wide, high)
                for name, link, view in parts():
                    if wanted not in name:
                        continue
                    page.show(link)
                    if view in READY:
                        page.until(READY[view], 60)
                    if name == "race-trained":
                        page.click("Train all")
                        page.until("[...document.querySelectorAll('.status')].every(s => s.textContent[0] === 't')", 90)
                    time.sleep(.3)
                    # A scene's picture is one screen; pictures of other parts have the whole page.
                    whole = page.run("document.documentElement.scrollHeight")
                    clip = {"x": 0, "y": 0, "width": wide, "height": high if view == "lecture" else whole, "scale": 1}
                    data = page.call("Page.captureScreenshot", format="png", captureBeyondViewport=view != "lecture",
                                     clip=clip)["data"]
                    path = folder / f"{name}-{wide}-{scheme}.png"
                    path.write_bytes(base64.b64decode(data))
                    print(f"{path}: {whole} pixels high")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) in (3, 4) else __doc__)

#!/usr/bin/env python3
"""The first minute of a visit, as a strip of pictures: docs/web-film.svg.     usage: film.py PAGE.html OUT.svg

Each picture is a screen of 1280 x 880 pixels at the time below it; training takes longer if the machine is busy.
"""

import sys
import time
from pathlib import Path

from visitor import Page, put, score_of

WIDE, HIGH, SMALL = 1280, 880, .5


def shoot(page, began, words, frames):
    data = page.call("Page.captureScreenshot", format="webp", quality=70,
                     clip={"x": 0, "y": 0, "width": WIDE, "height": HIGH, "scale": SMALL * 1.4})["data"]
    frames.append((data, f"{time.monotonic() - began:.0f} s: {words}"))


def visited(file):
    frames = []
    with Page(file, WIDE, HIGH) as page:
        page.size(WIDE, HIGH)
        began = time.monotonic()
        page.show()
        shoot(page, began, "the curves are there; how many will hold?", frames)
        page.run("document.querySelectorAll('.choice input')[3].click()")
        for length in range(20, 41):
            put(page, "#length", length)
            time.sleep(.1)
        shoot(page, began, "a guess, then past the edge, to 40", frames)
        for length in range(40, 61):
            put(page, "#length", length)
            time.sleep(.1)
        page.until("document.querySelector('.asked').textContent.includes('60')")
        time.sleep(.5)
        shoot(page, began, "at 60 three have fallen; red was never met", frames)
        page.click("randomize positions", "document.querySelectorAll('.lane')[1]")
        status = "document.querySelectorAll('.lane')[1].querySelector('.status').textContent"
        page.until(f"{status}.startsWith('step 1')", 60)
        shoot(page, began, "RoPE trains again, with random positions", frames)
        for least in (60, 90):
            page.until(f"{score_of(1)} > {least}", 200)
            shoot(page, began, f"{page.run(status).split(',')[0]}: over {least} % at length 60", frames)
    return frames


def strip(frames):
    wide, high = WIDE * SMALL, HIGH * SMALL + 34
    cells = "".join(
        f'<g transform="translate({n % 2 * (wide + 16)} {n // 2 * (high + 10)})"><image width="{wide:.0f}"'
        f' height="{HIGH * SMALL:.0f}" href="data:image/webp;base64,{data}"/><rect width="{wide:.0f}"'
        f' height="{HIGH * SMALL:.0f}" fill="none" stroke="#888"/><text x="4" y="{high - 12:.0f}" font-size="19"'
        f' fill="#777">{words}</text></g>' for n, (data, words) in enumerate(frames))
    all_high = (len(frames) + 1) // 2 * (high + 10)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * wide + 16:.0f} {all_high:.0f}"'
            f' font-family="sans-serif"><title>The first minute of Past the edge</title>{cells}</svg>\n')


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Path(sys.argv[2]).write_text(strip(visited(sys.argv[1])))

#!/usr/bin/env python3
"""Measures the time and memory of `poslab view` for the attention of 8 heads x 5 layers on 4096 slots, and the time
that its page takes to open and to scroll in headless Chromium. Fails if every opening takes 3 seconds or more (other
programs may slow down some), or if the page writes anything to the console.

usage: ./dev bench view [TIMES]     TIMES: how often the page is opened, each time in a new browser (5)
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))
import browser  # noqa: E402

most = 3.0  # seconds
scroll = """(async () => {
  const canvas = document.querySelector(".map-canvas"), times = [];
  const frame = () => new Promise(requestAnimationFrame), link = () => document.getElementById("link").hash;
  for (let n = 0; n < 40; ++n) {
    const before = performance.now(), at = link();
    canvas.dispatchEvent(new WheelEvent("wheel", {deltaX: 80, deltaY: 80, cancelable: true}));
    await frame(), await frame();
    if (link() === at) throw new Error(`it has not scrolled from ${at}`);
    times.push(performance.now() - before);
  }
  return times;
})()"""


def made(folder):
    """A model of 5 layers and 8 heads after a few steps, and its maps on 2048 symbols and their answer."""
    program = ROOT / "build/release/poslab"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run([program, "train", "--task", "reverse_string", "--encoding", "rope", "--steps", "5", "--batch", "8",
                    "--eval-lengths", "1:2", "--eval-samples", "4", "--out", folder / "run"], check=True,
                   capture_output=True)
    began, cpu = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    print(subprocess.run([program, "view", folder / "run", "--length", "2048", "-o", folder / "view"], check=True,
                         capture_output=True, text=True).stdout.strip(), f"in {time.perf_counter() - began:.0f} s")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # ru_maxrss: of the largest child, which is view
    print(f"memory at most {used.ru_maxrss * 1024 / 1e9:.2f} GB; CPU time "
          f"{used.ru_utime + used.ru_stime - cpu.ru_utime - cpu.ru_stime:.0f} s")
    return folder / "view/index.html"


def main(times):
    if not browser.program:
        sys.exit("there is no chromium; with Debian: apt install chromium")
    page_file = made(ROOT / "build/view")
    opened, busy, scrolled, messages = [], [], [], []
    for _ in range(times):
        with browser.Page() as page:
            page.call("Performance.enable")
            page.open(page_file)
            page.until('performance.getEntriesByName("maps drawn").length', seconds=60)
            opened.append(page.run('performance.getEntriesByName("maps drawn")[0].startTime') / 1000)
            metrics = {m["name"]: m["value"] for m in page.call("Performance.getMetrics")["metrics"]}
            busy.append(metrics["ProcessTime"])
            page.run('location.hash = "layer=3&head=2&span=600&x=9"')
            page.until('document.getElementById("link").hash.includes("x=") &&'
                       ' !document.querySelector(".said").textContent.includes("…")')
            scrolled += page.run(scroll)
            messages += page.messages
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"opening until all 40 small maps and the large one are drawn: {min(opened):.2f} s at best, "
          f"{statistics.median(opened):.2f} s in the median, {max(opened):.2f} s at worst of {times}")
    print(f"CPU time of the page's process until then: {statistics.median(busy):.2f} s in the median")
    print(f"a turn of the wheel at full resolution, to the second frame after it: {statistics.median(scrolled):.0f} ms "
          f"in the median, {max(scrolled):.0f} ms at worst of {len(scrolled)}")
    print(f"messages on the console: {len(messages)}", *messages, sep="\n  ")
    if messages or min(opened) > most:
        sys.exit(f"the page should open in less than {most:.0f} s, and write nothing to the console")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)

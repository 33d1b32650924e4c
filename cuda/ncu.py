"""The kernels of a recorded step as Nsight Compute counts them: its options, and a table of what it wrote."""

import collections
import csv
import re

METRICS = {
    "gpu__time_duration.sum": "us",
    "launch__registers_per_thread": "registers",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps %",
    "smsp__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active": "fma %",
    "dram__bytes.sum": "memory",
}
# Every node of a graph is a launch. Clocks are left alone.
OPTIONS = ["--graph-profiling", "node", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw",
           "--metrics", ",".join(METRICS)]  # fmt: skip
MICROSECONDS = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0.0


def short(name):
    name = re.sub(r"\(anonymous namespace\)::|<unnamed>::|poslab::cuda::|void |\((int|bool)\)", "", name)
    return re.sub(r"\(.*", "", name)[:44]


def last_step(names):
    """How many of the launches at the end are one step: as many before them have the same names."""
    for n in range(20, len(names) // 2 + 1):
        if names[-n:] == names[-2 * n : -n]:
            return n
    return 0


def table(path):
    """Lines of the last step, which was replayed, the most expensive kernel first; none if two equal steps were not
    counted."""
    with open(path, errors="replace") as file:
        rows = list(csv.DictReader(line for line in file if line.startswith('"')))
    if len(rows) < 4:
        return []
    units, rows = rows[0], rows[1:]
    count = last_step([row["Kernel Name"] for row in rows])
    if not count:
        return []
    rows = rows[-count:]
    to_us = MICROSECONDS.get(units["gpu__time_duration.sum"], 1e-3)
    sums = collections.defaultdict(lambda: [0, 0.0, "", 0.0, 0.0])
    for row in rows:
        s = sums[short(row["Kernel Name"])]
        s[0] += 1
        s[1] += number(row["gpu__time_duration.sum"]) * to_us
        s[2] = row["launch__registers_per_thread"]
        s[3] += number(row["sm__warps_active.avg.pct_of_peak_sustained_active"])
        s[4] += number(row["smsp__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"])
    lines = [f"{len(rows)} launches, {sum(s[1] for s in sums.values()):.0f} us of kernels, gaps not counted",
             f"{'kernel':45}{'n':>4}{'us':>9}{'us each':>9}{'registers':>10}{'warps %':>9}{'fma %':>7}"]  # fmt: skip
    for name, (n, us, registers, warps, fma) in sorted(sums.items(), key=lambda item: -item[1][1]):
        lines.append(f"{name:45}{n:4}{us:9.1f}{us / n:9.2f}{registers:>10}{warps / n:9.0f}{fma / n:7.0f}")
    return lines

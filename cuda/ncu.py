"""The kernels of a recorded step as Nsight Compute counts them: its options, and a table of what it wrote."""

import collections
import csv
import re

TIME, REGISTERS = "gpu__time_duration.sum", "launch__registers_per_thread"
# In % of what a multiprocessor can do while the kernel is there: warps that it has, instructions that begin, multiply-
# adds among them, and loads and stores of shared memory.
SHARES = {
    "warps": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "fma": "smsp__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "shared": "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_active",
}
# Every node of a graph is a launch. Clocks are left alone.
OPTIONS = ["--graph-profiling", "node", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw",
           "--metrics", ",".join([TIME, REGISTERS, *SHARES.values()])]  # fmt: skip
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
    to_us = MICROSECONDS.get(units[TIME], 1e-3)
    kernels = collections.defaultdict(list)
    for row in rows:
        kernels[short(row["Kernel Name"])].append(row)
    us = {name: sum(number(row[TIME]) * to_us for row in launches) for name, launches in kernels.items()}
    head = f"{'kernel':45}{'n':>4}{'us':>9}{'us each':>9}{'registers':>10}" + "".join(f"{s + ' %':>10}" for s in SHARES)
    lines = [f"{len(rows)} launches, {sum(us.values()):.0f} us of kernels, gaps not counted", head]
    for name, launches in sorted(kernels.items(), key=lambda item: -us[item[0]]):
        n = len(launches)
        shares = [sum(number(row.get(key, "")) for row in launches) / n for key in SHARES.values()]
        lines.append(f"{name:45}{n:4}{us[name]:9.1f}{us[name] / n:9.2f}{launches[-1][REGISTERS]:>10}" +
                     "".join(f"{share:10.0f}" for share in shares))  # fmt: skip
    return lines

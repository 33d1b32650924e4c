"""The kernels of a recorded step as Nsight Compute counts them: its options, and a table of what it wrote."""

import collections
import csv
import re

TIME, REGISTERS = "gpu__time_duration.sum", "launch__registers_per_thread"
# Shares, in %, of a multiprocessor's capacity while the kernel runs: resident warps, issued instructions and the
# multiply-adds among them, loads and stores of shared memory.
SHARES = {
    "warps": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "fma": "smsp__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "shared": "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_active",
}
# Profiles every node of a graph as a launch of its own, and leaves the clocks alone.
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


def length_of_step(names):
    """The number n of launches in the last step, recognized because the n launches before them have the same names."""
    for n in range(20, len(names) // 2 + 1):
        if names[-n:] == names[-2 * n : -n]:
            return n
    return 0


def last_step(path):
    """The kernels of the last step, which was replayed, the most expensive first; empty unless two equal steps were
    counted."""
    with open(path, errors="replace") as file:
        rows = list(csv.DictReader(line for line in file if line.startswith('"')))
    count = length_of_step([row["Kernel Name"] for row in rows[1:]]) if len(rows) > 3 else 0
    if not count:
        return {}
    to_us, launches = MICROSECONDS.get(rows[0][TIME], 1e-3), collections.defaultdict(list)
    for row in rows[-count:]:
        launches[short(row["Kernel Name"])].append(row)
    kernels = []
    for name, of in launches.items():
        us = sum(number(row[TIME]) * to_us for row in of)
        shares = {share: round(sum(number(row.get(key, "")) for row in of) / len(of)) for share, key in SHARES.items()}
        kernels.append({"kernel": name, "launches": len(of), "us": round(us, 1), "us_each": round(us / len(of), 2),
                        "registers": int(number(of[-1][REGISTERS]))} | shares)  # fmt: skip
    kernels.sort(key=lambda kernel: -kernel["us"])
    return {"launches": count, "us": round(sum(kernel["us"] for kernel in kernels)), "kernels": kernels}


def lines(step):
    head = f"{'kernel':45}{'n':>4}{'us':>9}{'us each':>9}{'registers':>10}" + "".join(f"{s + ' %':>10}" for s in SHARES)
    return [f"{step['launches']} launches, {step['us']} us of kernels, gaps not counted", head] + [
        f"{k['kernel']:45}{k['launches']:4}{k['us']:9.1f}{k['us_each']:9.2f}{k['registers']:10}"
        + "".join(f"{k[share]:10}" for share in SHARES)
        for k in step["kernels"]
    ]

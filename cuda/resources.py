#!/usr/bin/env python3
"""usage: cuda/resources.py LOG   writes the report of `nvcc -Xptxas=-v` to bench/results/resources.csv, for
tools/resources. A kernel that is compiled in several forms gets the largest numbers of any of them."""

import collections
import pathlib
import re
import subprocess
import sys

SAID = re.compile(
    r"Compiling entry function '(?P<name>\w+)' for '(?P<gpu>\w+)'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<spilled>\d+) bytes spill stores.*?"
    r"Used (?P<registers>\d+) registers(?P<more>[^\n]*)",
    re.S,
)


def kernels(log):
    """[(file, kernel, registers, bytes of shared memory, of stack, spilled)], and the GPU."""
    found = [m.groupdict() for m in SAID.finditer(log)]
    names = subprocess.run(["c++filt"], input="\n".join(f["name"] for f in found), capture_output=True, text=True)
    rows = []
    for f, name in zip(found, names.stdout.splitlines()):
        file = re.search(r"_[0-9a-f]{8}_\d+_(\w+)_cu_[0-9a-f]{8}", f["name"])[1]
        short = re.sub(r"\(anonymous namespace\)::", "", name)
        short = re.match(r"(?:void )?poslab::cuda::((?:(?:general|naive|wide)::)?\w+)", short)[1]
        shared = re.search(r"(\d+) bytes smem", f["more"])
        numbers = (f["registers"], shared[1] if shared else 0, f["stack"], f["spilled"])
        rows.append((file, short, *map(int, numbers)))
    return rows, found[0]["gpu"]


def table(rows, gpu):
    forms, lines = collections.defaultdict(list), collections.defaultdict(list)
    for file, name, *numbers in rows:
        forms[name, file].append(numbers)
    for (name, file), numbers in sorted(forms.items()):    # files that compile the same template share a line
        lines[name, len(numbers), tuple(max(column) for column in zip(*numbers))].append(file)
    yield f"# {len(rows)} kernels for {gpu}"
    yield "kernel,in,forms,registers,shared_bytes,stack_bytes,spilled_bytes"
    for (name, count, numbers), files in lines.items():
        yield ",".join(map(str, (name, " ".join(files), count, *numbers)))


def main():
    rows, gpu = kernels(pathlib.Path(sys.argv[1]).read_text())
    page = pathlib.Path(__file__).parents[1] / "bench/results/resources.csv"
    page.write_text("".join(f"{line}\n" for line in table(rows, gpu)))


if __name__ == "__main__":
    main()

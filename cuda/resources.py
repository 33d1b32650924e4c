#!/usr/bin/env python3
"""usage: cuda/resources.py LOG PAGE: what `nvcc -Xptxas=-v` said of each kernel, as the table of a page between two
comments; ./dev resources. Of a kernel that is compiled in several forms, the most that any of them takes."""

import collections
import re
import subprocess
import sys

BEGIN, END = "<!-- begin: ./dev resources -->", "<!-- end -->"
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
        short = re.match(r"(?:void )?poslab::cuda::((?:(?:general|naive)::)?\w+)", short)[1]
        shared = re.search(r"(\d+) bytes smem", f["more"])
        numbers = (f["registers"], shared[1] if shared else 0, f["stack"], f["spilled"])
        rows.append((file, short, *map(int, numbers)))
    return rows, found[0]["gpu"]


def table(rows, gpu):
    forms, lines = collections.defaultdict(list), collections.defaultdict(list)
    for file, name, *numbers in rows:
        forms[name, file].append(numbers)
    for (name, file), numbers in sorted(forms.items()):    # a template that several files have is one line
        lines[name, len(numbers), tuple(max(column) for column in zip(*numbers))].append(file)
    most = [max(column) for column in zip(*(r[2:] for r in rows))]
    yield f"{len(rows)} kernels for {gpu}. They take at most {most[0]} registers a thread and {most[1]:,} bytes of"
    yield f"shared memory a block; {sum(r[5] > 0 for r in rows)} of them spill registers, at most {most[3]} bytes of a"
    yield "thread. Forms of one template are in one line, with the most that any of them takes."
    yield ""
    yield "| kernel | in | forms | registers | shared memory, bytes | stack | spilled |"
    yield "|---|---|---|---|---|---|---|"
    for (name, count, (registers, shared, stack, spilled)), files in lines.items():
        yield f"| `{name}` | {', '.join(files)} | {count} | {registers} | {shared:,} | {stack} | {spilled} |"


def main():
    log, page = sys.argv[1:]
    with open(log) as file:
        rows, gpu = kernels(file.read())
    with open(page) as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    after = rest.split(END, 1)[1]
    with open(page, "w") as file:
        file.write(f"{before}{BEGIN}\n" + "\n".join(table(rows, gpu)) + f"\n{END}{after}")


if __name__ == "__main__":
    main()

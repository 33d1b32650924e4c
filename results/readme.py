#!/usr/bin/env python3
"""Writes docs/results.md and docs/results-limits.md from their templates, NAME.md.in, and the tables between marks of
README.md, docs/results-tables.md, speed.md, gpu.md, loops.md, stretch.md, torch.md, web.md and testing.md: all from the
results of measured runs in results/*/ and bench/results/.

Prints them; --write puts them into those pages, and --check fails if a page differs. Standard library only.
"""

import re
import sys

import findings
import gpu
import limits
import loops
import products
import query
import speed
import stretch
from matmul import matmul_lines
from query import ROOT

TEMPLATES = {"docs/results.md": findings, "docs/results-limits.md": limits}
TABLES = {
    "docs/results-tables.md": {"tables": limits.all_tables, "trained": limits.trained_lengths},
    "docs/speed.md": {"speed": speed.speed_in_ranges, "gpu": gpu.peers, "ladder": products.ladder,
                      "rounded": speed.rounded},
    "docs/gpu.md": {"matmul": lambda: matmul_lines()[-1:], "tested": lambda: gpu.tested() + gpu.population()},
    "docs/loops.md": {"loops": loops.loops_lines},
    "docs/stretch.md": {"stretch": stretch.stretch_lines},
    "docs/torch.md": {"llama": speed.llama},
    "docs/web.md": {"web": speed.web},
    "docs/testing.md": {"fuzz": speed.fuzz, "sanitizers": speed.sanitizers, "coverage": speed.coverage},
    "README.md": {"results": limits.in_short, "speed": speed.speed_in_short},
}


def between(text, name, lines):
    new, count = re.subn(
        rf"(<!-- {name}:.*?-->\n).*?(<!-- end of {name} -->)", lambda m: m[1] + query.lines(lines) + "\n" + m[2], text,
        flags=re.S
    )  # fmt: skip
    if count != 1:
        sys.exit(f"there is no place, or more than one, marked {name!r}")
    return new


def main(words):
    new = {page: query.filled(ROOT / f"{page}.in", vars(query) | vars(names)) for page, names in TEMPLATES.items()}
    for page, parts in TABLES.items():
        new[page] = (ROOT / page).read_text()
        for name, lines in parts.items():
            new[page] = between(new[page], name, lines())
    old = [page for page, text in new.items() if (ROOT / page).read_text() != text]
    if words == ["--check"]:
        sys.exit(f"{', '.join(old)}: differs from the data; results/readme.py --write renews it" if old else 0)
    for page in old if words == ["--write"] else []:
        (ROOT / page).write_text(new[page])
    if not words:
        print("\n".join(new.values()))


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
"""Keeps the counts of ./dev test asan or tsan in bench/results/sanitizers.csv, from which results/readme.py writes a
table in docs/testing.md. usage: sanitized.py PART PASSED FAILED SECONDS [PART...], in processor seconds."""

import pathlib
import sys

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "bench"))
from command import commit, keep_row  # noqa: E402

tree = commit()
for part, passed, failed, seconds in zip(*[iter(sys.argv[1:])] * 4, strict=True):
    keep_row(root / "bench/results/sanitizers.csv",
             {"part": part, "passed": passed, "failed": failed, "seconds": seconds}, tree)

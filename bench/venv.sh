#!/bin/sh
# Adds JAX, which only bench/compare.py needs, to the .venv of tests/reference/venv.sh: another 0.3 GB.
set -e
cd "$(dirname "$0")/.."
tests/reference/venv.sh
if ! cmp -s bench/requirements.txt .venv/made-bench; then
  .venv/bin/pip install --quiet --disable-pip-version-check -r bench/requirements.txt
  cp bench/requirements.txt .venv/made-bench
fi

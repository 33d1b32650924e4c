#!/bin/sh
# Makes .venv at the top of the tree, once: PyTorch and NumPy in fixed versions, for the golden files here;
# bench/venv.sh adds to it. Needs python3 with venv, a network the first time, and about 6 GB, because PyPI's torch
# includes its CUDA libraries. With PIP_INDEX_URL you can choose an index of CPU-only builds instead.
set -e
cd "$(dirname "$0")/../.."
tests/tools/venv_here.sh .venv
if ! cmp -s tests/reference/requirements.txt .venv/made; then
  rm -rf .venv
  python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check -r tests/reference/requirements.txt
  cp tests/reference/requirements.txt .venv/made
fi

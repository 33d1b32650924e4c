#!/bin/sh
# Makes .nvcc at the top of the tree, once: NVIDIA's compiler for CUDA and what it links with, pinned, from PyPI.
set -e
cd "$(dirname "$0")/.."
if ! cmp -s cuda/requirements.txt .nvcc/made; then
  rm -rf .nvcc
  python3 -m venv .nvcc
  .nvcc/bin/pip install --quiet --disable-pip-version-check -r cuda/requirements.txt
  cp cuda/requirements.txt .nvcc/made
fi

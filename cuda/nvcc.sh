#!/bin/sh
# Makes .nvcc at the top of the tree, once: NVIDIA's compiler for CUDA and what it links with, pinned, from PyPI.
set -e
cd "$(dirname "$0")/.."
tests/tools/venv_here.sh .nvcc
if ! cmp -s cuda/requirements.txt .nvcc/made; then
  rm -rf .nvcc
  python3 -m venv .nvcc
  .nvcc/bin/pip install --quiet --disable-pip-version-check -r cuda/requirements.txt
  for toolkit in .nvcc/lib/python3*/site-packages/nvidia/cu13; do
    ln -s lib "$toolkit/lib64"                        # where nvcc looks for what it links
    ln -s libcudart.so.13 "$toolkit/lib/libcudart.so"  # CMake recognizes a toolkit by this link
  done
  cp cuda/requirements.txt .nvcc/made
fi

#!/bin/sh
# Makes .venv-huggingface at the top of the tree, once: transformers, pinned, with the PyTorch and NumPy of .venv, which
# tests/reference/venv.sh makes. Another 0.2 GB.
set -e
cd "$(dirname "$0")/../.."
tests/reference/venv.sh
if ! cmp -s tests/huggingface/requirements.txt .venv-huggingface/made; then
  rm -rf .venv-huggingface
  python3 -m venv .venv-huggingface
  for packages in .venv-huggingface/lib/python3*/site-packages; do
    ls -d "$PWD"/.venv/lib/python3*/site-packages > "$packages/torch.pth"
  done
  .venv-huggingface/bin/pip install --quiet --disable-pip-version-check -r tests/huggingface/requirements.txt
  cp tests/huggingface/requirements.txt .venv-huggingface/made
fi

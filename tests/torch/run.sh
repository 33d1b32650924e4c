#!/bin/sh
# usage: tests/torch/run.sh [OPTION OF PYTEST...]
# The tests of poslab.torch, with the Python of .venv-torch and the module in build/release/python (./dev test torch
# makes both). Ends with a line that ./dev test counts.
cd "$(dirname "$0")/../.." || exit
.venv-torch/bin/python -m pytest -q -p no:cacheprovider tests/torch "$@" > build/pytest-torch.log 2>&1
status=$?
cat build/pytest-torch.log
count() { grep -oE "[0-9]+ $1" build/pytest-torch.log | tail -n 1 | grep -oE '^[0-9]+' || echo 0; }
echo "test cases: $(count passed) passed | $(count '(failed|error)') failed"
exit $status

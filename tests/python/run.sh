#!/bin/sh
# usage: tests/python/run.sh [OPTION OF PYTEST...]
# The tests of the Python module that lies in build/release/python, with the Python of .venv-python (./dev python makes
# both). Ends with a line that ./dev test counts.
cd "$(dirname "$0")/../.." || exit
.venv-python/bin/python -m pytest -q -p no:cacheprovider tests/python "$@" > build/pytest.log 2>&1
status=$?
cat build/pytest.log
count() { grep -oE "[0-9]+ $1" build/pytest.log | tail -n 1 | grep -oE '^[0-9]+' || echo 0; }
echo "test cases: $(count passed) passed | $(count '(failed|error)') failed"
exit $status

#!/bin/sh
# usage: tests/tools/pytest.sh python|torch [OPTION OF PYTEST...]
# Runs the tests of tests/python or tests/torch on the module in build/release/python, with the Python of .venv-python
# or .venv-torch; ./dev test makes both. Ends with a line that ./dev test counts.
cd "$(dirname "$0")/../.." || exit
of=${1:?python or torch}
log=build/pytest-$of.log
shift
".venv-$of/bin/python" -m pytest -q -p no:cacheprovider "tests/$of" "$@" > "$log" 2>&1
status=$?
cat "$log"
count() { grep -oE "[0-9]+ $1" "$log" | tail -n 1 | grep -oE '^[0-9]+' || echo 0; }
echo "test cases: $(count passed) passed | $(count '(failed|error)') failed"
exit $status

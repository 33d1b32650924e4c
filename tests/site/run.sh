#!/usr/bin/env bash
# Checks that the documentation site is built without a warning, that every link resolves, and that mistakes which would
# make it wrong are refused. Ends with a line that ./dev test counts.
cd "$(dirname "$0")/../.." || exit
# shellcheck source=tests/tools/check.sh
. tests/tools/check.sh
source=$PWD
scratch
builds() { PYTHONPATH=$source/build/release/python "$source/.venv-site/bin/python" "$source/docs/site/build.py"; }
check 'the site is built without a warning' builds
check 'its links resolve, and it fetches nothing' "$source/tests/site/check.py" "$source/build/site/html"
check 'mistakes that make it wrong are refused' "$source/.venv-site/bin/python" "$source/tests/site/refused.py"
checked site

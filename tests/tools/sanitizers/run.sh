#!/usr/bin/env bash
# usage: tests/tools/sanitizers/run.sh PROGRAM
# The short form of ./dev test asan: runs tests/tools/sanitizers/short.cpp and the laws of the schemes, built with the
# address and undefined-behaviour sanitizers. Only planted faults may be reported. Ends with a line for ./dev test.
set -uo pipefail
program=$(realpath "$1")
# shellcheck source=tests/tools/check.sh
. "$(dirname "${BASH_SOURCE[0]}")/../check.sh"
scratch
reported() {   # CASE REPORT: the program must end with this report
  local status=0
  "$program" --no-skip --test-case="planted: $1" > said 2>&1 || status=$?
  ((status != 0)) && grep -F "$2" said && ! grep 'test cases:' said || { cat said; return 1; }
}
check 'planted: the place past a buffer' reported 'the place past a buffer is*' use-after-poison
check 'planted: scratch memory' reported 'scratch memory*' use-after-poison
check 'planted: the place past a buffer of the GPU' reported 'a kernel writes*' use-after-poison
check 'planted: signed overflow' reported 'a kernel computes*' 'signed integer overflow'
check 'planted: a null pointer' reported 'a kernel reads*' 'address points to the zero page'
clean() {                               # other laws compute the same numbers again
  "$program" --test-case='sanitizers: *,1 *,5 *,7 *,10 *' > said 2>&1 || { cat said; return 1; }
  grep -E '^sanitizers:' said
}
check 'ops, emulated kernels and laws of the schemes' clean
checked short

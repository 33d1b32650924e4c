#!/usr/bin/env bash
# Checks that tools/lint finds a fault of each kind, planted in a small tree, and none in the tree without faults. Ends
# with a line that ./dev test counts.
set -uo pipefail
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../..")
# shellcheck source=tests/tools/check.sh
. "$source/tests/tools/check.sh"
scratch

mkdir -p tests/tools/lint core cmake python/poslab web/page lab/page
cp -R "$source/tools" "$source/.clang-tidy" "$source/.shellcheckrc" "$source/pyproject.toml" .
cp "$source/CMakePresets.json" "$source/CMakeLists.txt" .
cp "$source"/tests/tools/{venv,venv_here}.sh tests/tools
cp "$source"/tests/tools/lint/{requirements.txt,tsconfig.json,browser.d.ts} tests/tools/lint
cp "$source/cmake/commit.cmake" cmake
ln -s "$source/.venv-lint" .venv-lint
for file in results bench docs/site course cuda cmake/portable web python/poslab tests/web tests/tools/{mutate,fuzz}; do
  mkdir -p "$file" && touch "$file/__init__.py"
done
echo 'int size() { return 1; }' > core/size.cpp
echo 'export const side = 1;' > web/page/side.mjs
printf '#!/bin/sh\necho "$1"\n' > tests/say.sh
git init --quiet . && git add -A && git -c user.name=x -c user.email=x commit --quiet -m 'A small tree'

finds_in() {   # FILE WORD: tools/lint fails on the file, and prints this word
  local status=0
  tools/lint "$1" > answer 2>&1 || status=$?
  cat answer
  ((status != 0)) && finds -F "$2" answer
}
check 'no fault is found in a clean tree' tools/lint core web tests
null='int* lost() { int* a = nullptr; return *a ? a : nullptr; }'
echo "$null" > core/fault.cpp
check 'clang-tidy: a null pointer is read' finds_in core/fault.cpp clang-analyzer-core.NullDereference
echo 'struct Half { int whole = 0, half; }; Half half() { return {}; }' > core/fault.cpp
check 'clang-tidy: a field without a value' finds_in core/fault.cpp member-init
echo 'namespace { int side = 1; } int one() { return side; }' > core/one.cpp
printf '%s\n' 'namespace { int side = 2; } int two() { return side; }' "$null" > core/two.cpp
check 'clang-tidy: two files that share a name' finds_in core core/two.cpp:2:
echo 'names = {"a": 1, "a": 2}' > results/fault.py
check 'ruff: a key twice' finds_in results/fault.py F601
printf 'def width() -> int:\n    return "four"\n' > results/fault.py
check 'mypy: a text for a number' finds_in results/fault.py return-value
printf '#!/bin/sh\nrm -r $1/*\n' > tests/fault.sh
check 'shellcheck: words that split' finds_in tests/fault.sh SC2086
echo 'export const open = {;' > web/page/fault.mjs
check 'node: a syntax error' finds_in web/page/fault.mjs SyntaxError
echo 'export const sum = "a".toFixedd(2);' > web/page/fault.mjs
check 'tsc: a method that is not there' finds_in web/page/fault.mjs TS2339
check 'what differs from the last commit is read' finds_in --changed fault.sh
git add -A && git -c user.name=x -c user.email=x commit --quiet -m 'Faults'
check 'and so is what the last commit changed' finds_in --changed fault.sh
checked lint

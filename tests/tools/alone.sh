#!/usr/bin/env bash
# Checks that each header and each source compiles alone. The builds precompile headers and compile neighbouring sources
# as one, which hides missing includes; so does a C++ library whose headers include each other. Each file is parsed by
# itself, without output. CXX names the compiler and its options:
#   CXX='clang++-19 -stdlib=libc++' tests/tools/alone.sh
# usage: tests/tools/alone.sh [FILE...]     Ends with a line in doctest's form, which ./dev test adds up.
set -uo pipefail
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
cd "$source" || exit
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
export said
# shellcheck source=tools/options.sh
. tools/options.sh
cmake -DSOURCE="$source" -DVERSION=0 -DOUT="$said/commit.h" -P cmake/commit.cmake > /dev/null || exit

alone() {   # FILE
  # shellcheck disable=SC2046,SC2086         # several words each
  printf '#include "%s"\n' "$1" | ${CXX:-g++} -I. "-I$said" -std=gnu++20 -fsyntax-only -Wno-psabi $(options "$1") \
    -x c++ - > "$said/${1//\//+}" 2>&1 || echo "$1"
}
export -f options alone

if (($#)); then files=("$@")
else mapfile -t files < <(git ls-files '*.h' '*.cpp' | grep -vE "$unread|/exceptions_wasm")   # for no processor here
fi
mapfile -t failed < <(printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'alone "$1"' alone {})
for file in "${failed[@]}"; do
  echo "FAILED  $file does not compile alone:"
  grep -m 5 -A 3 'error' "$said/${file//\//+}" | sed 's/^/        | /'
done
echo "[alone] test cases: ${#files[@]} | $((${#files[@]} - ${#failed[@]})) passed | ${#failed[@]} failed"
((${#failed[@]} == 0))

#!/usr/bin/env bash
# Does each header and each source compile alone, in whatever order others include it? The builds parse headers ahead
# and compile neighbours as one, which hides what a file forgot to include; so does another C++ library, whose headers
# include each other. Each file is parsed by itself, without output. CXX names the compiler, with its options:
#   CXX='clang++-19 -stdlib=libc++' tests/tools/alone.sh
# usage: tests/tools/alone.sh [FILE...]     Ends with a line in doctest's form, which ./dev test adds up.
set -uo pipefail
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
cd "$source" || exit
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
export said module=''

# What CMake gives some of them: a namespace for the kernels, the emulated GPU, the header that it makes of the commit.
cmake -DSOURCE="$source" -DVERSION=0 -DOUT="$said/commit.h" -P cmake/commit.cmake > /dev/null || exit
options() {   # FILE
  echo "-I. -I$said -std=gnu++20 -fsyntax-only -Wno-psabi"
  case $1 in
    core/cpu/bf16/*) echo '-DPOSLAB_ISA=avx512_bf16 -march=x86-64-v4 -mavx512bf16' ;;
    core/cpu/* | course/emulated.h) echo '-DPOSLAB_ISA=baseline' ;;
    core/kernels.cpp) echo '-DPOSLAB_ISAS=ISA(baseline)' ;;
    core/platform/exceptions_wasm.cpp | web/*) echo '-DPOSLAB_WEB' ;;
    cuda/* | tests/tools/races/*) echo '-DPOSLAB_EMULATE' ;;
    python/*) echo "$module" ;;
    tests/support/places.cpp) echo '-DPOSLAB_SOURCE="" -DPOSLAB_PROGRAM="" -DPOSLAB_COMPILER=""' ;;
  esac
}
alone() {   # FILE
  # shellcheck disable=SC2046,SC2086         # several words each
  printf '#include "%s"\n' "$1" | ${CXX:-g++} $(options "$1") -x c++ - > "$said/${1//\//+}" 2>&1 || echo "$1"
}
export -f options alone

# The module takes Python's headers and nanobind's, which tools/python brings.
python=.venv-python/bin/python left_out='^(core/platform/exceptions_wasm|web/exports|course/steps/|python/)'
if [[ -x $python ]]; then
  left_out=${left_out/'|python/'/}
  headers=$($python -c 'import sysconfig; print(sysconfig.get_path("include"))')
  module="-I$($python -m nanobind --include_dir) -I$headers"
else
  echo 'left out: python/, as there is no .venv-python (tools/python)'
fi
if (($#)); then files=("$@")
else mapfile -t files < <(git ls-files '*.h' '*.cpp' | grep -vE "$left_out")
fi
mapfile -t failed < <(printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'alone "$1"' alone {})
for file in "${failed[@]}"; do
  echo "FAILED  $file does not compile alone:"
  grep -m 5 -A 3 'error' "$said/${file//\//+}" | sed 's/^/        | /'
done
echo "[alone] test cases: ${#files[@]} | $((${#files[@]} - ${#failed[@]})) passed | ${#failed[@]} failed"
((${#failed[@]} == 0))

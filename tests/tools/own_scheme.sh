#!/usr/bin/env bash
# Runs docs/own_scheme.md step by step, its files and its `sh` blocks, in a copy of the files that they touch. There,
# ./dev build compiles only the new scheme and the list of schemes, and links them with the objects of BUILD; ./dev test
# only compares with golden files. First it checks that the template does not compile with its holes, and names them.
# usage: tests/tools/own_scheme.sh BUILD      where poslab_program was built
set -euo pipefail
export OMP_NUM_THREADS=1                         # for NumPy: the matrices are small
build=$(realpath "$1")
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
page=$source/docs/own_scheme.md
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
mkdir -p docs tests/data encodings build/release python/poslab
cp "$source/CMakePresets.json" .
cp "$source"/encodings/{all.cpp,template.cpp.txt} encodings
cp -r "$source/tests/reference" tests
cp -r "$source/tests/data/reference" tests/data
cp -r "$source/tools" .
cp -r "$source/python/poslab/formulas" python/poslab

block() { awk -v start="^\`\`\`$1\$" '/^```/ { on = $0 ~ start; next } on' "$page"; }   # WORDS AFTER THE FENCE

# Compiles FILE to OBJECT as CMake compiles AS, a source of TARGET, but without the optimization, which takes most of
# the time.
compile() {   # TARGET AS FILE OBJECT
  local command
  command=$(ninja -C "$build" -t commands "CMakeFiles/$1.dir/$2.o" | tail -n 1)
  command=${command//"CMakeFiles/$1.dir/$2.o"/"$4"}
  (cd "$build" && bash -c "${command/" $source/$2"/" $3"} -Og")
}
link() {   # PROGRAM OBJECT...: as CMake links poslab; unless PROGRAM is a poslab, from these objects alone
  local command to=$1 of
  shift
  command=$(ninja -C "$build" -t commands poslab | tail -n 1)
  of=$(printf ' %q' "$@")
  if [[ $to == */poslab ]]; then command=${command/ -o poslab /"$of -o $to "}
  else command=$(sed -E "s# [^ ]*poslab_program.dir/[^ ]*[.]o##g; s# -o poslab #$of -o $to #" <<< "$command"); fi
  (cd "$build" && bash -c "$command")
}
new_scheme() { compile encodings encodings/all.cpp "$tree/encodings/mine.cpp" "$tree/mine.o"; }
build_here() {
  new_scheme
  [[ $tree/all.o -nt $tree/encodings/all.cpp ]] ||
    compile encodings encodings/all.cpp "$tree/encodings/all.cpp" "$tree/all.o"
  link "$tree/build/release/poslab" "$tree/mine.o" "$tree/all.o"
}
test_here() {
  local name
  sed "s#POSLAB_SOURCE#\"$tree\"#; s#POSLAB_PROGRAM#\"\"#; s#POSLAB_COMPILER#\"\"#" "$source/tests/support/places.cpp" \
    > places.cpp
  compile test_main tests/support/places.cpp "$tree/places.cpp" "$tree/places.o"
  for name in support/main nn/reference; do
    compile test_main tests/support/main.cpp "$source/tests/$name.cpp" "$tree/${name#*/}.o"
  done
  link "$tree/tests/reference_test" "$tree"/{places,main,reference,mine,all}.o
  tests/reference_test > compared || { cat compared; return 1; }
  grep '^reference mine ' compared
}
dev() { "${1}_here"; }

holes=$(grep -c '^#error hole' encodings/template.cpp.txt)
cp encodings/template.cpp.txt encodings/mine.cpp
if new_scheme 2> errors; then echo 'the template compiles with its holes open'; exit 1; fi
for ((n = 1; n <= holes; ++n)); do
  grep -q "error: #error hole $n: " errors || { echo "the compiler does not name hole $n:"; cat errors; exit 1; }
  [[ -n $(block "cpp hole $n") ]] || { echo "docs/own_scheme.md has nothing for hole $n"; exit 1; }
done
rm encodings/mine.cpp

# Runs the `sh` blocks; before a block that needs the page's files, they are written.
fill() {
  local n
  for ((n = 1; n <= holes; ++n)); do
    block "cpp hole $n" > filling
    sed -i -e "/^#error hole $n:/{r filling" -e 'd}' encodings/mine.cpp
  done
  block 'python python.poslab.formulas.mine.py' > python/poslab/formulas/mine.py
}
blocks=$(awk '/^```sh$/ { on = 1; ++n; next } /^```/ { on = 0 } on { print n "\t" $0 }' "$page" |
  sed 's/--steps 300 /--steps 3 /')
for ((n = 1; n <= $(tail -n 1 <<< "$blocks" | cut -f 1); ++n)); do
  while IFS= read -r; do echo "\$ $REPLY"; done < <(sed -n "s/^$n\t//p" <<< "$blocks")
  eval "$(sed -n "s/^$n\t//p" <<< "$blocks" | sed 's#^\./dev#dev#')"
  ((n > 1)) || fill
done
[[ -s mine.html && -s runs/mine.html ]]

# A scheme that changes nothing for the short strings of the checks: the checks report it, with the remedy.
sed -i 's/std::log1p(std::abs(d))/std::max(0.0, std::abs(d) - 20)/' encodings/mine.cpp
build_here
if build/release/poslab check mine > blind; then echo 'a scheme that does nothing in six slots passes'; exit 1; fi
grep -q 'no difference where there should be one' blind
grep -q 'follow the trained length, by window_option() of encodings/windows.h' blind
# If its length follows the trained length, like a window's, all laws hold; the cached table's name has the option.
sed -i -e 's/std::abs(d) - 20/std::abs(d) - w/' -e 's/(p, "mine"/(p, fmt::format("mine {}", steepness)/' \
  -e 's/\[\](double d, int)/[w = steepness](double d, int)/' \
  -e 's/{"steepness", 1\., {0, 100}, /window_option("steepness", "0.5L", /' \
  -e 's/"the slope before training"}/"its width")/' -e '1i #include "encodings/windows.h"' encodings/mine.cpp
build_here
build/release/poslab check mine > blind || { cat blind; exit 1; }
# A scheme without a NumPy file is reported as such.
if build/release/poslab explain mine --numpy 2> blind; then echo 'there is a formula without a file'; exit 1; fi
grep -q 'mine has no formula in NumPy: built without python/poslab/formulas/mine.py' blind
echo 'docs/own_scheme.md works as it stands'

#!/usr/bin/env bash
# ./dev build without root and without sudo, where something is missing: it says what and by which line root installs
# it, goes on with what there is, and names it once more if the build fails. With sudo that refuses it is the same.
# A word that is none gets one line with a guess, and a tree that was copied or moved with its build/ and its virtual
# environments is configured again. And ./dev keeps to what bash 3.2 has, which is macOS's.
set -euo pipefail
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")

# Words that came with bash 4 or later; an array that may be empty is unset there, and all but these have an element.
later='\b(mapfile|readarray|coproc|wait -n|(declare|local|typeset) -[An])\b|\$\{[a-z_]+(\^\^?|,,?|@[A-Z])\}|&>>|;;&|\|&'
arrays='"\$\{(packages|mode|more|mine|kept|of_double|files)\[@\]\}"'
too_new() { grep -nE "$later" "$@" || { sed -E 's/\$\{([a-z_]+)\[@\]\+"\$\{\1\[@\]\}"\}//g' "$@" | grep -vE "$arrays" |
                                      grep -E '\$\{[a-z_]+\[@\]\}'; }; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
if too_new "$source/dev" "$source/tests/parts.sh"; then echo 'tests/dev.sh: bash 3.2 has none of that'; exit 1; fi
for line in 'mapfile -t a < b' 'a=("${b[@]}")'; do
  echo "$line" > line
  too_new line > /dev/null || { echo "tests/dev.sh: does not see: $line"; exit 1; }
done
mkdir tests bin
cp "$source/dev" "$source/CMakePresets.json" .
cp "$source/tests/parts.sh" tests
for tool in bash sh sed paste head awk cat dirname uname env rm sort; do ln -s "$(type -P $tool)" bin; done

stub() { printf '#!/bin/sh\n%s\n' "$2" > "bin/$1"; chmod 755 "bin/$1"; }
stub id 'echo 1000'
stub apt-get 'exit 1'
stub cmake 'echo "$*" >> called'
build() { rm -f called; status=0; PATH=$PWD/bin ./dev build release > said 2>&1 || status=$?; }
expect() { if ! eval "$1"; then echo "tests/dev.sh: not so: $1"; cat said; exit 1; fi; }

build
expect '((status == 0))'
expect 'grep -q "not found: .*g++ .*there is no sudo here; going on without" said'
expect 'grep -q "^  apt-get update && .* apt-get install -y --no-install-recommends .*g++" said'
expect 'grep -q -- "--build build/release --target poslab_program" called'

stub sudo 'echo "you are not in the sudoers file"; exit 1'
build
expect '((status == 0))'
expect 'grep -q "that failed, see above; going on without: .*g++" said'
expect 'grep -q -- "--build build/release" called'

stub cmake 'exit 1'
build
expect '((status != 0))'
expect 'tail -n 1 said | grep -q "that failed; what is not found here: .*g++"'

stub id 'echo 0'                                 # root stops, as it could have been installed
stub cmake 'echo "$*" >> called'
build
expect '((status != 0)) && [[ ! -e called ]]'
expect 'grep -q "nothing was built" said'

refused() {   # ARGUMENTS ANSWER
  status=0
  PATH=$PWD/bin eval "./dev $1" > said 2>&1 || status=$?
  expect "((status == 2)) && [[ \$(cat said) == './dev: $2' ]]"
}
refused tset 'unknown command "tset"; did you mean "test"?'
refused Build 'unknown command "Build"; did you mean "build"?'
refused note 'unknown command "note"; did you mean "notebooks"?'
refused frobnicate 'unknown command "frobnicate"; ./dev help all lists what there is'
refused 'help buidl' 'unknown command "buidl"; did you mean "build"?'
refused 'build relase' 'unknown preset "relase"; did you mean "release"?'
refused 'build release native' 'build takes no "native"; ./dev help build'
refused 'build portable amr' 'unknown program portable "amr"; did you mean "arm"?'
refused 'test asna' 'unknown part of the tests "asna"; did you mean "asan"?'
refused 'test release relase' 'unknown part of the tests "relase"; did you mean "release"?'
refused 'wheel cdua' 'unknown wheel "cdua"; did you mean "cuda"?'
refused 'web snapshot' 'unknown part of web "snapshot"; did you mean "snapshots"?'
refused 'bench kernles' 'unknown bench "kernles"; did you mean "kernels"?'
refused 'clean release' 'clean takes no "release"; ./dev help clean'
for line in '' help --help; do
  PATH=$PWD/bin ./dev $line > said
  expect '(($(grep -c "^  [a-z]" said) == 10)) && grep -q "./dev help all" said'
done
PATH=$PWD/bin ./dev help all > said
expect '(($(grep -c "^  [a-z]" said) > 40))'
for line in 'help wheel' 'wheel --help'; do
  PATH=$PWD/bin ./dev $line > said
  expect 'grep -q "^  wheel \[" said && (($(grep -c "^  [a-z]" said) == 1))'
done

# A build folder, and a virtual environment, of another place.
stub cmake 'echo "$*" >> called; mkdir -p build/release
  echo "CMAKE_CACHEFILE_DIR:INTERNAL=$PWD/build/release" > build/release/CMakeCache.txt'
ln -s "$(type -P mkdir)" bin
configure() { PATH=$PWD/bin bash -c "$(sed -n -e '/^say() /p' -e '/^cmake() {/,/^}/p' dev)"'; cmake --preset release'; }
configure > said
touch build/release/kept
configure > said
expect '[[ -e build/release/kept && ! -s said ]]'
mkdir copy
cp -R bin build dev copy
(cd copy && configure > said)
expect '[[ ! -e copy/build/release/kept && -e build/release/kept ]]'
expect 'grep -q "build/release was configured as $PWD/build/release, so it is removed" copy/said'
mkdir -p .venv-x/bin .venv-x/lib/python3.1/site-packages
echo "command = /usr/bin/python3 -m venv $PWD/.venv-x" > .venv-x/pyvenv.cfg
echo "#!$PWD/.venv-x/bin/python" > .venv-x/bin/pip
echo "$PWD/.venv/lib" > .venv-x/lib/python3.1/site-packages/torch.pth
"$source/tests/venv_here.sh" .venv-x > said
expect '[[ ! -s said && $(cat .venv-x/bin/pip) == "#!$PWD/.venv-x/bin/python" ]]'
mkdir 'a copy'
cp -R .venv-x 'a copy'
(cd 'a copy' && "$source/tests/venv_here.sh" .venv-x > said)
expect '[[ $(cat "a copy/.venv-x/bin/pip") == "#!$PWD/a copy/.venv-x/bin/python" ]]'
expect '[[ $(cat "a copy/.venv-x/lib/python3.1/site-packages/torch.pth") == "$PWD/a copy/.venv/lib" ]]'
expect '[[ $(cat "a copy/.venv-x/pyvenv.cfg") == *" $PWD/a copy/.venv-x" ]]'

eval "$(sed -n '/^present() {/,/^}/p' "$source/dev")"
expect 'PATH=$PWD/bin present ldconfig'           # of /sbin, where the PATH of a user does not look
expect '! PATH=$PWD/bin present no-such-command'
echo 'tests/dev.sh: without root the build goes on, slips of the keyboard get a guess, a copied tree is built, bash 3.2'

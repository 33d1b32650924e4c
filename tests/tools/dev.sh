#!/usr/bin/env bash
# Tests ./dev build without root and sudo: it names missing packages and the command with which root installs them, goes
# on without them, and names them again if the build fails; a sudo that refuses gives the same. An unknown word gets one
# line with a guess. A tree that was copied or moved with its build/ and virtual environments is configured again. If a
# word is a command in tools/, the message says so. All scripts run in bash 3.2, as on macOS.
# shellcheck disable=SC2034,SC2086           # status and purpose are in conditions for eval; a line is words
set -euo pipefail
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")

# Syntax of bash 4 or later. In 3.2 an empty array counts as unset; all arrays except these always have an element.
later='\b(mapfile|readarray|coproc|wait -n|(declare|local|typeset) -[An])\b|\$\{[a-z_]+(\^\^?|,,?|@[A-Z])\}|&>>|;;&|\|&'
arrays='"\$\{(mode|more|mine|kept|options|files|unit)\[@\]\}"'
too_new() { grep -nE "$later" "$@" || { sed -E 's/\$\{([a-z_]+)\[@\]\+"\$\{\1\[@\]\}"\}//g' "$@" | grep -vE "$arrays" |
                                      grep -E '\$\{[a-z_]+\[@\]\}'; }; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
scripts=("$source"/{dev,bench/run.sh,tests/tools/parts.sh,tests/tools/lines.sh,tools/setup.sh})
while read -r script; do scripts+=("$script"); done < <(find "$source/tools" -type f ! -name '*.*')
if too_new "${scripts[@]}"; then echo 'tests/tools/dev.sh: bash 3.2 lacks this syntax'; exit 1; fi
for line in 'mapfile -t a < b' 'a=("${b[@]}")'; do
  echo "$line" > line
  too_new line > /dev/null || { echo "tests/tools/dev.sh: does not see: $line"; exit 1; }
done
mkdir -p tests/tools bin bench
cp "$source/dev" "$source/CMakePresets.json" .
cp -R "$source/tools" .
cp "$source/tests/tools/parts.sh" tests/tools
cp "$source/bench/run.sh" bench
for tool in bash sh sed paste awk cat dirname basename env rm sort find fold grep; do ln -s "$(type -P $tool)" bin; done

stub() { printf '#!/bin/sh\n%s\n' "$2" > "bin/$1"; chmod 755 "bin/$1"; }
stub id 'echo 1000'
stub apt-get 'exit 1'
stub cmake 'echo "$*" >> called'
build() { rm -f called; status=0; PATH=$PWD/bin ./dev build release > said 2>&1 || status=$?; }
expect() { if ! eval "$1"; then echo "tests/tools/dev.sh: not so: $1"; cat said; exit 1; fi; }

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

stub id 'echo 0'                                 # as root, packages can be installed, so the build stops
stub cmake 'echo "$*" >> called'
build
expect '((status != 0)) && [[ ! -e called ]]'
expect 'grep -q "nothing was built" said'

refused() {   # COMMAND ANSWER
  status=0
  PATH=$PWD/bin eval "$1" > said 2>&1 || status=$?
  expect "((status == 2)) && [[ \$(cat said) == '$2' ]]"
}
refused './dev tset' './dev: unknown command "tset"; did you mean "test"?'
refused './dev Build' './dev: unknown command "Build"; did you mean "build"?'
refused './dev note' './dev: unknown command "note"; did you mean "tools/notebooks"?'
refused './dev course 1 ~/mine' './dev: "course" is a command of its own: tools/course'
refused './dev clean' './dev: there is no "clean"; rm -r build removes every preset'
refused './dev frobnicate' './dev: unknown command "frobnicate"; ./dev help lists all'
refused './dev help buidl' './dev: unknown command "buidl"; did you mean "build"?'
refused './dev help size.txt' './dev: unknown command "size.txt"; ./dev help lists all'
refused './dev build relase' './dev: unknown preset "relase"; did you mean "release"?'
refused './dev build release native' './dev: build takes no "native"; ./dev help build'
refused './dev build portable amr' './dev: unknown program portable "amr"; did you mean "arm"?'
refused './dev test asna' './dev: unknown part of the tests "asna"; did you mean "asan"?'
refused './dev test release relase' './dev: unknown part of the tests "relase"; did you mean "release"?'
refused './dev bench kernles' './dev: unknown bench "kernles"; did you mean "kernels"?'
refused 'tools/wheel cdua' 'tools/wheel: unknown wheel "cdua"; did you mean "cuda"?'
refused 'tools/web snapshot' 'tools/web: unknown part of web "snapshot"; did you mean "snapshots"?'
refused 'tools/checks all' 'tools/checks: unexpected "all"; tools/checks --help says what it takes'
for line in '' help --help; do
  PATH=$PWD/bin ./dev $line > said
  expect '(($(grep -c "^  [a-z]* .*  [a-z]" said) == 7 && $(wc -l < said) <= 40)) && grep -q "cuda-test .*fuzz" said'
done
for line in './dev help wheel' 'tools/wheel --help'; do
  PATH=$PWD/bin $line > said
  expect 'grep -q "^  tools/wheel cuda" said && ! grep -q shellcheck said'
done
for line in 'help build' 'build --help' 'help test' 'help bench' 'help demo' 'help format'; do
  PATH=$PWD/bin ./dev $line > said
  expect '[[ -s said ]]'
done
expect '(($(wc -l < "$source/dev") <= 260))'
# Each command in tools/ is executable and begins with a description; each requested purpose is listed.
while read -r tool; do
  expect '[[ -x $source/tools/$tool && $(sed -n 2p "$source/tools/$tool") == "# "[A-Z0-9]* ]]'
done < <(cd "$source/tools" && find . -type f ! -name '*.*')
while read -r purpose; do
  expect 'grep -qE "^[^#].* $purpose( |$)" "$source/tools/packages.txt"'
done < <(grep -hoE '(^|[({] ?|&&) *needs [a-z ]+' "${scripts[@]}" | sed 's/.*needs//' | tr ' ' '\n' | grep . | sort -u)

# A build folder and a virtual environment that come from another path.
stub cmake 'echo "$*" >> called; mkdir -p build/release
  echo "CMAKE_CACHEFILE_DIR:INTERNAL=$PWD/build/release" > build/release/CMakeCache.txt'
ln -s "$(type -P mkdir)" bin
cmake_function=$(sed -n -e '/^say() /p' -e '/^cmake() {/,/^}/p' tools/setup.sh)
configure() { PATH=$PWD/bin bash -c "$cmake_function; cmake --preset release"; }
configure > said
touch build/release/kept
configure > said
expect '[[ -e build/release/kept && ! -s said ]]'
mkdir copy
cp -R bin build tools copy
(cd copy && configure > said)
expect '[[ ! -e copy/build/release/kept && -e build/release/kept ]]'
expect 'grep -q "build/release was configured as $PWD/build/release, so it is removed" copy/said'
mkdir -p .venv-x/bin .venv-x/lib/python3.1/site-packages
echo "command = /usr/bin/python3 -m venv $PWD/.venv-x" > .venv-x/pyvenv.cfg
echo "#!$PWD/.venv-x/bin/python" > .venv-x/bin/pip
echo "$PWD/.venv/lib" > .venv-x/lib/python3.1/site-packages/torch.pth
"$source/tests/tools/venv_here.sh" .venv-x > said
expect '[[ ! -s said && $(cat .venv-x/bin/pip) == "#!$PWD/.venv-x/bin/python" ]]'
mkdir 'a copy'
cp -R .venv-x 'a copy'
(cd 'a copy' && "$source/tests/tools/venv_here.sh" .venv-x > said)
expect '[[ $(cat "a copy/.venv-x/bin/pip") == "#!$PWD/a copy/.venv-x/bin/python" ]]'
expect '[[ $(cat "a copy/.venv-x/lib/python3.1/site-packages/torch.pth") == "$PWD/a copy/.venv/lib" ]]'
expect '[[ $(cat "a copy/.venv-x/pyvenv.cfg") == *" $PWD/a copy/.venv-x" ]]'

eval "$(sed -n '/^present() {/,/^}/p' "$source/tools/setup.sh")"
expect 'PATH=$PWD/bin present ldconfig'           # it is in /sbin, which is not in a user's PATH
expect '! PATH=$PWD/bin present no-such-command'
echo 'tests/tools/dev.sh: a build without root, slips of the keyboard, a copied tree, bash 3.2'

#!/usr/bin/env bash
# ./dev build without root and without sudo, where something is missing: it says what and by which line root installs
# it, goes on with what there is, and names it once more if the build fails. With sudo that refuses it is the same.
# And ./dev keeps to what bash 3.2 has, which is macOS's.
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
for tool in bash sh sed paste head awk cat dirname uname env; do ln -s "$(type -P $tool)" bin; done

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

eval "$(sed -n '/^present() {/,/^}/p' "$source/dev")"
expect 'PATH=$PWD/bin present ldconfig'           # of /sbin, where the PATH of a user does not look
expect '! PATH=$PWD/bin present no-such-command'
echo 'tests/dev.sh: without root and without sudo the build goes on, and with bash 3.2'

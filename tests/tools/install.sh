#!/usr/bin/env bash
# Tests `cmake --install`: it installs the program, its completion, and a package that other projects find. examples/ is
# built with that package in a separate folder, and each example runs.
# usage: tests/tools/install.sh BUILD     Ends with a line in doctest's form, which ./dev test adds up.
set -uo pipefail
build=$(realpath "$1")
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
# shellcheck source=tests/tools/check.sh
. "$source/tests/tools/check.sh"
scratch

check 'it installs' cmake --install "$build" --prefix "$folder/there"
check 'the program runs' there/bin/poslab --version
completes() { grep -q '^complete .* poslab$' there/share/bash-completion/completions/poslab; }
if [[ -e $build/../web/past-the-edge.html ]]; then     # tools/web has made it
  check 'it has the page that trains' there/bin/poslab web -o page.html
fi
check 'bash finds its completion' completes
check 'zsh has a completion too' grep -q '^#compdef poslab$' there/share/zsh/site-functions/_poslab
inside() { [[ -z $(find there/include -name '*.h' -exec grep -l 'include "\(tests\|lab\|cuda\|core/cpu\)/' {} +) ]]; }
check 'no header needs one that is not installed' inside

# The examples see only the installed headers, not this checkout.
cp -r "$source/examples" examples
check 'examples are configured' cmake -G Ninja -S examples -B built -DCMAKE_PREFIX_PATH="$folder/there" \
  -DCMAKE_BUILD_TYPE=Release
check 'and built' cmake --build built
says() { "$1" 2>&1 | tee /dev/stderr | finds "$2"; }
check 'a line is fitted' says built/example_line '^step 200 .* y = [23]\.[0-9]* x -[01]\.'
check 'a network prints its tape' says built/example_network '^cross_entropy backward'
check 'and learns XOR' says built/example_network '^0 xor 1: 1 with probability 0\.9'
check 'a transformer is trained' says built/example_transformer '^step  300 .* accuracy'
check 'a language model writes' says built/example_language '^a text of its own: [0-9]'

if command -v dpkg-shlibdeps > /dev/null; then
  package() {
    cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder/package" &&
      dpkg-deb --field package/*.deb Depends | tee /dev/stderr | finds 'libfmt.*libutf8proc' &&
      dpkg-deb --contents package/*.deb > contents && grep '\./usr/bin/poslab$' contents
  }
  check 'a Debian package names the libraries that it needs' package
fi

checked install

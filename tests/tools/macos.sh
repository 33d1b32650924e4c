#!/usr/bin/env bash
# Checks that the program is valid C++ for macOS: clang parses all its sources for Apple's processors, with the headers
# of macOS and the C++ library from zig (.venv-portable). Nothing is linked, because the libraries are Debian's, and
# nothing runs. For other libraries this machine's headers are used.
# usage: tests/tools/macos.sh BUILD     BUILD has the list of sources; ends with a line in doctest's form
set -uo pipefail
build=$(realpath "$1")
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
# shellcheck source=tests/tools/check.sh
. "$source/tests/tools/check.sh"
scratch
mkdir include
for name in fmt nlohmann CLI toml++ zlib.h zconf.h pcre2.h utf8proc.h sentencepiece_processor.h
do
  found=$(find /usr/include /usr/include/"$(gcc -dumpmachine)" /usr/local/include -maxdepth 1 -name "$name" | head -n 1)
  [[ -z $found ]] || ln -s "$found" include/
done
# cfloat: toml++ 3.3 relies on other headers to include it.
compiler=("$source/.venv-portable/bin/python" -m ziglang c++ -target aarch64-macos -std=gnu++20 -fsyntax-only -Wno-psabi
          -include cfloat -I"$source" -I"$build/made" -isystem "$folder/include" -DFMT_HEADER_ONLY
          -DPOSLAB_ISA=baseline "-DPOSLAB_ISAS=ISA(baseline)" "-DPOSLAB_KERNEL=")
parses() {   # FILE; zig complains about a missing object, which clang does not write here
  "${compiler[@]}" "$1" 2>&1 < /dev/null | grep -v 'failed to rename' > said || true
  cat said
  ! grep -q 'error:' said
}
clean() { parses "$folder/good.cpp" && ! parses "$folder/bad.cpp"; }
echo '#include <mach-o/dyld.h>' > good.cpp
echo '#include <sys/prctl.h>' > bad.cpp
check 'a header of macOS is found, and one of Linux is not' clean
# Neighbouring sources that the build compiles as one are parsed as one.
sources() {
  python3 - "$build/compile_commands.json" <<'END'
import json, re, sys
floors = "core|kernels_baseline|autograd|encodings|nn|tasks|experiment|lab|apps|poslab_program"
for entry in json.load(open(sys.argv[1])):
    of = re.search(rf"CMakeFiles/({floors})\.dir/", entry["command"])
    if of and not re.search(r"/cmake_pch|/embedded_", entry["file"]):
        print(of[1], entry["file"])
END
}
while read -r floor file; do check "$floor: $(basename "$file")" parses "$file"; done < <(sources)
checked macos

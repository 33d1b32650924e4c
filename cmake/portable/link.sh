#!/usr/bin/env bash
# Links the program once more, from the objects of a build that is there, so that it runs where glibc is 2.28 or later
# and the libraries of this machine are not. What an object calls has no version yet: the linker gives it that of the
# libc at hand. zig has the list of what each glibc had, and links against the one that is asked for. All else is linked
# statically, but libgcc_s, which each system has.
# usage: cmake/portable/link.sh BUILD PROGRAM PYTHON    PROGRAM is written; PYTHON is one that has ziglang
set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
program=$(realpath -m "$2") python=$(realpath -s "$3")
mkdir -p "$(dirname "$program")"
made=$program.objects
mkdir -p "$made"
objects=()
for source in fmt.cpp toml.cpp sentencepiece.cpp old_glibc.c; do
  case $source in *.c) compiler=(gcc) ;; *) compiler=(g++ -std=gnu++20) ;; esac
  "${compiler[@]}" -O2 -fPIC -fvisibility=hidden -I"$here/../.." -c "$here/$source" -o "$made/${source%.*}.o"
  objects+=("$made/${source%.*}.o")
done

# Our objects and archives, in the order in which the build links them; libraries of the system by their archives.
cd "$1"
static=()
for word in $(ninja -t commands poslab_program | tail -n 1); do
  case $word in
    *.o | libposlab_*.a) static+=("$word") ;;
    */libtomlplusplus.so* | */libfmt.so* | */libsentencepiece.so*) ;;            # above
    */lib*.so*) static+=("${word%%.so*}.a") ;;
  esac
done
shared=$(gcc -print-file-name=libgcc_s.so.1)
"$python" -m ziglang cc -target "$(uname -m)-linux-gnu.2.28" -fno-sanitize=all -s -o "$program.partial" \
  "${static[@]}" "${objects[@]}" "$(g++ -print-file-name=libstdc++.a)" "$(gcc -print-file-name=libgcc.a)" \
  "$(realpath "$shared")" -Wl,--allow-shlib-undefined -lpthread -ldl -lm
mv "$program.partial" "$program"
rm -r "$made"

#!/usr/bin/env bash
# Links the program or the Python module once more, from the objects of an existing build, so that it runs on systems
# with glibc 2.28 or later that lack this machine's libraries. Objects name functions without a version; the linker adds
# that of the libc it links with. zig has a list for each glibc, and links with the requested one. All else but
# libgcc_s, which each system has, is linked statically.
# usage: cmake/portable/link.sh BUILD TARGET FILE PYTHON [PREFIX]
#     TARGET is poslab_program or poslab_python, in the build folder BUILD; FILE is written; PYTHON has ziglang;
#     PREFIX is the prefix of a cross compiler's commands, aarch64-linux-gnu- for ARM.
set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
build=$1 target=$2 file=$(realpath -m "$3") python=$(realpath -s "$4") prefix=${5:-} kind=()
mkdir -p "$(dirname "$file")"
made=$file.objects
mkdir -p "$made"
if [[ $target == poslab_python ]]; then   # exports nothing of the libraries in it
  echo '{ global: PyInit__poslab; local: *; };' > "$made/shown"
  kind=(-shared "-Wl,--version-script=$made/shown")
fi

# Our objects and archives, in the order in which the build links them. Libraries of the system are replaced by their
# archives, or by a source here.
cd "$build"
static=() sources=(old_glibc.c)
for word in $(ninja -t commands "$target" | tail -n 1); do
  case $word in
    *.o | libposlab_*.a) static+=("$word") ;;
    */libtomlplusplus.so*) sources+=(toml.cpp) ;;
    */libfmt.so*) sources+=(fmt.cpp) ;;
    */libsentencepiece.so*) sources+=(sentencepiece.cpp) ;;
    */lib*.so*) static+=("${word%%.so*}.a") ;;
    */lib*.a) static+=("$word") ;;
  esac
done
for source in "${sources[@]}"; do
  case $source in *.c) compiler=("${prefix}gcc") ;; *) compiler=("${prefix}g++" -std=gnu++20) ;; esac
  "${compiler[@]}" -O2 -fPIC -fvisibility=hidden -I"$here/../.." -idirafter /usr/include -c "$here/$source" \
    -o "$made/${source%.*}.o"
  static+=("$made/${source%.*}.o")
done
library() { "$prefix"gcc -print-file-name="$1"; }
"$python" -m ziglang cc -target "$("$prefix"gcc -dumpmachine).2.28" -fno-sanitize=all -s ${kind[@]+"${kind[@]}"} \
  -o "$file.partial" "${static[@]}" "$(library libstdc++.a)" "$(library libgcc.a)" \
  "$(realpath "$(library libgcc_s.so.1)")" -Wl,--allow-shlib-undefined -lpthread -ldl -lm
mv "$file.partial" "$file"
rm -r "$made"

#!/usr/bin/env bash
# Links the program or the Python module once more, from the objects of a build that is there, so that it runs where
# glibc is 2.28 or later and the libraries of this machine are not. What an object calls has no version yet: the linker
# gives it that of the libc at hand. zig has the list of what each glibc had, and links against the one that is asked
# for. All else is linked statically, but libgcc_s, which each system has.
# usage: cmake/portable/link.sh BUILD TARGET FILE PYTHON [PREFIX]
#   TARGET is poslab_program or poslab_python, of the folder BUILD; FILE is written; PYTHON is one that has ziglang;
#   PREFIX is that of a cross compiler's commands, aarch64-linux-gnu- for ARM.
set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
build=$1 target=$2 file=$(realpath -m "$3") python=$(realpath -s "$4") prefix=${5:-} kind=()
mkdir -p "$(dirname "$file")"
made=$file.objects
mkdir -p "$made"
if [[ $target == poslab_python ]]; then   # which shows nothing of the libraries in it
  echo '{ global: PyInit__poslab; local: *; };' > "$made/shown"
  kind=(-shared "-Wl,--version-script=$made/shown")
fi

# Our objects and archives, in the order in which the build links them; libraries of the system by their archives, or
# from a source here.
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

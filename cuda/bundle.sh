#!/usr/bin/env bash
# tools/bundle: packs, on a Debian machine, everything that a machine without network and without root access needs.
#
#   .bundle/bin      poslab, poslab_bench and poslab_cuda_tests with CUDA, stripped, and ninja
#   .bundle/lib      all shared libraries that these programs load, except glibc
#   .bundle/deps     headers and libraries that sources are compiled with: `./dev build cuda` finds them there
#   .bundle/commit   what it was built from
#   build/poslab-bundle.tar.gz     the tree with .bundle in it
#   build/poslab-programs.tar.xz   bin, lib and commit alone, which are enough to run and test; for one kind of GPU at
#                                  most 64 MiB, the limit of some ways to copy to a machine with a GPU
#
# usage: cuda/bundle.sh NVCC ARCHITECTURES PACKAGE...      Debian packages, installed here, that go into deps
set -euo pipefail
shopt -s extglob
cd "$(dirname "${BASH_SOURCE[0]}")/.."
nvcc=$1 architectures=$2 packages=("${@:3}")
bundle=$PWD/.bundle build=$PWD/build/bundle archive=$PWD/build/poslab-bundle.tar.gz
say() { printf 'tools/bundle: %s\n' "$*"; }
stop() { printf 'tools/bundle: %s\n' "$*" >&2; exit 1; }
command -v dpkg > /dev/null || stop 'dpkg is missing: make bundles on Debian or a system derived from it'

# Programs and libraries find the bundle's libraries before any of the machine's.
cmake --preset cuda -B "$build" -DCMAKE_CUDA_COMPILER="$nvcc" \
  ${architectures:+-DCMAKE_CUDA_ARCHITECTURES="$architectures"} \
  -DCMAKE_CUDA_FLAGS='-lineinfo -Xptxas=-v' -DDNNL_LIBRARY=OFF -DPOSLAB_KERNELS=all \
  -DCMAKE_BUILD_RPATH='$ORIGIN/../lib' -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
programs=(poslab poslab_bench poslab_cuda_tests)
cmake --build "$build" --target "${programs[@]/%poslab/poslab_program}"

rm -rf "$bundle"
mkdir -p "$bundle"/{bin,lib,deps}
for program in "${programs[@]}"; do strip -o "$bundle/bin/$program" "$build/$program"; done
cp -L "$(type -P ninja)" "$bundle/bin/"
ldd "${programs[@]/#/$build/}" | awk '$2 == "=>" {print $3}' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread)\.so' | xargs cp -Lt "$bundle/lib"

# Copies files, not links, which some ways of copying leave out. Leaves out static libraries and manuals.
for package in "${packages[@]}"; do dpkg -L "$package"; done | sort -u | while read -r file; do
  case $file in
    /usr/share/doc/* | /usr/share/man/* | /usr/share/lintian/* | *.a | *.pc) continue ;;
  esac
  [[ ! -f $file ]] || { mkdir -p "$bundle/deps$(dirname "$file")" && cp -L "$file" "$bundle/deps$file"; }
done
# Drops libraries that nothing here is linked with, and adds a copy where CMake's files name the full version.
for library in "$bundle"/deps/usr/lib/*/lib*.so; do
  stem=$(basename "$library") whole=$(basename "$(realpath "${library#"$bundle/deps"}")")
  if ! compgen -G "$bundle/lib/$stem.*" > /dev/null; then
    rm "$library"
  elif grep -rqF "$whole" "$bundle"/deps/usr/lib/*/cmake; then
    cp "$library" "$(dirname "$library")/$whole"
  fi
done

if [[ -e .git ]]; then git describe --always --dirty --exclude='*' > "$bundle/commit"; fi
foreign=$(ldd "$bundle"/bin/poslab* | awk '$2 == "=>" && $3 !~ /\/(libc|libm|libdl|librt|libpthread)\.so/ {print $3}' |
          grep -vF "$bundle/" | sort -u || true)
[[ -z $foreign ]] || stop "programs would load libraries from outside the bundle: $foreign"
"$bundle/bin/poslab" version > /dev/null || stop 'the program does not start'
glibc=$(objdump -T "$bundle"/bin/* "$bundle"/lib/* | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)

{ git ls-files -z --cached --others --exclude-standard; printf '.bundle\0'; } |
  tar --null --files-from=- --transform='s,^,poslab/,' -czf "$archive.partial"
mv "$archive.partial" "$archive"
alone=$PWD/build/poslab-programs.tar.xz
XZ_OPT='-6 -T0' tar -C "$bundle" -cJf "$alone.partial" bin lib commit
mv "$alone.partial" "$alone"
size=$(stat -c %s "$alone")
say "$((size / 1048576)) MiB in build/$(basename "$alone"), which is enough to run and test"
[[ $architectures != +([0-9])-real ]] || ((size <= 64 * 1048576)) || stop "that is more than 64 MiB for one kind of GPU"
say "$(du -sm "$bundle" | cut -f1) MB in .bundle, $(du -m "$archive" | cut -f1) MB in build/$(basename "$archive")," \
  "for glibc ${glibc#GLIBC_} and newer. There: tar -xf poslab-bundle.tar.gz; poslab/tools/cuda-test rates"

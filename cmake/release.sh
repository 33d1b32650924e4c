#!/usr/bin/env bash
# ./dev release: all that a version is handed out as, in build/poslab-VERSION, once ./dev has built its parts.
#
#   poslab-VERSION-cp310-abi3-*.whl   module and program for machines without a compiler: Debian 12 and the like, Linux
#                                     from glibc 2.28 on (manylinux_2_28) on x86-64 and 64-bit ARM
#   poslab-VERSION-1cuda-*.whl        with the kernels for NVIDIA's GPUs
#   poslab-VERSION-linux-PROCESSOR    the program alone, from glibc 2.28 on
#   poslab-VERSION.tar.gz             the sdist, from which pip builds a wheel
#   poslab-VERSION-source.tar.gz      the tree of this commit, with tests and results
#   poslab_VERSION_*.deb              the program, its completion, and a package for CMake
#   poslab-VERSION-site.tar.gz        the documentation; past-the-edge.html, the page that trains
#   NOTES.md                          what CHANGELOG.md says of this version
#   SHA256SUMS
#
# The version is that of project(...) in CMakeLists.txt, here as everywhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^project(poslab VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
made=$PWD/build/poslab-$version part=$PWD/build/poslab-$version.partial
rm -rf "$made" "$part"
mkdir "$part"

cp build/wheel{,-portable,-portable-arm,-cuda}/*.whl build/web/past-the-edge.html "$part/"
cp build/portable/poslab "$part/poslab-$version-linux-$(uname -m)"
cp build/portable-arm/poslab "$part/poslab-$version-linux-aarch64"
.venv-python/bin/python -c 'import scikit_build_core.build as by, sys; by.build_sdist(sys.argv[1])' "$part"
git archive --format=tar.gz --prefix="poslab-$version/" -o "$part/poslab-$version-source.tar.gz" HEAD
cpack -G DEB --config build/release/CPackConfig.cmake -B build/package
cp build/package/poslab_*.deb "$part/"
tar -C build/site -czf "$part/poslab-$version-site.tar.gz" html
awk -v head="## $version" '/^## / {on = index($0, head) == 1} on' CHANGELOG.md > "$part/NOTES.md"
(cd "$part" && find . -type f | sort | xargs sha256sum > ../SHA256SUMS && mv ../SHA256SUMS .)
mv "$part" "$made"
du -h "$made"/*

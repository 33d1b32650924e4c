#!/usr/bin/env bash
# Uses the files of tools/release as users would: the checksums, the wheels in empty environments, the wheels and
# programs for other systems on those systems or similar ones (tests/tools/portable/), the Debian package in a bare
# Debian (as root, if debootstrap is there), the sdist built by pip, the sources, the page and the site.
# usage: tests/tools/release.sh FOLDER     Ends with a line in doctest's form, which ./dev test adds up.
set -uo pipefail
# In a mount namespace of our own: mounts for a chroot disappear with it.
[[ $(id -u) != 0 || ${POSLAB_BARE:-} ]] || POSLAB_BARE=1 exec unshare --mount "$0" "$@"
made=$(realpath "$1")
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
# shellcheck source=tests/tools/check.sh
. "$source/tests/tools/check.sh"
scratch
version=$(sed -n 's/^project(poslab VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
says_version() { "$@" version | tee /dev/stderr | finds -F "$version"; }
trains() {   # FOLDER PROGRAM...
  "${@:2}" train --preset tiny --task even_pairs --encoding rope --steps 5 --eval-lengths 1:3 --out "$1/run" &&
    "${@:2}" report "$1/run" -o "$1/run.html"
}

sums() {
  cd "$made" && sha256sum --check --strict SHA256SUMS && find . -type f ! -name SHA256SUMS | sort > "$folder/there" &&
    sed 's/^[0-9a-f]*  //' SHA256SUMS | diff - "$folder/there"
}
check 'every file has its checksum' sums
cd "$folder" || exit
check 'the notes are for this version' grep -q "^## $version" "$made/NOTES.md"
wheel="$made/poslab-$version" portable=cp310-abi3-manylinux_2_28 program="$made/poslab-$version-linux"
other_wheels() { find "$made" -name '*.whl' ! -name '*manylinux_2_28_*' ! -name '*-1cuda-*'; }
check 'the wheel' "$source/tests/python/wheel.sh" "$(other_wheels)"
check 'the wheel for GPUs, without a GPU' "$source/tests/python/wheel.sh" "$wheel"-1cuda-*.whl
check 'the program for older systems' "$source/tests/tools/portable/run.sh" "$program-$(uname -m)" \
  "$source/build/release/poslab"
check 'the wheel for older systems' "$source/tests/tools/portable/wheel.sh" "$wheel-${portable}_$(uname -m).whl"
check 'program and wheel for ARM' "$source/tests/tools/portable/arm.sh" "$program-aarch64" \
  "$source/build/release/poslab" "$wheel-${portable}_aarch64.whl"

takes() {   # WHEEL [PLATFORM]: pip picks this wheel among all, for that platform or for this one
  rm -rf taken
  "$source/.venv-python/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-index \
    --only-binary :all: ${2:+--platform "$2" --python-version 3.12} --find-links "$made" -d taken poslab &&
    ls taken && [[ -e taken/$(basename "$1") ]]
}
check 'pip picks the wheel for GPUs here' takes "$wheel"-1cuda-*.whl
check 'the one for older systems there' takes "$wheel-${portable}_$(uname -m).whl" "manylinux_2_28_$(uname -m)"
check 'and the one for ARM there' takes "$wheel-${portable}_aarch64.whl" manylinux_2_28_aarch64

# The package and its dependencies, in a Debian with nothing else.
if [[ $(id -u) == 0 ]] && command -v debootstrap > /dev/null; then
  # shellcheck source=tests/tools/bare_root.sh
  . "$source/tests/tools/bare_root.sh"
  check 'a bare Debian is made' make_bare_root "$source/build/bare"
  install() {
    cp "$made"/poslab_*.deb "$root/root/poslab.deb" && inside apt-get update &&
      inside apt-get install -y --no-install-recommends /root/poslab.deb
  }
  check 'the Debian package installs there' install
  check 'its program is of this version' says_version inside poslab
  check 'and trains, and draws a report' trains /root inside poslab
  umount "$root/proc" && rm -rf --one-file-system "$root"
else
  echo 'left out: the Debian package in a bare Debian, which needs root and debootstrap'
fi

sdist() {
  python3 -m venv venv &&
    venv/bin/pip install --quiet --disable-pip-version-check "$made/poslab-$version.tar.gz"
}
check 'pip compiles and installs the sdist' sdist
check 'its program is of this version' says_version venv/bin/poslab
check 'and trains, and draws a report' trains "$folder" venv/bin/poslab

sources() {   # the archive is a checkout without its history
  tar -xf "$made/poslab-$version-source.tar.gz" && git -C "$source" ls-files | sort > listed &&
    (cd "poslab-$version" && find . ! -type d | sed 's,^\./,,' | sort) | diff listed -
}
check 'the sources are the files that Git has' sources
spine() { (cd "poslab-$version" && env -u GIT_DIR ./dev build spine && build/spine/spine 5); }
check 'and the spine is built from them' spine
check 'the page that trains is one file' grep -qF '</html>' "$made/past-the-edge.html"
site() { tar -xf "$made/poslab-$version-site.tar.gz" && [[ -s html/index.html && -s html/docs/schemes.html ]]; }
check 'the site has its pages' site

checked release

#!/usr/bin/env bash
# Unpacks Debian's packages for 64-bit ARM, and all that they depend on, into a folder. It installs nothing, runs
# nothing, and needs no root. apt gets them from the same mirror as this machine's packages.
# usage: cmake/portable/arm_root.sh FOLDER [--suite SUITE] PACKAGE...
#     FOLDER is made again unless it holds the same packages. SUITE: another Debian release than this one, bullseye
set -euo pipefail
folder=$(realpath -m "$1") suite=
shift
if [[ ${1:-} == --suite ]]; then suite=$2; shift 2; fi
wanted="$suite $*" made=$folder.partial apt=$folder.apt
[[ ! -f $folder/packages || $(< "$folder/packages") != "$wanted" ]] || exit 0
rm -rf --one-file-system "$folder" "$made" "$apt"
mkdir -p "$made" "$apt"/{lists,archives}/partial
: > "$apt/status"
options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User="$(id -un)"
         -o Dir::State::status="$apt/status" -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt")
if [[ $suite ]]; then
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1) || true
  echo "deb $mirror $suite main" > "$apt/sources.list"
  options+=(-o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=-)
fi
apt-get "${options[@]}" update
apt-get "${options[@]}" install -y --no-install-recommends --download-only "$@"
for package in "$apt"/archives/*.deb; do dpkg-deb --extract "$package" "$made"; done
rm -r "$apt"
echo "$wanted" > "$made/packages"
mv "$made" "$folder"

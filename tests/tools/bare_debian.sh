#!/usr/bin/env bash
# In a bare Debian 12 in a chroot: clone, ./dev demo, ./dev test, with nothing else installed. Then both once more, with
# a trap in place of every package manager. Needs root and debootstrap; uses this machine's mirror and proxy.
# usage: tests/tools/bare_debian.sh [FOLDER]     FOLDER/base.tar is kept for the next time; FOLDER is build/bare
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source=$PWD
folder=$(realpath -m "${1:-build/bare}")

stop() { echo "bare_debian: $*" >&2; exit 1; }
[[ $(id -u) == 0 ]] || stop 'a chroot needs root'
command -v debootstrap > /dev/null || stop 'no debootstrap here: apt-get install debootstrap'

# In a mount namespace of our own, mounts in the chroot disappear with it, however we end.
[[ ${POSLAB_BARE:-} ]] || POSLAB_BARE=1 exec unshare --mount "$0" "$folder"

seconds() { echo "bare_debian: $1, ${SECONDS} s"; SECONDS=0; }
# shellcheck source=tests/tools/bare_root.sh
. tests/tools/bare_root.sh
make_bare_root "$folder"
seconds 'a base system of Debian 12'

[[ -z $(git status --porcelain) ]] || echo 'bare_debian: uncommitted changes are not tested'
git clone --quiet --no-hardlinks "$source" "$root/root/poslab"
inside dpkg-query -W -f '${Package}\n' > "$folder/before"

try() {   # WHAT: runs the two commands of the README
  local command
  for command in demo test; do
    SECONDS=0
    inside "/root/poslab/dev" $command 2>&1 | tee "$folder/$1-$command.log" | tail -n 25
    seconds "$1 ./dev $command"
  done
}
try first
inside dpkg-query -W -f '${Package}\n' > "$folder/after"
echo "bare_debian: packages before $(wc -l < "$folder/before"), after $(wc -l < "$folder/after")"

# The trap: a call of one of these programs is recorded, and fails.
for manager in apt apt-get apt-cache aptitude dpkg dpkg-deb dpkg-query; do
  rm -f "$root/usr/bin/$manager"
  printf '#!/bin/sh\necho "$0 $*" >> /root/called\nexit 99\n' > "$root/usr/bin/$manager"
  chmod +x "$root/usr/bin/$manager"
done
try second
[[ ! -e $root/root/called ]] || stop "the second run called $(cat "$root/root/called")"
umount "$root/proc" && rm -rf --one-file-system "$root"
echo 'bare_debian: both runs succeeded, and the second called no package manager'

# shellcheck shell=bash
# Sourced by tests that need a bare Debian in a chroot, as root, in a mount namespace of their own. The mirror and the
# proxy are this machine's. `root` is the chroot's folder; `inside COMMAND...` runs a command there.

inside() {
  chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    DEBIAN_FRONTEND=noninteractive ${proxy:+http_proxy="$proxy"} "$@" < /dev/null
}

# FOLDER [SUITE]: makes a new $root in FOLDER, only for this process, with Debian 12, from FOLDER/base.tar. The first
# process makes base.tar; all others wait for it.
make_bare_root() {
  local base=$1/base suite=${2:-bookworm} mirror file making old
  root=$1/root.$$ proxy=${http_proxy:-}
  mkdir -p "$1" && exec {making}> "$1/making" && flock "$making" || return
  if command -v apt-config > /dev/null; then
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
  fi
  if [[ ! -f $base.tar ]]; then
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' |
             head -n 1) || true
    rm -rf --one-file-system "$base" && mkdir -p "$base" || return
    http_proxy=$proxy debootstrap --variant=minbase "$suite" "$base" ${mirror:+"$mirror"} || return
    tar -C "$base" -cf "$base.tar.partial" . && mv "$base.tar.partial" "$base.tar" && rm -rf "$base" || return
  fi
  for old in "$1"/root.*; do            # folders of processes that were killed
    [[ ! -d $old ]] || kill -0 "${old##*.}" 2> /dev/null || rm -rf --one-file-system "$old"
  done
  exec {making}>&-
  rm -rf --one-file-system "$root" && mkdir -p "$root" && tar -C "$root" -xf "$base.tar" || return
  if command -v apt-config > /dev/null; then
    apt-config dump | grep '^Acquire::' > "$root/etc/apt/apt.conf.d/90host" || true
  fi
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  for file in /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [[ ! -f $file ]] || { mkdir -p "$root$(dirname "$file")" && cp -L "$file" "$root$file"; }
  done
  mount -t proc proc "$root/proc"
}

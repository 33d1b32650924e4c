#!/usr/bin/env bash
# Tests the wheel of tools/wheel portable. It has no symbol later than glibc 2.28; in a bare Debian 11 with glibc 2.31
# it is installed, imported, and trains with the same bits. That Debian's Python, 3.9, is older than the wheel allows,
# so Debian 12's Python is used there, linked for glibc 2.28 (portable/python.c).
# usage: tests/tools/portable/wheel.sh WHEEL     Ends with a line in doctest's form, which ./dev test adds up.
set -uo pipefail
# In a mount namespace of our own: mounts for a chroot disappear with it.
[[ $(id -u) != 0 || ${POSLAB_BARE:-} ]] || POSLAB_BARE=1 exec unshare --mount "$0" "$@"
wheel=$(realpath "$1")
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../..")
# shellcheck source=tests/tools/check.sh
. "$source/tests/tools/check.sh"
scratch

tag="manylinux_2_28_$(uname -m)"
named() { [[ $wheel == *-cp310-abi3-$tag.whl ]]; }
true_to_its_name() {
  "$source/.venv-python/bin/auditwheel" show "$wheel" | tee /dev/stderr | tr '\n' ' ' | finds "platform tag: \"$tag\""
}
check 'it is named for Python 3.10 and glibc 2.28' named
check 'and auditwheel confirms it' true_to_its_name

version=$(/usr/bin/python3 -c 'import sys; print("python{}.{}".format(*sys.version_info))')
for_older() {   # PROGRAM: links Python
  local archive=(/usr/lib/"$version"/config-*/lib"$version".a)
  "$source/.venv-portable/bin/python" -m ziglang cc -target "$(uname -m)-linux-gnu.2.28" -fno-sanitize=all -s \
    -rdynamic -o "$1" "$source/tests/tools/portable/python.c" \
    -Wl,--whole-archive "${archive[0]}" -Wl,--no-whole-archive \
    "$(gcc -print-file-name=libexpat.a)" "$(gcc -print-file-name=libz.a)" \
    -Wl,--allow-shlib-undefined -lpthread -ldl -lm -lutil
}
check 'a Python is linked for glibc 2.28' for_older python
install_here() {   # FOLDER
  "$source/.venv-python/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --python-version "${version#python}" --target "$1" "$wheel"
}
check 'the wheel is installed with its dependencies' install_here site
cat > train.py <<'END'
import sys
import poslab as pl
run = pl.train(preset="tiny", task="even_pairs", encoding="rope", steps=20, eval_lengths="1:3", out=sys.argv[1])
print(pl.__file__, run)
END
here() { PYTHONHOME=/usr PYTHONPATH=site POSLAB_ISA=baseline ./python train.py here; }
check 'here it trains' here
if [[ $(id -u) == 0 ]] && command -v debootstrap > /dev/null; then
  # shellcheck source=tests/tools/bare_root.sh
  . "$source/tests/tools/bare_root.sh"
  check 'a bare Debian 11 is made' make_bare_root "$source/build/bare_11" bullseye
  there() {
    mkdir -p "$root/usr/lib" && cp -r "/usr/lib/$version" "$root/usr/lib/" &&
      cp -r python site train.py "$root/root/" &&
      inside env PYTHONHOME=/usr PYTHONPATH=/root/site POSLAB_ISA=baseline /root/python /root/train.py /root/run &&
      cmp "$root/root/run/checkpoint.safetensors" here/checkpoint.safetensors
  }
  check 'there it is imported, and trains with the same bits' there
  cat output
  program() { inside env POSLAB_ISA=baseline /root/site/bin/poslab report /root/run -o /root/report.html; }
  check 'and its program draws a report' program
  umount "$root/proc" && rm -rf --one-file-system "$root"
else
  echo 'left out: a bare Debian 11, which needs root and debootstrap'
fi
checked portable-wheel

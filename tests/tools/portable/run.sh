#!/usr/bin/env bash
# Tests the program of ./dev build portable. It needs no symbol later than glibc 2.28 and only libraries that each
# system has. It trains with the same bits as NATIVE_PROGRAM, and runs in a bare Debian 11, whose glibc is 2.31 (as
# root, if debootstrap is there; no mirror has an older Debian).
# usage: tests/tools/portable/run.sh PROGRAM NATIVE_PROGRAM   Ends with a line that ./dev test adds up.
set -uo pipefail
# In a mount namespace of our own: mounts for a chroot disappear with it.
[[ $(id -u) != 0 || ${POSLAB_BARE:-} ]] || POSLAB_BARE=1 exec unshare --mount "$0" "$@"
program=$(realpath "$1") native=$(realpath "$2")
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../..")
# shellcheck source=tests/tools/check.sh
. "$source/tests/tools/check.sh"
scratch

latest() { objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | cut -d_ -f2; }
old_enough() {   # PROGRAM
  local version
  version=$(latest "$1") && echo "the latest symbol is of glibc $version" &&
    [[ $(printf '2.28\n%s\n' "$version" | sort -V | tail -n 1) == 2.28 ]]
}
too_new() { ! old_enough "$1"; }
alone() {
  ! objdump -p "$program" | sed -n 's/ *NEEDED *//p' |
    grep -vxE 'lib(c|m|pthread|dl)\.so\.[0-9]|libgcc_s\.so\.1|ld-linux-x86-64\.so\.2'
}
no_cxx() { ! objdump -T "$program" | grep -E 'GLIBCXX|CXXABI'; }
train=(train --preset tiny --task even_pairs --encoding rope --steps 20 --eval-lengths 1:3)
export POSLAB_ISA=baseline               # the same instruction set here and in the other Debian
same() {   # FOLDER OF A RUN
  "$program" "${train[@]}" --out there && "$native" "${train[@]}" --out here &&
    cmp there/checkpoint.safetensors here/checkpoint.safetensors
}
check 'no symbol is later than glibc 2.28' old_enough "$program"
cat output
check 'the program of ./dev build has later symbols' too_new "$native"
check 'each system has the libraries that it links dynamically' alone
check 'and no C++ library' no_cxx
check 'it trains with the same bits' same
check 'and draws a report' "$program" report there -o report.html
no_sentencepiece() {                     # without it, a T5 in Hugging Face format has no tokenizer
  local status=0
  "$program" t5 generate --hf "$source/tests/data/huggingface/t5/v1_0" --prompt text > said 2>&1 || status=$?
  cat said
  ((status == 1)) && grep -q 'linked without sentencepiece' said
}
check 'it says what is left out' no_sentencepiece
if [[ $(id -u) == 0 ]] && command -v debootstrap > /dev/null; then
  # shellcheck source=tests/tools/bare_root.sh
  . "$source/tests/tools/bare_root.sh"
  check 'a bare Debian 11 is made' make_bare_root "$source/build/bare_11" bullseye
  elsewhere() {
    cp "$program" "$root/root/poslab" && inside env POSLAB_ISA=baseline /root/poslab "${train[@]}" --out /root/run &&
      cmp "$root/root/run/checkpoint.safetensors" here/checkpoint.safetensors &&
      inside /root/poslab report /root/run -o /root/report.html
  }
  check 'there it trains with the same bits, and draws a report' elsewhere
  umount "$root/proc" && rm -rf --one-file-system "$root"
else
  echo 'left out: a bare Debian 11, which needs root and debootstrap'
fi
checked portable

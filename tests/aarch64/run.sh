#!/usr/bin/env bash
# Runs the same training natively and on an emulated ARM processor (qemu), and compares the lines ENCODING STEP LOSS.
# The two differ in the order of sums, and in whether a product is rounded before it is added.
# usage: tests/aarch64/run.sh NATIVE_PROGRAM PROGRAM [RELATIVE_DIFFERENCE]
set -euo pipefail
native=$(realpath "$1") arm=$(realpath "$2") bound=${3:-2.4e-7}
# shellcheck source=tests/tools/check.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tools/check.sh"
scratch

for_arm() { readelf -h "$arm" | tee /dev/stderr | finds 'Machine: *AArch64'; }
natively() { "$native" | tee native; }
under_qemu() { qemu-aarch64-static -L /usr/aarch64-linux-gnu "$arm" | tee emulated; }
same() {
  paste -d ' ' native emulated | awk -v bound="$bound" '
    { off = ($3 - $6) / $3; if (off < 0) off = -off; if (off > worst) worst = off }
    $1 != $4 || $2 != $5 || !($3 > 0) || !(off <= bound) { print "differs: " $0; bad = 1 }
    END { print NR " losses, worst relative difference " worst; exit bad || NR == 0 }' | tee said
}
# Matrix products use NEON's fused multiply-adds: their tiles have more than a thousand of them.
fused() {
  local count
  count=$(aarch64-linux-gnu-objdump -d "$arm" | grep -c 'fmla.*\.4s')
  echo "$count fused multiply-adds of four floats"
  ((count > 1000))
}
check 'the program is for ARM' for_arm
check 'its kernels fuse multiplications and additions' fused
check 'the first steps, natively' natively
check 'and under qemu' under_qemu
check "the losses are the same to within $bound of them" same
cat said
checked aarch64

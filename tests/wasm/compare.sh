#!/usr/bin/env bash
# Trains a few steps natively and under node: losses agree to 1e-5.    usage: compare.sh NATIVE_PROGRAM WASM_PROGRAM
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
native=$(realpath "$1") wasm=$(realpath "$2")
# shellcheck source=tests/tools/check.sh
. "$here/../tools/check.sh"
scratch

natively() { "$native" | tee native; }
under_node() { node --no-warnings --experimental-wasi-unstable-preview1 "$here/run.mjs" "$wasm" | tee wasm; }
same() {   # compares lines of ENCODING STEP LOSS
  paste -d ' ' native wasm | awk '
    { off = $3 - $6; if (off < 0) off = -off; if (off > worst) worst = off }
    $1 != $4 || $2 != $5 || !($3 > 0) || !(off <= 1e-5) { print "differs: " $0; bad = 1 }
    END { print NR " losses, worst difference " worst; exit bad || NR == 0 }' | tee said
}
check 'five steps of every encoding, natively' natively
check 'and as WebAssembly' under_node
check 'the losses agree to 1e-5' same
cat said
checked wasm

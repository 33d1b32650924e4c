#!/usr/bin/env bash
# Tests the program and the wheel for 64-bit ARM with qemu. They have no symbol later than glibc 2.28. The program runs
# with Debian 11's glibc, 2.31, and trains like the program for this processor, except for the order of sums (20 steps
# here; tests/aarch64/run.sh has a smaller bound for five). The wheel is installed as pip would do it there, imported,
# and trains the same.
# usage: tests/tools/portable/arm.sh PROGRAM NATIVE_PROGRAM WHEEL
#   Ends with a line in doctest's form, which ./dev test adds up.
set -uo pipefail
program=$(realpath "$1") native=$(realpath "$2") wheel=$(realpath "$3")
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../..")
# shellcheck source=tests/tools/check.sh
. "$source/tests/tools/check.sh"
scratch
libraries=$source/build/arm_root         # Debian 12's, which it was compiled with
tag=manylinux_2_28_aarch64

for_arm() { readelf -h "$program" | tee /dev/stderr | finds 'Machine: *AArch64'; }
old_enough() {   # FILE
  local version
  version=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | cut -d_ -f2) &&
    echo "the latest symbol is of glibc $version" &&
    [[ $(printf '2.28\n%s\n' "$version" | sort -V | tail -n 1) == 2.28 ]]
}
alone() {
  ! objdump -p "$program" | sed -n 's/ *NEEDED *//p' |
    grep -vxE 'lib(c|m|pthread|dl)\.so\.[0-9]|libgcc_s\.so\.1|ld-linux-aarch64\.so\.1'
}
objdump() { aarch64-linux-gnu-objdump "$@"; }
check 'the program is for ARM' for_arm
check 'no symbol is later than glibc 2.28' old_enough "$program"
cat output
check 'each system has the libraries that it links dynamically' alone

train=(train --preset tiny --task even_pairs --encoding rope --steps 20 --log-every 1 --eval-lengths 1:3)
arm() { qemu-aarch64-static -L "$1" "${@:2}"; }   # ROOT PROGRAM...
check 'a Debian 11 for ARM is unpacked' "$source/cmake/portable/arm_root.sh" "$source/build/arm_11" --suite bullseye \
  libc6 libgcc-s1
trains() { arm "$source/build/arm_11" "$program" "${train[@]}" --out there && "$native" "${train[@]}" --out here; }
check 'with its glibc it trains' trains
losses() { sed -n 's/.*"loss":\([^,}]*\).*/\1/p' "$1/metrics.jsonl"; }
near() {   # FOLDER OF A RUN: its losses are close to those of here/
  paste -d ' ' <(losses here) <(losses "$1") | awk '
    { off = ($1 - $2) / $1; if (off < 0) off = -off; if (off > worst) worst = off }
    !($1 > 0) || !(off <= 1e-6) { print "differs: " $0; bad = 1 }
    END { print NR " losses, worst relative difference " worst; exit bad || NR != 20 }'
}
check 'with losses that are close' near there
cat output
check 'and draws a report' arm "$source/build/arm_11" "$program" report there -o report.html

named() { [[ $wheel == *-cp310-abi3-$tag.whl ]]; }
check 'the wheel is named for Python 3.10 and glibc 2.28' named
installed() {   # as pip does there: its dependencies come from PyPI, for ARM
  "$source/.venv-python/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --platform "$tag" --platform manylinux2014_aarch64 --python-version "$version" --implementation cp --target site \
    "$wheel"
}
python=$(echo "$libraries"/usr/bin/python3.*) version=${python##*/python}
check "it is installed with its dependencies, for Python $version" installed
check 'no symbol of its module is later than glibc 2.28' old_enough site/poslab/_poslab.abi3.so
cat > train.py <<'END'
import sys
import poslab as pl
run = pl.train(preset="tiny", task="even_pairs", encoding="rope", steps=20, log_every=1, eval_lengths="1:3",
               out=sys.argv[1])
print(pl.__file__, run)
END
imported() { PYTHONHOME=$libraries/usr PYTHONPATH=site arm "$libraries" "$python" train.py module; }
check 'it is imported, and trains' imported
check 'with the same bits as the program' cmp module/checkpoint.safetensors there/checkpoint.safetensors
check 'and its program draws a report' arm "$libraries" site/bin/poslab report module -o module.html
checked portable-arm

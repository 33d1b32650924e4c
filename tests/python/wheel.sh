#!/usr/bin/env bash
# Tries a wheel as on a machine with Python but no compiler: in a new environment, outside the tree, with nothing else
# on the PATH. Prints the wheel's size and the time of an import.
# usage: tests/python/wheel.sh WHEEL     Ends with a line in doctest's form, which ./dev test adds up.
set -uo pipefail
wheel=$(realpath "$1")
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
# shellcheck source=tests/tools/check.sh
. "$source/tests/tools/check.sh"
scratch
python3 -m venv venv
python=$folder/venv/bin/python

stable() { [[ $wheel == *-cp310-abi3-* ]]; }
check 'it is for Python 3.10 and all later versions' stable
check 'it installs' "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$wheel"
alone() { env -i HOME="$folder" PATH="$folder/venv/bin" "$@"; }
no_compiler() { ! alone "$python" -c 'import shutil, sys; sys.exit(not any(map(shutil.which, ("cc", "g++", "sh"))))'; }
check 'no compiler is on the PATH' no_compiler
for page in README docs/python; do
  # The training of README.md is shortened here; tests/python/test_docs.py runs all of it.
  sed -n '/^```python$/,/^```$/p' "$source/$page.md" |
    sed -n '2,/^```$/{/^```$/!{s/steps=1500/steps=20/;p}}' > example.py
  check "the first example of $page.md runs" alone "$python" example.py
done
check 'and leaves a run' test -s runs/first/result.json
kernels_for_gpus() {   # a wheel for GPUs has them in module and program, other wheels nowhere
  alone "$python" -c 'import poslab; print(poslab.about()["cuda"])' > about
  if [[ $wheel == *-1cuda-* ]]; then ! grep -q 'has no CUDA' about; else grep -q 'has no CUDA' about; fi
}
check 'the module has kernels for GPUs, or says that it has none' kernels_for_gpus
same() {   # program and module train the same run
  alone poslab train --preset tiny --task even_pairs --encoding rerope:window=8 --steps 20 --eval-lengths 1:8 \
    --out runs/program && cmp runs/first/checkpoint.safetensors runs/program/checkpoint.safetensors
}
check 'the program is there, and trains with the same bits' same
check "the wheel's program is the one that is called" test "$(alone "$python" -c \
  'import shutil; print(shutil.which("poslab"))')" = "$folder/venv/bin/poslab"
demo() {
  alone poslab demo --steps 5 --layers 1 --eval-lengths 1:10 --eval-samples 4 --out shown && test -s shown/demo.html
}
check 'the demo runs from anywhere' demo
check 'and by a sweep in Python' alone "$python" -c 'import poslab as pl
pl.sweep(preset="tiny", task="even_pairs", encoding="rope", steps=2, eval_lengths="1:2", out="runs/sweep")'
# A wheel has the page that trains if tools/web had made it; otherwise the program says how to get it.
page() {
  "$python" -m zipfile -l "$wheel" > listed   # no pipe: grep -q ends at a match, and the writer would fail
  if grep -q 'share/poslab/past-the-edge.html' listed; then
    alone poslab web runs/program -o page.html && grep -q '"name":"program"' page.html
  else
    alone poslab web -o page.html 2> said
    [[ $? == 1 ]] && grep -q 'came without the page.*`tools/web` makes it' said && [[ ! -e page.html ]]
  fi
}
check 'the page that trains accepts a run, or is reported missing' page
inside() {   # every linked library is in the wheel or, by manylinux, in every system
  find venv -path '*poslab*' \( -name '*.so*' -o -name poslab \) -type f -exec ldd {} + | grep '=>' > linked
  ! grep -vE "=> $folder/venv/|lib(c|m|dl|pthread|stdc\+\+|gcc_s|z)\.so" linked
}
check 'only the C and C++ runtimes and zlib are linked from outside' inside

seconds() {   # MODULE: of processor time; the least of seven, because other programs may run
  alone "$python" - "$1" <<'END'
import resource, subprocess, sys
def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
def once():
    before = spent()
    subprocess.run([sys.executable, "-c", f"import {sys.argv[1]}"], check=True)
    return spent() - before
print(f"{min(once() for _ in range(7)):.2f}")
END
}
echo "the wheel: $(stat -c %s "$wheel" | awk '{printf "%.1f MB", $1 / 1e6}'), $(basename "$wheel")"
echo "seconds of the processor to start Python and import: nothing $(seconds sys), numpy $(seconds numpy)," \
  "poslab $(seconds poslab)"
checked wheel
